/* SPDX-License-Identifier: MIT */
/* fleet_world.h - the API over a real fleet of four hosts, without tasks: for calls that are
 * answered from memory.
 *
 *     a1   0:10.0.0.1, business 1, connected
 *     a2   0:10.0.0.2, business 2, connected
 *     a3   2:10.0.0.3, business 1, offline for an hour
 *     a4   0:10.0.0.4, business 1, has joined and was never connected */
#ifndef TESTS_API_FLEET_WORLD_H
#define TESTS_API_FLEET_WORLD_H

#include <jansson.h>

#include "api/pipeline/api_state.h"
#include "tests/unit/api/world.h"

struct fleet_world {
    struct world w;
    struct fleet *fleet;
    json_t *answer; /* the last one */
};

#define HOUR_AGO_MS ((WALL_MS - 3600) * INT64_C(1000))

static inline void fleet_world_put_hosts(struct fleet *f)
{
    static const struct host_row rows[] = {
        { .agent_id = "a1", .ip = "10.0.0.1", .biz_id = 1, .host_id = 101 },
        { .agent_id = "a2", .ip = "10.0.0.2", .biz_id = 2, .host_id = 102 },
        { .agent_id = "a3", .cloud_id = 2, .ip = "10.0.0.3", .biz_id = 1, .host_id = 103 },
        { .agent_id = "a4", .ip = "10.0.0.4", .biz_id = 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct host_row row = rows[i];

        row.hostname = "box";
        row.version = "1.4";
        row.joined_ms = (WALL_MS - 5) * INT64_C(1000);
        fleet_put_host(f, &row);
    }
    fleet_set_session(f, "a1", 1, HOUR_AGO_MS);
    fleet_set_session(f, "a2", 1, HOUR_AGO_MS);
    fleet_set_session(f, "a3", 0, HOUR_AGO_MS);
}

static inline void fleet_world_say(struct fleet *f, const char *agent, struct proc_view *view)
{
    const struct message_processes m = { .list = { view, 1 }, .digest = "d" };
    struct err err;

    assert_int_equal(fleet_on_processes(f, agent, &m, &err), 0);
}

/* A process that runs and has been hosted for a minute. */
static inline void fleet_world_put_proc(struct fleet *f, const char *agent, const char *space,
                                        const char *name)
{
    struct proc_view v;

    shape_defaults(&proc_view_shape, &v);
    v.space = space;
    v.name = name;
    v.wanted = v.status = PROC_RUNNING;
    v.hosted = true;
    v.pid = 812;
    v.version = "2.0";
    v.cpu_percent = 1.5;
    v.mem_percent = 3;
    v.register_s = WALL_MS - 9000;
    v.last_start_s = WALL_MS - 60;
    v.report_s = WALL_MS - 50;
    v.cause.since_s = WALL_MS - 60;
    fleet_world_say(f, agent, &v);
}

static inline int fleet_world_setup(void **state)
{
    struct fleet_world *f = xalloc(sizeof(*f));
    struct err err;

    world_init(&f->w);
    f->fleet = fleet_new(f->w.rig.loop, NULL, f->w.store.store);
    assert_int_equal(fleet_load(f->fleet, &err), 0);
    fleet_world_put_hosts(f->fleet);
    world_open(&f->w, f->fleet, NULL);
    *state = f;
    return 0;
}

static inline int fleet_world_teardown(void **state)
{
    struct fleet_world *f = *state;

    json_decref(f->answer);
    world_close_doors(&f->w);
    api_stop(f->w.api);
    fleet_free(f->fleet);
    world_done(&f->w);
    free(f);
    return 0;
}

#define FLEET_TEST(fn) cmocka_unit_test_setup_teardown(fn, fleet_world_setup, fleet_world_teardown)

#define AUTH_AS(code)                                                                              \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"" code "\",\"bk_app_secret\":\"" WORLD_SECRET       \
    "\"}\r\n"

/* The data of a successful answer. */
static inline const json_t *fleet_world_ask(struct fleet_world *f, const char *method,
                                            const char *path, const char *headers, const char *body)
{
    json_error_t where;

    world_ask(&f->w, method, path, headers, body);
    json_decref(f->answer);
    f->answer = json_loads(f->w.body, 0, &where);
    if (!f->answer || !json_is_true(json_object_get(f->answer, "result")))
        fail_msg("%s: %s", body, f->w.body);
    return json_object_get(f->answer, "data");
}

static inline const json_t *fleet_world_post(struct fleet_world *f, const char *path,
                                             const char *body)
{
    return fleet_world_ask(f, "POST", path, DEMO_AUTH, body);
}

static inline const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    if (!text)
        fail_msg("%s: no text", key);
    return text;
}

static inline int64_t int_at(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);

    if (!json_is_integer(number))
        fail_msg("%s: no integer", key);
    return json_integer_value(number);
}

#endif
