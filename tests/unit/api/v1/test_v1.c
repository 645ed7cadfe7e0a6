/* SPDX-License-Identifier: MIT */
/* Promises of /v1: api/v1/v1_fleet.c, v1_tasks.c and v1_apps.c. */
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "link/token.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct v1_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
    struct fleet_proc procs[5];
    const struct fleet_proc *lists[3][3];
};

#define SPEC_A                                                                                     \
    "{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\",\"user\":"     \
    "\"ann\"}}"

static void put_proc(struct v1_world *v, size_t host, size_t i, const char *space, const char *name)
{
    struct fleet_host *h = &v->fleet.hosts[host];

    v->procs[i] = (struct fleet_proc){
        .space = space,
        .name = name,
        .view = { .space = space,
                  .name = name,
                  .wanted = PROC_RUNNING,
                  .status = PROC_RUNNING,
                  .hosted = i == 4,
                  .pid = 100 + (int64_t)i,
                  .cause = { .since_s = WALL_MS - 60 - 10 * (int64_t)i, .doing = -1 } },
        .labels = "{\"id\":1}",
        .spec = SPEC_A,
    };
    v->lists[host][h->n_procs++] = &v->procs[i];
    h->procs = v->lists[host];
}

static int setup(void **state)
{
    struct v1_world *v = xalloc(sizeof(*v));

    world_init(&v->w);
    for (size_t i = 0; i < 3; i++)
        v->fleet.hosts[i] = (struct fleet_host){
            .agent_id = (const char *const[]){ "a1", "a2", "a3" }[i],
            .ip = (const char *const[]){ "10.0.0.1", "10.0.0.2", "10.0.0.3" }[i],
            .hostname = "h",
            .version = "0.1",
            .biz_id = (int64_t)i + 1,
            .epoch = i == 0,
            .since_ms = 1000,
            .joined_ms = 2000,
        };
    v->fleet.n = 3;
    v->fleet.totals = (struct fleet_totals){ 3, 1, 5, 4, 2 };
    put_proc(v, 0, 0, "gse", "p");
    put_proc(v, 0, 1, "gse", "q");
    put_proc(v, 0, 2, "web", "p");
    put_proc(v, 1, 3, "gse", "p");
    put_proc(v, 2, 4, "web", "p");
    v->procs[3].view.status = PROC_STOPPED;
    world_open(&v->w, &v->fleet, &v->tasks);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct v1_world *v = *state;

    world_close_doors(&v->w);
    world_done(&v->w);
    buf_free(&v->tasks.asked);
    free(v);
    return 0;
}

static const char *get(struct v1_world *v, const char *path)
{
    return world_ask(&v->w, "GET", path, DEMO_AUTH, NULL);
}

/* ---- queries */

static void status_is_in_numbers(void **state)
{
    struct v1_world *v = *state;

    v->w.rig.clock.mono += 7000;
    assert_string_equal(
        get(v, "/v1/status"),
        "{\"version\":\"1.2.3\",\"uptime_s\":7,\"hosts\":3,\"online\":1,"
        "\"silent\":0,\"processes\":5,\"running\":4,\"hosted\":2,\"open_tasks\":0,\"wrong\":[]}\n");
}

static void hosts_come_page_by_page(void **state)
{
    struct v1_world *v = *state;

    assert_string_equal(
        get(v, "/v1/hosts?limit=1"),
        "{\"hosts\":[{\"agent_id\":\"a1\",\"cloud_id\":0,\"ip\":\"10.0.0.1\",\"addresses\":"
        "[\"10.0.0.1\"],\"biz_id\":1,\"host_id\":0,\"note\":\"\",\"hostname\":\"h\",\"version\":"
        "\"0.1\",\"state\":\"online\",\"online\":true,\"since_s\":1,\"silent_since_s\":0,"
        "\"joined_s\":2,\"processes\":3,\"running\":3}],\"next\":\"a1\"}\n");
    get(v, "/v1/hosts?after=a1&limit=2");
    assert_non_null(strstr(v->w.body, "\"agent_id\":\"a2\""));
    assert_non_null(strstr(v->w.body, "\"agent_id\":\"a3\""));
    assert_non_null(strstr(v->w.body, "\"next\":\"\""));
    assert_string_equal(get(v, "/v1/hosts?after=a3"), "{\"hosts\":[],\"next\":\"\"}\n");
}

/* The sentence is made for each request, in the requested language. */
static void a_process_says_why(void **state)
{
    static const struct {
        const char *host, *headers, *why;
    } cases[] = {
        { "a1", DEMO_AUTH, "running for 1m 0s as pid 100, not hosted" },
        { "a1", DEMO_AUTH "Blueking-Language: en\r\n", "running for 1m 0s as pid 100, not hosted" },
        { "a1", DEMO_AUTH "Blueking-Language: zh-hans\r\n", "已运行 1分0秒，PID 100，未托管" },
        { "a1", DEMO_AUTH "blueking-language: ZH-CN\r\n", "已运行 1分0秒，PID 100，未托管" },
        { "a2", DEMO_AUTH,
          "nothing heard of the agent for 10s; known then: not running, ended 5s ago: exit code 3; "
          "try 2 of 4 in 7s" },
        { "a2", DEMO_AUTH "Blueking-Language: zh-hans\r\n",
          "Agent 已失联 10秒；当时所知：未运行，进程于 5秒前退出：退出码 3；7秒后第 2 次拉起（最多 "
          "4 次）" },
    };
    struct v1_world *v = *state;
    struct proc_view *down = &v->procs[3].view;

    v->fleet.hosts[1].since_ms = (WALL_MS - 10) * INT64_C(1000);
    down->hosted = true;
    down->cause = (struct proc_cause){ .doing = -1,
                                       .exit_s = WALL_MS - 15,
                                       .exit_code = 3,
                                       .tries = 1,
                                       .tries_max = 4,
                                       .next_try_s = WALL_MS - 3,
                                       .output = "bye" };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[64], expected[256];

        snprintf(path, sizeof(path), "/v1/processes?limit=1&host=%s", cases[i].host);
        snprintf(expected, sizeof(expected), "\"why\":\"%s\"", cases[i].why);
        world_ask(&v->w, "GET", path, cases[i].headers, NULL);
        if (!strstr(v->w.body, expected))
            fail_msg("%s is not in %s", expected, v->w.body);
    }
    assert_non_null(strstr(v->w.body, "\"exit_code\":3,\"output\":\"bye\",\"tries\":1"));
}

/* Names of all processes, page by page, until there is no next. */
static void walk(struct v1_world *v, const char *query, int limit, struct buf *ret)
{
    char next[1024] = "";
    size_t i;
    json_t *p;

    buf_truncate(ret, 0);
    do {
        char path[2048];
        json_t *json, *list;

        snprintf(path, sizeof(path), "/v1/processes?limit=%d&after=%s%s", limit, next, query);
        json = json_loads(get(v, path), 0, NULL);
        assert_non_null(json);
        list = json_object_get(json, "processes");
        assert_true(json_array_size(list) <= (size_t)limit);
        json_array_foreach(list, i, p)
        {
            json_t *view = json_object_get(p, "process");

            buf_printf(ret, "%s/%s/%s ", json_string_value(json_object_get(p, "agent_id")),
                       json_string_value(json_object_get(view, "namespace")),
                       json_string_value(json_object_get(view, "name")));
        }
        snprintf(next, sizeof(next), "%s", json_string_value(json_object_get(json, "next")));
        json_decref(json);
    } while (*next);
}

static void processes_come_page_by_page(void **state)
{
    static const struct {
        const char *query, *got;
    } cases[] = {
        { "", "a1/gse/p a1/gse/q a1/web/p a2/gse/p a3/web/p " },
        { "&namespace=gse", "a1/gse/p a1/gse/q a2/gse/p " },
        { "&name=p", "a1/gse/p a1/web/p a2/gse/p a3/web/p " },
        { "&host=a1", "a1/gse/p a1/gse/q a1/web/p " },
        { "&host=10.0.0.2", "a2/gse/p " },
        { "&host=0:10.0.0.3", "a3/web/p " },
        { "&namespace=none", "" },
        { "&business=2", "a2/gse/p " },
        { "&business=9", "" },
        { "&status=running", "a1/gse/p a1/gse/q a1/web/p " }, /* the state on a3 is unknown */
        { "&status=stopped", "" },
        { "&status=unknown", "a2/gse/p a3/web/p " },
        { "&hosted=true", "a3/web/p " },
        { "&hosted=false&namespace=gse", "a1/gse/p a1/gse/q a2/gse/p " },
        { "&text=EB", "a1/web/p a3/web/p " },
        { "&text='%20OR%201=1", "" },
    };
    struct v1_world *v = *state;
    struct buf got = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int limit = 1; limit < 7; limit++) {
            walk(v, cases[i].query, limit, &got);
            assert_string_equal(buf_text(&got), cases[i].got);
        }
    }
    buf_free(&got);
}

/* The last report of an offline host is not shown as current. */
static void what_is_not_known_is_said(void **state)
{
    struct v1_world *v = *state;

    get(v, "/v1/processes?host=a1");
    assert_non_null(strstr(v->w.body, "\"biz_id\":1,\"unknown_since_s\":0,"));
    get(v, "/v1/processes?host=a2");
    assert_non_null(strstr(v->w.body, "\"biz_id\":2,\"unknown_since_s\":1,"));
}

/* Hosts, totals, states and sentences agree. */
static void a_host_is_offline_as_soon_as_its_session_ends(void **state)
{
    struct v1_world *v = *state;
    struct buf got = { 0 }, since = { 0 };

    v->fleet.hosts[0].epoch = 0;
    v->fleet.hosts[0].since_ms = WALL_MS * INT64_C(1000);
    buf_printf(&since, "\"unknown_since_s\":%lld,", (long long)WALL_MS);
    get(v, "/v1/processes?host=a1");
    assert_non_null(strstr(v->w.body, "\"online\":false,"));
    assert_non_null(strstr(v->w.body, buf_text(&since)));
    walk(v, "&status=running", 10, &got);
    assert_string_equal(buf_text(&got), "");
    walk(v, "&status=unknown&host=a1", 10, &got);
    assert_string_equal(buf_text(&got), "a1/gse/p a1/gse/q a1/web/p ");
    get(v, "/v1/explain?namespace=gse&name=q");
    assert_non_null(strstr(v->w.body, buf_text(&since)));
    buf_free(&got);
    buf_free(&since);
}

static void a_page_goes_on_after_what_has_gone(void **state)
{
    struct v1_world *v = *state;
    char path[1024], *next;

    get(v, "/v1/processes?limit=2");
    next = strstr(v->w.body, "\"next\":\"") + strlen("\"next\":\"");
    snprintf(path, sizeof(path), "/v1/processes?after=%.*s", (int)strcspn(next, "\""), next);
    v->fleet.hosts[0] = v->fleet.hosts[1]; /* removes a1 */
    v->fleet.hosts[1] = v->fleet.hosts[2];
    v->fleet.n = 2;
    get(v, path);
    assert_non_null(strstr(v->w.body, "{\"processes\":[{\"agent_id\":\"a2\""));
    assert_non_null(strstr(v->w.body, "\"agent_id\":\"a3\""));
}

#define LIMITED                                                                                    \
    "X-Bkapi-Authorization: "                                                                      \
    "{\"bk_app_code\":\"limited\",\"bk_app_secret\":\"" WORLD_SECRET "\"}\r\n"

static void an_app_sees_its_own_businesses_and_namespaces(void **state)
{
    struct v1_world *v = *state;

    world_put_app(&v->w, "limited", "{\"businesses\":[1,3],\"namespaces\":[\"web\"]}");
    world_ask(&v->w, "GET", "/v1/hosts", LIMITED, NULL);
    assert_null(strstr(v->w.body, "\"a2\""));
    assert_non_null(strstr(v->w.body, "\"a3\""));
    assert_non_null(strstr(v->w.body, "\"processes\":1,\"running\":1")); /* of a1's three */
    assert_null(strstr(v->w.body, "\"processes\":3"));
    world_ask(&v->w, "GET", "/v1/status", LIMITED, NULL);
    assert_non_null(strstr(v->w.body, "\"hosts\":2,\"online\":1,\"silent\":0,\"processes\":2,"
                                      "\"running\":1,\"hosted\":1,")); /* a3 is offline */
    world_ask(&v->w, "GET", "/v1/processes", LIMITED, NULL);
    assert_null(strstr(v->w.body, "\"gse\""));
    assert_non_null(strstr(v->w.body, "\"web\""));
    world_ask(&v->w, "GET", "/v1/processes?host=a2", LIMITED, NULL);
    assert_int_equal(v->w.status, 404);
    assert_non_null(strstr(v->w.body, "host: a2 is no host that we know"));
}

static void a_host_that_is_removed_is_forgotten(void **state)
{
    struct v1_world *v = *state;

    world_admin(&v->w, "POST", "/v1/hosts/remove", "{\"host\":\"10.0.0.9\"}");
    assert_int_equal(v->w.status, 404);
    assert_non_null(strstr(v->w.body, "host: 10.0.0.9 is no host that we know"));
    world_admin(&v->w, "POST", "/v1/hosts/remove", "{\"host\":\"10.0.0.2\"}");
    assert_int_equal(v->w.status, 200);
    assert_non_null(strstr(v->w.body, "{\"agent_id\":\"a2\""));
    get(v, "/v1/hosts");
    assert_null(strstr(v->w.body, "\"a2\""));
    assert_non_null(strstr(v->w.body, "\"a3\""));
    world_ask(&v->w, "POST", "/v1/hosts/remove", DEMO_AUTH, "{\"host\":\"a1\"}");
    assert_int_equal(v->w.status, 403);
}

/* clang-format off */
static const struct {
    const char *method, *path, *body;
    int status;
    const char *says;
} wrong[] = {
    { "GET", "/v1/nothing", NULL, 404, "\"code\":\"NOT_FOUND\",\"number\":3,\"message\":\"there is no such path [method=\\\"GET\\\" path=\\\"/v1/nothing\\\"]\"" },
    { "DELETE", "/v1/hosts", "{}", 405, "\"code\":\"METHOD\"" },
    { "POST", "/v1/hosts", "{}", 405, "\"code\":\"METHOD\"" },
    { "GET", "/v1/hosts?limit=0", NULL, 400, "limit: must be an integer from 1 to 1000" },
    { "GET", "/v1/hosts?limit=x", NULL, 400, "limit: must be an integer" },
    { "GET", "/v1/hosts?limits=1", NULL, 400, "\"limits: no such field; did you mean limit?\"" },
    { "GET", "/v1/hosts?biz=1", NULL, 400, "\"biz: no such field, see /openapi.json\"" },
    { "POST", "/v1/operations", "{\"operation\":\"start\",\"namspace\":\"gse\",\"name\":\"p\"}", 400, "namspace: no such field; did you mean namespace?" },
    { "POST", "/v1/tokens", "{}", 403, "\"the app may not do this: it takes the right admin\"" },
    { "GET", "/v1/processes?after=!", NULL, 400, "after: must be what `next` of the page before was" },
    { "GET", "/v1/processes?after=YQ", NULL, 400, "after: must be what" },
    { "GET", "/v1/tasks/none", NULL, 404, "\"code\":\"NO_TASK\",\"number\":806,\"message\":\"task none: no such task, or it has expired\"" },
    { "POST", "/v1/operations", "", 400, "\"code\":\"MALFORMED\"" },
    { "POST", "/v1/operations", "x=1", 400, "\"code\":\"MALFORMED\"" },
    { "POST", "/v1/operations", "{\"operation\":\"fly\",\"namespace\":\"gse\",\"name\":\"p\"}", 400, "operation: must be one of start" },
    { "POST", "/v1/operations", "{\"operation\":\"start\",\"namespace\":\"gse\"}", 400, "name: required" },
    { "POST", "/v1/operations", "{\"operation\":\"signal\",\"namespace\":\"gse\",\"name\":\"p\"}", 400, "signal: required for this operation" },
    { "POST", "/v1/operations", "{\"operation\":\"stop\",\"namespace\":\"gse\",\"name\":\"p\",\"signal\":\"HUP\"}", 400, "signal: only for the operation" },
    { "POST", "/v1/operations", "{\"operation\":\"signal\",\"namespace\":\"gse\",\"name\":\"p\",\"signal\":\"HUPP\"}", 400, "signal: must be the name of a signal" },
    { "POST", "/v1/operations", "{\"operation\":\"start\",\"namespace\":\"gse\",\"name\":\"none\"}", 404, "process gse/none: no host knows it; name the hosts and send a spec\"" },
    { "POST", "/v1/operations", "{\"operation\":\"start\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a1\"],\"spec\":{}}", 400, "\"spec.identity.proc_name: required\"" },
    { "POST", "/v1/operations", "{\"operation\":\"start\",\"namespace\":\"gse\",\"name\":\"p\",\"host\":[\"a1\"]}", 400, "host" },
};
/* clang-format on */

static void another_method_is_told_which_there_are(void **state)
{
    static const struct {
        const char *path, *allow;
    } cases[] = {
        { "/v1/hosts", "\r\nAllow: GET, PUT\r\n" },
        { "/v1/operations", "\r\nAllow: POST\r\n" },
        { "/api/c/compapi/v2/gse/operate_proc_v2/", "\r\nAllow: GET, POST\r\n" },
    };
    struct v1_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_ask(&v->w, "DELETE", cases[i].path, DEMO_AUTH, NULL);
        if (v->w.status != 405 || !strstr(buf_text(&v->w.got), cases[i].allow))
            fail_msg("%s", buf_text(&v->w.got));
    }
}

static void what_is_wrong_has_a_status_and_a_text(void **state)
{
    struct v1_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        world_ask(&v->w, wrong[i].method, wrong[i].path, DEMO_AUTH, wrong[i].body);
        if (v->w.status != wrong[i].status || !strstr(v->w.body, wrong[i].says))
            fail_msg("%s %s: %d %s", wrong[i].path, wrong[i].body ? wrong[i].body : "", v->w.status,
                     v->w.body);
        assert_non_null(strstr(v->w.body, "\"request_id\":\""));
    }
    assert_int_equal(v->tasks.n_asks, 0);
}

/* ---- operations */

#define ASK(more)   "{\"operation\":\"start\",\"namespace\":\"gse\",\"name\":\"p\"" more "}"
#define HEAD        "app demo user tom form 3\n"
#define OP(k, a, t) k ":gse:p op 0 on " a " of gse/p labels " t "\n"

static void an_operation_uses_what_each_host_knows(void **state)
{
    static const struct {
        const char *body, *asked;
    } cases[] = {
        { ASK(""), HEAD OP("a1", "a1", "1 user ann code 0") OP("a2", "a2", "1 user bob code 0") },
        { ASK(",\"hosts\":[\"10.0.0.2\",\"0:10.0.0.2\"]"),
          HEAD "10.0.0.2:gse:p+" OP("0:10.0.0.2", "a2", "1 user bob code 0") },
        { ASK(",\"hosts\":[\"a3\",\"nobody\"]"),
          HEAD OP("a3", "a3",
                  "0 user - code 801 the host does not know how to run this process: send a spec")
              OP("nobody", "-", "0 user - code 117 no such host, or it has not joined") },
        { ASK(",\"hosts\":[\"a1\",\"a3\"],\"spec\":{\"identity\":{\"proc_name\":\"p\","
              "\"setup_path\":\"/a\",\"pid_path\":\"/p\",\"user\":\"eve\"}}"),
          HEAD OP("a1", "a1", "1 user eve code 0") OP("a3", "a3", "0 user eve code 0") },
    };
    struct v1_world *v = *state;

    v->procs[3].spec = "{\"identity\":{\"user\":\"bob\"}}";
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_ask(&v->w, "POST", "/v1/operations", DEMO_AUTH, cases[i].body);
        if (v->w.status != 200)
            fail_msg("%s", v->w.body);
        assert_string_equal(buf_text(&v->tasks.asked), cases[i].asked);
        assert_ptr_equal(strstr(v->w.body, "{\"task_id\":\"GSETASK:S:1:1\",\"items\":"), v->w.body);
    }
}

/* It is being started there for the first time: the agent has it only after that. */
static void an_operation_finds_what_an_open_task_is_about(void **state)
{
    struct v1_world *v = *state;

    v->tasks.items[0] = (struct task_item){ .agent = "a3", .space = "gse", .name = "p" };
    v->tasks.items[1] = (struct task_item){ .agent = "a1", .space = "gse", .name = "p" };
    v->tasks.info =
        (struct task_info){ "T", "demo", "", .items = v->tasks.items, .n = 2, .n_left = 2 };
    world_ask(&v->w, "POST", "/v1/operations", DEMO_AUTH, ASK(""));
    assert_string_equal(buf_text(&v->tasks.asked),
                        HEAD OP("a1", "a1", "1 user ann code 0") OP("a2", "a2", "1 user ann code 0")
                            OP("a3", "a3", "0 user - code 0"));
    world_ask(&v->w, "POST", "/v1/operations", DEMO_AUTH, ASK(",\"hosts\":[\"a3\"]"));
    assert_string_equal(buf_text(&v->tasks.asked), HEAD OP("a3", "a3", "0 user - code 0"));
    world_put_app(&v->w, "limited", "{\"businesses\":[2],\"namespaces\":[\"gse\"]}");
    world_ask(&v->w, "POST", "/v1/operations", LIMITED, ASK(""));
    assert_int_equal(v->tasks.n_last, 1); /* a2 alone, here too */
    v->tasks.info.n_left = 0;
    world_ask(&v->w, "POST", "/v1/operations", DEMO_AUTH, ASK(""));
    assert_int_equal(v->tasks.n_last, 2);
}

static void a_spec_the_store_broke_fails_its_host_alone(void **state)
{
    struct v1_world *v = *state;

    v->procs[3].spec = "{\"identity\":7}";
    world_ask(&v->w, "POST", "/v1/operations", DEMO_AUTH, ASK(""));
    assert_non_null(strstr(buf_text(&v->tasks.asked),
                           "a2:gse:p op 0 on a2 of gse/p labels 0 user - "
                           "code 101 what the host runs it by: "));
}

static void operations_are_held_to_the_apps_limits(void **state)
{
    struct v1_world *v = *state;

    world_put_app(&v->w, "limited", "{\"businesses\":[2],\"namespaces\":[\"gse\"]}");
    world_ask(&v->w, "POST", "/v1/operations", LIMITED, ASK(""));
    assert_int_equal(v->tasks.n_last, 1); /* a2 alone */
    world_ask(&v->w, "POST", "/v1/operations", LIMITED, ASK(",\"hosts\":[\"a1\"]"));
    /* and nothing of the specs of others, which results would show */
    assert_non_null(strstr(buf_text(&v->tasks.asked), "on - of gse/p labels 0 user - code 117 "));
    world_ask(&v->w, "POST", "/v1/operations", LIMITED,
              "{\"operation\":\"stop\",\"namespace\":\"web\",\"name\":\"p\"}");
    assert_int_equal(v->w.status, 403);
    assert_non_null(strstr(v->w.body, "namespace: the app may not use namespace web"));
}

static void a_task_is_shown_whole(void **state)
{
    struct v1_world *v = *state;

    v->tasks.info = (struct task_info){ "T:1", "demo", "tom", 0, 1000, 2000, v->tasks.items, 3, 1 };
    v->tasks.items[0] = (struct task_item){ .agent = "a1", .key = "a1:gse:p\nx:gse:p" };
    v->tasks.items[1] = (struct task_item){ .agent = "", .key = "b:gse:p", .code = CODE_OFFLINE };
    v->tasks.items[2] =
        (struct task_item){ .agent = "a2", .key = "a2:gse:p", .code = CODE_WAITING };
    for (size_t i = 0; i < 3; i++) {
        v->tasks.items[i].space = v->tasks.items[i].view.space = "gse";
        v->tasks.items[i].name = v->tasks.items[i].view.name = "p";
        v->tasks.items[i].text = "";
    }
    get(v, "/v1/tasks/T:1");
    assert_int_equal(v->w.status, 200);
    assert_ptr_equal(
        strstr(
            v->w.body,
            "{\"task_id\":\"T:1\",\"app\":\"demo\",\"user\":\"tom\",\"created_ms\":1000,"
            "\"deadline_ms\":2000,\"total\":3,\"left\":1,\"failed\":1,\"unchanged\":0,"
            "\"cancelled_ms\":0,\"idempotent\":false,\"codes\":[{\"code\":0,\"count\":1,\"name\":"
            "\"OK\",\"text\":\"success\"},{\"code\":117,\"count\":1,\"name\":\"OFFLINE\",\"text\":"
            "\"the agent is not connected\"},{\"code\":115,\"count\":1,\"name\":\"WAITING\","
            "\"text\":\"in progress\"}],\"items\":[{\"key\":"
            "\"a1:gse:p\",\"agent_id\":\"a1\",\"cloud_id\":0,\"ip\":\"10.0.0.1\","
            "\"namespace\":\"gse\",\"name\":\"p\",\"op_type\":"
            "0,\"done\":true,\"changed\":true,\"code\":0,\"text\":\"success\","),
        v->w.body);
    assert_non_null(strstr(
        v->w.body, "\"done\":true,\"changed\":false,\"code\":117,\"text\":\"the agent is not"));
    assert_non_null(strstr(
        v->w.body, "\"done\":false,\"changed\":false,\"code\":115,\"text\":\"in progress\""));
    get(v, "/v1/tasks/T:1/");
    assert_int_equal(v->w.status, 200);
}

/* ---- apps and tokens, by the admin door */

static void take_secret(struct v1_world *v, char to[SECRET_TEXT_SIZE])
{
    const char *at = strstr(v->w.body, "\"secret\":\"");

    assert_non_null(at);
    assert_true(sscanf(at, "\"secret\":\"%43[^\"]", to) == 1);
}

static int status_with(struct v1_world *v, const char *secret)
{
    char headers[256];

    snprintf(headers, sizeof(headers),
             "X-Bkapi-Authorization: {\"bk_app_code\":\"kit\",\"bk_app_secret\":\"%s\"}\r\n",
             secret);
    world_ask(&v->w, "GET", "/v1/status", headers, NULL);
    return v->w.status;
}

static void an_app_is_made_and_gets_a_new_secret(void **state)
{
    struct v1_world *v = *state;
    char first[SECRET_TEXT_SIZE], second[SECRET_TEXT_SIZE], third[SECRET_TEXT_SIZE];
    const char *ask = "{\"code\":\"kit\",\"permissions\":{\"namespaces\":[\"gse\"]}}";

    assert_int_equal(status_with(v, "x"), 401); /* cached, but not for long */
    world_admin(&v->w, "POST", "/v1/apps?rotate=1", "{\"code\":\"kit\"}");
    assert_int_equal(v->w.status, 404); /* a misspelt name creates no app */
    world_admin(&v->w, "POST", "/v1/apps", ask);
    assert_int_equal(v->w.status, 200);
    take_secret(v, first);
    assert_non_null(strstr(v->w.body, "\"namespaces\":[\"gse\"],"));
    assert_non_null(strstr(v->w.body, "\"created_s\":1700000000"));
    assert_int_equal(status_with(v, first), 200);
    world_admin(&v->w, "POST", "/v1/apps", ask);
    assert_int_equal(v->w.status, 409);
    world_admin(&v->w, "POST", "/v1/apps?rotate=1", "{\"code\":\"kit\"}");
    take_secret(v, second);
    assert_non_null(strstr(v->w.body, "\"namespaces\":[\"gse\"]")); /* stay as they were */
    assert_int_equal(status_with(v, first), 200);
    assert_int_equal(status_with(v, second), 200);
    world_admin(&v->w, "POST", "/v1/apps?rotate=1", "{\"code\":\"kit\"}");
    take_secret(v, third);
    assert_int_equal(status_with(v, first), 401);
    assert_int_equal(status_with(v, second), 200);
    assert_int_equal(status_with(v, third), 200);
}

static void apps_are_listed_without_secrets(void **state)
{
    struct v1_world *v = *state;

    world_admin(&v->w, "POST", "/v1/apps",
                "{\"code\":\"kit\",\"permissions\":{\"rights\":[\"read\"]}}");
    world_admin(&v->w, "GET", "/v1/apps?limit=1", NULL);
    assert_string_equal(
        v->w.body, "{\"apps\":[{\"code\":\"demo\",\"permissions\":{\"rights\":[],\"operations\":[],"
                   "\"namespaces\":[],\"businesses\":[],\"business_sets\":[],\"rate_per_second\":0,"
                   "\"signatures\":false},\"created_s\":1}],\"next\":\"demo\"}\n");
    world_admin(&v->w, "GET", "/v1/apps?after=demo&limit=1", NULL);
    assert_non_null(strstr(v->w.body, "{\"code\":\"kit\",\"permissions\":{\"rights\":[\"read\"]"));
    assert_non_null(strstr(v->w.body, "\"next\":\"\""));
    assert_null(strstr(v->w.body, "secret"));
}

static void apps_and_tokens_are_for_admins(void **state)
{
    struct v1_world *v = *state;

    world_ask(&v->w, "POST", "/v1/apps", DEMO_AUTH, "{\"code\":\"kit\"}");
    assert_int_equal(v->w.status, 403);
    world_ask(&v->w, "GET", "/v1/apps", DEMO_AUTH, NULL);
    assert_int_equal(v->w.status, 403);
    world_ask(&v->w, "POST", "/v1/tokens", DEMO_AUTH, "{}");
    assert_int_equal(v->w.status, 403);
}

/* An app that may create apps could create one without limits: limits and this right exclude each
 * other. */
static void an_admin_with_limits_is_none(void **state)
{
    static const char *const limits[] = { "\"businesses\":[2]", "\"namespaces\":[\"gse\"]",
                                          "\"business_sets\":[2]", "\"operations\":[\"query\"]" };
    struct v1_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        char permissions[128], ask[256];

        snprintf(permissions, sizeof(permissions), "{\"rights\":[\"read\",\"admin\"],%s}",
                 limits[i]);
        snprintf(ask, sizeof(ask), "{\"code\":\"kit\",\"permissions\":%s}", permissions);
        world_admin(&v->w, "POST", "/v1/apps", ask);
        assert_int_equal(v->w.status, 400);
        assert_non_null(strstr(v->w.body, "permissions: the right admin cannot have limits"));
        world_put_app(&v->w, "limited", permissions);
        apps_forget(v->w.api->apps, "limited");
        world_ask(&v->w, "GET", "/v1/status", LIMITED, NULL);
        assert_int_equal(v->w.status, 200);
        world_ask(&v->w, "POST", "/v1/apps", LIMITED, "{\"code\":\"kit\"}");
        assert_int_equal(v->w.status, 403);
        world_ask(&v->w, "POST", "/v1/tokens", LIMITED, "{\"biz_id\":3}");
        assert_int_equal(v->w.status, 403);
    }
}

static void a_wrong_app_is_not_made(void **state)
{
    static const struct {
        const char *path, *body, *says;
    } cases[] = {
        { "/v1/apps", "{}", "code: required" },
        { "/v1/apps", "{\"code\":\"a b\"}", "code: must be letters" },
        { "/v1/apps", "{\"code\":\"..\"}", "code: must begin with a letter" },
        { "/v1/apps", "{\"code\":\"admin\"}",
          "code: admin is reserved for callers of the admin socket" },
        { "/v1/apps?rotate=maybe", "{\"code\":\"a\"}", "rotate: must be true or false" },
        { "/v1/apps?turn=1", "{\"code\":\"a\"}", "turn" },
        { "/v1/apps?rotate=1", "{\"code\":\"demo\",\"permissions\":{\"rights\":[\"read\"]}}",
          "permissions: stay as they are with rotate=1" },
        { "/v1/apps", "{\"code\":\"a\",\"permissions\":{\"rights\":[\"fly\"]}}",
          "permissions.rights[0]: must be one of read, operate, admin" },
    };
    struct v1_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_admin(&v->w, "POST", cases[i].path, cases[i].body);
        if (v->w.status != 400 || !strstr(v->w.body, cases[i].says))
            fail_msg("%s: %d %s", cases[i].body, v->w.status, v->w.body);
    }
}

/* Two at once: one is refused because of the other. */
static void an_app_is_made_by_one_at_a_time(void **state)
{
    struct v1_world *v = *state;
    struct buf out = { 0 };
    int fds[2];
    int made = 0, refused = 0;

    world_head(&out, "POST", "/v1/apps", "Content-Length: 14\r\n\r\n{\"code\":\"kit\"}");
    for (size_t i = 0; i < 2; i++) {
        fds[i] = world_connect(&v->w, 1);
        assert_int_equal(send(fds[i], buf_data(&out), out.len, 0), (ssize_t)out.len);
    }
    for (size_t i = 0; i < 2; i++) {
        buf_truncate(&v->w.got, 0);
        TURN_UNTIL(&v->w.rig, world_take(&v->w, fds[i]));
        made += strstr(buf_text(&v->w.got), "\"secret\"") != NULL;
        refused += strstr(buf_text(&v->w.got), "is being changed by another request") != NULL;
        close(fds[i]);
    }
    assert_int_equal(made, 1);
    assert_int_equal(refused, 1);
    world_admin(&v->w, "POST", "/v1/apps?rotate=1",
                "{\"code\":\"kit\"}"); /* no change in progress any more */
    assert_int_equal(v->w.status, 200);
    buf_free(&out);
}

static void a_token_is_made(void **state)
{
    struct v1_world *v = *state;
    char text[TOKEN_TEXT_SIZE], hash[SECRET_HASH_SIZE];
    struct token token;
    struct list rows;
    const struct token_row *row;

    world_admin(&v->w, "POST", "/v1/tokens",
                "{\"cloud_id\":1,\"biz_id\":2,\"ttl_s\":60,\"uses\":3,\"note\":\"rack 7\"}");
    assert_int_equal(v->w.status, 200);
    assert_int_equal(sscanf(v->w.body, "{\"token\":\"%80[^\"]", text), 1);
    assert_non_null(
        strstr(v->w.body, "\"cloud_id\":1,\"biz_id\":2,\"expires_s\":1700000060,\"uses\":3}"));
    assert_int_equal(token_read(text, &token, &v->w.store.err), 0);
    secret_hash(token.secret, hash);
    store_rig_do(&v->w.store, &store_token_list, &(struct store_page){ "", 10 }, &rows);
    assert_int_equal(rows.n, 1);
    row = rows.items;
    assert_string_equal(row->hash, hash);
    assert_int_equal(row->uses_left, 3);
    assert_int_equal(row->expires_ms, 1700000060000);
    assert_string_equal(row->note, "rack 7");
}

/* ---- a store that fails */

static void forget(void *arg, struct store_call *c)
{
    (void)arg;
    store_call_free(c);
}

/* As many calls as the store accepts, all unfinished. */
static void fill_store(struct v1_world *v)
{
    static const struct app_find_ask ask = { "demo" };
    struct store_call *c = NULL;
    struct err err;

    assert_int_equal(watch_want(v->w.store_watch, 0, &err), 0);
    do {
        c = store_call_new(&store_app_find, forget, NULL);
        c->in = &ask;
    } while (!store_submit(v->w.store.store, c, &err));
    store_call_free(c);
}

static const struct {
    const char *method, *path, *body;
} stored[] = {
    { "POST", "/v1/tokens", "{}" },
    { "POST", "/v1/apps", "{\"code\":\"kit\"}" },
    { "GET", "/v1/apps", NULL },
    { "GET", "/v1/tokens", NULL },
};

static void a_store_that_is_full_is_told_and_nothing_stays_behind(void **state)
{
    struct v1_world *v = *state;
    struct err err;

    fill_store(v);
    for (size_t i = 0; i < ARRAY_LEN(stored); i++) {
        world_admin(&v->w, stored[i].method, stored[i].path, stored[i].body);
        assert_int_equal(v->w.status, 503);
    }
    assert_int_equal(status_with(v, "x"), 503); /* apps can not be looked up either */
    assert_int_equal(watch_want(v->w.store_watch, WATCH_READ, &err), 0);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
    for (size_t i = 0; i < ARRAY_LEN(stored); i++) {
        world_admin(&v->w, stored[i].method, stored[i].path, stored[i].body);
        assert_int_equal(v->w.status, 200);
    }
}

/* No file may grow: for the store the disk is full. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_disk_that_is_full_is_our_fault(void **state)
{
    struct v1_world *v = *state;

    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < 2; i++) {
        limit_files(0);
        world_admin(&v->w, "POST", stored[i].path, stored[i].body);
        limit_files(RLIM_INFINITY);
        assert_int_equal(v->w.status / 100, 5);
        assert_non_null(strstr(v->w.body, "the server's log says more about request "));
        world_admin(&v->w, "POST", stored[i].path, stored[i].body);
        assert_int_equal(v->w.status, 200); /* no change in progress any more */
    }
}

#define V1_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        V1_TEST(status_is_in_numbers),
        V1_TEST(hosts_come_page_by_page),
        V1_TEST(a_process_says_why),
        V1_TEST(processes_come_page_by_page),
        V1_TEST(what_is_not_known_is_said),
        V1_TEST(a_host_is_offline_as_soon_as_its_session_ends),
        V1_TEST(a_page_goes_on_after_what_has_gone),
        V1_TEST(a_host_that_is_removed_is_forgotten),
        V1_TEST(an_app_sees_its_own_businesses_and_namespaces),
        V1_TEST(another_method_is_told_which_there_are),
        V1_TEST(what_is_wrong_has_a_status_and_a_text),
        V1_TEST(an_operation_uses_what_each_host_knows),
        V1_TEST(a_spec_the_store_broke_fails_its_host_alone),
        V1_TEST(an_operation_finds_what_an_open_task_is_about),
        V1_TEST(operations_are_held_to_the_apps_limits),
        V1_TEST(a_task_is_shown_whole),
        V1_TEST(an_app_is_made_and_gets_a_new_secret),
        V1_TEST(apps_are_listed_without_secrets),
        V1_TEST(apps_and_tokens_are_for_admins),
        V1_TEST(an_admin_with_limits_is_none),
        V1_TEST(a_wrong_app_is_not_made),
        V1_TEST(an_app_is_made_by_one_at_a_time),
        V1_TEST(a_token_is_made),
        V1_TEST(a_store_that_is_full_is_told_and_nothing_stays_behind),
        V1_TEST(a_disk_that_is_full_is_our_fault),
    };

    return cmocka_run_group_tests_name("v1", tests, NULL, NULL);
}
