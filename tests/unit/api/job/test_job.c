/* SPDX-License-Identifier: MIT */
/* Promises of api/job/job.c, api/pipeline/job_scope.h and api/job/job_result.c: the request to the
 * tasks, what is refused before it, and how results are shown. */
#include <jansson.h>

#include "model/job.h"
#include "model/proc.h"
#include "model/rules.h"
#include "server/fleet/scopes.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct job_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
    struct fleet_proc known[4];
    const struct fleet_proc *procs[4];
};

static const int64_t both[] = { 1, 2 };

static void put_procs(struct job_world *o)
{
    static const char *const names[][2] = {
        { "gse", "/x/web" },
        { "job.biz.1", "/a/web" },
        { "job.biz.1", "/b/db" },
        { "job.biz.1", "/c/db" },
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        o->known[i] = (struct fleet_proc){ .space = names[i][0], .name = names[i][1] };
        o->procs[i] = &o->known[i];
    }
    o->fleet.hosts[0].procs = o->procs;
    o->fleet.hosts[0].n_procs = ARRAY_LEN(names);
}

static int setup(void **state)
{
    struct job_world *o = xalloc(sizeof(*o));

    world_init(&o->w);
    o->fleet.hosts[0] = (struct fleet_host){ .agent_id = "a1", .ip = "10.0.0.1", .biz_id = 1 };
    o->fleet.hosts[1] = (struct fleet_host){ .agent_id = "a2", .ip = "10.0.0.2", .biz_id = 2 };
    o->fleet.hosts[2] = (struct fleet_host){ .agent_id = "a3", .ip = "10.0.0.3", .biz_id = 3 };
    o->fleet.n = 3;
    put_procs(o);
    o->tasks.info = (struct task_info){ .app = "demo", .items = o->tasks.items };
    world_open(&o->w, &o->fleet, &o->tasks);
    scopes_put(o->w.scopes, SCOPE_BIZ_SET, &(struct scope){ 8000001, "both", both, 2 });
    *state = o;
    return 0;
}

static int teardown(void **state)
{
    struct job_world *o = *state;

    world_close_doors(&o->w);
    world_done(&o->w);
    buf_free(&o->tasks.asked);
    free(o);
    return 0;
}

#define JOB    "/api/c/compapi/v2/job/"
#define JOBV3  "/api/c/compapi/v2/jobv3/"
#define MANAGE JOB "manage_proc/"
#define BIZ_1  "\"bk_biz_id\":1"
#define SET_1  "\"bk_scope_type\":\"biz_set\",\"bk_scope_id\":\"8000001\""
#define HOST_1 "{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0}"
#define HOST_2 "{\"ip\":\"10.0.0.2\",\"bk_cloud_id\":0}"
#define HOST_3 "{\"ip\":\"10.0.0.3\",\"bk_cloud_id\":0}"
#define PATHS  "\"setup_path\":\"/a/\",\"proc_name\":\"web\",\"pid_path\":\"/a/web.pid\""
#define BODY(scope, op, info, hosts)                                                               \
    "{" scope ",\"op_type\":" op ",\"process_infos\":[{" info ",\"ip_list\":[" hosts "]}]}"
#define HEAD "app demo user tom form 2\n"
#define LINE(name, host, op, agent)                                                                \
    name ":0:" host " op " op " on " agent " of job.biz.1/" name " labels 0 user root code "

struct job_case {
    const char *path, *body, *says;
};

/* clang-format off */
static const struct job_case asks[] = {
    /* manage_proc has numbers of its own */
    { MANAGE, BODY(BIZ_1, "1", PATHS, HOST_1), HEAD LINE("/a/web", "10.0.0.1", "3", "a1") "0\n" },
    { JOBV3 "manage_proc", BODY(BIZ_1, "2", PATHS, HOST_1), HEAD LINE("/a/web", "10.0.0.1", "4", "a1") "0\n" },
    { JOB "manage_process/", BODY(BIZ_1, "2", PATHS, HOST_1), HEAD LINE("/a/web", "10.0.0.1", "4", "a1") "0\n" },
    { JOBV3 "operate_process/", BODY(BIZ_1, "1", PATHS, HOST_1), HEAD LINE("/a/web", "10.0.0.1", "1", "a1") "0\n" },
    { JOB "operate_process/", BODY(BIZ_1, "9", PATHS, HOST_1), HEAD LINE("/a/web", "10.0.0.1", "9", "a1") "0\n" },
    { JOB "operate_proc/", BODY(BIZ_1, "0", PATHS, HOST_1), HEAD LINE("/a/web", "10.0.0.1", "0", "a1") "0\n" },
    /* the name, and with it the key */
    { MANAGE, BODY(BIZ_1, "1", PATHS ",\"value_key\":\"k:1\"", HOST_1), HEAD LINE("k:1", "10.0.0.1", "3", "a1") "0\n" },
    { MANAGE, BODY(BIZ_1, "1", PATHS ",\"value_key\":\" \"", HOST_1), HEAD LINE("/a/web", "10.0.0.1", "3", "a1") "0\n" },
    { MANAGE, BODY(BIZ_1, "2", "\"value_key\":\"k\"", HOST_1), HEAD LINE("k", "10.0.0.1", "4", "a1") "0\n" },
    { JOB "operate_process/", BODY(BIZ_1, "4", "\"value_key\":\"k\"", HOST_1), HEAD LINE("k", "10.0.0.1", "4", "a1") "0\n" },
    /* by its name alone: the process of this name there; the key is as the caller would build it */
    { MANAGE, BODY(BIZ_1, "2", "\"proc_name\":\"web\"", HOST_1),
      HEAD "/web:0:10.0.0.1 op 4 on a1 of job.biz.1//a/web labels 0 user root code 0\n" },
    { MANAGE, BODY(BIZ_1, "2", "\"proc_name\":\"eb\"", HOST_1), HEAD LINE("/eb", "10.0.0.1", "4", "a1") "0\n" },
    { MANAGE, BODY(BIZ_1, "2", "\"proc_name\":\"db\"", HOST_1),
      HEAD "/db:0:10.0.0.1 op 4 on a1 of job.biz.1//b/db labels 0 user root code 811 several are called db here: /b/db, /c/db; "
      "send setup_path too\n" },
    /* the documents have setup_path and pid_path as optional */
    { MANAGE, BODY(BIZ_1, "1", "\"proc_name\":\"web\"", HOST_1), HEAD LINE("/web", "10.0.0.1", "3", "a1") "0\n" },
    { JOBV3 "manage_proc", BODY(BIZ_1, "1", "\"proc_name\":\"web\",\"setup_path\":\"\",\"pid_path\":null", HOST_1),
      HEAD LINE("/web", "10.0.0.1", "3", "a1") "0\n" },
    { MANAGE, BODY(BIZ_1, "1", "\"proc_name\":\"web\",\"value_key\":\"k\"", HOST_1), HEAD LINE("k", "10.0.0.1", "3", "a1") "0\n" },
    { MANAGE, BODY(BIZ_1, "1", "\"proc_name\":\"web\",\"setup_path\":\"/a\"", HOST_1), HEAD LINE("/a/web", "10.0.0.1", "3", "a1") "0\n" },
    { JOB "operate_process", BODY(BIZ_1, "0", "\"proc_name\":\"web\",\"pid_path\":\"/a/p\"", HOST_1),
      HEAD LINE("/web", "10.0.0.1", "0", "a1") "0\n" },
    { JOBV3 "operate_process", BODY(BIZ_1, "2", "\"proc_name\":\"web\"", HOST_1), HEAD LINE("/web", "10.0.0.1", "2", "a1") "0\n" },
    /* the scope: only its hosts */
    { MANAGE, BODY(BIZ_1, "1", PATHS, HOST_1 "," HOST_2 "," HOST_1),
      HEAD LINE("/a/web", "10.0.0.1", "3", "a1") "0\n" LINE("/a/web", "10.0.0.2", "3", "a2") "823 the host is not in business 1\n" },
    { MANAGE, BODY(BIZ_1, "1", PATHS, "{\"ip\":\"9.9.9.9\",\"bk_cloud_id\":0}"),
      HEAD LINE("/a/web", "9.9.9.9", "3", "-") "117 no such host, or it has not joined\n" },
    { MANAGE, BODY("\"bk_scope_type\":\"biz\",\"bk_scope_id\":\"1\",\"bk_biz_id\":7", "1", PATHS, HOST_1),
      HEAD LINE("/a/web", "10.0.0.1", "3", "a1") "0\n" },
    { MANAGE, BODY(SET_1, "1", PATHS, HOST_2 "," HOST_3),
      HEAD "/a/web:0:10.0.0.2 op 3 on a2 of job.biz_set.8000001//a/web labels 0 user root code 0\n"
      "/a/web:0:10.0.0.3 op 3 on a3 of job.biz_set.8000001//a/web labels 0 user root code 823 the host is not in business set 8000001\n" },
    { MANAGE, BODY("\"bk_biz_id\":8000001", "1", PATHS, HOST_2),
      HEAD "/a/web:0:10.0.0.2 op 3 on a2 of job.biz_set.8000001//a/web labels 0 user root code 0\n" },
    /* scripts that our agents can not run */
    { JOB "operate_proc/", BODY(BIZ_1, "0", PATHS ",\"cmd_shell_ext\":\"bat\"", HOST_1),
      HEAD LINE("/a/web", "10.0.0.1", "0", "a1") "827 cmd_shell_ext bat: this host runs none but sh\n" },
    { JOB "operate_proc/", BODY(BIZ_1, "1", PATHS ",\"cmd_shell_ext\":\"sh\"", HOST_1), HEAD LINE("/a/web", "10.0.0.1", "1", "a1") "0\n" },
    /* several processes, in their order */
    { MANAGE, "{" BIZ_1 ",\"op_type\":1,\"process_infos\":[{" PATHS ",\"ip_list\":[" HOST_1 "]},{" PATHS
      ",\"value_key\":\"k\",\"ip_list\":[" HOST_1 "]}]}",
      HEAD LINE("/a/web", "10.0.0.1", "3", "a1") "0\n" LINE("k", "10.0.0.1", "3", "a1") "0\n" },
    /* unknown fields and null are ignored */
    { MANAGE, BODY(BIZ_1 ",\"bk_scope_type\":null,\"bk_supplier_account\":\"0\"", "1", PATHS ",\"account\":null,\"x\":{}", HOST_1),
      HEAD LINE("/a/web", "10.0.0.1", "3", "a1") "0\n" },
};
/* clang-format on */

static void what_is_asked_is_what_was_sent(void **state)
{
    struct job_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        world_ask(&o->w, "POST", asks[i].path, DEMO_AUTH, asks[i].body);
        if (!strstr(o->w.body, "{\"result\":true,\"code\":0,\"message\":\"\",\"data\":{"
                               "\"bk_gse_taskid\":\"GSETASK:S:1:1\"},\"permission\":null,"))
            fail_msg("%s: %s", asks[i].body, o->w.body);
        assert_string_equal(buf_text(&o->tasks.asked), asks[i].says);
        assert_int_equal(o->tasks.n_asks, i + 1);
    }
}

/* clang-format off */
#define WRONG "{\"result\":false,\"code\":1241002,\"message\":\"Invalid request parameters: "
#define ONE_OF_OPS "op_type: must be 0, 1, 2, 3, 4, 7, 8 or 9, is "
static const struct job_case wrong[] = {
    { MANAGE, BODY(BIZ_1, "0", PATHS, HOST_1), WRONG "op_type: must be an integer from 1 to 2" },
    { MANAGE, BODY(BIZ_1, "3", PATHS, HOST_1), WRONG "op_type: must be an integer from 1 to 2" },
    { JOB "operate_process", BODY(BIZ_1, "5", PATHS, HOST_1), WRONG ONE_OF_OPS "5\"" },
    { JOB "operate_proc", BODY(BIZ_1, "6", PATHS, HOST_1), WRONG ONE_OF_OPS "6\"" },
    { JOB "operate_process", BODY(BIZ_1, "32", PATHS, HOST_1), WRONG ONE_OF_OPS "32\"" },
    { JOB "operate_proc", BODY(BIZ_1, "32", PATHS, HOST_1), WRONG ONE_OF_OPS "32\"" },
    /* the scope */
    { MANAGE, BODY("\"x\":1", "1", PATHS, HOST_1), WRONG "bk_scope_type: required with bk_scope_id, or else bk_biz_id\"" },
    { MANAGE, BODY("\"bk_biz_id\":0", "1", PATHS, HOST_1), WRONG "bk_scope_type: required" },
    { MANAGE, BODY("\"bk_biz_id\":-1", "1", PATHS, HOST_1), WRONG "bk_biz_id: must be 1 or more, is -1\"" },
    { MANAGE, BODY("\"bk_biz_id\":\"x\"", "1", PATHS, HOST_1), WRONG "bk_biz_id: must be an integer" },
    { MANAGE, BODY("\"bk_scope_type\":\"biz\"," BIZ_1, "1", PATHS, HOST_1), WRONG "bk_scope_id: required with bk_scope_type\"" },
    { MANAGE, BODY("\"bk_scope_type\":\"biz\",\"bk_scope_id\":\" \"", "1", PATHS, HOST_1), WRONG "bk_scope_id: required" },
    { MANAGE, BODY("\"bk_scope_id\":\"1\"," BIZ_1, "1", PATHS, HOST_1), WRONG "bk_scope_type: required with bk_scope_id: `biz` or `biz_set`\"" },
    { MANAGE, BODY("\"bk_scope_type\":\"set\",\"bk_scope_id\":\"1\"", "1", PATHS, HOST_1), WRONG "bk_scope_type: must be `biz` or `biz_set`\"" },
    { MANAGE, BODY("\"bk_scope_type\":\"biz\",\"bk_scope_id\":\"1x\"", "1", PATHS, HOST_1), WRONG "bk_scope_id: must be the number of a business, is '1x'\"" },
    { MANAGE, BODY("\"bk_scope_type\":\"biz\",\"bk_scope_id\":\"1234567890123456789\"", "1", PATHS, HOST_1), WRONG "bk_scope_id: must be the number" },
    /* a scope that does not exist */
    { MANAGE, BODY("\"bk_biz_id\":7", "1", PATHS, HOST_1), "\"code\":1243049,\"message\":\"bk_biz_id: business 7 does not exist\"" },
    { MANAGE, BODY("\"bk_scope_type\":\"biz\",\"bk_scope_id\":\"7\"", "1", PATHS, HOST_1), "\"code\":1243049,\"message\":\"bk_scope_id: business 7 " },
    { MANAGE, BODY("\"bk_biz_id\":9999999", "1", PATHS, HOST_1), "\"code\":1243051,\"message\":\"bk_biz_id: business set 9999999 does not exist\"" },
    { JOB "get_proc_result", "{\"bk_biz_id\":7,\"bk_gse_taskid\":\"x\"}", "\"code\":1243049," },
    /* what an operation needs */
    { MANAGE, BODY(BIZ_1, "1", "\"proc_name\":\" \"", HOST_1), WRONG "process_infos[0].proc_name: required\"" },
    { MANAGE, BODY(BIZ_1, "1", "\"proc_name\":\"//\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\"", HOST_1),
      WRONG "process_infos[0].proc_name: required\"" },
    { MANAGE, BODY(BIZ_1, "2", "\"proc_name\":\"/\"", HOST_1), WRONG "process_infos[0].proc_name: required, or value_key\"" },
    { MANAGE, BODY(BIZ_1, "1", "\"setup_path\":\"/a\",\"value_key\":\"k\"", HOST_1), WRONG "process_infos[0].proc_name: required\"" },
    { JOB "operate_proc", BODY(BIZ_1, "0", "\"proc_name\":\"p\",\"setup_path\":\"/a\"", HOST_1), WRONG "process_infos[0].pid_path: required\"" },
    { JOB "operate_proc", BODY(BIZ_1, "0", "\"proc_name\":\"p\"", HOST_1), WRONG "process_infos[0].setup_path: required\"" },
    { MANAGE, BODY(BIZ_1, "2", "\"setup_path\":\"/a\"", HOST_1), WRONG "process_infos[0].proc_name: required, or value_key\"" },
    { MANAGE, "{" BIZ_1 ",\"op_type\":1,\"process_infos\":[{" PATHS ",\"ip_list\":[" HOST_1 "]},{" PATHS "}]}",
      WRONG "process_infos[1].ip_list: required\"" },
    { MANAGE, BODY(BIZ_1, "1", PATHS, "{\"ip\":\"\",\"bk_cloud_id\":0}"), WRONG "process_infos[0].ip_list[0].ip: must not be empty\"" },
    { JOB "get_proc_result", "{" BIZ_1 "}", WRONG "bk_gse_taskid: required\"" },
    { JOB "get_proc_result", "{" BIZ_1 ",\"bk_gse_taskid\":\" \"}", WRONG "bk_gse_taskid: must not be blank\"" },
    { JOB "get_proc_result", "{\"bk_gse_taskid\":\"x\"}", WRONG "bk_scope_type: required" },
    { JOB "get_proc_result", "{" BIZ_1 ",\"bk_gse_taskid\":\"x\"}", "\"code\":1000806," },
};
/* clang-format on */

static void what_is_wrong_is_named_and_nothing_is_asked(void **state)
{
    struct job_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        world_ask(&o->w, "POST", wrong[i].path, DEMO_AUTH, wrong[i].body);
        if (o->w.status != 200 || !strstr(o->w.body, wrong[i].says))
            fail_msg("%s: %s", wrong[i].body, o->w.body);
        assert_non_null(strstr(o->w.body, "\"data\":null,\"permission\":null,\"job_request_id\":"));
        assert_int_equal(o->tasks.n_asks, 0);
    }
}

static void a_missing_scope_is_reported_in_chinese(void **state)
{
    struct job_world *o = *state;

    world_ask(&o->w, "POST", MANAGE, DEMO_AUTH "Blueking-Language: zh-hans\r\n",
              BODY("\"bk_biz_id\":7", "1", PATHS, HOST_1));
    assert_non_null(strstr(o->w.body, "\"code\":1243049,\"message\":\"bk_biz_id：业务 7 不存在\""));
    world_ask(&o->w, "POST", MANAGE, DEMO_AUTH "Blueking-Language: zh-hans\r\n",
              BODY("\"bk_biz_id\":9999999", "1", PATHS, HOST_1));
    assert_non_null(
        strstr(o->w.body, "\"code\":1243051,\"message\":\"bk_biz_id：业务集 9999999 不存在\""));
}

static void an_unknown_op_type_is_refused_in_chinese(void **state)
{
    struct job_world *o = *state;

    world_ask(&o->w, "POST", JOB "operate_process", DEMO_AUTH "Blueking-Language: zh-hans\r\n",
              BODY(BIZ_1, "5", PATHS, HOST_1));
    assert_non_null(strstr(o->w.body, "op_type：必须是 0、1、2、3、4、7、8 或 9，实际为 5\""));
}

static void a_name_that_is_too_long_asks_for_a_key(void **state)
{
    struct job_world *o = *state;
    char path[NAME_MAX_BYTES + 1], body[1024];

    memset(path, 'x', NAME_MAX_BYTES);
    path[0] = '/';
    path[NAME_MAX_BYTES] = '\0';
    for (int has_key = 0; has_key < 2; has_key++) {
        snprintf(body, sizeof(body),
                 BODY(BIZ_1, "1", "\"setup_path\":\"%s\",\"proc_name\":\"p\",\"pid_path\":\"/p\"%s",
                      HOST_1),
                 path, has_key ? ",\"value_key\":\"k\"" : "");
        world_ask(&o->w, "POST", MANAGE, DEMO_AUTH, body);
        assert_non_null(strstr(o->w.body, has_key ? "\"result\":true"
                                                  : "process_infos[0].setup_path: with proc_name "
                                                    "it makes a name of 258 bytes, 256 at most; "
                                                    "give it a value_key"));
    }
}

/* Counted over all its processes. */
static void fifty_thousand_targets_are_the_most(void **state)
{
    struct job_world *o = *state;

    for (int more = 0; more < 2; more++) {
        struct buf body = { 0 };

        buf_puts(&body, "{" BIZ_1 ",\"op_type\":2,\"process_infos\":[");
        for (int half = 0; half < 2; half++) {
            buf_printf(&body, "%s{\"value_key\":\"k%d\",\"ip_list\":[" HOST_1, half ? "," : "",
                       half);
            for (int i = 1; i < TARGETS_MAX / 2 + (more && half); i++)
                buf_printf(&body, ",{\"ip\":\"10.1.%d.%d\",\"bk_cloud_id\":0}", i / 256, i % 256);
            buf_puts(&body, "]}");
        }
        buf_puts(&body, "]}");
        world_ask(&o->w, "POST", MANAGE, DEMO_AUTH, buf_text(&body));
        buf_free(&body);
        assert_int_equal(strstr(o->w.body, "\"result\":true") != NULL, !more);
    }
    assert_non_null(strstr(o->w.body, "process_infos: 50001 targets in all, 50000 at most"));
    assert_int_equal(o->tasks.n_last, TARGETS_MAX);
    assert_int_equal(o->tasks.n_asks, 1);
}

/* ---- permission for the scope */

#define LIMITED                                                                                    \
    "X-Bkapi-Authorization: "                                                                      \
    "{\"bk_app_code\":\"%s\",\"bk_app_secret\":\"" WORLD_SECRET "\",\"bk_username\":\"tom\"}\r\n"

/* clang-format off */
static const struct { const char *permissions, *scope; bool may; const char *action; } scopes_of[] = {
    { "{\"businesses\":[1]}", BIZ_1, true },
    { "{\"businesses\":[1]}", "\"bk_biz_id\":2", false, "business" },
    { "{\"businesses\":[1]}", "\"bk_biz_id\":77", false }, /* does not tell whether it exists */
    { "{\"businesses\":[1]}", SET_1, false, "business_set" },
    { "{\"business_sets\":[8000001]}", SET_1, true },
    { "{\"business_sets\":[8000001]}", BIZ_1, true },
    { "{\"business_sets\":[8000001]}", "\"bk_biz_id\":3", false },
    { "{\"business_sets\":[8000002]}", SET_1, false },
    { "{\"namespaces\":[\"job.biz.1\"]}", BIZ_1, true },
    { "{\"namespaces\":[\"job.biz.1\"]}", "\"bk_biz_id\":2", false },
    { "{\"namespaces\":[\"job.biz.1\"]}", SET_1, false },
    { "{\"namespaces\":[\"gse\"]}", BIZ_1, false, "namespace" },
    { "{\"operations\":[\"start\"]}", BIZ_1, false, "unhost" },
    { "{\"namespaces\":[\"job.biz.1\"],\"businesses\":[2]}", BIZ_1, false },
};
/* clang-format on */

static void an_app_uses_its_own_scopes(void **state)
{
    struct job_world *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(scopes_of); i++) {
        char code[16], auth[256], body[512];

        snprintf(code, sizeof(code), "app%zu", i);
        snprintf(auth, sizeof(auth), LIMITED, code);
        snprintf(body, sizeof(body), BODY("%s", "2", PATHS, HOST_1), scopes_of[i].scope);
        world_put_app(&o->w, code, scopes_of[i].permissions);
        o->tasks.n_asks = 0;
        world_ask(&o->w, "POST", MANAGE, auth, body);
        if (!strstr(o->w.body, scopes_of[i].may ? "\"result\":true" : "\"code\":9900403,"))
            fail_msg("%s %s: %s", scopes_of[i].permissions, scopes_of[i].scope, o->w.body);
        assert_int_equal(o->tasks.n_asks, scopes_of[i].may);
        if (!scopes_of[i].may)
            assert_non_null(strstr(o->w.body, "\"permission\":{\"system_id\":"));
        snprintf(body, sizeof(body), "\"actions\":[{\"id\":\"%s\",",
                 scopes_of[i].action ? scopes_of[i].action : "");
        if (scopes_of[i].action && !strstr(o->w.body, body))
            fail_msg("%s: %s", body, o->w.body);
    }
}

/* Results can not be read with the scope of another app either. */
static void a_result_needs_a_scope_too(void **state)
{
    struct job_world *o = *state;
    char auth[256];

    snprintf(auth, sizeof(auth), LIMITED, "limited");
    world_put_app(&o->w, "limited", "{\"businesses\":[1]}");
    o->tasks.info.id = "GSETASK:S:1:1";
    world_ask(&o->w, "POST", JOB "get_proc_result", auth,
              "{\"bk_biz_id\":2,\"bk_gse_taskid\":\"GSETASK:S:1:1\"}");
    assert_non_null(strstr(o->w.body, "\"code\":9900403,"));
    assert_non_null(strstr(o->w.body, "\"actions\":[{\"id\":\"business\","));
    world_ask(&o->w, "POST", JOB "get_proc_result", auth,
              "{\"bk_biz_id\":1,\"bk_gse_taskid\":\"GSETASK:S:1:1\"}"); /* another app's */
    assert_non_null(strstr(o->w.body, "\"code\":1000806,"));
}

static void tasks_that_fail_are_gse_that_is_down(void **state)
{
    struct job_world *o = *state;

    err_set(&o->tasks.failure, ERR_UNAVAILABLE, "the disk is full");
    world_ask(&o->w, "POST", MANAGE, DEMO_AUTH, BODY(BIZ_1, "1", PATHS, HOST_1));
    assert_non_null(strstr(o->w.body, "\"code\":1210001,"));
    assert_null(strstr(o->w.body, "disk"));
}

/* ---- results */

static void put(struct job_world *o, const char *key, int64_t op, int64_t code)
{
    o->tasks.items[o->tasks.info.n++] = (struct task_item){
        .agent = "a1",
        .key = key,
        .op = op,
        .space = "job.biz.1",
        .name = "/a/web",
        .code = code,
        .text = "",
        .setup_path = "/a/",
        .proc_name = "web",
        .func_id = "f7",
        .instance_id = "i8",
        .view.hosted = true,
    };
}

static json_t *ask_result(struct job_world *o, const char *method, const char *path,
                          const char *body)
{
    json_t *json =
        json_loads(world_ask(&o->w, method, path, DEMO_AUTH, body), JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(json);
    assert_true(json_is_true(json_object_get(json, "result")));
    return json;
}

#define ID     "GSETASK:S:1:1"
#define ASK_ID "{" BIZ_1 ",\"bk_gse_taskid\":\"" ID "\"}"

static void content_is_an_object_and_115_while_any_waits(void **state)
{
    struct job_world *o = *state;
    json_t *json, *data, *done, *waits, *value;

    o->tasks.info.id = ID;
    o->tasks.info.form = TASK_FORM_JOB;
    put(o, "/a/web:0:10.0.0.1", PROC_OP_HOST, CODE_OK);
    put(o, "/a/web:0:10.0.0.2", PROC_OP_HOST, CODE_WAITING);
    json = ask_result(o, "POST", JOB "get_proc_result/", ASK_ID);
    data = json_object_get(json, "data");
    assert_int_equal(json_object_size(data), 2);
    assert_int_equal(json_integer_value(json_object_get(data, "status")), 115);
    assert_int_equal(json_object_size(json_object_get(data, "result")), 2);
    done = json_object_get(json_object_get(data, "result"), "/a/web:0:10.0.0.1");
    value = json_array_get(json_object_get(json_object_get(done, "content"), "value"), 0);
    assert_string_equal(json_string_value(json_object_get(value, "procName")), "web");
    assert_string_equal(json_string_value(json_object_get(value, "funcID")), "f7");
    assert_string_equal(json_string_value(json_object_get(value, "instanceID")), "i8");
    assert_true(json_is_true(json_object_get(value, "isAuto")));
    waits = json_object_get(json_object_get(data, "result"), "/a/web:0:10.0.0.2");
    assert_int_equal(json_integer_value(json_object_get(waits, "error_code")), 115);
    assert_string_equal(json_string_value(json_object_get(waits, "content")), "");
    json_decref(json);

    o->tasks.items[1].code = CODE_CHECK;
    json = ask_result(o, "GET", JOBV3 "get_proc_result/?bk_biz_id=1&bk_gse_taskid=" ID, NULL);
    data = json_object_get(json, "data");
    assert_int_equal(json_integer_value(json_object_get(data, "status")), 0);
    json_decref(json);
}

/* It is written without the shape, and must match it. */
static void an_answer_is_what_the_table_says(void **state)
{
    struct job_world *o = *state;
    struct arena a = { 0 };
    struct job_result got;
    struct err err = { 0 };
    json_t *json;
    char *data;

    o->tasks.info.id = ID;
    put(o, "/a/web:0:10.0.0.1", PROC_OP_HOST, CODE_WAITING);
    json = ask_result(o, "POST", JOB "get_proc_result/", ASK_ID);
    data = json_dumps(json_object_get(json, "data"), JSON_COMPACT);
    if (shape_read(&job_result_shape, data, strlen(data), SHAPE_STRICT, &a, &got, &err))
        fail_msg("%s", err.text);
    assert_int_equal(got.status, CODE_WAITING);
    assert_int_equal(got.entries.n, 1);
    assert_string_equal(((const struct job_entry_at *)got.entries.items)->key, "/a/web:0:10.0.0.1");
    free(data);
    json_decref(json);
    arena_free(&a);
}

static void a_query_names_the_binary(void **state)
{
    struct job_world *o = *state;
    json_t *json, *content, *instance;

    o->tasks.info.id = ID;
    o->tasks.info.form = TASK_FORM_JOB;
    put(o, "/a/web:0:10.0.0.1", PROC_OP_QUERY, CODE_OK);
    json = ask_result(o, "POST", JOB "get_proc_result", ASK_ID);
    content =
        json_object_get(json_object_get(json_object_get(json_object_get(json, "data"), "result"),
                                        "/a/web:0:10.0.0.1"),
                        "content");
    instance = json_array_get(
        json_object_get(json_array_get(json_object_get(content, "process"), 0), "instance"), 0);
    assert_string_equal(json_string_value(json_object_get(instance, "processName")), "web");
    assert_string_equal(json_string_value(json_object_get(content, "ip")), "10.0.0.1");
    json_decref(json);
}

/* A task has the same keys for every caller; only the form of content depends on the call. */
static void each_shows_the_tasks_of_the_other(void **state)
{
    struct job_world *o = *state;
    json_t *json, *result;

    o->tasks.info.id = ID;
    o->tasks.info.form = TASK_FORM_JOB;
    put(o, "/a/web:0:10.0.0.1", PROC_OP_START, CODE_OK);
    json = ask_result(o, "POST", "/api/c/compapi/v2/gse/get_proc_operate_result_v2/",
                      "{\"task_id\":\"" ID "\"}");
    result = json_object_get(json_object_get(json, "data"), "/a/web:0:10.0.0.1");
    assert_non_null(strstr(json_string_value(json_object_get(result, "content")),
                           "{\"value\":[{\"procName\":\"web\","));
    json_decref(json);

    o->tasks.info.form = TASK_FORM_V2;
    o->tasks.items[0].key = "0:10.0.0.1:gse:web";
    json = ask_result(o, "POST", JOB "get_proc_result/", ASK_ID);
    result = json_object_get(json_object_get(json_object_get(json, "data"), "result"),
                             "0:10.0.0.1:gse:web");
    assert_true(json_is_object(json_object_get(result, "content")));
    json_decref(json);
}

#define JOB_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOB_TEST(what_is_asked_is_what_was_sent),
        JOB_TEST(what_is_wrong_is_named_and_nothing_is_asked),
        JOB_TEST(a_missing_scope_is_reported_in_chinese),
        JOB_TEST(an_unknown_op_type_is_refused_in_chinese),
        JOB_TEST(a_name_that_is_too_long_asks_for_a_key),
        JOB_TEST(fifty_thousand_targets_are_the_most),
        JOB_TEST(an_app_uses_its_own_scopes),
        JOB_TEST(a_result_needs_a_scope_too),
        JOB_TEST(tasks_that_fail_are_gse_that_is_down),
        JOB_TEST(content_is_an_object_and_115_while_any_waits),
        JOB_TEST(an_answer_is_what_the_table_says),
        JOB_TEST(a_query_names_the_binary),
        JOB_TEST(each_shows_the_tasks_of_the_other),
    };

    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
