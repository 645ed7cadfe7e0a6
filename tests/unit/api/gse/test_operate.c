/* SPDX-License-Identifier: MIT */
/* Promises of api/gse/operate.c and api/pipeline/targets.h: the request to the tasks, and what is
 * refused before it. */
#include "model/rules.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct op_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
    struct fleet_proc hosted; /* on both hosts */
    const struct fleet_proc *procs[1];
};

static int setup(void **state)
{
    struct op_world *o = xalloc(sizeof(*o));

    world_init(&o->w);
    o->fleet.hosts[0] = (struct fleet_host){ .agent_id = "a1", .ip = "10.0.0.1", .biz_id = 2 };
    o->fleet.hosts[1] =
        (struct fleet_host){ .agent_id = "a2", .ip = "10.0.0.2", .cloud_id = 1, .biz_id = 3 };
    o->fleet.n = 2;
    o->tasks.keeps_spec = true;
    o->hosted = (struct fleet_proc){ .space = "gse",
                                     .name = "hosted",
                                     .labels = "{\"tier\":\"web\"}",
                                     .spec = "{\"identity\":{\"user\":\"ann\"}}",
                                     .view.hosted = true };
    o->procs[0] = &o->hosted;
    for (size_t i = 0; i < o->fleet.n; i++) {
        o->fleet.hosts[i].procs = o->procs;
        o->fleet.hosts[i].n_procs = 1;
    }
    world_open(&o->w, &o->fleet, &o->tasks);
    *state = o;
    return 0;
}

static int teardown(void **state)
{
    struct op_world *o = *state;

    world_close_doors(&o->w);
    world_done(&o->w);
    buf_free(&o->tasks.asked);
    arena_free(&o->tasks.arena);
    free(o);
    return 0;
}

#define ONE   "/api/c/compapi/v2/gse/operate_proc_v2/"
#define MULTI "/api/bk-gse/prod/api/v2/proc/operate_proc_multi"
#define META  "\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"}"
#define IDENTITY                                                                                   \
    "\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\",\"user\":"      \
    "\"root\"}"
#define HOSTED "\"meta\":{\"namespace\":\"gse\",\"name\":\"hosted\"}"
#define SPEC   "\"spec\":{" IDENTITY "}"
#define HOST_1 "{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0}"
#define LONG   "0123456789012345678901234567890123456789012345678901234567890123456789"
#define HEAD   "app demo user tom form 0\n"
#define DONE(key, op, agent, user)                                                                 \
    key ":gse:p op " op " on " agent " of gse/p labels 0 user " user " code "

struct ask_case {
    const char *path, *body, *asked;
};

/* clang-format off */
static const struct ask_case asks[] = {
    /* keys in the caller's spelling */
    { ONE, "{" META ",\"op_type\":0,\"hosts\":[" HOST_1 "]," SPEC "}", HEAD DONE("0:10.0.0.1", "0", "a1", "root") "0\n" },
    { ONE, "{" META ",\"op_type\":2,\"agent_id_list\":[\"a2\"],\"hosts\":[" HOST_1 "]}", HEAD DONE("a2", "2", "a2", "-") "0\n" },
    { ONE, "{" META ",\"op_type\":4,\"agent_id_list\":[\"1:10.0.0.2\"]}", HEAD DONE("1:10.0.0.2", "4", "a2", "-") "0\n" },
    { ONE, "{" META ",\"op_type\":2,\"agent_id_list\":[],\"hosts\":[" HOST_1 "],\"no_request\":true}", HEAD DONE("0:10.0.0.1", "2", "a1", "-") "0\n" },
    { ONE, "{\"meta\":{\"namespace\":\"gse\",\"name\":\"p\",\"labels\":{\"id\":7}},\"op_type\":7,\"agent_id_list\":[\"a1\"]}",
      HEAD "a1:gse:p op 7 on a1 of gse/p labels 1 user - code 0\n" },
    /* duplicates, and one host named in several ways */
    { ONE, "{" META ",\"op_type\":2,\"hosts\":[" HOST_1 "," HOST_1 "," HOST_1 "]}", HEAD DONE("0:10.0.0.1", "2", "a1", "-") "0\n" },
    { ONE, "{" META ",\"op_type\":2,\"agent_id_list\":[\"x\",\"x\"]}", HEAD DONE("x", "2", "-", "-") "117 no such host, or it has not joined\n" },
    { ONE, "{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\",\"a2\",\"0:10.0.0.1\",\"a1\"]}",
      HEAD "a1:gse:p+" DONE("0:10.0.0.1", "2", "a1", "-") "0\n" DONE("a2", "2", "a2", "-") "0\n" },
    /* without a spec, the registered one; else an empty one, for which the agent uses its own */
    { ONE, "{" HOSTED ",\"op_type\":0,\"hosts\":[" HOST_1 "]}", HEAD "0:10.0.0.1:gse:hosted op 0 on a1 of gse/hosted labels 1 user ann code 0\n" },
    { ONE, "{" HOSTED ",\"op_type\":3,\"agent_id_list\":[\"a2\"],\"spec\":null}", HEAD "a2:gse:hosted op 3 on a2 of gse/hosted labels 1 user ann code 0\n" },
    { MULTI, "{\"proc_operate_req\":[{" HOSTED ",\"op_type\":1,\"agent_id_list\":[\"a1\"]},{" META ",\"op_type\":9,\"agent_id_list\":[\"a1\"]}]}",
      HEAD "a1:gse:hosted op 1 on a1 of gse/hosted labels 1 user ann code 0\n" DONE("a1", "9", "a1", "-") "0\n" },
    { ONE, "{" META ",\"op_type\":0,\"hosts\":[" HOST_1 "]}", HEAD DONE("0:10.0.0.1", "0", "a1", "-") "0\n" },
    /* failures of one target */
    { ONE, "{" META ",\"op_type\":2,\"hosts\":[{\"ip\":\"9.9.9.9\",\"bk_cloud_id\":0}," HOST_1 "]}",
      HEAD DONE("0:9.9.9.9", "2", "-", "-") "117 no such host, or it has not joined\n" DONE("0:10.0.0.1", "2", "a1", "-") "0\n" },
    { ONE, "{" META ",\"op_type\":2,\"agent_id_list\":[\"\",\"a1\",\"" LONG "\"]}", HEAD DONE("", "2", "-", "-") "117 no such host, or it has not joined\n"
      DONE("a1", "2", "a1", "-") "0\n" DONE(LONG, "2", "-", "-") "117 no such host, or it has not joined\n" },
    { ONE, "{" META ",\"op_type\":2,\"hosts\":[{\"ip\":\"\",\"bk_cloud_id\":0}," HOST_1 ",{\"ip\":\"" LONG "\",\"bk_cloud_id\":0}]}",
      HEAD DONE("0:", "2", "-", "-") "117 no such host, or it has not joined\n" DONE("0:10.0.0.1", "2", "a1", "-") "0\n"
      DONE("0:" LONG, "2", "-", "-") "117 no such host, or it has not joined\n" },
    { ONE, "{" META ",\"op_type\":2,\"agent_id_list\":[\"a\\tb\",\"a1\"]}", HEAD DONE("a\tb", "2", "-", "-") "117 no such host, or it has not joined\n"
      DONE("a1", "2", "a1", "-") "0\n" },
    { ONE, "{" META ",\"op_type\":5,\"hosts\":[" HOST_1 "]}", HEAD DONE("0:10.0.0.1", "5", "a1", "-") "832 op_type 5: no such operation\n" },
    { ONE, "{" META ",\"op_type\":32,\"hosts\":[" HOST_1 "]}", HEAD DONE("0:10.0.0.1", "32", "a1", "-") "832 op_type 32: no such operation\n" },
    { ONE, "{\"meta\":{\"namespace\":\"gse\",\"name\":\"hosted\"},\"op_type\":5,\"hosts\":[" HOST_1 "]}",
      HEAD "0:10.0.0.1:gse:hosted op 5 on a1 of gse/hosted labels 1 user ann code 832 op_type 5: no such operation, hosted\n" },
    { ONE, "{" META ",\"op_type\":-1,\"agent_id_list\":[\"x\"]}", HEAD DONE("x", "-1", "-", "-") "117 no such host, or it has not joined\n" },
    /* a batch: in order, the same key again is another target */
    { MULTI, "{\"proc_operate_req\":[{" META ",\"op_type\":1,\"agent_id_list\":[\"a1\"]," SPEC "},{" META ",\"op_type\":0,\"agent_id_list\":[\"a1\",\"a2\"]," SPEC "}]}",
      HEAD DONE("a1", "1", "a1", "root") "0\n" DONE("a1", "0", "a1", "root") "0\n" DONE("a2", "0", "a2", "root") "0\n" },
    /* a missing command is reported by the agent; 7 and 8 need no more */
    { ONE, "{" META ",\"op_type\":8,\"agent_id_list\":[\"a1\"],\"spec\":{\"control\":{}}}", HEAD DONE("a1", "8", "a1", "-") "0\n" },
    /* null, and both names of the policy */
    { ONE, "{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"],\"spec\":{\"identity\":{\"user\":null},\"monitor_policy\":{\"auto_type\":1},"
      "\"alive_monitor_policy\":{\"op_timeout\":null}}}", HEAD DONE("a1", "2", "a1", "-") "0\n" },
};
/* clang-format on */

static void what_is_asked_is_what_was_sent(void **state)
{
    struct op_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        world_ask(&o->w, "POST", asks[i].path, DEMO_AUTH, asks[i].body);
        if (!strstr(o->w.body, "\"data\":{\"task_id\":\"GSETASK:S:1:1\"}"))
            fail_msg("%s: %s", asks[i].body, o->w.body);
        assert_string_equal(buf_text(&o->tasks.asked), asks[i].asked);
        assert_int_equal(o->tasks.n_asks, i + 1);
    }
}

/* clang-format off */
#define PARAM "\"code\":1000811,\"message\":\"Parameters error, "
static const struct ask_case wrong[] = {
    { ONE, "{" META ",\"op_type\":0}", PARAM "hosts: required, or agent_id_list\"" },
    { ONE, "{" META ",\"op_type\":0,\"hosts\":[],\"agent_id_list\":null}", PARAM "hosts: required, or agent_id_list\"" },
    { ONE, "{\"op_type\":0,\"hosts\":[" HOST_1 "]}", PARAM "meta: required\"" },
    { ONE, "{" META ",\"hosts\":[" HOST_1 "]}", PARAM "op_type: required\"" },
    { ONE, "{" META ",\"op_type\":\"x\",\"hosts\":[" HOST_1 "]}", PARAM "op_type: must be an integer" },
    { ONE, "{" META ",\"op_type\":0,\"hosts\":[{\"bk_cloud_id\":0}]}", PARAM "hosts[0].ip: required\"" },
    { ONE, "{" META ",\"op_type\":0,\"hosts\":[" HOST_1 "],\"spec\":{}}", PARAM "spec.identity.proc_name: required\"" },
    { ONE, "{" META ",\"op_type\":1,\"hosts\":[" HOST_1 "],\"spec\":{\"identity\":{\"proc_name\":\"p\"}}}", PARAM "spec.identity.setup_path: required\"" },
    { ONE, "{" META ",\"op_type\":3,\"hosts\":[" HOST_1 "],\"spec\":{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\"}}}", PARAM "spec.identity.pid_path: required\"" },
    { ONE, "{" META ",\"op_type\":9,\"hosts\":[" HOST_1 "],\"spec\":{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/p\"}}}", PARAM "spec.identity.user: required\"" },
    { ONE, "{" META ",\"op_type\":2,\"hosts\":[" HOST_1 "],\"spec\":{\"identity\":{\"setup_path\":\"a\"}}}", PARAM "spec.identity.setup_path: must be an absolute path" },
    { MULTI, "{\"proc_operate_req\":[]}", PARAM "proc_operate_req: " },
    { MULTI, "{\"proc_operate_req\":[{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"]},{" META ",\"op_type\":2}]}",
      PARAM "proc_operate_req[1].hosts: required, or agent_id_list\"" },
    { MULTI, "{\"proc_operate_req\":[{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"]},{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"]},"
      "{" META ",\"op_type\":0,\"agent_id_list\":[\"a1\"],\"spec\":{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/p\"}}}]}",
      PARAM "proc_operate_req[2].spec.identity.user: required\"" },
};
/* clang-format on */

static void what_is_wrong_is_named_by_its_path_and_nothing_is_asked(void **state)
{
    struct op_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        world_ask(&o->w, "POST", wrong[i].path, DEMO_AUTH, wrong[i].body);
        if (o->w.status != 200 || !strstr(o->w.body, wrong[i].asked))
            fail_msg("%s: %s", wrong[i].body, o->w.body);
        assert_non_null(strstr(o->w.body, "\"data\":null"));
        assert_int_equal(o->tasks.n_asks, 0);
    }
}

/* The maximum of targets of the contract, over several operations; and one more. */
static void fifty_thousand_pairs_are_the_most(void **state)
{
    struct op_world *o = *state;

    for (int more = 0; more < 2; more++) {
        struct buf body = { 0 };

        buf_puts(&body, "{\"proc_operate_req\":[");
        for (int op = 0; op < 2; op++) {
            buf_puts(&body, op ? ",{" META ",\"op_type\":2,\"agent_id_list\":[\"a\""
                               : "{" META ",\"op_type\":2,\"agent_id_list\":[\"a\"");
            for (int i = 1; i < TARGETS_MAX / 2 + (more && op); i++)
                buf_printf(&body, ",\"x%d\"", i);
            buf_puts(&body, "]}");
        }
        buf_puts(&body, "]}");
        world_ask(&o->w, "POST", MULTI, DEMO_AUTH, buf_text(&body));
        buf_free(&body);
        assert_int_equal(strstr(o->w.body, "\"result\":true") != NULL, !more);
    }
    assert_non_null(strstr(o->w.body, "proc_operate_req: 50001 targets in all, 50000 at most"));
    assert_int_equal(o->tasks.n_asks, 1);
    assert_int_equal(o->tasks.n_last, TARGETS_MAX);
}

#define LIMITED                                                                                    \
    "X-Bkapi-Authorization: "                                                                      \
    "{\"bk_app_code\":\"limited\",\"bk_app_secret\":\"" WORLD_SECRET "\"}\r\n"

static void a_namespace_that_is_not_the_apps_refuses_all(void **state)
{
    struct op_world *o = *state;

    world_put_app(&o->w, "limited", "{\"namespaces\":[\"other\"]}");
    world_ask(&o->w, "POST", ONE, LIMITED, "{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"]}");
    assert_non_null(strstr(o->w.body, "\"code\":1000823,\"message\":\"meta.namespace: the app may "
                                      "not use namespace gse\",\"data\":null"));
    world_ask(&o->w, "POST", MULTI, LIMITED,
              "{\"proc_operate_req\":[{\"meta\":{\"namespace\":\"other\",\"name\":\"p\"},"
              "\"op_type\":2,\"agent_id_list\":[\"a1\"]},{" META
              ",\"op_type\":2,\"agent_id_list\":[\"a1\"]}]}");
    assert_non_null(strstr(o->w.body, "proc_operate_req[1].meta.namespace: the app may not use"));
    assert_int_equal(o->tasks.n_asks, 0);
}

/* Two names of an unknown host are two targets. */
static void a_host_that_is_not_the_apps_is_unknown_by_every_name(void **state)
{
    struct op_world *o = *state;

    world_put_app(&o->w, "limited", "{\"businesses\":[2]}");
    world_ask(&o->w, "POST", ONE, LIMITED,
              "{" META ",\"op_type\":2,\"agent_id_list\":[\"a2\",\"1:10.0.0.2\"]}");
    assert_string_equal(
        buf_text(&o->tasks.asked),
        "app limited user - form 0\n" DONE(
            "a2", "2", "-",
            "-") "117 no such host, or it has not joined\n" DONE("1:10.0.0.2", "2", "-",
                                                                 "-") "117 no such host, or it has "
                                                                      "not joined\n");
}

/* ---- apps that may neither start nor host */

#define COMMANDS                                                                                   \
    "\"control\":{\"start_cmd\":\"x\",\"stop_cmd\":\"x\",\"reload_cmd\":\"x\","                    \
    "\"kill_cmd\":\"x\",\"version_cmd\":\"x\"}"
#define MINE "\"spec\":{" IDENTITY "," COMMANDS "}"

static const char registered[] =
    "{\"identity\":{\"proc_name\":\"q\",\"setup_path\":\"/q\",\"pid_path\":\"/q/p\",\"user\":"
    "\"ann\"},\"control\":{\"stop_cmd\":\"registered\",\"version_cmd\":\"registered\"}}";

/* The request to the tasks for an app with these operations, on a host that has registered the
 * process with this spec, or has not. */
static const struct proc_spec *spec_asked(struct op_world *o, int op, const char *spec,
                                          const char *name, int64_t *ret_look)
{
    char body[1024];

    o->hosted.spec = spec;
    o->hosted.labels = NULL;
    snprintf(body, sizeof(body),
             "{\"meta\":{\"namespace\":\"gse\",\"name\":\"%s\",\"labels\":{\"id\":7}},"
             "\"op_type\":%d,\"agent_id_list\":[\"a1\"]," MINE "}",
             name, op);
    world_ask(&o->w, "POST", ONE, LIMITED, body);
    if (!strstr(o->w.body, "\"result\":true"))
        fail_msg("%s", o->w.body);
    *ret_look = o->tasks.look;
    return &o->tasks.spec;
}

static void commands_of_an_app_that_may_not_start_are_ignored(void **state)
{
    struct op_world *o = *state;
    const struct proc_spec *spec;
    int64_t look;

    world_put_app(&o->w, "limited", "{\"operations\":[\"stop\",\"query\",\"unhost\"]}");
    spec = spec_asked(o, PROC_OP_STOP, registered, "hosted", &look);
    assert_string_equal(spec->control.stop_cmd, "registered");
    assert_string_equal(spec->identity.user, "ann");
    spec = spec_asked(o, PROC_OP_STOP, NULL, "hosted", &look); /* the agent's own */
    assert_string_equal(spec->control.stop_cmd, "");
    assert_string_equal(spec->identity.proc_name, "");
    assert_non_null(
        strstr(buf_text(&o->tasks.asked), " on a1 of gse/hosted labels 0 user - code 0"));
    spec = spec_asked(o, PROC_OP_STOP, NULL, "p", &look);
    assert_non_null(strstr(buf_text(&o->tasks.asked), "code 801 process info not registered"));
    assert_string_equal(spec->control.stop_cmd, "");
    spec = spec_asked(o, PROC_OP_UNHOST, NULL, "p", &look); /* nothing to do */
    assert_non_null(strstr(buf_text(&o->tasks.asked), "code 0"));
    assert_string_equal(spec->identity.proc_name, "");
}

static void its_query_is_a_look_alone(void **state)
{
    struct op_world *o = *state;
    const struct proc_spec *spec;
    int64_t look;

    world_put_app(&o->w, "limited", "{\"operations\":[\"query\"]}");
    spec = spec_asked(o, PROC_OP_QUERY, registered, "hosted", &look);
    assert_int_equal(look, LOOK_ONLY);
    assert_string_equal(spec->identity.proc_name, "q");
    spec = spec_asked(o, PROC_OP_QUERY, NULL, "p", &look);
    assert_int_equal(look, LOOK_UNCHECKED);
    assert_string_equal(spec->identity.proc_name, "p");
    assert_string_equal(spec->control.version_cmd, "");
}

static void commands_of_an_app_that_may_start_or_host_are_used(void **state)
{
    static const char *const may[] = { "{\"operations\":[\"start\",\"stop\",\"query\"]}",
                                       "{\"operations\":[\"host\",\"stop\",\"query\"]}", "{}" };

    for (size_t i = 0; i < ARRAY_LEN(may); i++) {
        struct op_world *o = *state;
        int64_t look;

        world_put_app(&o->w, "limited", may[i]);
        rig_pass_ms(&o->w.rig, 60 * 1000); /* its cached permissions expire */
        assert_string_equal(
            spec_asked(o, PROC_OP_STOP, registered, "hosted", &look)->control.stop_cmd, "x");
        assert_string_equal(
            spec_asked(o, PROC_OP_QUERY, registered, "hosted", &look)->control.version_cmd, "x");
        assert_int_equal(look, LOOK_FULL);
    }
}

static void a_host_that_is_not_the_apps_fails_alone(void **state)
{
    struct op_world *o = *state;

    world_put_app(&o->w, "limited", "{\"businesses\":[2]}");
    world_ask(&o->w, "POST", ONE, LIMITED,
              "{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\",\"a2\"]}");
    assert_non_null(strstr(o->w.body, "\"result\":true"));
    assert_string_equal(buf_text(&o->tasks.asked),
                        "app limited user - form 0\n" DONE("a1", "2", "a1", "-") "0\n" DONE(
                            "a2", "2", "-", "-") "117 no such host, or it has not joined\n");
}

static void an_app_that_may_only_read_operates_nothing(void **state)
{
    struct op_world *o = *state;

    world_put_app(&o->w, "limited", "{\"rights\":[\"read\"]}");
    world_ask(&o->w, "POST", ONE, LIMITED, "{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"]}");
    assert_non_null(strstr(o->w.body, "\"code\":1306403,"));
    assert_int_equal(o->tasks.n_asks, 0);
}

static void get_takes_it_from_the_query(void **state)
{
    struct op_world *o = *state;

    world_ask(&o->w, "GET",
              ONE "?op_type=2&agent_id_list=a1,a2&meta=%7B%22namespace%22:%22gse%22,%22name%22:"
                  "%22p%22%7D",
              DEMO_AUTH, NULL);
    assert_non_null(strstr(o->w.body, "\"result\":true"));
    assert_int_equal(o->tasks.n_last, 2);
}

static void tasks_that_fail_are_our_fault(void **state)
{
    struct op_world *o = *state;

    err_set(&o->tasks.failure, ERR_UNAVAILABLE, "the disk is full");
    world_ask(&o->w, "POST", ONE, DEMO_AUTH, "{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"]}");
    assert_non_null(strstr(o->w.body, "\"code\":1000101,"));
    assert_null(strstr(o->w.body, "disk"));
}

/* ---- late answers */

static int begin(struct op_world *o)
{
    struct buf out = { 0 };
    const char *body = "{" META ",\"op_type\":2,\"agent_id_list\":[\"a1\"]}";
    int fd = world_connect(&o->w, 0);

    o->tasks.holds = true;
    world_head(&out, "POST", ONE, DEMO_AUTH);
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    world_send(&o->w, fd, &out);
    buf_free(&out);
    TURN_UNTIL(&o->w.rig, o->tasks.waiter);
    return fd;
}

static void a_client_that_goes_is_no_problem(void **state)
{
    struct op_world *o = *state;

    close(begin(o));
    rig_turns(&o->w.rig, 20);
    o->tasks.waiter(o->tasks.waiter_arg, "GSETASK:S:1:1", NULL);
    rig_turns(&o->w.rig, 5);
}

static void unanswered_calls_are_freed_with_the_api(void **state)
{
    close(begin(*state));
}

static void a_client_that_goes_with_half_a_body_is_no_problem(void **state)
{
    struct op_world *o = *state;
    struct buf out = { 0 };
    int fd = world_connect(&o->w, 0);

    world_head(&out, "POST", ONE, "");
    buf_puts(&out, "Content-Length: 100\r\n\r\n{");
    world_send(&o->w, fd, &out);
    rig_turns(&o->w.rig, 20);
    close(fd);
    rig_turns(&o->w.rig, 20);
    buf_free(&out);
}

/* The store returns the app after the tasks are freed. */
static void what_comes_too_late_is_not_asked_of_the_tasks(void **state)
{
    struct op_world *o = *state;
    struct buf out = { 0 };
    struct err err;
    int fd = world_connect(&o->w, 0);

    assert_int_equal(watch_want(o->w.store_watch, 0, &err), 0);
    world_head(&out, "POST", ONE, DEMO_AUTH);
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(asks[1].body), asks[1].body);
    world_send(&o->w, fd, &out);
    TURN_UNTIL(&o->w.rig, store_counters(o->w.store.store)->on_their_way >= 1);
    close(fd);
    buf_free(&out);
    o->tasks.n_asks = 0;
    world_close_doors(&o->w);
    o->w.servers[0] = o->w.servers[1] = NULL;
    api_stop(o->w.api);
    store_rig_close(&o->w.store);
    assert_int_equal(o->tasks.n_asks, 0);
}

#define OP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OP_TEST(what_is_asked_is_what_was_sent),
        OP_TEST(what_is_wrong_is_named_by_its_path_and_nothing_is_asked),
        OP_TEST(fifty_thousand_pairs_are_the_most),
        OP_TEST(a_namespace_that_is_not_the_apps_refuses_all),
        OP_TEST(a_host_that_is_not_the_apps_fails_alone),
        OP_TEST(a_host_that_is_not_the_apps_is_unknown_by_every_name),
        OP_TEST(commands_of_an_app_that_may_not_start_are_ignored),
        OP_TEST(its_query_is_a_look_alone),
        OP_TEST(commands_of_an_app_that_may_start_or_host_are_used),
        OP_TEST(an_app_that_may_only_read_operates_nothing),
        OP_TEST(get_takes_it_from_the_query),
        OP_TEST(tasks_that_fail_are_our_fault),
        OP_TEST(a_client_that_goes_is_no_problem),
        OP_TEST(unanswered_calls_are_freed_with_the_api),
        OP_TEST(a_client_that_goes_with_half_a_body_is_no_problem),
        OP_TEST(what_comes_too_late_is_not_asked_of_the_tasks),
    };

    return cmocka_run_group_tests_name("operate", tests, NULL, NULL);
}
