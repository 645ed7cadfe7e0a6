/* SPDX-License-Identifier: MIT */
/* Promises of tasks in /v1: api/v1/v1_tasks.c, v1_operate.c and v1_explain.c. */
#include "model/app.h"
#include "model/rules.h"
#include "model/task.h"
#include "tests/unit/api/server_world.h"

#define STOP(more) "{\"operation\":\"stop\",\"namespace\":\"gse\",\"name\":\"p\"" more "}"

static const json_t *item(const struct server_world *v, size_t n)
{
    return json_array_get(json_object_get(v->answer, "items"), n);
}

static json_t *look(struct server_world *v, const char *id, const char *query)
{
    char path[256];

    snprintf(path, sizeof(path), "/v1/tasks/%s%s", id, query);
    return server_world_get(v, path);
}

/* ---- an operation */

static void an_operation_says_for_how_many_it_is(void **state)
{
    struct server_world *v = *state;

    server_world_post(v, "/v1/operations", STOP(",\"expect\":2"));
    assert_int_equal(server_world_number(v->answer, "items"), 2);
    assert_null(json_object_get(v->answer, "targets"));
}

static void another_number_than_expected_does_nothing(void **state)
{
    static const char *const bodies[] = { STOP(",\"expect\":3"), STOP(",\"expect\":0"),
                                          STOP(",\"expect\":1,\"dry_run\":true"),
                                          STOP(",\"expect\":2,\"hosts\":[\"a1\",\"10.0.0.1\"]") };
    struct server_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        server_world_ask(v, "POST", "/v1/operations", DEMO_AUTH, bodies[i], 409);
        assert_non_null(strstr(v->w.body, "expect: it is for "));
        assert_non_null(strstr(v->w.body, "nothing was done"));
    }
    server_world_get(v, "/v1/tasks");
    assert_int_equal(json_array_size(json_object_get(v->answer, "tasks")), 0);
    assert_int_equal(v->n_sent, 0);
}

static void a_dry_run_says_what_it_would_be_done_to(void **state)
{
    struct server_world *v = *state;
    const json_t *targets;

    server_world_post(
        v, "/v1/operations",
        STOP(",\"dry_run\":true,\"hosts\":[\"a1\",\"10.0.0.3\",\"nobody\"],\"expect\":3"));
    assert_string_equal(server_world_text(v->answer, "task_id"), "");
    assert_true(json_is_true(json_object_get(v->answer, "dry_run")));
    targets = json_object_get(v->answer, "targets");
    assert_int_equal(json_array_size(targets), 3);
    assert_string_equal(server_world_text(json_array_get(targets, 0), "agent_id"), "a1");
    assert_true(json_is_true(json_object_get(json_array_get(targets, 0), "online")));
    assert_int_equal(server_world_number(json_array_get(targets, 0), "code"), 0);
    assert_int_equal(server_world_number(json_array_get(targets, 1), "code"), CODE_NOT_REGISTERED);
    assert_true(json_is_false(json_object_get(json_array_get(targets, 1), "online")));
    assert_int_equal(server_world_number(json_array_get(targets, 2), "code"), CODE_OFFLINE);
    assert_string_equal(server_world_text(json_array_get(targets, 2), "key"), "nobody:gse:p");
    server_world_get(v, "/v1/tasks");
    assert_int_equal(json_array_size(json_object_get(v->answer, "tasks")), 0);
    assert_int_equal(v->n_sent, 0);
}

/* An item that was already in the wanted state is a success, marked as unchanged. */
static void idempotent_operations_do_not_fail_for_what_is_so(void **state)
{
    struct server_world *v = *state;
    char id[64];

    for (int is_idempotent = 0; is_idempotent < 2; is_idempotent++) {
        size_t from = v->n_sent;

        server_world_operate(v, is_idempotent ? STOP(",\"idempotent\":true") : STOP(""), id);
        assert_int_equal(v->n_sent, from + 2);
        server_world_answer(v, from, CODE_NOT_RUNNING);
        server_world_answer(v, from + 1, CODE_OK);
        look(v, id, "");
        assert_int_equal(server_world_number(v->answer, "failed"), !is_idempotent);
        assert_int_equal(server_world_number(v->answer, "unchanged"), is_idempotent);
        assert_int_equal(server_world_number(item(v, 0), "code"),
                         is_idempotent ? CODE_OK : CODE_NOT_RUNNING);
        assert_true(json_is_false(json_object_get(item(v, 0), "changed")));
        assert_true(json_is_true(json_object_get(item(v, 1), "changed")));
        server_world_get(v, "/v1/tasks?limit=1");
        assert_int_equal(
            server_world_number(json_array_get(json_object_get(v->answer, "tasks"), 0), "failed"),
            !is_idempotent);
    }
}

/* The agent is told which other names the app may host. */
static void a_command_says_what_else_the_app_may_host(void **state)
{
    static const struct {
        const char *permissions, *operation;
        int64_t may_host;
    } cases[] = {
        { "{}", "host", MAY_HOST_ALL },
        { "{\"businesses\":[1]}", "restart", MAY_HOST_ALL },
        { "{\"namespaces\":[\"gse\"]}", "restart", MAY_HOST_SPACE },
        { "{\"namespaces\":[\"gse\"],\"operations\":[\"restart\"]}", "restart", MAY_HOST_NONE },
        { "{}", "stop", MAY_HOST_NONE },
    };
    struct server_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char app[16], auth[256], body[512];

        snprintf(app, sizeof(app), "app%zu", i);
        world_put_app(&v->w, app, cases[i].permissions);
        snprintf(auth, sizeof(auth),
                 "X-Bkapi-Authorization: {\"bk_app_code\":\"%s\",\"bk_app_secret\":\"%s\"}\r\n",
                 app, WORLD_SECRET);
        snprintf(body, sizeof(body),
                 "{\"operation\":\"%s\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a1\"]}",
                 cases[i].operation);
        server_world_ask(v, "POST", "/v1/operations", auth, body, 200);
        assert_int_equal(v->n_sent, i + 1);
        assert_int_equal(v->last.may_host, cases[i].may_host);
    }
}

/* ---- a task */

static void a_task_comes_in_pages_and_by_what_became_of_it(void **state)
{
    static const struct {
        const char *query;
        size_t items;
        const char *next;
    } cases[] = {
        { "", 3, "" },
        { "?items=failed", 1, "" },
        { "?items=open", 1, "" },
        { "?items=none", 0, "" },
        { "?limit=2", 2, "1" },
        { "?limit=2&after=1", 1, "" },
        { "?after=2", 0, "" },
        { "?items=failed&limit=1", 1, "" },
    };
    struct server_world *v = *state;
    const json_t *codes;
    char id[64];

    server_world_operate(v, STOP(",\"hosts\":[\"a1\",\"a2\",\"nobody\"]"), id);
    server_world_answer(v, 0, CODE_OK);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        look(v, id, cases[i].query);
        assert_int_equal(json_array_size(json_object_get(v->answer, "items")), cases[i].items);
        assert_string_equal(server_world_text(v->answer, "next"), cases[i].next);
        assert_int_equal(server_world_number(v->answer, "total"), 3);
        assert_int_equal(server_world_number(v->answer, "left"), 1);
        assert_int_equal(server_world_number(v->answer, "failed"), 1);
    }
    codes = json_object_get(v->answer, "codes");
    assert_int_equal(json_array_size(codes), 3);
    assert_int_equal(server_world_number(json_array_get(codes, 2), "code"), CODE_OFFLINE);
    assert_int_equal(server_world_number(json_array_get(codes, 2), "count"), 1);
    assert_string_equal(server_world_text(json_array_get(codes, 2), "name"), "OFFLINE");
    server_world_ask(v, "GET", "/v1/tasks/x?items=some", DEMO_AUTH, NULL, 400);
    server_world_ask(v, "GET", "/v1/tasks/x?limit=0", DEMO_AUTH, NULL, 400);
}

/* ---- all of them */

#define LIMITED                                                                                    \
    "X-Bkapi-Authorization: "                                                                      \
    "{\"bk_app_code\":\"limited\",\"bk_app_secret\":\"" WORLD_SECRET "\"}\r\n"

/* An invalid id fails alone and is shown in its task, for the command line. */
static void a_task_with_the_longest_key_can_be_read(void **state)
{
    struct server_world *v = *state;
    struct buf body = { 0 };
    struct arena a = { 0 };
    struct task_view view;
    struct err err;
    char id[64];

    buf_puts(&body, "{\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"},\"op_type\":2,"
                    "\"agent_id_list\":[\"");
    for (int i = 0; i < ID_ASKED_MAX_BYTES; i++)
        buf_addc(&body, 'x');
    buf_puts(&body, "\"]}");
    server_world_post(v, "/api/bk-gse/prod/api/v2/proc/operate_proc_v2", buf_text(&body));
    snprintf(id, sizeof(id), "%s",
             server_world_text(json_object_get(v->answer, "data"), "task_id"));
    look(v, id, "");
    if (shape_read(&task_view_shape, v->w.body, strlen(v->w.body), 0, &a, &view, &err))
        fail_msg("%s", err.text);
    assert_int_equal(strlen(((const struct task_item_view *)view.items.items)->key),
                     ID_ASKED_MAX_BYTES + strlen(":gse:p"));
    arena_free(&a);
    buf_free(&body);
}

static void check_list(struct server_world *v, const char *query, const char *headers,
                       const char *expected)
{
    struct buf names = { 0 };
    char path[256];
    const json_t *t;
    size_t i;

    snprintf(path, sizeof(path), "/v1/tasks%s", query);
    server_world_ask(v, "GET", path, headers, NULL, 200);
    json_array_foreach(json_object_get(v->answer, "tasks"), i, t)
    {
        buf_printf(&names, "%s", server_world_text(t, "name"));
    }
    assert_string_equal(buf_text(&names), expected);
    buf_free(&names);
}

/* Tasks on p, q, r and s, one after the other; q's ends, and s belongs to the app with limits. */
static void make_four(struct server_world *v)
{
    static const char body[] = "{\"operation\":\"query\",\"namespace\":\"gse\",\"name\":\"%s\","
                               "\"hosts\":[\"a1\"],\"spec\":{}}";

    world_put_app(&v->w, "limited", "{\"namespaces\":[\"gse\"]}");
    for (const char *name = "pqrs"; *name; name++) {
        char text[256], one[2] = { *name, 0 };

        snprintf(text, sizeof(text), body, one);
        server_world_ask(v, "POST", "/v1/operations", *name == 's' ? LIMITED : DEMO_AUTH, text,
                         200);
        v->w.rig.clock.wall += 10000;
    }
    server_world_answer(v, 1, CODE_OK);
}

static void tasks_are_listed_newest_first(void **state)
{
    struct server_world *v = *state;
    char path[128], since[64];
    const json_t *last;

    make_four(v);
    check_list(v, "", DEMO_AUTH, "srqp");
    check_list(v, "?limit=2", DEMO_AUTH, "sr");
    snprintf(path, sizeof(path), "?limit=2&after=%s", server_world_text(v->answer, "next"));
    check_list(v, path, DEMO_AUTH, "qp");
    assert_string_equal(server_world_text(v->answer, "next"), "");
    last = json_array_get(json_object_get(v->answer, "tasks"), 0);
    assert_int_equal(server_world_number(last, "left"), 0);
    assert_int_equal(server_world_number(last, "op_type"), 2);
    assert_true(server_world_number(last, "finished_ms") > 0);
    check_list(v, "?open=true", DEMO_AUTH, "srp");
    check_list(v, "?app=demo", DEMO_AUTH, "rqp");
    check_list(v, "?app=demo&open=1", DEMO_AUTH, "rp");
    check_list(v, "?app=nobody", DEMO_AUTH, "");
    snprintf(since, sizeof(since), "?since_s=%d", WALL_MS + 20);
    check_list(v, since, DEMO_AUTH, "sr");
}

static void an_app_with_limits_is_listed_its_own(void **state)
{
    struct server_world *v = *state;

    make_four(v);
    check_list(v, "", LIMITED, "s");
    check_list(v, "?app=limited", LIMITED, "s");
    check_list(v, "?app=demo", LIMITED, "");
}

static void a_wrong_question_is_refused(void **state)
{
    static const char *const paths[] = { "/v1/tasks?after=x", "/v1/tasks?after=-1",
                                         "/v1/tasks?limit=0", "/v1/tasks?limit=1001",
                                         "/v1/tasks?state=open" };
    struct server_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        server_world_ask(v, "GET", paths[i], DEMO_AUTH, NULL, 400);
}

/* ---- cancelling */

static const char *ref(const char *id, char to[128])
{
    snprintf(to, 128, "{\"task_id\":\"%s\"}", id);
    return to;
}

static void a_task_is_cancelled_item_by_item(void **state)
{
    struct server_world *v = *state;
    char id[64], body[128];

    tasks_on_session_end(v->tasks, "a2", v->epoch); /* a moment ago: the item waits for it */
    server_world_operate(v, STOP(",\"hosts\":[\"a1\",\"a2\",\"nobody\"]"), id);
    assert_int_equal(v->n_sent, 1);
    server_world_post(v, "/v1/tasks/cancel", ref(id, body));
    assert_true(server_world_number(v->answer, "cancelled_ms") > 0);
    assert_int_equal(server_world_number(v->answer, "left"), 1);
    assert_int_equal(server_world_number(item(v, 0), "code"), CODE_WAITING);
    assert_int_equal(server_world_number(item(v, 1), "code"), CODE_CANCELLED);
    assert_int_equal(server_world_number(item(v, 2), "code"), CODE_OFFLINE);
    assert_int_equal(v->sent[1].type, MESSAGE_CANCEL);
    server_world_post(v, "/v1/tasks/cancel", ref(id, body)); /* again */
    assert_int_equal(v->n_sent, 2);
    server_world_answer(v, 0, CODE_OK);
    server_world_post(v, "/v1/tasks/cancel", ref(id, body)); /* and when it has ended */
    assert_int_equal(server_world_number(item(v, 0), "code"), CODE_OK);
    assert_int_equal(server_world_number(v->answer, "left"), 0);
}

static void a_large_one_is_answered_with_a_page(void **state)
{
    struct server_world *v = *state;
    struct buf ask = { 0 };
    char id[64], body[128];

    buf_printf(&ask, "{\"operation\":\"stop\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[");
    for (int i = 0; i < 1001; i++)
        buf_printf(&ask, "%s\"no-%d\"", i ? "," : "", i);
    buf_printf(&ask, "]}");
    server_world_operate(v, buf_text(&ask), id);
    buf_free(&ask);
    server_world_post(v, "/v1/tasks/cancel", ref(id, body));
    assert_int_equal(server_world_number(v->answer, "total"), 1001);
    assert_int_equal(server_world_number(v->answer, "failed"), 1001);
    assert_int_equal(json_array_size(json_object_get(v->answer, "items")), 1000);
    assert_string_equal(server_world_text(item(v, 999), "key"), "no-999:gse:p");
    assert_string_equal(server_world_text(v->answer, "next"), "999");
    snprintf(body, sizeof(body), "/v1/tasks/%s?after=999", id);
    server_world_get(v, body);
    assert_int_equal(json_array_size(json_object_get(v->answer, "items")), 1);
    assert_string_equal(server_world_text(item(v, 0), "key"), "no-1000:gse:p");
}

#define ASKER                                                                                      \
    "X-Bkapi-Authorization: "                                                                      \
    "{\"bk_app_code\":\"asker\",\"bk_app_secret\":\"" WORLD_SECRET "\"}\r\n"

static void others_tasks_are_not_cancelled(void **state)
{
    struct server_world *v = *state;
    char id[64], body[128];

    world_put_app(&v->w, "limited", "{\"namespaces\":[\"gse\"]}");
    world_put_app(&v->w, "reader", "{\"rights\":[\"read\"]}");
    server_world_operate(v, STOP(""), id);
    server_world_ask(v, "POST", "/v1/tasks/cancel", LIMITED, ref(id, body), 404);
    assert_non_null(strstr(v->w.body, "\"code\":\"NO_TASK\""));
    server_world_ask(v, "POST", "/v1/tasks/cancel",
                     "X-Bkapi-Authorization: {\"bk_app_code\":\"reader\",\"bk_app_secret\":"
                     "\"" WORLD_SECRET "\"}\r\n",
                     ref(id, body), 403);
    world_put_app(&v->w, "asker", "{\"operations\":[\"query\"]}");
    server_world_ask(v, "POST", "/v1/tasks/cancel", ASKER, ref(id, body), 403);
    server_world_ask(v, "POST", "/v1/tasks/cancel", DEMO_AUTH, ref("none", body), 404);
    server_world_ask(v, "POST", "/v1/tasks/cancel", DEMO_AUTH, "{}", 400);
    look(v, id, "");
    assert_int_equal(server_world_number(v->answer, "cancelled_ms"), 0);
    assert_int_equal(server_world_number(v->answer, "left"), 2);
}

/* Nothing was done, so there is nothing to deny. */
static void a_task_of_an_unknown_operation_can_be_cancelled_by_any_app(void **state)
{
    struct server_world *v = *state;
    char id[64], body[128];

    world_put_app(&v->w, "asker", "{\"operations\":[\"query\"]}");
    server_world_ask(v, "POST", "/api/bk-gse/prod/api/v2/proc/operate_proc_v2", DEMO_AUTH,
                     "{\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"},\"op_type\":5,"
                     "\"agent_id_list\":[\"a1\"]}",
                     200);
    snprintf(id, sizeof(id), "%s",
             server_world_text(json_object_get(v->answer, "data"), "task_id"));
    server_world_ask(v, "POST", "/v1/tasks/cancel", ASKER, ref(id, body), 200);
    assert_int_equal(server_world_number(v->answer, "cancelled_ms"), 0);
}

/* ---- why */

static const json_t *explained(const struct server_world *v, size_t n)
{
    return json_array_get(json_object_get(v->answer, "processes"), n);
}

static void a_process_is_explained(void **state)
{
    struct server_world *v = *state;
    const json_t *p, *operations;
    char id[64];

    server_world_operate(v, STOP(",\"hosts\":[\"a1\"]"), id);
    server_world_answer(v, 0, CODE_COMMAND);
    server_world_get(v, "/v1/explain?namespace=gse&name=p&host=10.0.0.1");
    p = explained(v, 0);
    assert_string_equal(server_world_text(p, "agent_id"), "a1");
    assert_non_null(strstr(server_world_text(p, "why_en"), "running for 1m 0s as pid 4711"));
    assert_non_null(strstr(server_world_text(p, "why_zh"), "已运行"));
    assert_string_equal(server_world_text(json_object_get(p, "process"), "why"),
                        server_world_text(p, "why_en"));
    assert_int_equal(server_world_number(json_object_get(p, "policy"), "start_retries"), 7);
    assert_true(json_is_false(json_object_get(p, "is_trouble")));
    operations = json_object_get(p, "operations");
    assert_int_equal(json_array_size(operations), 1);
    p = json_array_get(operations, 0);
    assert_string_equal(server_world_text(p, "task_id"), id);
    assert_string_equal(server_world_text(p, "user"), "tom");
    assert_int_equal(server_world_number(p, "op_type"), 1);
    assert_int_equal(server_world_number(p, "code"), CODE_COMMAND);
    assert_string_equal(server_world_text(p, "text"), "said");
}

static void all_hosts_with_the_process_are_explained(void **state)
{
    struct server_world *v = *state;
    char path[128];

    server_world_get(v, "/v1/explain?namespace=gse&name=p&limit=1");
    assert_string_equal(server_world_text(explained(v, 0), "agent_id"), "a1");
    assert_null(explained(v, 1));
    snprintf(path, sizeof(path), "/v1/explain?namespace=gse&name=p&limit=1&after=%s",
             server_world_text(v->answer, "next"));
    server_world_get(v, path);
    assert_string_equal(server_world_text(explained(v, 0), "agent_id"), "a2");
    assert_true(json_is_integer(json_object_get(explained(v, 0), "unknown_since_s")));
    assert_string_equal(server_world_text(v->answer, "next"), "");
    server_world_get(v, "/v1/explain?namespace=gse&name=none");
    assert_null(explained(v, 0));
    server_world_get(v, "/v1/explain?namespace=gse&name=p&host=a3");
    assert_null(explained(v, 0));
    server_world_ask(v, "GET", "/v1/explain?namespace=gse&name=p&host=x", DEMO_AUTH, NULL, 404);
    server_world_ask(v, "GET", "/v1/explain?name=p", DEMO_AUTH, NULL, 400);
}

/* Neither hosts of other businesses, nor namespaces, nor operations of other apps. */
static void what_an_app_may_not_see_is_not_explained(void **state)
{
    struct server_world *v = *state;
    char id[64];

    world_put_app(&v->w, "limited", "{\"businesses\":[1],\"namespaces\":[\"gse\"]}");
    server_world_operate(v, STOP(""), id);
    server_world_ask(v, "GET", "/v1/explain?namespace=gse&name=p", LIMITED, NULL, 200);
    assert_string_equal(server_world_text(explained(v, 0), "agent_id"), "a1");
    assert_null(explained(v, 1));
    assert_int_equal(json_array_size(json_object_get(explained(v, 0), "operations")), 0);
    server_world_ask(v, "GET", "/v1/explain?namespace=gse&name=p&host=a2", LIMITED, NULL, 404);
    server_world_ask(v, "GET", "/v1/explain?namespace=web&name=p", LIMITED, NULL, 200);
    assert_null(explained(v, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(an_operation_says_for_how_many_it_is),
        SERVER_TEST(another_number_than_expected_does_nothing),
        SERVER_TEST(a_dry_run_says_what_it_would_be_done_to),
        SERVER_TEST(idempotent_operations_do_not_fail_for_what_is_so),
        SERVER_TEST(a_command_says_what_else_the_app_may_host),
        SERVER_TEST(a_task_with_the_longest_key_can_be_read),
        SERVER_TEST(a_task_comes_in_pages_and_by_what_became_of_it),
        SERVER_TEST(tasks_are_listed_newest_first),
        SERVER_TEST(an_app_with_limits_is_listed_its_own),
        SERVER_TEST(a_wrong_question_is_refused),
        SERVER_TEST(a_task_is_cancelled_item_by_item),
        SERVER_TEST(a_large_one_is_answered_with_a_page),
        SERVER_TEST(others_tasks_are_not_cancelled),
        SERVER_TEST(a_task_of_an_unknown_operation_can_be_cancelled_by_any_app),
        SERVER_TEST(a_process_is_explained),
        SERVER_TEST(all_hosts_with_the_process_are_explained),
        SERVER_TEST(what_an_app_may_not_see_is_not_explained),
    };

    return cmocka_run_group_tests_name("v1_tasks", tests, NULL, NULL);
}
