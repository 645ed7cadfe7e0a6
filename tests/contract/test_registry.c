/* SPDX-License-Identifier: MIT */
/* GSE's v1 from the documents' registration to the last result: HTTP, gate, fleet, tasks, pushes,
 * groups and store are real, the agent is simulated by the test. */
#include "api/pipeline/api_state.h"
#include "base/io/file.h"
#include "link/group.h"
#include "link/message.h"
#include "model/code.h"
#include "server/registry/groups.h"
#include "server/registry/pushes.h"
#include "store/store_hosts.h"
#include "tests/unit/api/world.h"

struct server {
    struct world w;
    struct fleet *fleet;
    struct tasks *tasks;
    struct pushes *pushes;
    struct groups *groups;
    struct buf seed; /* register_proc_info of the documents */
    int64_t epoch;
    size_t sent, n_groups;
    char task[64], start_cmd[64], user[16];
    int64_t op;
    bool only_if_hosted;
    int64_t group;
    double cpu_percent;
};

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct server *v = arg;
    const struct message_command *command = message;
    const struct message_group *group = message;

    (void)s;
    assert_string_equal(agent, "a1");
    assert_int_equal(epoch, v->epoch);
    if (type == MESSAGE_GROUP) {
        v->n_groups++;
        v->group = group->id;
        v->cpu_percent = group->group.resource.cpu_percent;
    }
    if (type != MESSAGE_COMMAND)
        return;
    v->sent++;
    v->op = command->op;
    v->only_if_hosted = command->only_if_hosted;
    snprintf(v->task, sizeof(v->task), "%s", command->task);
    snprintf(v->start_cmd, sizeof(v->start_cmd), "%s", command->spec.control.start_cmd);
    snprintf(v->user, sizeof(v->user), "%s", command->spec.identity.user);
}

static const struct tasks_effects effects = { on_send };

static void put_host(struct server *v)
{
    const struct host_row row = {
        .agent_id = "a1", .cloud_id = 1, .ip = "10.0.0.1", .biz_id = 2, .joined_ms = 1000
    };

    store_rig_do(&v->w.store, &store_host_put, &row, NULL);
    fleet_put_host(v->fleet, &row);
}

static void connect_agent(struct server *v)
{
    const struct session_open_ask ask = { "a1", "here", 1000 };
    struct list rows;

    store_rig_do(&v->w.store, &store_session_open, &ask, &rows);
    v->epoch = ROW(session_row, rows, 0)->epoch;
    fleet_set_session(v->fleet, "a1", v->epoch, 1000);
    tasks_on_session(v->tasks, "a1", v->epoch);
    groups_on_session(v->groups, "a1");
}

static void disconnect_agent(struct server *v)
{
    fleet_set_session(v->fleet, "a1", 0, 2000);
    tasks_on_session_end(v->tasks, "a1", v->epoch);
}

static int setup(void **state)
{
    struct server *v = xalloc(sizeof(*v));
    struct loop *loop;
    struct err err;

    world_init(&v->w);
    loop = v->w.rig.loop;
    v->fleet = fleet_new(loop, NULL, v->w.store.store);
    v->tasks = tasks_new(loop, NULL, v->w.store.store, v->fleet, &effects, v);
    v->pushes = pushes_new(loop, NULL, v->fleet, on_send, v);
    v->groups = groups_new(loop, NULL, v->w.store.store, v->fleet, on_send, v);
    assert_int_equal(fleet_load(v->fleet, &err), 0);
    assert_int_equal(tasks_load(v->tasks, &err), 0);
    put_host(v);
    world_open(&v->w, v->fleet, v->tasks);
    v->w.api->parts.groups = v->groups;
    assert_int_equal(
        file_read("tests/contract/seeds/register_proc_info.json", 1 << 16, &v->seed, &err), 0);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct server *v = *state;

    world_close_doors(&v->w);
    api_stop(v->w.api);
    pushes_free(v->pushes);
    groups_free(v->groups);
    tasks_free(v->tasks);
    fleet_free(v->fleet);
    world_done(&v->w);
    buf_free(&v->seed);
    free(v);
    return 0;
}

/* ---- the client */

#define ESB "/api/c/compapi/v2/gse/"
#define KEY "\"1:2:10.0.0.1:gse:proc-test\":"
#define TARGET                                                                                     \
    "\"meta\":{\"namespace\":\"gse\",\"name\":\"proc-test\"},\"hosts\":[{\"ip\":\"10.0.0.1\","     \
    "\"bk_cloud_id\":1,\"bk_supplier_id\":2}]"

static const char *ask(struct server *v, const char *name, const char *body)
{
    char path[128];

    snprintf(path, sizeof(path), ESB "%s/", name);
    return world_ask(&v->w, "POST", path, DEMO_AUTH, body);
}

static void expect(struct server *v, const char *name, const char *body, const char *answer)
{
    if (!strstr(ask(v, name, body), answer))
        fail_msg("%s %s: %s", name, body, v->w.body);
}

#define OK KEY "{\"error_code\":0,\"error_msg\":\"success\",\"content\":\"\"}"

static void register_seed(struct server *v)
{
    expect(v, "register_proc_info", buf_text(&v->seed), "\"result\":true");
    assert_non_null(strstr(v->w.body, "\"data\":{" OK "}"));
}

/* The seed, with another start command. */
static void update_seed(struct server *v, const char *start_cmd)
{
    struct buf body = { 0 };
    const char *text = buf_text(&v->seed), *at = strstr(text, "./start.sh");

    buf_add(&body, text, (size_t)(at - text));
    buf_puts(&body, start_cmd);
    buf_puts(&body, at + strlen("./start.sh"));
    expect(v, "update_proc_info", buf_text(&body), "\"data\":{" OK "}");
    buf_free(&body);
}

/* The task's only result by the v1 call; true once it has this result. */
static bool ended(struct server *v, const char *task, const char *with)
{
    char body[128];

    snprintf(body, sizeof(body), "{\"task_id\":\"%s\"}", task);
    ask(v, "get_proc_operate_result", body);
    assert_non_null(strstr(v->w.body, "\"data\":{" KEY "{\"error_code\":"));
    if (strstr(v->w.body, "\"error_code\":115,"))
        return false;
    if (!strstr(v->w.body, with))
        fail_msg("%s", v->w.body);
    return true;
}

static void operate(struct server *v, int op, char task[64])
{
    char body[512];
    const char *at;

    snprintf(body, sizeof(body), "{" TARGET ",\"op_type\":%d}", op);
    at = strstr(ask(v, "operate_proc", body), "GSETASK:");
    if (!at)
        fail_msg("%s", v->w.body);
    snprintf(task, 64, "%.*s", (int)strcspn(at, "\""), at);
}

/* ---- the agent */

static void tell(struct server *v, bool hosted)
{
    struct proc_view view;
    const struct message_processes m = { .list = { &view, 1 }, .digest = "d" };
    struct err err;

    shape_defaults(&proc_view_shape, &view);
    view.space = "gse";
    view.name = "proc-test";
    view.status = view.wanted = PROC_RUNNING;
    view.hosted = hosted;
    assert_int_equal(fleet_on_processes(v->fleet, "a1", &m, &err), 0);
}

static void answer(struct server *v, int64_t code, const char *text)
{
    const struct message_ref taken = { v->task, 0 };
    const struct message_result result = {
        v->task, 0, code, text, { "gse", "proc-test", .pid = 7, .hosted = true }
    };

    if (!pushes_on_message(v->pushes, "a1", v->epoch, MESSAGE_TAKEN, &taken))
        tasks_on_message(v->tasks, "a1", v->epoch, MESSAGE_TAKEN, &taken);
    if (!pushes_on_message(v->pushes, "a1", v->epoch, MESSAGE_RESULT, &result))
        tasks_on_message(v->tasks, "a1", v->epoch, MESSAGE_RESULT, &result);
}

/* ---- tests */

static void the_documents_registration_is_started_by_its_name_alone(void **state)
{
    struct server *v = *state;
    char task[64];

    register_seed(v); /* although its agent was never connected */
    expect(v, "register_proc_info", buf_text(&v->seed),
           KEY "{\"error_code\":850,\"error_msg\":\"Fail to register, for the process info already "
               "exists.\",\"content\":\"\"}");
    connect_agent(v);
    operate(v, 0, task);
    TURN_UNTIL(&v->w.rig, v->sent == 1);
    assert_int_equal(v->op, PROC_OP_START);
    assert_string_equal(v->start_cmd, "./start.sh");
    assert_string_equal(v->user, "root");
    answer(v, CODE_OK, "success");
    TURN_UNTIL(&v->w.rig, ended(v, task, "\"error_code\":0,"));
}

static void what_is_not_registered_is_not_operated(void **state)
{
    struct server *v = *state;
    static const int ops[] = { 0, 1, 2, 4, 9 };
    char task[64];

    connect_agent(v);
    expect(v, "unregister_proc_info", "{" TARGET "}",
           KEY
           "{\"error_code\":829,\"error_msg\":\"process info not registered\",\"content\":\"\"}");
    tell(v, true); /* known to the agent, which makes no difference */
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        operate(v, ops[i], task);
        TURN_UNTIL(&v->w.rig, ended(v, task,
                                    "\"error_code\":801,\"error_msg\":\"process info not "
                                    "registered\""));
    }
    assert_int_equal(v->sent, 0);
}

static void an_update_reaches_the_agent_that_hosts_it(void **state)
{
    struct server *v = *state;
    char task[64];

    connect_agent(v);
    update_seed(v, "./first.sh"); /* registers it */
    operate(v, 0, task);
    TURN_UNTIL(&v->w.rig, v->sent == 1);
    answer(v, CODE_OK, "success");
    TURN_UNTIL(&v->w.rig, ended(v, task, "\"error_code\":0,"));
    tell(v, true);
    v->w.rig.clock.wall++;
    update_seed(v, "./second.sh");
    TURN_UNTIL(&v->w.rig, v->sent == 2);
    assert_int_equal(v->op, PROC_OP_HOST);
    assert_true(v->only_if_hosted);
    assert_string_equal(v->start_cmd, "./second.sh");
    answer(v, CODE_OK, "success");
    v->w.rig.clock.wall++;
    disconnect_agent(v);
    update_seed(v, "./third.sh");
    connect_agent(v);
    TURN_UNTIL(&v->w.rig, v->sent == 3);
    assert_string_equal(v->start_cmd, "./third.sh");
}

static void what_is_unregistered_is_hosted_no_more_and_left_alone(void **state)
{
    struct server *v = *state;
    char task[64];

    register_seed(v);
    tell(v, true);
    expect(v, "unregister_proc_info", "{" TARGET "}", "\"data\":{" OK "}");
    connect_agent(v); /* it was offline */
    TURN_UNTIL(&v->w.rig, v->sent == 1);
    assert_int_equal(v->op, PROC_OP_UNHOST);
    answer(v, CODE_OK, "success");
    operate(v, 1, task);
    TURN_UNTIL(&v->w.rig, ended(v, task, "\"error_code\":801,"));
    assert_int_equal(v->sent, 1);
    register_seed(v);
}

#define GROUP                                                                                      \
    "\"spec\":{\"process_group\":[{\"id\":\"gse\",\"resource\":{\"cpu_pool_limit\":30.5,"          \
    "\"mem_pool_limit\":20,\"cpu_pool_weight\":0,\"mem_pool_weight\":1}}]}"

static void a_group_is_set_told_and_read_again(void **state)
{
    struct server *v = *state;

    expect(v, "get_process_group_info", "{" TARGET "}", "\"data\":{\"process_group_infos\":[]}");
    expect(v, "set_process_group_info", "{" TARGET "," GROUP "}",
           "\"data\":{\"1:2:10.0.0.1:gse\":{\"error_code\":0,\"error_msg\":\"success\","
           "\"content\":\"\"}}");
    connect_agent(v);
    TURN_UNTIL(&v->w.rig, v->n_groups == 1);
    assert_true(v->cpu_percent == 30.5);
    expect(v, "get_process_group_info", "{" TARGET "}",
           "\"host\":{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":1,\"bk_supplier_id\":2},\"id\":\"gse\","
           "\"resource\":{\"cpu_pool_limit\":30.5,\"mem_pool_limit\":20,\"cpu_pool_weight\":0,"
           "\"mem_pool_weight\":1}}]}");
}

#define NO_HOSTS                                                                                   \
    "{\"ip\":\"\",\"bk_cloud_id\":0},{\"ip\":\"10.0.0.1\\n\",\"bk_cloud_id\":1},"                  \
    "{\"ip\":\"0123456789012345678901234567890123456789012345678901234567890123456789\","          \
    "\"bk_cloud_id\":0}"
#define AND_NO_HOSTS                                                                               \
    "\"meta\":{\"namespace\":\"gse\"},\"hosts\":[" NO_HOSTS                                        \
    ",{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":1,\"bk_supplier_id\":2}]"

static void a_group_is_set_whatever_else_can_be_no_host(void **state)
{
    static const char *const keys[] = {
        "\"0:0::gse\":{\"error_code\":117,",
        "\"1:0:10.0.0.1\\n:gse\":{\"error_code\":117,",
        "456789:gse\":{\"error_code\":117,",
        "\"1:2:10.0.0.1:gse\":{\"error_code\":0,",
    };
    struct server *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        expect(v, "set_process_group_info", "{" AND_NO_HOSTS "," GROUP "}", keys[i]);
    expect(v, "get_process_group_info", "{" AND_NO_HOSTS "}",
           "\"process_group_infos\":[{\"meta\":{\"namespace\":\"gse\",\"name\":\"\",\"labels\":{}},"
           "\"host\":{\"ip\":\"10.0.0.1\",");
}

static void a_group_that_can_not_be_is_named_by_its_path(void **state)
{
    static const struct {
        const char *spec, *answer;
    } cases[] = {
        { "{\"process_group\":[]}", "spec.process_group: " },
        { "{}", "spec.process_group: required" },
        { "{\"process_group\":[{\"id\":\"gse\"}]}", "spec.process_group[0].resource: required" },
        { "{\"process_group\":[{\"id\":\"a:b\",\"resource\":{}}]}", "spec.process_group[0].id: " },
        { "{\"process_group\":[{\"id\":\"gse\",\"resource\":{\"cpu_pool_limit\":30}}]}",
          "spec.process_group[0].resource.mem_pool_limit: required" },
        { "{\"process_group\":[{\"id\":\"gse\",\"resource\":{\"cpu_pool_limit\":101,"
          "\"mem_pool_limit\":20,\"cpu_pool_weight\":0,\"mem_pool_weight\":1}}]}",
          "spec.process_group[0].resource.cpu_pool_limit: " },
        { "{\"process_group\":[{\"id\":\"gse\",\"resource\":{\"cpu_pool_limit\":1,"
          "\"mem_pool_limit\":20,\"cpu_pool_weight\":2,\"mem_pool_weight\":1}}]}",
          "spec.process_group[0].resource.cpu_pool_weight: " },
    };
    struct server *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char body[1024];

        snprintf(body, sizeof(body), "{" TARGET ",\"spec\":%s}", cases[i].spec);
        expect(v, "set_process_group_info", body, cases[i].answer);
        assert_non_null(strstr(v->w.body, "\"code\":1000811,"));
    }
    expect(v, "set_process_group_info",
           "{\"meta\":{\"namespace\":\"gse\"},\"hosts\":[{\"ip\":\"9.9.9.9\",\"bk_cloud_id\":0}]"
           "," GROUP "}",
           "\"0:0:9.9.9.9:gse\":{\"error_code\":117,");
    expect(v, "get_process_group_info", "{" TARGET "}", "\"data\":{\"process_group_infos\":[]}");
}

/* One host with many groups, named repeatedly: the same way, or with other suppliers. */
static void asking_for_groups_has_an_end(void **state)
{
    static const char resource[] = "{\"cpu_pool_limit\":1,\"mem_pool_limit\":1,"
                                   "\"cpu_pool_weight\":0,\"mem_pool_weight\":0}";
    struct server *v = *state;

    for (int more = 1; more >= 0; more--) {
        struct buf body = { 0 };

        buf_puts(&body, "{" TARGET ",\"spec\":{\"process_group\":[");
        for (int i = 0; i < GROUPS_HOST_MAX + more; i++)
            buf_printf(&body, "%s{\"id\":\"g%d\",\"resource\":%s}", i ? "," : "", i, resource);
        buf_puts(&body, "]}}");
        expect(v, "set_process_group_info", buf_text(&body),
               more ? "the host would have more than 256 process groups" : "\"error_code\":0,");
        buf_free(&body);
    }
    for (int supplier = 0; supplier < 2; supplier++) {
        struct buf body = { 0 };

        buf_puts(&body, "{\"meta\":{\"namespace\":\"gse\"},\"hosts\":[");
        for (int i = 0; i < 200; i++)
            buf_printf(&body, "%s{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":1,\"bk_supplier_id\":%d}",
                       i ? "," : "", i * supplier);
        buf_puts(&body, "]}");
        expect(v, "get_process_group_info", buf_text(&body),
               supplier ? "hosts: they have more than 50000 groups; ask for fewer hosts"
                        : "\"id\":\"g255\"");
        if (!supplier)
            assert_null(strstr(strstr(v->w.body, "\"id\":\"g0\"") + 1, "\"id\":\"g0\""));
        buf_free(&body);
    }
}

/* The store is still open when the rest of the server is freed. */
static void what_is_on_its_way_at_a_stop_is_let_go(void **state)
{
    struct server *v = *state;
    struct buf out = { 0 };
    int fd;

    expect(v, "get_process_group_info", "{" TARGET "}", "\"result\":true"); /* the app is cached */
    fd = world_connect(&v->w, 0);
    world_head(&out, "POST", ESB "register_proc_info/", DEMO_AUTH);
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", v->seed.len, buf_text(&v->seed));
    world_send(&v->w, fd, &out);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way > 0);
    buf_free(&out);
    close(fd);
}

#define SERVER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(the_documents_registration_is_started_by_its_name_alone),
        SERVER_TEST(what_is_not_registered_is_not_operated),
        SERVER_TEST(an_update_reaches_the_agent_that_hosts_it),
        SERVER_TEST(what_is_unregistered_is_hosted_no_more_and_left_alone),
        SERVER_TEST(a_group_is_set_told_and_read_again),
        SERVER_TEST(a_group_is_set_whatever_else_can_be_no_host),
        SERVER_TEST(a_group_that_can_not_be_is_named_by_its_path),
        SERVER_TEST(asking_for_groups_has_an_end),
        SERVER_TEST(what_is_on_its_way_at_a_stop_is_let_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
