/* SPDX-License-Identifier: MIT */
/* sim_server.c - the server: a store that commits late, sessions, the hub's
 * hands. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "sim/sim_in.h"

static struct sim_task *find_task(struct sim *s, const char *id)
{
    for (int i = 0; i < s->n_tasks; i++) {
        if (!strcmp(s->tasks[i].id, id))
            return &s->tasks[i];
    }
    return NULL;
}

static void on_server_wake(void *arg)
{
    struct sim *s = arg;

    if (s->hub) {
        hub_on_time(s->hub, s->now_ms);
        server_wake(s);
    }
}

void server_wake(struct sim *s)
{
    int64_t next = hub_next_ms(s->hub);

    if (next == INT64_MAX)
        timers_stop(&s->timers, &s->server_wake);
    else
        timers_set(&s->timers, &s->server_wake, next > s->now_ms ? next : s->now_ms);
}

/* ---- the hub's hands */

static void on_task_commit(struct event *e)
{
    struct sim *s = e->sim;

    s->tasks[e->a].is_stored = true;
    sim_trace(s, "store: task %s", s->tasks[e->a].id);
    hub_on_task_stored(s->hub, s->tasks[e->a].id, NULL, s->now_ms);
    s->tasks[e->a].is_accepted = true;
    server_wake(s);
}

static void store_task(void *arg, const struct hub_task *task)
{
    struct sim *s = arg;
    struct event *e =
        sim_later(s, 1 + (int64_t)sim_below(s, 30), -1, s->server_life, on_task_commit);

    struct sim_task *t = find_task(s, task->id);
    const struct hub_item *items = task->items.items;

    e->a = t - s->tasks;
    for (int i = 0; i < t->n; i++)
        t->items[i].code = items[i].code;
}

/* Offline says that nothing was run, and whoever reads it asks again; cancelled says so too. */
static void check_unrun(struct sim *s, const struct sim_task *t, int64_t item)
{
    int64_t code = t->items[item].code;

    if ((code == CODE_OFFLINE || code == CODE_CANCELLED) && t->items[item].has_run)
        sim_fail(s, "task %s item %lld: was run and is called %s", t->id, (long long)item,
                 code == CODE_OFFLINE ? "offline" : "cancelled");
    if (code == CODE_CANCELLED && !t->is_cancelled)
        sim_fail(s, "task %s item %lld: nobody has cancelled it", t->id, (long long)item);
}

void server_note_run(struct sim *s, const struct core_run *run)
{
    struct sim_task *t = find_task(s, run->task);

    t->items[run->item].has_run = true;
    check_unrun(s, t, run->item);
}

/* The first result counts; another one changes nothing. */
static void on_result_commit(struct event *e)
{
    struct sim *s = e->sim;
    struct sim_item *item = &s->tasks[e->a].items[e->b];

    if (item->code == CODE_WAITING) {
        item->code = e->c;
        s->report.cancelled += e->c == CODE_CANCELLED;
    } else if (item->code != e->c) {
        sim_fail(s, "task %s item %lld: result %lld became %lld", s->tasks[e->a].id,
                 (long long)e->b, (long long)item->code, (long long)e->c);
    }
    sim_trace(s, "store: task %s item %lld is %lld", s->tasks[e->a].id, (long long)e->b,
              (long long)item->code);
    check_unrun(s, &s->tasks[e->a], e->b);
    hub_on_result_stored(s->hub, s->tasks[e->a].id, e->b, NULL, s->now_ms);
    server_wake(s);
}

static void store_result(void *arg, const char *task, int64_t item,
                         const struct message_result *result)
{
    struct sim *s = arg;
    struct event *e =
        sim_later(s, 1 + (int64_t)sim_below(s, 30), -1, s->server_life, on_result_commit);

    e->a = find_task(s, task) - s->tasks;
    e->b = item;
    e->c = result->code;
}

static void on_frame(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (h->core && h->link == (uint64_t)e->a)
        host_deliver(h, e->type, e->json);
}

static void send_frame(void *arg, const char *agent, int64_t epoch, unsigned type,
                       const struct shape *shape, const void *message)
{
    struct sim *s = arg;
    int host = (int)strtol(agent + strlen("agent-"), NULL, 10);

    if (type == MESSAGE_COMMAND) {
        const struct message_command *m = message;

        find_task(s, m->task)->items[m->item].was_sent = true;
    }
    for (int copies = sim_chance(s, 5) ? 2 : 1; copies > 0; copies--) {
        struct event *e;

        if (sim_chance(s, 5))
            continue;
        e = sim_later(s, 1 + (int64_t)sim_below(s, sim_chance(s, 5) ? 5000 : 20), host, 0,
                      on_frame);
        e->a = epoch;
        e->type = type;
        e->json = sim_json(shape, message);
    }
}

static const struct hub_hands hands = { store_task, store_result, send_frame };

/* ---- tasks */

static void fill(struct sim *s, const struct sim_task *t, struct hub_item items[ITEMS_MAX],
                 struct proc_spec specs[ITEMS_MAX])
{
    static const char *const names[KEYS] = { "p0", "p1", "p2" };

    for (int i = 0; i < t->n; i++) {
        items[i] = (struct hub_item){
            .agent = s->hosts[t->items[i].host].id,
            .key = names[t->items[i].key],
            .op = t->items[i].op,
            .meta = { "space", names[t->items[i].key], { 0 } },
            .deadline_ms = t->items[i].deadline_ms,
            .code = t->items[i].code,
            .text = "",
            .was_sent = t->items[i].was_sent,
            .spec = &specs[i],
        };
        sim_spec(t->items[i].host, t->items[i].key, &specs[i]);
        sim_limit_spec(s, t->items[i].key, &specs[i]);
        sim_ready_spec(s, t->items[i].key, &specs[i]);
    }
}

void server_operate(struct sim *s)
{
    static const int64_t ops[] = { 0, 0, 0, 1, 1, 2, 3, 4, 7, 7, 8, 9 };
    struct sim_task *t = &s->tasks[s->n_tasks++];
    struct hub_item items[ITEMS_MAX];
    struct proc_spec specs[ITEMS_MAX];
    struct hub_task task = { t->id, { items, 0 }, false };

    snprintf(t->id, sizeof(t->id), "GSETASK:S:%d", s->n_tasks);
    t->n = 1 + (int)sim_below(s, ITEMS_MAX);
    for (int i = 0; i < t->n; i++)
        t->items[i] = (struct sim_item){ (int)sim_below(s, (uint64_t)s->o->agents),
                                         (int)sim_below(s, KEYS),
                                         ops[sim_below(s, ARRAY_LEN(ops))],
                                         s->now_ms + 45000,
                                         CODE_WAITING,
                                         false,
                                         false };
    s->report.tasks++;
    s->report.items += t->n;
    fill(s, t, items, specs);
    task.items.n = (size_t)t->n;
    sim_trace(s, "ask: task %s, %d items, first: op %lld on host %d p%d", t->id, t->n,
              (long long)t->items[0].op, t->items[0].host, t->items[0].key);
    hub_operate(s->hub, &task, s->now_ms);
    server_wake(s);
}

static void on_cancel_commit(struct event *e)
{
    struct sim *s = e->sim;
    struct sim_task *t = &s->tasks[e->a];

    t->is_cancelled = true;
    sim_trace(s, "store: task %s is cancelled", t->id);
    hub_cancel(s->hub, t->id, s->now_ms);
    server_wake(s);
}

void server_cancel(struct sim *s)
{
    enum { LAST = 4 };
    int n = s->n_tasks - 1 - (int)sim_below(s, LAST);
    struct event *e;

    if (n < 0 || !s->tasks[n].is_accepted)
        return;
    e = sim_later(s, 1 + (int64_t)sim_below(s, 30), -1, s->server_life, on_cancel_commit);
    e->a = n;
    s->report.cancels++;
}

/* ---- its life */

void server_start(struct sim *s)
{
    s->server_life++;
    s->hub = hub_new(&hands, s, s->now_ms);
    timer_init(&s->server_wake, on_server_wake, s);
    sim_trace(s, "server up");
    for (int i = 0; i < s->n_tasks; i++) {
        const struct sim_task *t = &s->tasks[i];
        struct hub_item items[ITEMS_MAX];
        struct proc_spec specs[ITEMS_MAX];
        struct hub_task task = { t->id, { items, (size_t)t->n }, t->is_cancelled };
        bool is_open = false;

        for (int n = 0; n < t->n; n++)
            is_open |= t->items[n].code == CODE_WAITING;
        if (!t->is_stored || !is_open)
            continue;
        fill(s, t, items, specs);
        hub_load(s->hub, &task, s->now_ms);
    }
    server_wake(s);
}

void server_kill(struct sim *s)
{
    sim_trace(s, "server killed");
    s->report.server_kills++;
    hub_free(s->hub);
    s->hub = NULL;
    s->server_life++;
    timers_stop(&s->timers, &s->server_wake);
    for (int i = 0; i < s->o->agents; i++)
        host_disconnect(&s->hosts[i]);
}

void server_session(struct sim *s, int host, int64_t epoch)
{
    const struct message_welcome welcome = { .version = LINK_VERSION,
                                             .epoch = epoch,
                                             .ping_ms = 5000,
                                             .server_ms = s->now_ms,
                                             .wants_processes = true };

    struct event *e =
        sim_later(s, 1, host, 0, on_frame); /* a session begins with it or not at all */

    e->a = epoch;
    e->type = MESSAGE_WELCOME;
    e->json = sim_json(&message_welcome_shape, &welcome);
    sim_events_session(s, host, epoch);
    hub_on_session(s->hub, s->hosts[host].id, epoch, s->now_ms);
    server_wake(s);
}

void server_session_end(struct sim *s, int host, int64_t epoch)
{
    if (!s->hub)
        return;
    hub_on_session_end(s->hub, s->hosts[host].id, epoch, s->now_ms);
    server_wake(s);
}

static void on_event(struct sim *s, int host, int64_t epoch, const struct message_event *m)
{
    struct message_event_ref ref;

    if (sim_events_heard(s, host, epoch, m, &ref.id))
        send_frame(s, s->hosts[host].id, epoch, MESSAGE_EVENT_STORED, &message_event_ref_shape,
                   &ref);
}

void server_deliver(struct sim *s, int host, int64_t epoch, unsigned type, const char *json)
{
    const struct shape *shape = message_shape(type);
    struct arena a = { 0 };
    void *message = arena_alloc(&a, shape->size);
    struct err err;

    if (shape_read(shape, json, strlen(json), 0, &a, message, &err))
        sim_fail(s, "the server can not read a %s: %s", message_name(type), err.text);
    else if (s->hub && type == MESSAGE_EVENT)
        on_event(s, host, epoch, message);
    else if (s->hub)
        hub_on_message(s->hub, s->hosts[host].id, epoch, type, message, s->now_ms);
    arena_free(&a);
    if (s->hub)
        server_wake(s);
}
