/* SPDX-License-Identifier: MIT */
/* Promises of api/gse/result.c and api/pipeline/task_scope.h: every key once, and only for apps
 * that may see the task. */
#include <jansson.h>

#include "model/proc.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct result_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
};

#define ID "GSETASK:S:202111161138323563236795:143"

static int setup(void **state)
{
    struct result_world *r = xalloc(sizeof(*r));

    world_init(&r->w);
    r->fleet.hosts[0] = (struct fleet_host){ .agent_id = "a1", .ip = "10.0.0.1" };
    r->fleet.n = 1;
    r->tasks.info = (struct task_info){ .id = ID, .app = "demo", .user = "tom" };
    r->tasks.info.items = r->tasks.items;
    world_open(&r->w, &r->fleet, &r->tasks);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct result_world *r = *state;

    world_close_doors(&r->w);
    world_done(&r->w);
    free(r);
    return 0;
}

#define V1 "/api/c/compapi/v2/gse/get_proc_operate_result/"
#define V2 "/api/c/compapi/v2/gse/get_proc_operate_result_v2/"
#define GW "/api/bk-gse/prod/api/v2/proc/get_proc_operate_result_v2"

static void put(struct result_world *r, const char *key, int64_t code, const char *text)
{
    r->tasks.items[r->tasks.info.n++] = (struct task_item){
        .agent = "a1",
        .key = key,
        .op = PROC_OP_STOP,
        .space = "n",
        .name = "p",
        .code = code,
        .text = text,
        .setup_path = "",
        .proc_name = "p",
    };
}

/* A start that fails on all hosts, each with 8 KiB of output: the size of an answer is limited, and
 * it has the beginning of each text. */
static void an_answer_has_a_size_however_much_was_said(void **state)
{
    enum { N = 6000, SAID = 8192, ANSWER_MAX = 64 << 20 };
    struct result_world *r = *state;
    struct task_item *items = xalloc(N * sizeof(*items));
    char *said = xalloc(SAID + 1), (*keys)[16] = xalloc(N * sizeof(*keys));

    memcpy(said, "start: ", 7);
    for (size_t i = 7; i < SAID - 1; i += 2)
        memcpy(said + i, "\xC3\xA4", 2);
    put(r, "", CODE_CHECK, said);
    for (size_t i = 0; i < N; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%zu:n:p", i);
        items[i] = r->tasks.items[0];
        items[i].key = keys[i];
    }
    r->tasks.info.items = items;
    r->tasks.info.n = N;
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}");
    assert_true(r->w.got.len < ANSWER_MAX);
    assert_non_null(strstr(r->w.body, "\"error_msg\":\"start: \xC3\xA4"));
    assert_non_null(strstr(r->w.body, "\xC3\xA4 (3998 bytes more are not shown: so many results"));
    world_ask(&r->w, "GET", "/v1/tasks/" ID, DEMO_AUTH, NULL);
    assert_true(r->w.got.len < ANSWER_MAX);
    free(items);
    free(keys);
    free(said);
}

static void keys_are_all_there_once(void **state)
{
    struct result_world *r = *state;
    json_t *json, *data;

    put(r, "a:n:p", CODE_OK, "");
    put(r, "b:n:p\n0:10.0.0.1:n:p", CODE_NOT_RUNNING, "not running");
    put(r, "a:n:p", CODE_CHECK, "stop failed"); /* a second operation on the same target */
    put(r, "c:n:p", CODE_WAITING, "");
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}");
    json = json_loads(r->w.body, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    data = json_object_get(json, "data");
    assert_int_equal(json_object_size(data), 4);
#define CODE_OF(key) json_integer_value(json_object_get(json_object_get(data, key), "error_code"))
    assert_int_equal(CODE_OF("a:n:p"), CODE_CHECK);
    assert_int_equal(CODE_OF("b:n:p"), CODE_NOT_RUNNING);
    assert_int_equal(CODE_OF("0:10.0.0.1:n:p"), CODE_NOT_RUNNING);
    assert_int_equal(CODE_OF("c:n:p"), CODE_WAITING);
    json_decref(json);
}

static void both_apis_and_dialects_give_the_same(void **state)
{
    static const char want[] = "\"data\":{\"a:n:p\":{\"error_code\":115,\"error_msg\":"
                               "\"handling\",\"content\":\"\"}},\"request_id\":\"";
    struct result_world *r = *state;

    put(r, "a:n:p", CODE_WAITING, "");
    assert_non_null(
        strstr(world_ask(&r->w, "POST", V1, DEMO_AUTH, "{\"task_id\":\"" ID "\"}"), want));
    assert_non_null(
        strstr(world_ask(&r->w, "POST", GW, DEMO_AUTH, "{\"task_id\":\"" ID "\"}"), want));
    assert_non_null(strstr(world_ask(&r->w, "GET", V2 "?task_id=" ID, DEMO_AUTH, NULL), want));
}

/* Nodeman and GSEKit poll again only while error_msg is this very word. */
static void a_running_item_says_handling_in_every_language_and_dialect(void **state)
{
    static const char want[] = "\"a:n:p\":{\"error_code\":115,\"error_msg\":\"handling\",";
    static const char *const languages[] = { "", "Blueking-Language: zh-hans\r\n",
                                             "Blueking-Language: en\r\n" };
    static const struct {
        const char *path, *body;
    } asks[] = {
        { V1, "{\"task_id\":\"" ID "\"}" },
        { V2, "{\"task_id\":\"" ID "\"}" },
        { GW, "{\"task_id\":\"" ID "\"}" },
    };
    struct result_world *r = *state;

    put(r, "a:n:p", CODE_WAITING, "");
    for (size_t i = 0; i < ARRAY_LEN(asks) * ARRAY_LEN(languages); i++) {
        char headers[512];

        snprintf(headers, sizeof(headers), "%s%s", DEMO_AUTH, languages[i / ARRAY_LEN(asks)]);
        world_ask(&r->w, "POST", asks[i % ARRAY_LEN(asks)].path, headers,
                  asks[i % ARRAY_LEN(asks)].body);
        if (!strstr(r->w.body, want))
            fail_msg("%s %s: %s", asks[i % ARRAY_LEN(asks)].path, headers, r->w.body);
    }
}

/* Texts of the server are translated; the output of a command is not. */
static void answers_are_in_chinese_if_requested(void **state)
{
    static const char *const wants[] = {
        "\"a:n:p\":{\"error_code\":0,\"error_msg\":\"success\"",
        "\"b:n:p\":{\"error_code\":826,\"error_msg\":\"开始执行之前已取消\"",
        "\"c:n:p\":{\"error_code\":117,\"error_msg\":\"Agent 未连接\"",
        "\"d:n:p\":{\"error_code\":65535,\"error_msg\":\"exit 3: oh no\"",
    };
    struct result_world *r = *state;

    put(r, "a:n:p", CODE_OK, "");
    put(r, "b:n:p", CODE_CANCELLED, MSG("cancelled before it was begun"));
    put(r, "c:n:p", CODE_OFFLINE, "");
    put(r, "d:n:p", CODE_COMMAND, "exit 3: oh no");
    world_ask(&r->w, "POST", V2, DEMO_AUTH "Blueking-Language: zh-hans\r\n",
              "{\"task_id\":\"" ID "\"}");
    for (size_t i = 0; i < ARRAY_LEN(wants); i++) {
        if (!strstr(r->w.body, wants[i]))
            fail_msg("%s: %s", wants[i], r->w.body);
    }
    world_ask(&r->w, "POST", V2, DEMO_AUTH "Blueking-Language: zh-hans\r\n",
              "{\"task_id\":\"none\"}");
    assert_non_null(strstr(r->w.body, "\"message\":\"任务 none 不存在或已过期\""));
}

/* A stop without a spec shows the names of the registered spec. */
static void names_come_from_what_is_known(void **state)
{
    static const struct fleet_proc known = {
        .space = "n",
        .name = "p",
        .spec = "{\"identity\":{\"proc_name\":\"real\",\"setup_path\":\"/opt\"}}",
    };
    static const struct fleet_proc *const procs[] = { &known };
    struct result_world *r = *state;

    put(r, "a:n:p", CODE_OK, "");
    r->tasks.items[0].proc_name = "";
    put(r, "b:n:p", CODE_OK, "");
    r->fleet.hosts[0].procs = procs;
    r->fleet.hosts[0].n_procs = 1;
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}");
    assert_non_null(
        strstr(r->w.body, "{\\\"procName\\\":\\\"real\\\",\\\"setupPath\\\":\\\"/opt\\\","));
    assert_non_null(strstr(r->w.body, "{\\\"procName\\\":\\\"p\\\",\\\"setupPath\\\":\\\"\\\","));
}

static void a_status_has_the_hosts_address(void **state)
{
    struct result_world *r = *state;

    put(r, "a:n:p", CODE_OK, "");
    r->tasks.items[0].op = PROC_OP_QUERY;
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}");
    assert_non_null(strstr(r->w.body, "\\\"ip\\\":\\\"10.0.0.1\\\""));
}

static void expect_id(struct result_world *r, const char *key, const char *id)
{
    json_t *json, *content;

    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}");
    json = json_loads(r->w.body, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    content = json_object_get(json_object_get(json, "data"), key);
    content = json_loads(json_string_value(json_object_get(content, "content")), 0, NULL);
    if (json_object_get(content, "value"))
        assert_string_equal(
            json_string_value(json_object_get(json_array_get(json_object_get(content, "value"), 0),
                                              "bk_agent_id")),
            id);
    else
        assert_string_equal(json_string_value(json_object_get(content, "bk_agent_id")), id);
    json_decref(content);
    json_decref(json);
}

/* Clients look up a target by the id they sent. */
static void an_agent_id_is_shown_as_the_caller_spelled_it_and_a_host_by_its_own(void **state)
{
    struct result_world *r = *state;

    put(r, "0:10.0.0.1:n:p\na1:n:p", CODE_OK, "");
    put(r, "0:10.0.0.1:n:q", CODE_OK, "");
    put(r, "nobody:n:p", CODE_OFFLINE, "");
    r->tasks.items[0].by_agent_id = r->tasks.items[2].by_agent_id = true;
    r->tasks.items[1].name = "q";
    r->tasks.items[2].agent = "";
    for (int i = 0; i < 2; i++) {
        expect_id(r, "0:10.0.0.1:n:p", "0:10.0.0.1");
        expect_id(r, "a1:n:p", "a1");
        expect_id(r, "0:10.0.0.1:n:q", "a1");
        expect_id(r, "nobody:n:p", "nobody");
        for (size_t n = 0; n < r->tasks.info.n; n++)
            r->tasks.items[n].op = PROC_OP_QUERY;
    }
}

static void a_task_that_is_not_there_is_named(void **state)
{
    struct result_world *r = *state;

    world_ask(&r->w, "POST", GW, DEMO_AUTH, "{\"task_id\":\"GSETASK:S:no\"}");
    assert_int_equal(r->w.status, 200);
    assert_string_equal(world_blank_id(&r->w),
                        "{\"result\":false,\"code\":1000806,\"message\":\"task GSETASK:S:no: no "
                        "such task, or it has expired\",\"data\":null,\"request_id\":\"ID\"}\n");
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{}");
    assert_non_null(strstr(r->w.body, "Parameters error, task_id: required"));
    err_set(&r->tasks.failure, ERR_UNAVAILABLE, "away");
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}");
    assert_non_null(strstr(r->w.body, "\"code\":1000101,"));
}

#define LIMITED                                                                                    \
    "X-Bkapi-Authorization: "                                                                      \
    "{\"bk_app_code\":\"limited\",\"bk_app_secret\":\"" WORLD_SECRET "\"}\r\n"

static void an_app_with_limits_sees_its_own_alone(void **state)
{
    struct result_world *r = *state;

    put(r, "a:n:p", CODE_OK, "");
    world_put_app(&r->w, "limited", "{\"namespaces\":[\"n\"]}");
    world_ask(&r->w, "POST", V2, LIMITED, "{\"task_id\":\"" ID "\"}");
    assert_non_null(strstr(r->w.body, "\"code\":1000806,"));
    r->tasks.info.app = "limited";
    world_ask(&r->w, "POST", V2, LIMITED, "{\"task_id\":\"" ID "\"}");
    assert_non_null(strstr(r->w.body, "\"result\":true"));
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}"); /* without limits: all */
    assert_non_null(strstr(r->w.body, "\"result\":true"));
}

/* Many keys stay cheap: they are written straight into the answer. */
static void ten_thousand_keys_are_written(void **state)
{
    enum { N = 10000 };
    struct result_world *r = *state;
    struct task_item *items = xalloc(N * sizeof(*items));
    struct arena a = { 0 };
    json_t *json;

    put(r, "", CODE_OK, "");
    for (int i = 0; i < N; i++) {
        items[i] = r->tasks.items[0];
        items[i].key = arena_printf(&a, "agent-%d:n:p", i);
    }
    r->tasks.info.items = items;
    r->tasks.info.n = N;
    world_ask(&r->w, "POST", V2, DEMO_AUTH, "{\"task_id\":\"" ID "\"}");
    json = json_loads(r->w.body, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_object_size(json_object_get(json, "data")), N);
    json_decref(json);
    free(items);
    arena_free(&a);
}

#define RESULT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RESULT_TEST(keys_are_all_there_once),
        RESULT_TEST(an_answer_has_a_size_however_much_was_said),
        RESULT_TEST(both_apis_and_dialects_give_the_same),
        RESULT_TEST(a_running_item_says_handling_in_every_language_and_dialect),
        RESULT_TEST(answers_are_in_chinese_if_requested),
        RESULT_TEST(names_come_from_what_is_known),
        RESULT_TEST(a_status_has_the_hosts_address),
        RESULT_TEST(an_agent_id_is_shown_as_the_caller_spelled_it_and_a_host_by_its_own),
        RESULT_TEST(a_task_that_is_not_there_is_named),
        RESULT_TEST(an_app_with_limits_sees_its_own_alone),
        RESULT_TEST(ten_thousand_keys_are_written),
    };

    return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
