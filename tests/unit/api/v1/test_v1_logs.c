/* SPDX-License-Identifier: MIT */
/* Promises of GET /v1/logs: api/v1/v1_logs.c. */
#include "api/pipeline/api_state.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

enum agent_does { ANSWERS, REFUSES, FAILS, LIES, IS_SILENT, GOES };

/* Three hosts, the last not connected; one agent for all of them. */
struct logs_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
    struct fleet_proc procs[3];
    const struct fleet_proc *lists[3][2];
    struct logs *logs;
    enum agent_does does;
    struct timer timer;
    char asked[256], agent[16];
    int64_t id, lines, at;
};

static void on_time(void *arg)
{
    struct logs_world *v = arg;
    struct message_log m = { .id = v->id, .text = "", .output = "one\ntwo \x1B\n", .next = 12 };

    switch (v->does) {
    case REFUSES:
        m.code = ERR_NOT_FOUND;
        m.text = "no output of it is kept";
        m.output = "";
        break;
    case FAILS:
        m.code = ERR_SYSTEM;
        m.text = "open out.log: Permission denied";
        break;
    case LIES: m.code = INT64_C(1) << 32; break; /* 0 if truncated to an int */
    case IS_SILENT: v->w.rig.clock.mono += LOGS_MS; return;
    case GOES: logs_on_session_end(v->logs, v->agent, 5); return;
    case ANSWERS:
        m.has_gap = v->at == 3;
        m.gap_bytes = m.has_gap ? 9 : 0;
        break;
    }
    logs_on_answer(v->logs, v->agent, 5, &m);
}

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct logs_world *v = arg;
    const struct message_log_ask *m = message;

    (void)type, (void)s;
    assert_int_equal(epoch, 5);
    snprintf(v->agent, sizeof(v->agent), "%s", agent);
    snprintf(v->asked, sizeof(v->asked), "%s %s/%s [%s] lines %lld at %lld", agent, m->space,
             m->name, m->what, (long long)m->lines, (long long)m->at);
    assert_int_equal(m->max_bytes, LOG_MAX_BYTES);
    v->id = m->id;
    v->at = m->at;
    timer_set(v->w.rig.loop, &v->timer, 0);
}

static void put_proc(struct logs_world *v, size_t host, size_t i, const char *space,
                     const char *name)
{
    struct fleet_host *h = &v->fleet.hosts[host];

    v->procs[i] = (struct fleet_proc){ .space = space, .name = name };
    v->lists[host][h->n_procs++] = &v->procs[i];
    h->procs = v->lists[host];
}

static int setup(void **state)
{
    struct logs_world *v = xalloc(sizeof(*v));

    world_init(&v->w);
    for (size_t i = 0; i < 3; i++)
        v->fleet.hosts[i] = (struct fleet_host){
            .agent_id = (const char *const[]){ "a1", "a2", "a3" }[i],
            .ip = (const char *const[]){ "10.0.0.1", "10.0.0.2", "10.0.0.3" }[i],
            .biz_id = (int64_t)i + 1,
            .epoch = i < 2 ? 5 : 0,
        };
    v->fleet.n = 3;
    put_proc(v, 0, 0, "gse", "p");
    put_proc(v, 1, 1, "gse", "q");
    put_proc(v, 2, 2, "gse", "q");
    world_put_app(&v->w, "web", "{\"rights\":[\"read\"],\"namespaces\":[\"web\"]}");
    world_put_app(&v->w, "biz1", "{\"rights\":[\"read\"],\"businesses\":[1]}");
    world_open(&v->w, &v->fleet, &v->tasks);
    v->logs = logs_new(v->w.rig.loop, on_send, v);
    v->w.api->parts.logs = v->logs;
    timer_init(&v->timer, on_time, v);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct logs_world *v = *state;

    world_close_doors(&v->w);
    timer_stop(v->w.rig.loop, &v->timer);
    logs_free(v->logs);
    world_done(&v->w);
    buf_free(&v->tasks.asked);
    free(v);
    return 0;
}

static const char *get(struct logs_world *v, const char *path)
{
    v->asked[0] = '\0';
    return world_ask(&v->w, "GET", path, DEMO_AUTH, NULL);
}

static void the_last_lines_come_from_the_host(void **state)
{
    struct logs_world *v = *state;

    assert_string_equal(get(v, "/v1/logs?namespace=gse&name=p"),
                        "{\"host\":\"a1\",\"output\":\"one\\ntwo \\u001b\\n\",\"next\":12,"
                        "\"has_gap\":false}\n");
    assert_int_equal(v->w.status, 200);
    assert_string_equal(v->asked, "a1 gse/p [] lines 100 at -1");
}

static void everything_that_is_asked_for_is_passed_on(void **state)
{
    struct logs_world *v = *state;

    get(v, "/v1/logs?namespace=gse&name=q&host=10.0.0.2&lines=7&at=3&what=stop");
    assert_int_equal(v->w.status, 200);
    assert_string_equal(v->asked, "a2 gse/q [stop] lines 7 at 3");
    assert_non_null(strstr(v->w.body, "\"has_gap\":true,\"gap_bytes\":9}"));
    get(v, "/v1/logs?namespace=gse&name=unheard&host=a2"); /* perhaps from a failed start */
    assert_string_equal(v->asked, "a2 gse/unheard [] lines 100 at -1");
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *query;
        int status;
        const char *says;
    } cases[] = {
        { "name=p", 400, "namespace: required" },
        { "namespace=gse", 400, "name: required" },
        { "namespace=gse&name=p&what=start", 400,
          "what: must be stop, reload, kill, version or health" },
        { "namespace=gse&name=p&lines=-1", 400, "lines: must be" },
        { "namespace=gse&name=p&at=-2", 400, "at: must be" },
        { "namespace=gse&name=p&tail=1", 400, "tail" },
        { "namespace=gse&name=none", 404, "gse/none: no host has such a process" },
        { "namespace=gse&name=q", 400, "host: required (--host), for 2 hosts have gse/q: a2, a3" },
        { "namespace=gse&name=p&host=b", 404, "host: b is no host" },
        { "namespace=gse&name=q&host=a3", 503, "host a3: its agent is not connected" },
    };
    struct logs_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[256];

        snprintf(path, sizeof(path), "/v1/logs?%s", cases[i].query);
        get(v, path);
        if (v->w.status != cases[i].status || !strstr(v->w.body, cases[i].says))
            fail_msg("%s: %d %s", cases[i].query, v->w.status, v->w.body);
        assert_string_equal(v->asked, "");
    }
}

static void a_failure_of_the_agent_is_reported(void **state)
{
    static const struct {
        enum agent_does does;
        int status;
        const char *code, *says;
    } cases[] = {
        { REFUSES, 404, "\"NOT_FOUND\"", "host a1: no output of it is kept" },
        { FAILS, 500, "\"SYSTEM_CALL\"", "the server's log says more" },
        { LIES, 500, "\"SYSTEM\"", "the server's log says more" },
        { IS_SILENT, 504, "\"DEADLINE\"", "did not send the output in time" },
        { GOES, 503, "\"OFFLINE\"", "no longer connected" },
    };
    struct logs_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        v->does = cases[i].does;
        get(v, "/v1/logs?namespace=gse&name=p");
        assert_int_equal(v->w.status, cases[i].status);
        if (!strstr(v->w.body, cases[i].code) || !strstr(v->w.body, cases[i].says))
            fail_msg("%s", v->w.body);
    }
}

#define AUTH(app)                                                                                  \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"" app "\",\"bk_app_secret\":\"" WORLD_SECRET        \
    "\"}\r\n"

static void an_app_sees_only_output_of_its_own_processes(void **state)
{
    struct logs_world *v = *state;

    world_ask(&v->w, "GET", "/v1/logs?namespace=gse&name=p", AUTH("web"), NULL);
    assert_int_equal(v->w.status, 403);
    assert_non_null(strstr(v->w.body, "namespace: this app may not see processes of gse"));
    world_ask(&v->w, "GET", "/v1/logs?namespace=gse&name=p", AUTH("biz1"), NULL);
    assert_int_equal(v->w.status, 200);
    world_ask(&v->w, "GET", "/v1/logs?namespace=gse&name=q", AUTH("biz1"), NULL);
    assert_int_equal(v->w.status, 404); /* not: two hosts have it */
    world_ask(&v->w, "GET", "/v1/logs?namespace=gse&name=q&host=a2", AUTH("biz1"), NULL);
    assert_int_equal(v->w.status, 404);
    assert_non_null(strstr(v->w.body, "a2 is no host that we know"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_lines_come_from_the_host),
        TEST(everything_that_is_asked_for_is_passed_on),
        TEST(what_is_wrong_is_named),
        TEST(a_failure_of_the_agent_is_reported),
        TEST(an_app_sees_only_output_of_its_own_processes),
    };

    return cmocka_run_group_tests_name("v1_logs", tests, NULL, NULL);
}
