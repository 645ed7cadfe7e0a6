/* SPDX-License-Identifier: MIT */
/* server_world.h - the API over real tasks, fleet and store; agents are simulated by the test.
 *
 *     a1   0:10.0.0.1, business 1, connected; runs gse/p and gse/q
 *     a2   0:10.0.0.2, business 2, connected; runs gse/p
 *     a3   0:10.0.0.3, business 1, was never connected */
#ifndef TESTS_API_SERVER_WORLD_H
#define TESTS_API_SERVER_WORLD_H

#include <jansson.h>

#include "api/pipeline/api_state.h"
#include "link/message.h"
#include "model/code.h"
#include "server/fleet/fleet_registry.h"
#include "store/store_hosts.h"
#include "tests/unit/api/world.h"

enum { SERVER_SENT_MAX = 64 };

struct server_world {
    struct world w;
    struct fleet *fleet;
    struct tasks *tasks;
    int64_t epoch; /* of both sessions */
    struct {
        char agent[16], task[64];
        int64_t item, op;
        unsigned type;
    } sent[SERVER_SENT_MAX];
    size_t n_sent;
    struct message_command last; /* its texts are valid until the end */
    struct arena arena;
    json_t *answer; /* the last one */
};

static inline void server_world_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                                     const struct shape *s, const void *message)
{
    struct server_world *v = arg;
    const struct message_command *command = message;
    const struct message_ref *ref = message;

    assert_int_equal(epoch, v->epoch);
    if (type != MESSAGE_COMMAND && type != MESSAGE_CANCEL)
        return;
    assert_true(v->n_sent < SERVER_SENT_MAX);
    if (type == MESSAGE_COMMAND)
        shape_copy(s, message, &v->arena, &v->last);
    snprintf(v->sent[v->n_sent].agent, sizeof(v->sent[0].agent), "%s", agent);
    snprintf(v->sent[v->n_sent].task, sizeof(v->sent[0].task), "%s", ref->task);
    v->sent[v->n_sent].item = ref->item;
    v->sent[v->n_sent].op = type == MESSAGE_COMMAND ? command->op : -1;
    v->sent[v->n_sent++].type = type;
}

static const struct tasks_effects server_world_effects = { server_world_send };

static inline void server_world_connect(struct server_world *v, const char *agent)
{
    const struct session_open_ask ask = { agent, "here", 1000 };
    struct list rows;

    store_rig_do(&v->w.store, &store_session_open, &ask, &rows);
    v->epoch = ROW(session_row, rows, 0)->epoch;
    fleet_set_session(v->fleet, agent, v->epoch, 1000);
    tasks_on_session(v->tasks, agent, v->epoch);
}

#define SERVER_WORLD_SPEC                                                                          \
    "{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\",\"user\":"     \
    "\"ann\"},\"monitor_policy\":{\"auto_type\":1,\"start_retries\":7}}"

static inline void server_world_put_proc(struct server_world *v, const char *agent,
                                         const char *name)
{
    struct proc_meta meta = { "gse", name, { 0 } };
    struct proc_view view;
    const struct message_processes m = { .list = { &view, 1 }, .digest = "d" };
    struct proc_spec spec;
    struct arena a = { 0 };
    struct err err;

    shape_defaults(&proc_view_shape, &view);
    view.space = "gse";
    view.name = name;
    view.status = view.wanted = PROC_RUNNING;
    view.pid = 4711;
    view.hosted = true;
    view.cause.doing = -1;
    view.cause.since_s = WALL_MS - 60;
    assert_int_equal(fleet_on_processes(v->fleet, agent, &m, &err), 0);
    assert_int_equal(shape_read(&proc_spec_shape, SERVER_WORLD_SPEC, strlen(SERVER_WORLD_SPEC), 0,
                                &a, &spec, &err),
                     0);
    fleet_put_spec(v->fleet, agent, &meta, &spec, 1000);
    arena_free(&a);
}

static inline void server_world_put_host(struct server_world *v, const char *id, int64_t cloud_id,
                                         const char *ip, int64_t biz_id)
{
    const struct host_row row = { .agent_id = id,
                                  .cloud_id = cloud_id,
                                  .ip = ip,
                                  .biz_id = biz_id,
                                  .hostname = "h",
                                  .version = "1",
                                  .joined_ms = 1000 };

    store_rig_do(&v->w.store, &store_host_put, &row, NULL);
    fleet_put_host(v->fleet, &row);
}

static inline void server_world_open(struct server_world *v)
{
    struct err err;

    v->fleet = fleet_new(v->w.rig.loop, NULL, v->w.store.store);
    v->tasks = tasks_new(v->w.rig.loop, NULL, v->w.store.store, v->fleet, &server_world_effects, v);
    assert_int_equal(fleet_load(v->fleet, &err), 0);
    assert_int_equal(tasks_load(v->tasks, &err), 0);
}

/* Without hosts, and with no door open yet. */
static inline struct server_world *server_world_new(void)
{
    struct server_world *v = xalloc(sizeof(*v));

    world_init(&v->w);
    server_world_open(v);
    return v;
}

static inline int server_world_setup(void **state)
{
    struct server_world *v = server_world_new();

    server_world_put_host(v, "a1", 0, "10.0.0.1", 1);
    server_world_put_host(v, "a2", 0, "10.0.0.2", 2);
    server_world_put_host(v, "a3", 0, "10.0.0.3", 1);
    server_world_connect(v, "a1");
    server_world_connect(v, "a2");
    server_world_put_proc(v, "a1", "p");
    server_world_put_proc(v, "a1", "q");
    server_world_put_proc(v, "a2", "p");
    world_open(&v->w, v->fleet, v->tasks);
    *state = v;
    return 0;
}

/* The server is killed: its memory is lost. */
static inline void server_world_restart(struct server_world *v)
{
    struct err err;

    world_close_doors(&v->w);
    api_stop(v->w.api);
    tasks_free(v->tasks);
    fleet_free(v->fleet);
    watch_free(v->w.store_watch);
    store_rig_close(&v->w.store);
    api_free(v->w.api);
    scopes_free(v->w.scopes);
    store_rig_open(&v->w.store);
    assert_int_equal(watch_new(v->w.rig.loop, store_fd(v->w.store.store), store_on_ready,
                               v->w.store.store, &v->w.store_watch, &err),
                     0);
    assert_int_equal(watch_want(v->w.store_watch, WATCH_READ, &err), 0);
    server_world_open(v);
    v->n_sent = 0;
    world_open(&v->w, v->fleet, v->tasks);
}

static inline int server_world_teardown(void **state)
{
    struct server_world *v = *state;

    world_close_doors(&v->w);
    api_stop(v->w.api);
    tasks_free(v->tasks);
    fleet_free(v->fleet);
    world_done(&v->w);
    json_decref(v->answer);
    arena_free(&v->arena);
    free(v);
    return 0;
}

#define SERVER_TEST(f) cmocka_unit_test_setup_teardown(f, server_world_setup, server_world_teardown)

/* ---- requests */

static inline json_t *server_world_ask(struct server_world *v, const char *method, const char *path,
                                       const char *headers, const char *body, int status)
{
    world_ask(&v->w, method, path, headers, body);
    if (v->w.status != status)
        fail_msg("%s: %d %s", path, v->w.status, v->w.body);
    json_decref(v->answer);
    v->answer = json_loads(v->w.body, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(v->answer);
    return v->answer;
}

static inline json_t *server_world_get(struct server_world *v, const char *path)
{
    return server_world_ask(v, "GET", path, DEMO_AUTH, NULL, 200);
}

static inline json_t *server_world_post(struct server_world *v, const char *path, const char *body)
{
    return server_world_ask(v, "POST", path, DEMO_AUTH, body, 200);
}

static inline int64_t server_world_number(const json_t *o, const char *key)
{
    const json_t *n = json_object_get(o, key);

    assert_true(json_is_integer(n));
    return json_integer_value(n);
}

static inline const char *server_world_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    assert_non_null(text);
    return text;
}

/* Submits an operation and remembers its id. */
static inline void server_world_operate(struct server_world *v, const char *body, char to[64])
{
    server_world_post(v, "/v1/operations", body);
    snprintf(to, 64, "%s", server_world_text(v->answer, "task_id"));
}

/* The agent's answer to a command. */
static inline void server_world_answer(struct server_world *v, size_t sent, int64_t code)
{
    struct message_result m = {
        .task = v->sent[sent].task, .item = v->sent[sent].item, .code = code, .text = "said"
    };
    size_t before = (size_t)store_counters(v->w.store.store)->commits;

    shape_defaults(&proc_view_shape, &m.view);
    m.view.space = "gse";
    m.view.name = "p";
    tasks_on_message(v->tasks, v->sent[sent].agent, v->epoch, MESSAGE_RESULT, &m);
    TURN_UNTIL(&v->w.rig, (size_t)store_counters(v->w.store.store)->commits > before &&
                              store_counters(v->w.store.store)->on_their_way == 0);
}

/* The agent's answer to the last command, with this text. */
static inline void server_world_play(struct server_world *v, int64_t code, const char *text,
                                     struct proc_view view)
{
    const struct message_ref taken = { v->last.task, v->last.item };
    const struct message_result result = { v->last.task, v->last.item, code, text, view };
    const char *agent = v->sent[v->n_sent - 1].agent;

    tasks_on_message(v->tasks, agent, v->epoch, MESSAGE_TAKEN, &taken);
    tasks_on_message(v->tasks, agent, v->epoch, MESSAGE_RESULT, &result);
}

#endif
