/* SPDX-License-Identifier: MIT */
/* Promises of api/pipeline/audit.c and v1_audit.c: a change is recorded before it is answered. */
#include "api/pipeline/audit.h"

#include <jansson.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/routes.h"
#include "base/io/file.h"
#include "model/app.h"
#include "model/proc.h"
#include "store/store_audit.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct audit_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
    struct fleet_proc proc;
    const struct fleet_proc *procs[1];
};

#define SPEC                                                                                       \
    "{\"identity\":{\"proc_name\":\"p\",\"setup_path\":\"/a\",\"pid_path\":\"/a/p\",\"user\":"     \
    "\"ann\"},\"control\":{\"start_cmd\":\"./start --password=hunter2\"}}"

/* A store without the table; only one connection may write at a time. */
static void lose_table(struct world *w)
{
    struct err err;
    struct db *db;

    watch_free(w->store_watch);
    store_rig_close(&w->store);
    assert_int_equal(db_open(w->store.url, DB_WRITE, &db, &err), 0);
    assert_int_equal(db_run(db, &(struct query){ "DROP TABLE audit" }, NULL, NULL, NULL, &err), 0);
    db_close(db);
    store_rig_open(&w->store);
    assert_int_equal(watch_new(w->rig.loop, store_fd(w->store.store), store_on_ready,
                               w->store.store, &w->store_watch, &err),
                     0);
    assert_int_equal(watch_want(w->store_watch, WATCH_READ, &err), 0);
}

static int setup_with(void **state, bool has_table)
{
    struct audit_world *v = xalloc(sizeof(*v));

    world_init(&v->w);
    if (!has_table)
        lose_table(&v->w);
    v->fleet.hosts[0] = (struct fleet_host){
        .agent_id = "a1", .ip = "10.0.0.1", .hostname = "h", .version = "1", .biz_id = 2, .epoch = 1
    };
    v->fleet.n = 1;
    world_open(&v->w, &v->fleet, &v->tasks);
    *state = v;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, true);
}

static int setup_without(void **state)
{
    return setup_with(state, false);
}

static int teardown(void **state)
{
    struct audit_world *v = *state;

    world_close_doors(&v->w);
    world_done(&v->w);
    buf_free(&v->tasks.asked);
    free(v);
    return 0;
}

/* The rows, newest first. */
static json_t *rows(struct audit_world *v, const char *query)
{
    char path[256];
    json_t *page, *list;

    snprintf(path, sizeof(path), "/v1/audit%s", query);
    page = json_loads(world_admin(&v->w, "GET", path, NULL), 0, NULL);
    assert_int_equal(v->w.status, 200);
    list = json_incref(json_object_get(page, "rows"));
    json_decref(page);
    assert_true(json_is_array(list));
    return list;
}

static const char *text_of(const json_t *list, size_t i, const char *key)
{
    const char *text = json_string_value(json_object_get(json_array_get(list, i), key));

    assert_non_null(text);
    return text;
}

static json_int_t code_of(const json_t *list, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(list, i), "code"));
}

#define OPERATE                                                                                    \
    "{\"meta\":{\"namespace\":\"web\",\"name\":\"nginx\"},\"op_type\":0,\"agent_id_list\":"        \
    "[\"a1\"],\"spec\":" SPEC "}"

static void operate(struct audit_world *v)
{
    world_ask(&v->w, "POST", "/api/bk-gse/prod/api/v2/proc/operate_proc_v2", DEMO_AUTH, OPERATE);
}

static void a_change_is_written_down(void **state)
{
    struct audit_world *v = *state;
    json_t *list, *row;
    char *what;

    operate(v);
    assert_non_null(strstr(v->w.body, "GSETASK:S:1:1"));
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 1);
    row = json_array_get(list, 0);
    assert_int_equal(json_integer_value(json_object_get(row, "at_ms")) / 1000, WALL_MS);
    assert_string_equal(text_of(list, 0, "app"), "demo");
    assert_string_equal(text_of(list, 0, "user"), "tom");
    assert_true(json_is_false(json_object_get(row, "user_proven")));
    assert_string_equal(text_of(list, 0, "method"), "POST");
    assert_string_equal(text_of(list, 0, "route"), "operate_proc_v2");
    assert_string_equal(text_of(list, 0, "task_id"), "GSETASK:S:1:1");
    assert_int_equal(code_of(list, 0), 0);
    assert_int_equal(strlen(text_of(list, 0, "request_id")), 32);
    what = json_dumps(json_object_get(row, "what"), JSON_COMPACT);
    assert_non_null(strstr(what, "\"namespace\":\"web\",\"name\":\"nginx\""));
    assert_non_null(strstr(what, "\"agent_id_list\":[\"a1\"]"));
    assert_null(strstr(what, "hunter2")); /* commands contain passwords */
    free(what);
    json_decref(list);
}

/* By its body it would look like a creation.  Both may have the same millisecond, and then any
 * order. */
static void a_new_secret_is_told_as_one(void **state)
{
    struct audit_world *v = *state;
    json_t *list, *first, *second;
    char *what;

    world_admin(&v->w, "POST", "/v1/apps", "{\"code\":\"kit\"}");
    world_admin(&v->w, "POST", "/v1/apps?rotate=1", "{\"code\":\"kit\"}");
    assert_int_equal(v->w.status, 200);
    list = rows(v, "?route=/v1/apps");
    assert_int_equal(json_array_size(list), 2);
    first = json_object_get(json_array_get(list, 0), "what");
    second = json_object_get(json_array_get(list, 1), "what");
    assert_int_not_equal(!json_object_get(first, "operation"),
                         !json_object_get(second, "operation"));
    what = json_dumps(json_object_get(first, "operation") ? first : second, JSON_COMPACT);
    assert_string_equal(what, "{\"operation\":\"rotate\",\"code\":\"kit\"}");
    free(what);
    json_decref(list);
}

static void what_fails_is_written_down_too(void **state)
{
    struct audit_world *v = *state;
    json_t *list;

    err_set(&v->tasks.failure, ERR_UNAVAILABLE, "the store is away");
    operate(v);
    v->w.rig.clock.wall++; /* rows of one millisecond have any order */
    world_admin(&v->w, "POST", "/v1/hosts/remove", "{\"host\":\"nobody\"}");
    assert_int_equal(v->w.status, 404);
    v->w.rig.clock.wall++;
    world_admin(&v->w, "POST", "/v1/hosts/remove", "{\"host\":7}");
    assert_int_equal(v->w.status, 400);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 3);
    assert_int_equal(code_of(list, 0), ERR_INVALID);
    assert_non_null(strstr(text_of(list, 0, "message"), "host: "));
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "what")));
    assert_int_equal(code_of(list, 1), ERR_NOT_FOUND);
    assert_string_equal(text_of(list, 1, "app"), "admin");
    assert_string_equal(text_of(list, 1, "code_name"), "NOT_FOUND");
    assert_int_equal(code_of(list, 2), 1000101); /* as in the gateway's answer */
    assert_null(json_object_get(json_array_get(list, 2), "code_name"));
    assert_string_equal(text_of(list, 2, "message"), "the store is away");
    json_decref(list);
}

static void attempts_of_known_apps_are_written_down(void **state)
{
    struct audit_world *v = *state;
    json_t *list;

    world_put_app(&v->w, "reader", "{\"rights\":[\"read\"]}");
    world_ask(&v->w, "POST", "/v1/operations",
              "X-Bkapi-Authorization: {\"bk_app_code\":\"reader\",\"bk_app_secret\":\"" WORLD_SECRET
              "\",\"bk_username\":\"eve\"}\r\n",
              "{\"operation\":\"start\",\"namespace\":\"web\",\"name\":\"nginx\"}");
    assert_int_equal(v->w.status, 403);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_of(list, 0, "app"), "reader");
    assert_string_equal(text_of(list, 0, "user"), "eve");
    assert_string_equal(text_of(list, 0, "route"), "/v1/operations");
    assert_int_equal(code_of(list, 0), ERR_DENIED);
    assert_string_equal(text_of(list, 0, "code_name"), "FORBIDDEN");
    json_decref(list);
}

/* The log has the same number as the answer, in each dialect. */
static void the_code_is_the_one_that_the_caller_saw(void **state)
{
    static const struct {
        const char *path, *app;
        int code;
    } cases[] = {
        { "/api/c/compapi/v2/gse/operate_proc_v2/", "demo", 1000811 },
        { "/api/c/compapi/v2/gse/operate_proc_v2/", "reader", 1306403 },
        { "/api/bk-gse/prod/api/v2/proc/operate_proc_v2", "reader", 1640301 },
        { "/api/c/compapi/v2/jobv3/operate_process/", "demo", 1241002 },
        { "/api/c/compapi/v2/jobv3/operate_process/", "reader", 9900403 },
    };
    struct audit_world *v = *state;
    char headers[256], says[32];

    world_put_app(&v->w, "reader", "{\"rights\":[\"read\"]}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *list;

        v->w.rig.clock.wall++;
        snprintf(headers, sizeof(headers),
                 "X-Bkapi-Authorization: {\"bk_app_code\":\"%s\",\"bk_app_secret\":\"%s\"}\r\n",
                 cases[i].app, WORLD_SECRET);
        world_ask(&v->w, "POST", cases[i].path, headers, "{\"bk_username\":\"tom\"}");
        snprintf(says, sizeof(says), "\"code\":%d,", cases[i].code);
        if (!strstr(v->w.body, says))
            fail_msg("%s", v->w.body);
        list = rows(v, "?limit=1");
        assert_int_equal(code_of(list, 0), cases[i].code);
        json_decref(list);
    }
}

#define AUTH_OF(code)                                                                              \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"" code "\",\"bk_app_secret\":\"" WORLD_SECRET       \
    "\"}\r\n"

static json_int_t repeats_of(const json_t *list, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(list, i), "repeats"));
}

static void refusals_that_repeat_are_one_row_a_minute(void **state)
{
    struct audit_world *v = *state;
    json_t *list;

    world_put_app(&v->w, "reader", "{\"rights\":[\"read\"]}");
    world_put_app(&v->w, "other", "{\"rights\":[\"read\"]}");
    for (int i = 0; i < 50; i++) {
        v->w.rig.clock.wall++;
        world_ask(&v->w, "POST", "/v1/operations", AUTH_OF("reader"), "{}");
        assert_int_equal(v->w.status, 403);
    }
    world_ask(&v->w, "POST", "/v1/operations", AUTH_OF("other"), "{}");
    world_ask(&v->w, "POST", "/v1/tasks/cancel", AUTH_OF("reader"), "{}");
    world_ask(&v->w, "PUT", "/v1/apps/other", AUTH_OF("reader"), "{}");
    world_ask(&v->w, "DELETE", "/v1/apps/other", AUTH_OF("reader"), NULL);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 5); /* the first of each kind, at once */
    json_decref(list);
    rig_pass_ms(&v->w.rig, 60 * 1000);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
    list = rows(v, "?app=reader&route=/v1/operations");
    assert_int_equal(json_array_size(list), 2);
    assert_int_equal(repeats_of(list, 0), 49);
    assert_int_equal(repeats_of(list, 1), 0);
    assert_string_equal(text_of(list, 0, "code_name"), "FORBIDDEN");
    assert_string_not_equal(text_of(list, 0, "request_id"), text_of(list, 1, "request_id"));
    json_decref(list);
    list = rows(v, "?app=other"); /* nothing was counted for it */
    assert_int_equal(json_array_size(list), 1);
    json_decref(list);
    v->w.rig.clock.wall++;
    world_ask(&v->w, "POST", "/v1/operations", AUTH_OF("reader"), "{}"); /* the next minute */
    list = rows(v, "?app=reader&route=/v1/operations");
    assert_int_equal(json_array_size(list), 3);
    json_decref(list);
}

/* A refusal for one target does not hide a refusal for another. */
static void refusals_of_different_things_are_rows_of_their_own(void **state)
{
    static const char *const asks[] = {
        "{\"operation\":\"query\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a1\"]}",
        "{\"operation\":\"query\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a2\"]}",
        "{\"operation\":\"stop\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a1\"]}",
        "{\"operation\":\"query\",\"namespace\":\"web\",\"name\":\"p\",\"hosts\":[\"a1\"]}",
    };
    struct audit_world *v = *state;
    json_t *list;

    world_put_app(&v->w, "limited", "{\"namespaces\":[\"other\"]}");
    for (size_t i = 0; i < 3 * ARRAY_LEN(asks); i++) {
        v->w.rig.clock.wall++;
        world_ask(&v->w, "POST", "/v1/operations", AUTH_OF("limited"), asks[i % ARRAY_LEN(asks)]);
        assert_int_equal(v->w.status, 403);
    }
    list = rows(v, "");
    assert_int_equal(json_array_size(list), ARRAY_LEN(asks));
    json_decref(list);
    rig_pass_ms(&v->w.rig, 60 * 1000);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 2 * ARRAY_LEN(asks));
    for (size_t i = 0; i < ARRAY_LEN(asks); i++)
        assert_int_equal(repeats_of(list, i), 2);
    json_decref(list);
}

static void what_fails_is_not_folded(void **state)
{
    struct audit_world *v = *state;
    json_t *list;

    for (int i = 0; i < 3; i++) {
        v->w.rig.clock.wall++;
        world_ask(&v->w, "POST", "/v1/operations", DEMO_AUTH, "{}");
        assert_int_equal(v->w.status, 400);
    }
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 3);
    json_decref(list);
}

static void rate_limited_calls_are_not_recorded(void **state)
{
    static const char *const paths[] = { "/v1/operations",
                                         "/api/bk-gse/prod/api/v2/proc/operate_proc_v2" };
    struct audit_world *v = *state;
    json_t *list;

    world_put_app(&v->w, "hasty", "{\"rate_per_second\":1}");
    world_ask(&v->w, "POST", paths[0], AUTH_OF("hasty"), "{}");
    assert_int_equal(v->w.status, 400);
    for (int i = 0; i < 6; i++) {
        v->w.rig.clock.wall++;
        world_ask(&v->w, "POST", paths[i % 2], AUTH_OF("hasty"), "{}");
        assert_int_equal(v->w.status, 429);
    }
    rig_pass_ms(&v->w.rig, 61 * 1000); /* not later either */
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 1);
    assert_int_equal(code_of(list, 0), ERR_INVALID);
    json_decref(list);
}

static void the_user_at_the_admin_socket_is_recorded(void **state)
{
    struct audit_world *v = *state;
    json_t *list;
    char user[64];

    world_admin(&v->w, "POST", "/v1/apps", "{\"code\":\"kit\"}");
    list = rows(v, "");
    assert_string_equal(text_of(list, 0, "app"), "admin");
    snprintf(user, sizeof(user), "(uid %u)", (unsigned)geteuid());
    assert_non_null(strstr(text_of(list, 0, "user"), user));
    if (!geteuid())
        assert_string_equal(text_of(list, 0, "user"), "root (uid 0)");
    assert_true(json_is_true(json_object_get(json_array_get(list, 0), "user_proven")));
    json_decref(list);
}

static void strangers_and_readers_are_not(void **state)
{
    struct audit_world *v = *state;
    json_t *list;

    world_ask(&v->w, "POST", "/v1/operations", "", "{}");
    assert_int_equal(v->w.status, 401);
    world_ask(&v->w, "POST", "/v1/operations",
              "X-Bkapi-Authorization: {\"bk_app_code\":\"demo\",\"bk_app_secret\":\"wrong\"}\r\n",
              "{}");
    assert_int_equal(v->w.status, 401);
    world_ask(&v->w, "GET", "/v1/hosts", DEMO_AUTH, NULL);
    assert_int_equal(v->w.status, 200);
    world_admin(&v->w, "GET", "/v1/apps", NULL);
    world_admin(&v->w, "GET", "/v1/audit", NULL);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
}

/* The answer has the secret, the row does not. */
static void secrets_are_never_in_it(void **state)
{
    struct audit_world *v = *state;
    struct audit_page page = { .before_ms = INT64_MAX,
                               .before_id = "",
                               .until_ms = INT64_MAX,
                               .app = "",
                               .user = "",
                               .route = "",
                               .limit = 10 };
    char secret[64] = "";
    const struct audit_row *row;
    struct list list;

    world_admin(&v->w, "POST", "/v1/apps",
                "{\"code\":\"fresh\",\"permissions\":{\"namespaces\":[\"web\"]}}");
    assert_int_equal(v->w.status, 200);
    assert_int_equal(sscanf(strstr(v->w.body, "\"secret\":\"") + 10, "%63[^\"]", secret), 1);
    v->w.rig.clock.wall++;
    world_admin(&v->w, "POST", "/v1/tokens", "{\"biz_id\":2,\"note\":\"for ann\"}");
    assert_int_equal(v->w.status, 200);
    store_rig_do(&v->w.store, &store_audit_list, &page, &list);
    assert_int_equal(list.n, 2);
    row = list.items;
    for (size_t i = 0; i < list.n; i++) {
        assert_null(strstr(row[i].what, secret));
        assert_null(strstr(row[i].message, secret));
    }
    assert_non_null(strstr(row[0].what, "\"note\":\"for ann\""));
    assert_string_equal(row[1].what,
                        "{\"code\":\"fresh\",\"permissions\":{\"namespaces\":[\"web\"],"
                        "\"rate_per_second\":0}}");
}

static void long_lists_are_told_by_their_number(void **state)
{
    static const char json[] =
        "{\"meta\":{\"namespace\":\"n\",\"name\":\"p\"},\"op_type\":1,\"agent_id_list\":"
        "[\"a\",\"b\",\"c\",\"d\",\"e\"]}";
    struct arena a = { 0 };
    struct proc_operate ask;
    struct err err;

    (void)state;
    assert_int_equal(shape_read(&proc_operate_shape, json, strlen(json), 0, &a, &ask, &err), 0);
    assert_string_equal(
        audit_what(&proc_operate_shape, &ask, "", &a),
        "{\"meta\":{\"namespace\":\"n\",\"name\":\"p\"},\"op_type\":1,\"agent_id_list\":"
        "{\"n\":5,\"first\":[\"a\",\"b\",\"c\"]}}");
    assert_string_equal(audit_what(NULL, NULL, "17", &a), "{\"id\":\"17\"}");
    assert_null(audit_what(NULL, NULL, "", &a));
    arena_free(&a);
}

/* 128 bytes are shown, without half a character. */
static void long_texts_are_cut_between_characters(void **state)
{
    struct arena a = { 0 };
    char name[50 * 3 + 1] = "", told[42 * 3 + 16] = "{\"id\":\"";

    (void)state;
    for (size_t i = 0; i < 50; i++)
        memcpy(name + 3 * i, "\xE2\x82\xAC", 4);
    memcpy(told + strlen(told), name, 42 * 3);
    memcpy(told + strlen(told), "\"}", 3);
    assert_string_equal(audit_what(NULL, NULL, name, &a), told);
    arena_free(&a);
}

/* A new API without any shown field would be in the log without its parameters. */
static void every_change_says_what(void **state)
{
    (void)state;
    for (const struct route *r = routes; r->path; r++) {
        const struct field *f = r->in ? r->in->fields : NULL;

        if (!f || r->right == APP_READ || r->methods == METHOD_GET)
            continue;
        while (f->name && !audit_tells(f))
            f++;
        if (!f->name)
            fail_msg("%s: none of its fields is in audit_told", r->path);
    }
}

/* Words of values that must not be in a log. */
static void no_field_that_is_told_is_a_secret(void **state)
{
    static const char *const words[] = { "secret", "token", "password", "cmd", "env" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const struct field f = { words[i], .type = FIELD_STR },
                           secret = { "name", .type = FIELD_STR, .flags = FIELD_SECRET };

        assert_false(audit_tells(&f));
        assert_false(audit_tells(&secret));
    }
}

static void a_page_goes_on_where_the_last_ended(void **state)
{
    struct audit_world *v = *state;
    json_t *page;
    char path[256];

    for (int i = 0; i < 3; i++)
        operate(v);
    page = json_loads(world_admin(&v->w, "GET", "/v1/audit?limit=2", NULL), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(page, "rows")), 2);
    snprintf(path, sizeof(path), "/v1/audit?limit=2&after=%s",
             json_string_value(json_object_get(page, "next")));
    json_decref(page);
    page = json_loads(world_admin(&v->w, "GET", path, NULL), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(page, "rows")), 1);
    assert_string_equal(json_string_value(json_object_get(page, "next")), "");
    json_decref(page);
    world_admin(&v->w, "GET", "/v1/audit?after=nonsense", NULL);
    assert_int_equal(v->w.status, 400);
    assert_non_null(strstr(v->w.body, "after: "));
}

static void rows_are_filtered_by_app_user_time_and_route(void **state)
{
    static const struct {
        const char *query;
        size_t n;
    } cases[] = {
        { "?app=demo", 1 },
        { "?app=admin", 1 },
        { "?app=nobody", 0 },
        { "?user=tom", 1 },
        { "?route=/v1/hosts/remove", 1 },
        { "?until_s=1", 0 },
        { "?since_s=1700000000", 2 },
        { "?since_s=1700000100", 0 },
        { "?app='%20OR%201=1", 0 },
    };
    struct audit_world *v = *state;

    operate(v);
    world_admin(&v->w, "POST", "/v1/hosts/remove", "{\"host\":\"nobody\"}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *list = rows(v, cases[i].query);

        if (json_array_size(list) != cases[i].n)
            fail_msg("%s: %zu rows", cases[i].query, json_array_size(list));
        json_decref(list);
    }
    world_ask(&v->w, "GET", "/v1/audit", DEMO_AUTH, NULL);
    assert_int_equal(v->w.status, 403); /* only for admins */
}

/* The change is done, so the caller gets its answer; the server's log has what the store lacks. */
static void a_store_that_fails_takes_nothing_back(void **state)
{
    struct audit_world *v = *state;
    struct log *log;
    struct buf text = { 0 };
    struct err err;
    char path[128];

    snprintf(path, sizeof(path), "%s/log", v->w.store.dir);
    assert_int_equal(log_new(path, LOG_INFO, &v->w.rig.clock.clock, &log, &err), 0);
    v->w.api->parts.log = log;
    operate(v);
    assert_non_null(strstr(v->w.body, "GSETASK:S:1:1"));
    assert_int_equal(file_read(path, 1 << 20, &text, &err), 0);
    assert_non_null(strstr(buf_text(&text), "THE AUDIT LOG LACKS A CHANGE"));
    assert_non_null(strstr(buf_text(&text), "\"app\":\"demo\",\"user\":\"tom\""));
    assert_non_null(strstr(buf_text(&text), "\"task\":\"GSETASK:S:1:1\""));
    assert_null(strstr(buf_text(&text), "hunter2"));
    v->w.api->parts.log = NULL;
    buf_free(&text);
    log_free(log);
}

/* The server stops meanwhile: the row is stored, the call freed. */
static void a_call_that_waits_for_its_row_is_freed_at_the_stop(void **state)
{
    struct audit_world *v = *state;
    struct buf out = { 0 };
    int fd = world_connect(&v->w, 0);

    v->tasks.holds = true;
    world_head(&out, "POST", "/api/bk-gse/prod/api/v2/proc/operate_proc_v2", DEMO_AUTH);
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(OPERATE), OPERATE);
    world_send(&v->w, fd, &out);
    TURN_UNTIL(&v->w.rig, v->tasks.waiter != NULL);
    assert_int_equal(store_counters(v->w.store.store)->on_their_way, 0);
    v->tasks.waiter(v->tasks.waiter_arg, "GSETASK:S:1:9", NULL);
    assert_int_equal(store_counters(v->w.store.store)->on_their_way, 1);
    close(fd);
    buf_free(&out);
}

static void the_old_go_with_time(void **state)
{
    struct audit_world *v = *state;
    const struct audit_row row = { .at_ms = 1, .request_id = "old", .app = "demo" };
    struct audit *a = audit_new(v->w.rig.loop, NULL, v->w.store.store, 1, NULL);
    json_t *list;

    store_rig_do(&v->w.store, &store_audit_put, &row, NULL);
    operate(v);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 2);
    json_decref(list);
    rig_pass_ms(&v->w.rig, 61 * 1000);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
    list = rows(v, "");
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_of(list, 0, "app"), "demo");
    assert_string_equal(text_of(list, 0, "user"), "tom");
    json_decref(list);
    audit_stop(a);
    audit_free(a);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_change_is_written_down),
        TEST(a_new_secret_is_told_as_one),
        TEST(what_fails_is_written_down_too),
        TEST(attempts_of_known_apps_are_written_down),
        TEST(the_code_is_the_one_that_the_caller_saw),
        TEST(refusals_that_repeat_are_one_row_a_minute),
        TEST(refusals_of_different_things_are_rows_of_their_own),
        TEST(what_fails_is_not_folded),
        TEST(rate_limited_calls_are_not_recorded),
        TEST(the_user_at_the_admin_socket_is_recorded),
        TEST(strangers_and_readers_are_not),
        TEST(secrets_are_never_in_it),
        cmocka_unit_test(long_lists_are_told_by_their_number),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(every_change_says_what),
        cmocka_unit_test(no_field_that_is_told_is_a_secret),
        TEST(a_page_goes_on_where_the_last_ended),
        TEST(rows_are_filtered_by_app_user_time_and_route),
        cmocka_unit_test_setup_teardown(a_store_that_fails_takes_nothing_back, setup_without,
                                        teardown),
        TEST(a_call_that_waits_for_its_row_is_freed_at_the_stop),
        TEST(the_old_go_with_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
