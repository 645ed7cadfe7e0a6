/* SPDX-License-Identifier: MIT */
/* The route table row by row, and the requests of the documents through the whole server side:
 * HTTP, gate, tasks, hub and store are real, the agent is simulated by the test. */
#include "api/pipeline/handlers.h"
#include "api/pipeline/routes.h"
#include "base/io/file.h"
#include "tests/unit/api/server_world.h"

/* ---- the table */

static void every_route_says_all_it_must(void **state)
{
    (void)state;
    for (const struct route *r = routes; r->path; r++) {
        unsigned known = 0;

        for (const struct place *p = route_places; p->root; p++)
            known |= r->served & p->served ? dialects[p->dialect].methods : 0;
        if (!(r->methods & known))
            fail_msg("%s: no method that its dialects know", r->path);
        if (!r->handle || !r->doc || !*r->doc || r->doc[strlen(r->doc) - 1] != '.')
            fail_msg("%s: needs a handler and a sentence about it", r->path);
        if (r->body_max > HTTP_BODY_MAX || ((r->methods & METHOD_POST) && !r->body_max))
            fail_msg("%s: its body is bounded by nothing, or by too little", r->path);
        if ((r->methods & METHOD_POST) && !r->in)
            fail_msg("%s: what does it take?", r->path);
        if ((r->methods == METHOD_GET) && r->right == APP_OPERATE)
            fail_msg("%s: a read changes nothing", r->path);
        if ((r->served & SERVED_V1) &&
            (r->served != SERVED_V1 || (!r->out && r->gives != GIVES_TEXT)))
            fail_msg("%s: a row of /v1 stands alone and says what it gives", r->path);
        if (!(r->served & (SERVED_V1 | SERVED_BACKEND)) && strchr(r->path, '/'))
            fail_msg("%s: must be a name", r->path);
    }
}

static void a_row_without_a_right_does_not_start(void **state)
{
    static const struct route bad[] = {
        { SERVED_V1, "/v1/x", METHOD_GET, APP_READ, 0, NULL, NULL, v1_status, "Fine.", 0 },
        { SERVED_V1, "/v1/y", METHOD_GET, 0, 0, NULL, NULL, v1_status, "Not fine.", 0 },
        { 0 },
    };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(routes_check(routes, &err), 0);
    assert_int_equal(routes_check(bad, &err), -1);
    assert_string_equal(err.text, "route /v1/y: needs exactly one right");
}

/* A path of a row at a place, as a client may write it; "*" is some word. */
static const char *path_of(const struct route *r, const struct place *p, char to[256])
{
    bool is_esb = *p->root && *p->root != '/';

    snprintf(to, 256, "%s%s%s", is_esb ? "/api/c/compapi/v2/" : "", p->root, r->path);
    if (to[strlen(to) - 1] == '*')
        to[strlen(to) - 1] = 'x';
    return to;
}

/* Every row is found by its own path, at each of its places, and never by the path of another
 * row. */
static void every_route_is_found(void **state)
{
    (void)state;
    for (const struct route *r = routes; r->path; r++) {
        for (const struct place *p = route_places; p->root; p++) {
            unsigned method = r->methods & dialects[p->dialect].methods;
            struct route_found found;
            char path[256];

            if (!(r->served & p->served))
                continue;
            route_find(path_of(r, p, path), method & -method, &found);
            assert_int_equal(found.dialect, p->dialect);
            assert_ptr_equal(found.route, r);
        }
    }
}

/* No row can be used without credentials. */
static void no_route_lets_a_stranger_in(void **state)
{
    static const char *const says[DIALECTS] = {
        [DIALECT_ESB] = "\"code\":1306000,",         [DIALECT_JOB] = "\"code\":1306000,",
        [DIALECT_BACKEND] = "\"code\":1306000,",     [DIALECT_GATEWAY] = "\"code\":1640001,",
        [DIALECT_V1] = "\"code\":\"UNAUTHORIZED\",",
    };
    struct world *w = &((struct server_world *)*state)->w;

    for (const struct route *r = routes; r->path; r++) {
        for (const struct place *p = route_places; p->root; p++) {
            const char *method;
            char path[256];

            if (!(r->served & p->served))
                continue;
            method = method_name(r->methods & dialects[p->dialect].methods);
            path_of(r, p, path);
            world_ask(w, method, path, "", strcmp(method, "GET") && r->body_max ? "{}" : NULL);
            if (!strstr(w->body, says[p->dialect]))
                fail_msg("%s: %s", path, w->body);
        }
    }
}

/* ---- the way of an operation */

static int setup(void **state)
{
    struct server_world *v = server_world_new();

    server_world_put_host(v, "a1", 1, "10.0.0.1", 2);
    server_world_connect(v, "a1");
    world_open(&v->w, v->fleet, v->tasks);
    *state = v;
    return 0;
}

static void load_seed(struct buf *to, int64_t op)
{
    struct err err;
    char *at;

    assert_int_equal(file_read("tests/contract/seeds/operate_proc_v2.json", 1 << 16, to, &err), 0);
    at = strstr(buf_text(to), "\"op_type\": 0");
    assert_non_null(at);
    at[strlen("\"op_type\": ")] = (char)('0' + op);
}

#define KEY "1:10.0.0.1:gse:proc-test"

/* The result of the only key, or -1 while it waits. */
static int64_t poll_result(struct server_world *v, const char *path, char content[4096])
{
    char body[128];
    json_t *json, *data, *result;
    int64_t code;

    snprintf(body, sizeof(body), "{\"task_id\":\"%s\"}", v->last.task);
    json = json_loads(world_ask(&v->w, "POST", path, DEMO_AUTH, body), 0, NULL);
    data = json_object_get(json, "data");
    assert_int_equal(json_integer_value(json_object_get(json, "code")), 0);
    assert_int_equal(json_object_size(data), 1); /* every poll has every key, and no other */
    result = json_object_get(data, KEY);
    assert_non_null(result);
    code = json_integer_value(json_object_get(result, "error_code"));
    snprintf(content, 4096, "%s", json_string_value(json_object_get(result, "content")));
    json_decref(json);
    return code == CODE_WAITING ? -1 : code;
}

static void start_op(struct server_world *v, const char *path, int64_t op)
{
    struct buf body = { 0 };
    size_t before = v->n_sent;

    load_seed(&body, op);
    world_ask(&v->w, "POST", path, DEMO_AUTH, buf_text(&body));
    buf_free(&body);
    if (!strstr(v->w.body, "\"result\":true"))
        fail_msg("%s", v->w.body);
    assert_non_null(strstr(v->w.body, "\"data\":{\"task_id\":\"GSETASK:"));
    TURN_UNTIL(&v->w.rig, v->n_sent == before + 1);
    assert_int_equal(v->last.op, op);
    assert_non_null(strstr(v->w.body, v->last.task));
}

#define ESB     "/api/c/compapi/v2/gse/"
#define MIX     "/api/c/compapi/v2/gse/api/v2/proc/"
#define GATEWAY "/api/bk-gse/prod/api/v2/proc/"

static void the_documents_request_goes_all_the_way(void **state)
{
    static const struct {
        const char *operate, *result;
    } paths[] = {
        { ESB "operate_proc_v2/", ESB "get_proc_operate_result_v2/" },
        { GATEWAY "operate_proc_v2", GATEWAY "get_proc_operate_result_v2" },
        { MIX "operate_proc_v2/", ESB "get_proc_operate_result/" },
    };
    static const int64_t ops[] = { 0, 1, 2, 3, 4, 7, 8, 9 };
    struct server_world *v = *state;
    char content[4096];

    for (size_t p = 0; p < ARRAY_LEN(paths); p++) {
        for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
            int64_t code = -1;

            start_op(v, paths[p].operate, ops[i]);
            assert_int_equal(poll_result(v, paths[p].result, content), -1);
            assert_string_equal(content, "");
            server_world_play(
                v, CODE_OK, "success",
                (struct proc_view){ "gse", "proc-test", .pid = 4711, .hosted = true });
            TURN_UNTIL(&v->w.rig, (code = poll_result(v, paths[p].result, content)) != -1);
            assert_int_equal(code, 0);
            assert_non_null(strstr(content, ops[i] == 2 ? "\"pid\":4711," : "\"isAuto\":true}]}"));
        }
    }
}

static void a_failure_of_the_agent_is_told_as_it_is(void **state)
{
    struct server_world *v = *state;
    char content[4096];
    int64_t code = -1;

    start_op(v, ESB "operate_proc_v2/", 0);
    server_world_play(v, CODE_RUNNING, "already running", (struct proc_view){ "gse", "proc-test" });
    TURN_UNTIL(&v->w.rig,
               (code = poll_result(v, ESB "get_proc_operate_result_v2/", content)) != -1);
    assert_int_equal(code, CODE_RUNNING);
    assert_non_null(strstr(content, "\"result\":\"already running\""));
}

static bool both_done(struct server_world *v)
{
    char body[128];
    bool by_id, by_address;

    snprintf(body, sizeof(body), "{\"task_id\":\"%s\"}", v->last.task);
    world_ask(&v->w, "POST", GATEWAY "get_proc_operate_result_v2", DEMO_AUTH, body);
    assert_non_null(strstr(v->w.body, "\"nobody:gse:p\":{\"error_code\":117,"));
    by_id = strstr(v->w.body, "\"a1:gse:p\":{\"error_code\":0,");
    by_address = strstr(v->w.body, "\"1:10.0.0.1:gse:p\":{\"error_code\":0,");
    assert_int_equal(by_id, by_address);
    return by_id;
}

/* A host named in two ways runs once; both keys have its result. */
static void a_host_named_twice_runs_once(void **state)
{
    struct server_world *v = *state;

    world_ask(&v->w, "POST", GATEWAY "operate_proc_v2", DEMO_AUTH,
              "{\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"},\"op_type\":2,"
              "\"agent_id_list\":[\"a1\",\"1:10.0.0.1\",\"nobody\"]}");
    TURN_UNTIL(&v->w.rig, v->n_sent == 1);
    server_world_play(v, CODE_OK, "success", (struct proc_view){ "gse", "p", .pid = 7 });
    TURN_UNTIL(&v->w.rig, both_done(v));
    assert_int_equal(v->n_sent, 1);
}

/* ---- targets that can not be hosts */

#define IDS            "\"agent_id_list\":[%s,\"a1\"]"
#define HOSTS          "\"hosts\":[{\"ip\":%s,\"bk_cloud_id\":1},{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":1}]"
#define ASK(targets)   "{\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"},\"op_type\":2," targets "}"
#define BATCH(targets) "{\"proc_operate_req\":[" ASK(targets) "]}"

/* Each call of GSE that operates processes, with the parts of its keys before and after the
 * host. */
static const struct door {
    const char *path, *body, *before, *good;
} doors[] = {
    { ESB "operate_proc/", ASK(HOSTS), "1:0:", "1:0:10.0.0.1:gse:p" },
    { ESB "operate_proc_v2/", ASK(HOSTS), "1:", "1:10.0.0.1:gse:p" },
    { ESB "operate_proc_v2/", ASK(IDS), "", "a1:gse:p" },
    { ESB "operate_proc_multi/", BATCH(HOSTS), "1:", "1:10.0.0.1:gse:p" },
    { MIX "operate_proc_v2/", ASK(IDS), "", "a1:gse:p" },
    { GATEWAY "operate_proc_v2", ASK(IDS), "", "a1:gse:p" },
    { GATEWAY "operate_proc_multi", BATCH(IDS), "", "a1:gse:p" },
    { "/procapi/v1/proc/operate", ASK(HOSTS), "1:0:", "1:0:10.0.0.1:gse:p" },
    { "/procapi/v2/proc/operate", ASK(IDS), "", "a1:gse:p" },
    { "/procapi/v2/proc/multioperate", BATCH(HOSTS), "1:", "1:10.0.0.1:gse:p" },
};

static const char *const no_hosts[] = { "a1\n", "\n", "a\x10nb", "\t\x01\x7F" };

static void ask_at(struct server_world *v, const struct door *door, const char *no_host,
                   char task[64])
{
    struct buf body = { 0 }, id = { 0 };
    json_t *json, *data;

    buf_quote(&id, no_host, strlen(no_host));
    buf_printf(&body, door->body, buf_text(&id));
    json = json_loads(world_ask(&v->w, "POST", door->path, DEMO_AUTH, buf_text(&body)), 0, NULL);
    data = json_object_get(json, "data");
    if (!json_is_object(data))
        fail_msg("%s %s: %s", door->path, buf_text(&id), v->w.body);
    snprintf(task, 64, "%s", json_string_value(json_object_get(data, "task_id")));
    json_decref(json);
    buf_free(&body);
    buf_free(&id);
}

static int64_t code_of(const json_t *data, const char *key)
{
    const json_t *code = json_object_get(json_object_get(data, key), "error_code");

    return json_is_integer(code) ? json_integer_value(code) : -1;
}

static void must_fail_alone(struct server_world *v, const struct door *door, const char *no_host,
                            const char *task)
{
    char body[128], key[128];
    json_t *json;
    const json_t *data;

    snprintf(body, sizeof(body), "{\"task_id\":\"%s\"}", task);
    snprintf(key, sizeof(key), "%s%s:gse:p", door->before, no_host);
    json = json_loads(world_ask(&v->w, "POST", ESB "get_proc_operate_result_v2/", DEMO_AUTH, body),
                      0, NULL);
    data = json_object_get(json, "data");
    if (json_object_size(data) != 2 || code_of(data, key) != CODE_OFFLINE ||
        code_of(data, door->good) == -1 || code_of(data, door->good) == CODE_OFFLINE)
        fail_msg("%s: %s", door->path, v->w.body);
    json_decref(json);
}

static void what_can_be_no_host_fails_alone_through_every_door(void **state)
{
    struct server_world *v = *state;
    char task[64];

    for (size_t d = 0; d < ARRAY_LEN(doors); d++) {
        for (size_t i = 0; i < ARRAY_LEN(no_hosts); i++) {
            ask_at(v, &doors[d], no_hosts[i], task);
            must_fail_alone(v, &doors[d], no_hosts[i], task);
        }
    }
}

static void its_key_is_the_same_after_a_restart(void **state)
{
    struct server_world *v = *state;
    const struct door *door = &doors[2];
    char tasks[ARRAY_LEN(no_hosts)][64];

    for (size_t i = 0; i < ARRAY_LEN(no_hosts); i++)
        ask_at(v, door, no_hosts[i], tasks[i]);
    server_world_restart(v);
    for (size_t i = 0; i < ARRAY_LEN(no_hosts); i++)
        must_fail_alone(v, door, no_hosts[i], tasks[i]);
}

/* The same task in /v1, and an operation with the spec that the fleet has from it. */
static void v1_knows_what_the_others_did(void **state)
{
    struct server_world *v = *state;
    char path[128], content[4096], deadline[64];
    const char *at;

    start_op(v, ESB "operate_proc_v2/", 0);
    server_world_play(v, CODE_OK, "success", (struct proc_view){ "gse", "proc-test", .pid = 4711 });
    TURN_UNTIL(&v->w.rig, poll_result(v, ESB "get_proc_operate_result_v2/", content) != -1);
    snprintf(path, sizeof(path), "/v1/tasks/%s", v->last.task);
    world_ask(&v->w, "GET", path, DEMO_AUTH, NULL);
    assert_non_null(strstr(v->w.body, "\"total\":1,\"left\":0,\"failed\":0,"));
    assert_non_null(strstr(v->w.body, "\"user\":\"tom\""));
    world_ask(&v->w, "POST", "/v1/operations", DEMO_AUTH,
              "{\"operation\":\"restart\",\"namespace\":\"gse\",\"name\":\"proc-test\"}");
    assert_int_equal(v->w.status, 200);
    at = strstr(v->w.body, "\"items\":1,\"deadline_ms\":17");
    assert_non_null(at);
    snprintf(deadline, sizeof(deadline), "%.*s,", (int)strcspn(at, "}") - 10, at + 10);
    TURN_UNTIL(&v->w.rig, v->n_sent == 2);
    assert_int_equal(v->last.op, PROC_OP_RESTART);
    snprintf(path, sizeof(path), "/v1/tasks/%s", v->last.task);
    world_ask(&v->w, "GET", path, DEMO_AUTH, NULL);
    assert_non_null(strstr(v->w.body, deadline)); /* the task shows the same */
}

#define API_TEST(f) cmocka_unit_test_setup_teardown(f, setup, server_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_says_all_it_must),
        cmocka_unit_test(a_row_without_a_right_does_not_start),
        cmocka_unit_test(every_route_is_found),
        API_TEST(no_route_lets_a_stranger_in),
        API_TEST(the_documents_request_goes_all_the_way),
        API_TEST(a_failure_of_the_agent_is_told_as_it_is),
        API_TEST(a_host_named_twice_runs_once),
        API_TEST(what_can_be_no_host_fails_alone_through_every_door),
        API_TEST(its_key_is_the_same_after_a_restart),
        API_TEST(v1_knows_what_the_others_did),
    };

    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
