/* SPDX-License-Identifier: MIT */
/* task_world.h - tasks and fleet over a real store, with agents that are played by the
 * test and a clock that it moves. */
#ifndef TESTS_UNIT_SERVER_TASK_WORLD_H
#define TESTS_UNIT_SERVER_TASK_WORLD_H

#include "model/translate.h"
#include "tests/lib/store_rig.h"

#include "base/io/loop.h"
#include "server/dispatch/hub.h"
#include "server/dispatch/tasks.h"
#include "server/fleet/fleet.h"
#include "store/store_hosts.h"
#include "store/store_items.h"

enum { START_WALL_MS = 1794722400, SENT_MAX = 4096 };

struct sent {
    char agent[16], task[64], space[16], name[16];
    int64_t epoch, item, op, deadline_ms;
    unsigned type;
};

struct world {
    struct store_rig rig;
    struct clock_fake clock;
    struct loop *loop;
    struct watch *watch;
    struct fleet *fleet;
    struct tasks *tasks;
    struct sent sent[SENT_MAX];
    size_t n_sent;
    int n_accepted, n_failed; /* how often tasks_operate() answered */
    char id[64];              /* what it said last */
    struct err failure;
    struct task_info info; /* what was read last, in the arena of the rig */
    int n_read;
};

static inline void world_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                              const struct shape *s, const void *message)
{
    struct world *w = arg;
    struct sent *sent = &w->sent[w->n_sent++];
    const struct message_command *m = message;
    const struct message_ref *ref = message;

    (void)s;
    assert_true(w->n_sent < SENT_MAX);
    *sent = (struct sent){ .epoch = epoch, .type = type };
    snprintf(sent->agent, sizeof(sent->agent), "%s", agent);
    snprintf(sent->task, sizeof(sent->task), "%s", type == MESSAGE_COMMAND ? m->task : ref->task);
    sent->item = type == MESSAGE_COMMAND ? m->item : ref->item;
    if (type != MESSAGE_COMMAND)
        return;
    sent->op = m->op;
    sent->deadline_ms = m->deadline_ms;
    snprintf(sent->space, sizeof(sent->space), "%s", m->meta.space);
    snprintf(sent->name, sizeof(sent->name), "%s", m->meta.name);
}

static const struct tasks_effects world_effects = { world_send };

static inline void world_turn(struct world *w, int64_t wait_ms)
{
    if (loop_turn(w->loop, wait_ms, &w->rig.err))
        fail_msg("%s", w->rig.err.text);
}

/* Until nothing is on its way and nothing is due. */
static inline void world_settle(struct world *w)
{
    for (int quiet = 0; quiet < 4; quiet++) {
        bool is_out = store_counters(w->rig.store)->on_their_way > 0;

        world_turn(w, is_out ? 1000 : 0);
        if (is_out)
            quiet = 0;
    }
}

static inline void world_pass(struct world *w, int64_t ms)
{
    w->clock.mono += ms;
    w->clock.wall += ms;
    world_settle(w);
}

static inline void world_open(struct world *w)
{
    struct err *err = &w->rig.err;

    store_rig_open(&w->rig);
    if (loop_new(&w->clock.clock, &w->loop, err) ||
        watch_new(w->loop, store_fd(w->rig.store), store_on_ready, w->rig.store, &w->watch, err) ||
        watch_want(w->watch, WATCH_READ, err))
        fail_msg("%s", err->text);
    w->fleet = fleet_new(w->loop, NULL, w->rig.store);
    w->tasks = tasks_new(w->loop, NULL, w->rig.store, w->fleet, &world_effects, w);
    if (fleet_load(w->fleet, err) || tasks_load(w->tasks, err))
        fail_msg("%s", err->text);
}

static inline void world_close(struct world *w)
{
    tasks_free(w->tasks);
    fleet_free(w->fleet);
    watch_free(w->watch);
    store_rig_close(&w->rig);
    loop_free(w->loop);
}

/* The server dies and comes back on a host whose monotonic clock begins anew. */
static inline void world_restart(struct world *w)
{
    world_close(w);
    w->clock.mono = 5000;
    w->n_sent = 0;
    world_open(w);
}

static inline void world_add_host(struct world *w, const char *id, const char *ip)
{
    const struct host_row row = { .agent_id = id,
                                  .ip = ip,
                                  .biz_id = 2,
                                  .hostname = "host",
                                  .version = "1",
                                  .cert_serial = "1",
                                  .cert_fingerprint = "ab",
                                  .joined_ms = w->clock.wall };

    store_rig_do(&w->rig, &store_host_put, &row, NULL);
    fleet_put_host(w->fleet, &row);
}

/* A session in the store alone; its epoch. */
static inline int64_t world_open_session(struct world *w, const char *agent)
{
    const struct session_open_ask ask = { agent, "node", w->clock.wall };
    struct list rows;

    store_rig_do(&w->rig, &store_session_open, &ask, &rows);
    return ROW(session_row, rows, 0)->epoch;
}

static inline int64_t world_connect(struct world *w, const char *agent)
{
    int64_t epoch = world_open_session(w, agent);

    fleet_set_session(w->fleet, agent, epoch, w->clock.wall);
    tasks_on_session(w->tasks, agent, epoch);
    world_settle(w);
    return epoch;
}

static inline void world_disconnect(struct world *w, const char *agent, int64_t epoch)
{
    const struct session_close_ask ask = { agent, epoch, w->clock.wall };

    store_rig_do(&w->rig, &store_session_close, &ask, NULL);
    fleet_set_session(w->fleet, agent, 0, w->clock.wall);
    tasks_on_session_end(w->tasks, agent, epoch);
}

static inline int world_setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    store_rig_place(&w->rig);
    clock_fake_init(&w->clock, 1000, START_WALL_MS * INT64_C(1000));
    world_open(w);
    world_add_host(w, "agent-a", "10.0.0.1");
    world_add_host(w, "agent-b", "10.0.0.2");
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;

    world_close(w);
    store_rig_remove(&w->rig);
    free(w);
    return 0;
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

/* ---- Asking. */

static inline void world_spec(struct proc_spec *s)
{
    shape_defaults(&proc_spec_shape, s);
    s->has_identity = s->has_control = PRESENCE_GIVEN;
    s->identity.proc_name = "victim";
    s->identity.setup_path = "/opt/victim";
    s->control.start_cmd = "./start.sh";
}

static inline struct task_target world_target(const char *agent, const char *key, int64_t op,
                                              const char *name, const struct proc_spec *spec)
{
    return (struct task_target){
        .agent = agent, .key = key, .op = op, .meta = { "space", name, { 0 } }, .spec = spec
    };
}

static inline void world_accepted(void *arg, const char *id, const struct err *failure)
{
    struct world *w = arg;

    if (failure) {
        w->n_failed++;
        w->failure = *failure;
        return;
    }
    w->n_accepted++;
    snprintf(w->id, sizeof(w->id), "%s", id);
}

/* Only asks; the answer comes when the loop turns. */
static inline void world_ask(struct world *w, const char *app, struct task_target *targets,
                             size_t n)
{
    const struct task_ask ask = { app, "admin", TASK_FORM_V2, { targets, n } };

    tasks_operate(w->tasks, &ask, world_accepted, w);
}

static inline void world_operate(struct world *w, struct task_target *targets, size_t n)
{
    int before = w->n_accepted;

    world_ask(w, "app", targets, n);
    assert_int_equal(w->n_accepted, before); /* later, never at once */
    world_settle(w);
    if (w->n_accepted != before + 1)
        fail_msg("not accepted: %s", w->failure.text);
}

/* ---- Reading. */

static inline void world_on_read(void *arg, const struct task_info *task, const struct err *failure)
{
    struct world *w = arg;
    struct arena *a = &w->rig.arena;
    struct task_item *items;

    w->n_read++;
    if (failure) {
        w->failure = *failure;
        w->info = (struct task_info){ 0 };
        return;
    }
    w->info = *task;
    items = arena_alloc(a, task->n * sizeof(*items));
    for (size_t i = 0; i < task->n; i++) {
        const struct task_item from = task_item(task, i);
        const struct task_mark mark = task_mark(task, i);

        assert_int_equal(mark.op, from.op);
        assert_int_equal(mark.code, from.code);
        assert_string_equal(mark.key, from.key);
        items[i] = from;
        items[i].agent = arena_strdup(a, from.agent);
        items[i].key = arena_strdup(a, from.key);
        items[i].space = arena_strdup(a, from.space);
        items[i].name = arena_strdup(a, from.name);
        items[i].text = arena_strdup(a, translate(from.text, LANG_EN, a));
        items[i].setup_path = arena_strdup(a, from.setup_path);
        items[i].proc_name = arena_strdup(a, from.proc_name);
        proc_view_keep(&items[i].view, a);
    }
    w->info.items = items;
}

static inline const struct task_item *world_read(struct world *w, const char *id)
{
    int before = w->n_read;

    tasks_read(w->tasks, id, world_on_read, w);
    world_settle(w);
    assert_int_equal(w->n_read, before + 1);
    return w->info.items;
}

/* ---- What an agent answers. */

static inline void world_answer_item(struct world *w, const char *agent, int64_t epoch,
                                     const char *task, int64_t item, int64_t code)
{
    struct message_result m = { .task = task, .item = item, .code = code, .text = "done" };

    shape_defaults(&proc_view_shape, &m.view);
    m.view.space = "space";
    m.view.name = "p";
    m.view.status = PROC_RUNNING;
    m.view.pid = 4711;
    m.view.why = "it runs";
    tasks_on_message(w->tasks, agent, epoch, MESSAGE_RESULT, &m);
}

/* All commands that were sent since `from`, which each have one answer. */
static inline size_t world_answer(struct world *w, size_t from, int64_t code)
{
    size_t n = w->n_sent, answered = 0;

    for (size_t i = from; i < n; i++) {
        const struct sent *s = &w->sent[i];

        if (s->type != MESSAGE_COMMAND)
            continue;
        world_answer_item(w, s->agent, s->epoch, s->task, s->item, code);
        answered++;
    }
    world_settle(w);
    return answered;
}

static inline size_t world_count(const struct world *w, size_t from, unsigned type)
{
    size_t n = 0;

    for (size_t i = from; i < w->n_sent; i++)
        n += w->sent[i].type == type;
    return n;
}

#endif
