/* SPDX-License-Identifier: MIT */
/* Promises of api/gse/register.c, api/gse/keyed_results.h, api/gse/upgrade.c, and of operate_proc,
 * which has no spec of its own: requests to fleet and tasks, answers, and what is refused
 * before. */
#include "model/rules.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct reg_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
    struct fleet_proc known[3];
    const struct fleet_proc *procs[3];
};

#define STORED_SPEC                                                                                \
    "{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\",\"user\":"     \
    "\"root\"}}"

static int setup(void **state)
{
    struct reg_world *o = xalloc(sizeof(*o));

    world_init(&o->w);
    o->fleet.hosts[0] = (struct fleet_host){ .agent_id = "a1", .ip = "10.0.0.1", .biz_id = 2 };
    o->fleet.hosts[1] =
        (struct fleet_host){ .agent_id = "a2", .ip = "10.0.0.2", .cloud_id = 1, .biz_id = 3 };
    o->fleet.n = 2;
    o->known[0] = (struct fleet_proc){ .space = "gse", .name = "bad", .spec = "[]" };
    o->known[1] = (struct fleet_proc){ .space = "gse", .name = "none" };
    o->known[2] = (struct fleet_proc){
        .space = "gse", .name = "p", .spec = STORED_SPEC, .labels = "{\"a\":1}"
    };
    for (size_t i = 0; i < 3; i++)
        o->procs[i] = &o->known[i];
    o->fleet.hosts[0].procs = o->procs;
    o->fleet.hosts[0].n_procs = 3;
    world_open(&o->w, &o->fleet, &o->tasks);
    *state = o;
    return 0;
}

static int teardown(void **state)
{
    struct reg_world *o = *state;

    world_close_doors(&o->w);
    world_done(&o->w);
    buf_free(&o->fleet.registered);
    buf_free(&o->tasks.asked);
    free(o);
    return 0;
}

#define ESB     "/api/c/compapi/v2/gse/"
#define GATEWAY "/api/bk-gse/prod/api/v2/proc/"
#define BACKEND "/procapi/v1/proc/procinfo"
#define META    "\"meta\":{\"namespace\":\"gse\",\"name\":\"p\",\"labels\":{\"id\":7}}"
#define IDENTITY                                                                                   \
    "\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/"                   \
    "p\",\"user\":\"root\"}"
#define CONTROL  "\"control\":{\"start_cmd\":\"./s\"}"
#define RESOURCE "\"resource\":{\"mem\":10,\"cpu\":10}"
#define POLICY   "\"monitor_policy\":{\"auto_type\":1}"
#define SPEC     "\"spec\":{" IDENTITY "," CONTROL "," RESOURCE "," POLICY "}"
#define HOST_1   "{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0,\"bk_supplier_id\":5}"
#define HOST_2   "{\"ip\":\"10.0.0.2\",\"bk_cloud_id\":1}"
#define STRANGER "{\"ip\":\"9.9.9.9\",\"bk_cloud_id\":0,\"bk_supplier_id\":0}"
#define HOSTS(h) "\"hosts\":[" h "]"
#define OK       ":{\"error_code\":0,\"error_msg\":\"success\",\"content\":\"\"}"
#define THERE    ":{\"error_code\":850,\"error_msg\":\"there\",\"content\":\"\"}"
#define UNKNOWN                                                                                    \
    ":{\"error_code\":117,\"error_msg\":\"no such host, or it has not joined\",\"content\":\"\"}"

struct ask_case {
    const char *method, *path, *body, *asked, *answer;
};

/* clang-format off */
static const struct ask_case asks[] = {
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) "," SPEC "}",
      "0 gse/p labels 1 start ./s\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },
    { "POST", ESB "register_proc_info", "{" META "," HOSTS(HOST_1 "," HOST_2 "," STRANGER) "," SPEC "}",
      "0 gse/p labels 1 start ./s\na1 0\na2 0\n- 117\n",
      "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK ",\"1:0:10.0.0.2:gse:p\"" THERE ",\"0:0:9.9.9.9:gse:p\"" UNKNOWN "}" },
    /* the supplier is echoed and not compared: one host, two keys; a duplicate is one key */
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1 ",{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0}," HOST_1) "," SPEC "}",
      "0 gse/p labels 1 start ./s\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK ",\"0:0:10.0.0.1:gse:p\"" OK "}" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," CONTROL "," RESOURCE ",\"alive_monitor_policy\":{\"auto_type\":1}}}",
      "0 gse/p labels 1 start ./s\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },
    { "POST", BACKEND, "{" META "," HOSTS(HOST_1) "," SPEC "}", "0 gse/p labels 1 start ./s\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },

    { "POST", ESB "update_proc_info/", "{" META "," HOSTS(HOST_1) "," SPEC ",\"no_request\":true}",
      "1 gse/p labels 1 start ./s\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },
    { "POST", ESB "update_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "}}",
      "1 gse/p labels 1 start \na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },
    { "POST", GATEWAY "update_proc_info", "{" META ",\"agent_id_list\":[\"a1\",\"0:10.0.0.1\",\"a2\",\"x\",\"a1\"]," HOSTS(HOST_2) "," SPEC "}",
      "1 gse/p labels 1 start ./s\na1 0\na2 0\n- 117\n",
      "\"data\":{\"a1:gse:p\"" OK ",\"0:10.0.0.1:gse:p\"" OK ",\"a2:gse:p\"" THERE ",\"x:gse:p\"" UNKNOWN "}" },
    { "PUT", BACKEND, "{" META "," HOSTS(HOST_1) "," SPEC "}", "1 gse/p labels 1 start ./s\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },

    { "POST", ESB "unregister_proc_info/", "{" META "," HOSTS(HOST_1) "}", "2 gse/p labels 1 start -\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },
    { "DELETE", BACKEND, "{" META "," HOSTS(HOST_1) "}", "2 gse/p labels 1 start -\na1 0\n", "\"data\":{\"0:5:10.0.0.1:gse:p\"" OK "}" },
};
/* clang-format on */

static void what_is_asked_of_the_fleet_is_answered_by_key(void **state)
{
    struct reg_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        world_ask(&o->w, asks[i].method, asks[i].path, DEMO_AUTH, asks[i].body);
        if (o->w.status != 200 || !strstr(o->w.body, asks[i].answer))
            fail_msg("%s %s: %s", asks[i].path, asks[i].body, o->w.body);
        assert_string_equal(buf_text(&o->fleet.registered), asks[i].asked);
    }
}

#define AUTH_OTHER                                                                                 \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"other\",\"bk_app_secret\":\"" WORLD_SECRET "\"}"    \
    "\r\n"
#define FORGET(hosts) "{\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[" hosts "]}"

/* The caller's spelling again; a wrong target does not affect another. */
static void a_process_is_forgotten_host_by_host(void **state)
{
    static const struct {
        const char *body;
        int status;
        const char *says;
    } wrong[] = {
        { FORGET(""), 400, "hosts: " },
        { "{\"namespace\":\"gse\",\"name\":\"p\"}", 400, "hosts: required" },
        { "{\"namespace\":\"gse\",\"hosts\":[\"a1\"]}", 400, "name: required" },
    };
    struct reg_world *o = *state;

    world_ask(&o->w, "POST", "/v1/processes/forget", DEMO_AUTH,
              FORGET("\"10.0.0.1\",\"1:10.0.0.2\",\"x\",\"a1\""));
    assert_int_equal(o->w.status, 200);
    assert_string_equal(buf_text(&o->fleet.registered),
                        "2 gse/p labels 0 start -\na1 0\na2 0\n- 117\n");
    assert_non_null(strstr(o->w.body, "{\"targets\":[{\"key\":\"10.0.0.1\",\"agent_id\":\"a1\","));
    assert_non_null(strstr(o->w.body, "\"code\":850,\"text\":\"there\"},{\"key\":\"x\","));
    assert_non_null(
        strstr(o->w.body, "\"code\":117,\"text\":\"no such host, or it has not joined\""));
    assert_non_null(strstr(o->w.body, "{\"key\":\"a1\",\"agent_id\":\"a1\","));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        world_ask(&o->w, "POST", "/v1/processes/forget", DEMO_AUTH, wrong[i].body);
        if (o->w.status != wrong[i].status || !strstr(o->w.body, wrong[i].says))
            fail_msg("%s: %d %s", wrong[i].body, o->w.status, o->w.body);
    }
    world_put_app(&o->w, "other", "{\"namespaces\":[\"prod\"]}");
    buf_truncate(&o->fleet.registered, 0);
    world_ask(&o->w, "POST", "/v1/processes/forget", AUTH_OTHER, FORGET("\"a1\""));
    assert_int_equal(o->w.status, 403);
    assert_string_equal(buf_text(&o->fleet.registered), "");
    err_set(&o->fleet.failure, ERR_UNAVAILABLE, "the disk is full");
    world_ask(&o->w, "POST", "/v1/processes/forget", DEMO_AUTH, FORGET("\"a1\""));
    assert_int_equal(o->w.status, 503);
}

/* clang-format off */
#define PARAM "\"code\":1000811,\"message\":\"Parameters error, "
static const struct ask_case wrong[] = {
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS("") "," SPEC "}", NULL, PARAM "hosts: " },
    { "POST", ESB "register_proc_info/", "{" META "," SPEC "}", NULL, PARAM "hosts: required\"" },
    { "POST", ESB "register_proc_info/", "{" HOSTS(HOST_1) "," SPEC "}", NULL, PARAM "meta: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) "}", NULL, PARAM "spec: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":null}", NULL, PARAM "spec: must be an object, not null\"" },
    { "POST", ESB "update_proc_info/", "{" META "," HOSTS(HOST_1) "}", NULL, PARAM "spec: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" CONTROL "," RESOURCE "," POLICY "}}", NULL, PARAM "spec.identity: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," RESOURCE "," POLICY "}}", NULL, PARAM "spec.control: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," CONTROL "," POLICY "}}", NULL, PARAM "spec.resource: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," CONTROL "," RESOURCE "}}", NULL, PARAM "spec.monitor_policy: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," CONTROL "," RESOURCE ",\"monitor_policy\":{}}}", NULL, PARAM "spec.monitor_policy.auto_type: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," CONTROL "," RESOURCE ",\"alive_monitor_policy\":{\"auto_type\":null}}}", NULL, PARAM "spec.alive_monitor_policy.auto_type: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," CONTROL ",\"resource\":{\"cpu\":1}," POLICY "}}", NULL, PARAM "spec.resource.mem: required\"" },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" IDENTITY "," CONTROL ",\"resource\":{\"cpu\":101,\"mem\":1}," POLICY "}}", NULL, PARAM "spec.resource.cpu: " },
    { "POST", ESB "register_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{\"identity\":{\"proc_name\":\"\"}," CONTROL "," RESOURCE "," POLICY "}}", NULL, PARAM "spec.identity.proc_name: " },
    { "POST", ESB "update_proc_info/", "{" META "," SPEC "}", NULL, PARAM "hosts: required, or agent_id_list\"" },
    { "POST", ESB "update_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{" CONTROL "}}", NULL, PARAM "spec.identity: required\"" },
    { "POST", ESB "update_proc_info/", "{" META "," HOSTS(HOST_1) ",\"spec\":{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a\"}}}", NULL, PARAM "spec.identity.user: required\"" },
    { "POST", ESB "unregister_proc_info/", "{" META ",\"hosts\":[]}", NULL, PARAM "hosts: " },
    { "POST", ESB "operate_proc/", "{" META ",\"op_type\":0}", NULL, PARAM "hosts: required\"" },
    { "POST", ESB "operate_proc/", "{" META ",\"op_type\":\"x\"," HOSTS(HOST_1) "}", NULL, PARAM "op_type: must be an integer" },
};
/* clang-format on */

static void what_is_wrong_is_named_by_its_path_and_nothing_is_asked(void **state)
{
    struct reg_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        world_ask(&o->w, wrong[i].method, wrong[i].path, DEMO_AUTH, wrong[i].body);
        if (o->w.status != 200 || !strstr(o->w.body, wrong[i].answer))
            fail_msg("%s %s: %s", wrong[i].path, wrong[i].body, o->w.body);
        assert_non_null(strstr(o->w.body, "\"data\":null"));
        assert_int_equal(o->fleet.registered.len, 0);
        assert_int_equal(o->tasks.n_asks, 0);
    }
}

static void a_failure_of_the_store_is_one_of_the_whole(void **state)
{
    struct reg_world *o = *state;

    err_set(&o->fleet.failure, ERR_UNAVAILABLE, "the store is busy");
    world_ask(&o->w, "POST", ESB "register_proc_info/", DEMO_AUTH, asks[0].body);
    assert_non_null(strstr(o->w.body, "\"result\":false"));
    assert_non_null(strstr(o->w.body, "\"data\":null"));
}

static void an_app_registers_only_what_it_may(void **state)
{
    static const struct {
        const char *permissions, *path, *body, *answer;
    } cases[] = {
        { "{\"namespaces\":[\"other\"]}", ESB "register_proc_info/",
          "{" META "," HOSTS(HOST_1) "," SPEC "}",
          "meta.namespace: the app may not use namespace gse" },
        { "{\"businesses\":[3]}", ESB "unregister_proc_info/",
          "{" META "," HOSTS(HOST_1 "," HOST_2) "}",
          "\"0:5:10.0.0.1:gse:p\":{\"error_code\":117,\"error_msg\":\"no such host, or it has not "
          "joined" },
        { "{\"operations\":[\"stop\"]}", ESB "update_proc_info/",
          "{" META "," HOSTS(HOST_1) "," SPEC "}", "app few2 may not host; it may: stop\"" },
        { "{\"operations\":[\"stop\"]}", ESB "operate_proc/", "{" META "," HOSTS(HOST_1) "}",
          "\"app few3 may not start; it may: stop\"" },
        { "{\"businesses\":[3]}", ESB "operate_proc/", "{" META "," HOSTS(HOST_1) "}", "task_id" },
        { "{\"businesses\":[3]}", "/v1/processes/forget", FORGET("\"a1\""),
          "{\"key\":\"a1\",\"agent_id\":\"\",\"cloud_id\":0,\"ip\":\"\",\"online\":false,\"code\":"
          "117," },
        { "{\"operations\":[\"stop\"]}", "/v1/processes/forget", FORGET("\"a1\""),
          "app few6 may not unhost; it may: stop" },
    };
    struct reg_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char code[16], auth[256];

        snprintf(code, sizeof(code), "few%zu", i);
        world_put_app(&o->w, code, cases[i].permissions);
        snprintf(auth, sizeof(auth),
                 "X-Bkapi-Authorization: {\"bk_app_code\":\"%s\",\"bk_app_secret\":\"" WORLD_SECRET
                 "\"}\r\n",
                 code);
        world_ask(&o->w, "POST", cases[i].path, auth, cases[i].body);
        if (!strstr(o->w.body, cases[i].answer))
            fail_msg("%s: %s", cases[i].body, o->w.body);
    }
    assert_non_null(
        strstr(buf_text(&o->tasks.asked), "code 117 no such host, or it has not joined"));
}

/* ---- operate_proc */

#define HEAD "app demo user tom form 1\n"

/* clang-format off */
static const struct ask_case operations[] = {
    { "POST", ESB "operate_proc/", "{" META ",\"op_type\":1," HOSTS(HOST_1) "}",
      HEAD "0:5:10.0.0.1:gse:p op 1 on a1 of gse/p labels 1 user root code 0\n", "task_id" },
    /* without an operation it is a start; the spec is ignored, even if it is wrong */
    { "POST", ESB "operate_proc/", "{" META "," HOSTS(HOST_1) ",\"spec\":{\"identity\":7}}",
      HEAD "0:5:10.0.0.1:gse:p op 0 on a1 of gse/p labels 1 user root code 0\n", "task_id" },
    { "POST", "/procapi/v1/proc/operate", "{" META ",\"op_type\":7," HOSTS(HOST_1 "," HOST_2 "," STRANGER) "}",
      HEAD "0:5:10.0.0.1:gse:p op 7 on a1 of gse/p labels 1 user root code 0\n"
      "1:0:10.0.0.2:gse:p op 7 on a2 of gse/p labels 0 user - code 801 process info not registered\n"
      "0:0:9.9.9.9:gse:p op 7 on - of gse/p labels 0 user - code 117 no such host, or it has not joined\n", "task_id" },
    { "POST", ESB "operate_proc/", "{\"meta\":{\"namespace\":\"gse\",\"name\":\"none\"},\"op_type\":2," HOSTS(HOST_1) "}",
      HEAD "0:5:10.0.0.1:gse:none op 2 on a1 of gse/none labels 0 user - code 801 process info not registered\n", "task_id" },
    { "POST", ESB "operate_proc/", "{\"meta\":{\"namespace\":\"gse\",\"name\":\"none\"},\"op_type\":4," HOSTS(HOST_1) "}",
      HEAD "0:5:10.0.0.1:gse:none op 4 on a1 of gse/none labels 0 user - code 801 process info not registered\n", "task_id" },
    { "POST", ESB "operate_proc/", "{" META ",\"op_type\":5," HOSTS(HOST_1) "}",
      HEAD "0:5:10.0.0.1:gse:p op 5 on a1 of gse/p labels 1 user root code 832 op_type 5: no such operation\n", "task_id" },
    { "POST", ESB "operate_proc/", "{\"meta\":{\"namespace\":\"gse\",\"name\":\"bad\"},\"op_type\":1," HOSTS(HOST_1) "}",
      HEAD "0:5:10.0.0.1:gse:bad op 1 on a1 of gse/bad labels 0 user - code 101 what the host runs it by: ", "task_id" },
};
/* clang-format on */

static void what_is_registered_is_operated_by_what_is_known(void **state)
{
    struct reg_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        const struct ask_case *op = &operations[i];

        world_ask(&o->w, op->method, op->path, DEMO_AUTH, op->body);
        if (!strstr(o->w.body, op->answer))
            fail_msg("%s: %s", op->body, o->w.body);
        if (strncmp(buf_text(&o->tasks.asked), op->asked, strlen(op->asked)) != 0)
            fail_msg("%s: %s", op->body, buf_text(&o->tasks.asked));
    }
}

/* With as many suppliers, which are echoed and not compared.  A copy of all names for each would
 * take 5 GB. */
static void a_host_named_in_many_ways_is_one_target(void **state)
{
    enum { NAMES = 20000 };
    struct reg_world *o = *state;
    struct buf body = { 0 }, last = { 0 };

    buf_puts(&body, "{" META ",\"op_type\":0,\"hosts\":[");
    for (int i = 0; i < NAMES; i++)
        buf_printf(&body, "%s{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0,\"bk_supplier_id\":%d}",
                   i ? "," : "", i);
    buf_puts(&body, "]}");
    world_ask(&o->w, "POST", ESB "operate_proc/", DEMO_AUTH, buf_text(&body));
    assert_int_equal(o->tasks.n_last, 1);
    assert_non_null(strstr(buf_text(&o->tasks.asked), "0:0:10.0.0.1:gse:p+0:1:10.0.0.1:gse:p+"));
    buf_printf(&last, "+0:%d:10.0.0.1:gse:p op 0 on a1", NAMES - 1);
    assert_non_null(strstr(buf_text(&o->tasks.asked), buf_text(&last)));
    buf_free(&body);
    buf_free(&last);
}

/* ---- upgrade_to_agent_id */

static void hosts_with_a_matching_id_are_upgraded(void **state)
{
    struct reg_world *o = *state;

    world_ask(&o->w, "POST", GATEWAY "upgrade_to_agent_id/", DEMO_AUTH,
              "{\"hosts\":[{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0,\"bk_agent_id\":\"a1\"},"
              "{\"ip\":\"10.0.0.2\",\"bk_cloud_id\":1,\"bk_agent_id\":\"a1\"},"
              "{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0,\"bk_agent_id\":\"a1\"},"
              "{\"ip\":\"9.9.9.9\",\"bk_cloud_id\":0,\"bk_agent_id\":\"a9\"},"
              "{\"ip\":\"\",\"bk_cloud_id\":0,\"bk_agent_id\":\"a1\"},"
              "{\"ip\":\"8.8.8.8\\t\",\"bk_cloud_id\":0,\"bk_agent_id\":\"\\n\"}]}");
    assert_non_null(strstr(o->w.body, "\"data\":{\"success\":[\"0:10.0.0.1\"],\"failed\":["
                                      "\"1:10.0.0.2\",\"0:9.9.9.9\",\"0:\",\"0:8.8.8.8\\t\"]}"));
    world_ask(&o->w, "POST", GATEWAY "upgrade_to_agent_id", DEMO_AUTH, "{\"hosts\":[]}");
    assert_non_null(strstr(o->w.body, PARAM "hosts: "));
}

#define REG_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REG_TEST(what_is_asked_of_the_fleet_is_answered_by_key),
        REG_TEST(a_process_is_forgotten_host_by_host),
        REG_TEST(what_is_wrong_is_named_by_its_path_and_nothing_is_asked),
        REG_TEST(a_failure_of_the_store_is_one_of_the_whole),
        REG_TEST(an_app_registers_only_what_it_may),
        REG_TEST(what_is_registered_is_operated_by_what_is_known),
        REG_TEST(a_host_named_in_many_ways_is_one_target),
        REG_TEST(hosts_with_a_matching_id_are_upgraded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
