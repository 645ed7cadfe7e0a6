/* SPDX-License-Identifier: MIT */
/* Two apps of two businesses, and every route of /v1: neither sees or changes what belongs to the
 * other, whatever ids it sends.  Gate, scopes, fleet, tasks, events and store are real. */
#include <jansson.h>

#include "api/pipeline/routes.h"
#include "server/events/events.h"
#include "store/store_hosts.h"
#include "tests/unit/api/world.h"

struct server {
    struct world w;
    struct fleet *fleet;
    struct tasks *tasks;
    size_t sent;
    char task[2][64]; /* one of each app */
};

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct server *v = arg;

    (void)agent, (void)epoch, (void)type, (void)s, (void)message;
    v->sent++;
}

static const struct tasks_effects effects = { on_send };

static const char *const agents[] = { "a1", "a2" }, *const ips[] = { "10.0.0.1", "10.0.0.2" },
                         *const names[] = { "host-one", "host-two" },
                         *const procs[] = { "proc-one", "proc-two" },
                         *const said[] = { "said-one", "said-two" };

static void put_host(struct server *v, size_t i)
{
    const struct host_row row = { .agent_id = agents[i],
                                  .ip = ips[i],
                                  .biz_id = (int64_t)i + 1,
                                  .hostname = names[i],
                                  .version = "1",
                                  .cert_fingerprint = agents[i],
                                  .joined_ms = 1000,
                                  .note = "",
                                  .addresses = "" };
    struct proc_view view;
    struct err err;

    shape_defaults(&proc_view_shape, &view);
    view.space = "web";
    view.name = procs[i];
    view.why = "";
    store_rig_do(&v->w.store, &store_host_put, &row, NULL);
    fleet_put_host(v->fleet, &row);
    fleet_set_session(v->fleet, agents[i], 1, 1000);
    tasks_on_session(v->tasks, agents[i], 1);
    assert_int_equal(fleet_on_processes(
                         v->fleet, agents[i],
                         &(struct message_processes){ .list = { &view, 1 }, .digest = "d" }, &err),
                     0);
}

static void put_event(struct server *v, size_t i)
{
    const struct message_event m = { .id = 1,
                                     .name = "process_start",
                                     .text = said[i],
                                     .space = "web",
                                     .proc = procs[i],
                                     .proc_name = procs[i],
                                     .wall_ms = (int64_t)WALL_MS * 1000 };

    events_on_message(v->w.events, fleet_find(v->fleet, agents[i]), agents[i], &m);
}

#define AS(app)                                                                                    \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"" app "\",\"bk_app_secret\":\"" WORLD_SECRET        \
    "\"}\r\n"
static const char *const as[] = { AS("one"), AS("two") };

static void put_task(struct server *v, size_t i)
{
    char body[256];
    json_t *json;

    snprintf(body, sizeof(body),
             "{\"operation\":\"query\",\"namespace\":\"web\",\"name\":\"%s\",\"hosts\":[\"%s\"]}",
             procs[i], agents[i]);
    world_ask(&v->w, "POST", "/v1/operations", as[i], body);
    if (v->w.status != 200)
        fail_msg("%s", v->w.body);
    json = json_loads(v->w.body, 0, NULL);
    snprintf(v->task[i], sizeof(v->task[i]), "%s",
             json_string_value(json_object_get(json, "task_id")));
    json_decref(json);
}

static int setup(void **state)
{
    static const struct events_settings none = { .file = "", .node = "main" };
    static const int64_t both[] = { 1, 2 };
    struct server *v = xalloc(sizeof(*v));
    struct err err;

    world_init(&v->w);
    world_put_app(&v->w, "one", "{\"businesses\":[1]}");
    world_put_app(&v->w, "two", "{\"business_sets\":[8000002]}");
    v->fleet = fleet_new(v->w.rig.loop, NULL, v->w.store.store);
    v->tasks = tasks_new(v->w.rig.loop, NULL, v->w.store.store, v->fleet, &effects, v);
    assert_int_equal(tasks_load(v->tasks, &err), 0);
    put_host(v, 0);
    put_host(v, 1);
    if (events_new(v->w.rig.loop, NULL, v->w.store.store, &none, &v->w.events, &err) ||
        events_load(v->w.events, v->fleet, &err))
        fail_msg("%s", err.text);
    world_open(&v->w, v->fleet, v->tasks);
    scopes_put(v->w.scopes, SCOPE_BIZ_SET, &(struct scope){ 8000002, "set-two", both + 1, 1 });
    scopes_put(v->w.scopes, SCOPE_BIZ_SET, &(struct scope){ 8000001, "set-both", both, 2 });
    put_event(v, 0);
    put_event(v, 1);
    put_task(v, 0);
    put_task(v, 1);
    TURN_UNTIL(&v->w.rig, v->sent == 2 && events_last(v->w.events) == 2);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct server *v = *state;
    struct events *events = v->w.events;

    world_close_doors(&v->w);
    api_stop(v->w.api);
    tasks_free(v->tasks);
    events_stop(events);
    fleet_free(v->fleet);
    watch_free(v->w.store_watch);
    v->w.store_watch = NULL;
    store_rig_close(&v->w.store);
    events_free(events);
    world_done(&v->w);
    free(v);
    return 0;
}

/* AGENT, IP, PROC and TASK are replaced by those of the other app. */
static const struct {
    const char *method, *path, *body;
} asks[] = {
    { "GET", "/v1/status", NULL },
    { "GET", "/v1/hosts", NULL },
    { "GET", "/v1/hosts?text=IP", NULL },
    { "GET", "/v1/hosts?business=BIZ", NULL },
    { "GET", "/v1/businesses", NULL },
    { "GET", "/v1/business_sets", NULL },
    { "GET", "/v1/processes", NULL },
    { "GET", "/v1/processes?host=AGENT", NULL },
    { "GET", "/v1/processes?host=0:IP", NULL },
    { "GET", "/v1/processes?business=BIZ&name=PROC", NULL },
    { "GET", "/v1/logs?namespace=web&name=PROC", NULL },
    { "GET", "/v1/logs?namespace=web&name=PROC&host=AGENT", NULL },
    { "GET", "/v1/events", NULL },
    { "GET", "/v1/events?host=AGENT", NULL },
    { "GET", "/v1/tasks", NULL },
    { "GET", "/v1/tasks/TASK", NULL },
    { "POST", "/v1/tasks/cancel", "{\"task_id\":\"TASK\"}" },
    { "GET", "/v1/explain?namespace=web&name=PROC", NULL },
    { "GET", "/v1/explain?namespace=web&name=PROC&host=AGENT", NULL },
    { "POST", "/v1/operations",
      "{\"operation\":\"stop\",\"namespace\":\"web\",\"name\":\"PROC\",\"hosts\":[\"AGENT\"]}" },
    { "POST", "/v1/operations",
      "{\"operation\":\"stop\",\"namespace\":\"web\",\"name\":\"PROC\"}" },
    { "POST", "/v1/processes/forget",
      "{\"namespace\":\"web\",\"name\":\"PROC\",\"hosts\":[\"AGENT\"]}" },
};

static void fill(const struct server *v, size_t other, const char *text, char to[512])
{
    const char *const words[][2] = { { "AGENT", agents[other] },
                                     { "IP", ips[other] },
                                     { "PROC", procs[other] },
                                     { "TASK", v->task[other] },
                                     { "BIZ", other ? "2" : "1" } };
    struct buf b = { 0 };

    while (*text) {
        size_t i = 0;

        while (i < ARRAY_LEN(words) && strncmp(text, words[i][0], strlen(words[i][0])) != 0)
            i++;
        buf_add(&b, i < ARRAY_LEN(words) ? words[i][1] : text,
                i < ARRAY_LEN(words) ? strlen(words[i][1]) : 1);
        text += i < ARRAY_LEN(words) ? strlen(words[i][0]) : 1;
    }
    snprintf(to, 512, "%s", buf_text(&b));
    buf_free(&b);
}

/* Words that only an app with permission may get; ids of the request may be repeated. */
static void check_hidden(const struct server *v, size_t other, const char *path)
{
    char id[64], host[64];
    const char *const hidden[] = { names[other], said[other], "set-both", id, host };

    snprintf(id, sizeof(id), "\"agent_id\":\"%s\"", agents[other]);
    snprintf(host, sizeof(host), "\"ip\":\"%s\"", ips[other]);
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
        if (strstr(v->w.body, hidden[i]))
            fail_msg("%s: %s", path, v->w.body);
    }
}

/* The whole request, or each of its targets, is refused. */
static void check_refused(struct server *v, size_t me, const char *path)
{
    json_t *json = json_loads(v->w.body, 0, NULL);
    const char *task = json_string_value(json_object_get(json, "task_id"));
    char look[128];

    if (json_object_get(json, "targets")) {
        if (!strstr(v->w.body, "\"code\":117,\"text\":\"no such host, or it has not joined\""))
            fail_msg("%s: %s", path, v->w.body);
    } else if (v->w.status != 200 || !task) {
        if (v->w.status != 403 && v->w.status != 404)
            fail_msg("%s: %d %s", path, v->w.status, v->w.body);
    } else {
        snprintf(look, sizeof(look), "/v1/tasks/%s", task);
        world_ask(&v->w, "GET", look, as[me], NULL);
        check_hidden(v, !me, path);
        if (!strstr(v->w.body, "\"left\":0,\"failed\":1,"))
            fail_msg("%s: %s", path, v->w.body);
    }
    json_decref(json);
}

static void an_app_sees_nothing_of_the_other(void **state)
{
    struct server *v = *state;

    for (size_t me = 0; me < 2; me++) {
        for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
            char path[512], body[512];

            fill(v, !me, asks[i].path, path);
            fill(v, !me, asks[i].body ? asks[i].body : "", body);
            world_ask(&v->w, asks[i].method, path, as[me], asks[i].body ? body : NULL);
            check_hidden(v, !me, path);
            if (strcmp(asks[i].method, "GET") != 0)
                check_refused(v, me, path);
        }
    }
    assert_int_equal(v->sent, 2); /* nothing was done on either host */
}

/* ---- a host of another business is as unknown as one that does not exist */

#define GSE     "/api/c/compapi/v2/gse/"
#define GATEWAY "/api/bk-gse/prod/api/v2/"
#define SPEC                                                                                       \
    "\"spec\":{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\","     \
    "\"user\":\"root\"},\"control\":{\"start_cmd\":\"x\"},\"resource\":{\"cpu\":1,\"mem\":1},"     \
    "\"monitor_policy\":{\"auto_type\":1}}"
#define META   "\"meta\":{\"namespace\":\"web\",\"name\":\"proc-two\"}"
#define HOSTS  "\"hosts\":[{\"ip\":\"IP\",\"bk_cloud_id\":0,\"bk_supplier_id\":0}]"
#define AGENTS "\"agent_id_list\":[\"AGENT\",\"0:IP\"]"
#define JOB    "\"bk_biz_id\":1,\"ip_list\":[{\"ip\":\"IP\",\"bk_cloud_id\":0}]"
#define JOB_PROCESS                                                                                \
    "\"process_infos\":[{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\","         \
    "\"start_cmd\":\"x\",\"ip_list\":[{\"ip\":\"IP\",\"bk_cloud_id\":0}]}]"

/* Every route that takes a host. */
static const struct {
    const char *method, *path, *body;
} of_hosts[] = {
    { "POST", GSE "register_proc_info/", "{" META "," HOSTS "," SPEC "}" },
    { "POST", GSE "update_proc_info/", "{" META "," HOSTS "," SPEC "}" },
    { "POST", GSE "unregister_proc_info/", "{" META "," HOSTS "}" },
    { "POST", GSE "operate_proc/", "{" META "," HOSTS ",\"op_type\":1}" },
    { "POST", GSE "operate_proc_v2/", "{" META "," HOSTS ",\"op_type\":2," SPEC "}" },
    { "POST", GSE "operate_proc_v2/", "{" META "," HOSTS ",\"op_type\":5," SPEC "}" },
    { "POST", GSE "operate_proc_multi/",
      "{\"proc_operate_req\":[{" META "," HOSTS ",\"op_type\":0," SPEC "}]}" },
    { "POST", GATEWAY "proc/operate_proc_v2", "{" META "," AGENTS ",\"op_type\":0," SPEC "}" },
    { "POST", GATEWAY "proc/update_proc_info", "{" META "," AGENTS "," SPEC "}" },
    { "POST", GSE "get_proc_status/", "{" META "," HOSTS "}" },
    { "POST", GSE "get_proc_status_v2/", "{" META "," HOSTS "}" },
    { "POST", GATEWAY "proc/get_proc_status_v2", "{" META "," AGENTS "}" },
    { "POST", GSE "get_agent_status/", "{" HOSTS "}" },
    { "POST", GSE "get_agent_info/", "{" HOSTS "}" },
    { "POST", GATEWAY "cluster/list_agent_state", "{" AGENTS "}" },
    { "POST", GATEWAY "cluster/list_agent_info", "{" AGENTS "}" },
    { "POST", "/api/c/compapi/v2/job/operate_process/",
      "{\"bk_biz_id\":1,\"op_type\":0," JOB_PROCESS "}" },
    { "POST", "/api/c/compapi/v2/job/manage_proc/",
      "{\"bk_biz_id\":1,\"op_type\":1," JOB_PROCESS "}" },
    { "POST", "/api/c/compapi/v2/jobv3/get_agent_status/", "{" JOB "}" },
    { "GET", "/v1/processes?host=AGENT", NULL },
    { "GET", "/v1/processes?host=0:IP", NULL },
    { "GET", "/v1/logs?namespace=web&name=proc-two&host=AGENT", NULL },
    { "GET", "/v1/events?host=AGENT", NULL },
    { "GET", "/v1/explain?namespace=web&name=proc-two&host=AGENT", NULL },
    { "POST", "/v1/operations",
      "{\"operation\":\"stop\",\"namespace\":\"web\",\"name\":\"proc-two\",\"hosts\":[\"AGENT\","
      "\"IP\"]}" },
    { "POST", "/v1/operations",
      "{\"operation\":\"stop\",\"namespace\":\"web\",\"name\":\"proc-two\",\"hosts\":[\"AGENT\","
      "\"IP\"],\"dry_run\":true}" },
    { "POST", "/v1/processes/forget",
      "{\"namespace\":\"web\",\"name\":\"proc-two\",\"hosts\":[\"AGENT\",\"0:IP\"]}" },
};

static void replace(const char *text, const char *const (*words)[2], size_t n, struct buf *to)
{
    buf_truncate(to, 0);
    while (*text) {
        size_t i = 0;

        while (i < n && strncmp(text, words[i][0], strlen(words[i][0])) != 0)
            i++;
        buf_add(to, i < n ? words[i][1] : text, i < n ? strlen(words[i][1]) : 1);
        text += i < n ? strlen(words[i][0]) : 1;
    }
    buf_addc(to, 0);
}

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : json_string_value(json_object_get(json_object_get(json, "data"), key));
}

/* Ids of requests and tasks, and times, differ each time. */
static void blot(char *body, const char *key)
{
    char *at = body;

    while ((at = strstr(at, key))) {
        size_t n = strcspn(at += strlen(key), ",}");

        memmove(at, at + n, strlen(at + n) + 1);
    }
}

/* The answer to app one, and that of its task if it created one, with the host's names masked. */
static char *answer_about(struct server *v, size_t n, const char *agent, const char *ip)
{
    const char *const names_in[][2] = { { "AGENT", agent }, { "IP", ip } };
    const char *const names_out[][2] = { { agent, "AGENT" }, { ip, "IP" } };
    static const char *const changing[] = { "\"request_id\":",    "\"task_id\":",
                                            "\"bk_gse_taskid\":", "\"deadline_ms\":",
                                            "\"created_ms\":",    "\"job_request_id\":" };
    struct buf path = { 0 }, body = { 0 }, all = { 0 }, out = { 0 };
    const char *task;
    char look[128], *text;
    json_t *json;

    replace(of_hosts[n].path, names_in, 2, &path);
    replace(of_hosts[n].body ? of_hosts[n].body : "", names_in, 2, &body);
    world_ask(&v->w, of_hosts[n].method, buf_data(&path), as[0],
              of_hosts[n].body ? buf_data(&body) : NULL);
    buf_printf(&all, "%d %s", v->w.status, v->w.body);
    json = json_loads(v->w.body, 0, NULL);
    task = text_at(json, "task_id") ? text_at(json, "task_id") : text_at(json, "bk_gse_taskid");
    if (task && *task) {
        snprintf(look, sizeof(look), "/v1/tasks/%s", task);
        world_ask(&v->w, "GET", look, as[0], NULL);
        buf_printf(&all, " %d %s", v->w.status, v->w.body);
    }
    json_decref(json);
    text = xstrdup(buf_text(&all));
    for (size_t i = 0; i < ARRAY_LEN(changing); i++)
        blot(text, changing[i]);
    replace(text, names_out, 2, &out);
    free(text);
    text = xstrdup(buf_data(&out));
    buf_free(&path);
    buf_free(&body);
    buf_free(&all);
    buf_free(&out);
    return text;
}

static void a_host_of_another_business_is_answered_as_an_unknown_one(void **state)
{
    struct server *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(of_hosts); i++) {
        char *hidden = answer_about(v, i, "a2", "10.0.0.2");
        char *unknown = answer_about(v, i, "b7", "10.0.9.9");

        if (strcmp(hidden, unknown) != 0)
            fail_msg("%s %s\n%s\n%s", of_hosts[i].path, of_hosts[i].body, hidden, unknown);
        if (strstr(hidden, "404 ") == hidden && strncmp(of_hosts[i].path, "/v1", 3) != 0)
            fail_msg("%s: there is no such route: %s", of_hosts[i].path, hidden);
        free(hidden);
        free(unknown);
    }
    assert_int_equal(v->sent, 2); /* nothing was done on either host */
}

/* An app that may see both gets the words: the test above can fail. */
static void an_app_without_limits_sees_both(void **state)
{
    static const char *const paths[] = { "/v1/hosts", "/v1/processes", "/v1/events",
                                         "/v1/business_sets" };
    static const char *const words[] = { "host-two", "\"agent_id\":\"a2\"", "said-two",
                                         "set-both" };
    struct server *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        world_ask(&v->w, "GET", paths[i], DEMO_AUTH, NULL);
        if (!strstr(v->w.body, words[i]))
            fail_msg("%s: %s", paths[i], v->w.body);
    }
}

static bool is_asked(const struct route *r)
{
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        unsigned method = strcmp(asks[i].method, "GET") ? METHOD_POST : METHOD_GET;
        struct route_found found;
        char path[128];

        snprintf(path, sizeof(path), "%.*s", (int)strcspn(asks[i].path, "?"), asks[i].path);
        route_find(path, method, &found);
        if (found.route == r)
            return true;
    }
    return false;
}

/* The stream has no end; test_v1_events tests what it sends. */
static void every_route_is_asked(void **state)
{
    (void)state;
    for (const struct route *r = routes; r->path; r++) {
        if (r->served == SERVED_V1 && !(r->right & (APP_ADMIN | APP_METRICS)) && !is_asked(r) &&
            strcmp(r->path, "/v1/events/stream") != 0)
            fail_msg("%s: what does an app of another business hear from it?", r->path);
    }
}

static void an_app_with_limits_is_not_admin(void **state)
{
    struct server *v = *state;

    for (const struct route *r = routes; r->path; r++) {
        char path[128];

        if (r->served != SERVED_V1 || !(r->right & (APP_ADMIN | APP_METRICS)))
            continue;
        snprintf(path, sizeof(path), "%.*s%s", (int)strcspn(r->path, "*"), r->path,
                 strchr(r->path, '*') ? "1" : "");
        world_ask(&v->w, method_name(r->methods), path, as[0], r->body_max ? "{}" : NULL);
        if (v->w.status != 403)
            fail_msg("%s %s: %d %s", method_name(r->methods), path, v->w.status, v->w.body);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_app_sees_nothing_of_the_other),
        TEST(a_host_of_another_business_is_answered_as_an_unknown_one),
        TEST(an_app_without_limits_sees_both),
        cmocka_unit_test(every_route_is_asked),
        TEST(an_app_with_limits_is_not_admin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
