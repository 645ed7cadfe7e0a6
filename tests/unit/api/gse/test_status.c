/* SPDX-License-Identifier: MIT */
/* Promises of get_proc_status, its v2, and sync_proc_status: api/gse/status.c, over a real
 * fleet. */
#include "tests/unit/api/fleet_world.h"

#define ESB      "/api/c/compapi/v2/gse/"
#define GATEWAY  "/api/bk-gse/prod/api/v2/proc/"
#define META     "\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"}"
#define AT(ip)   "{\"ip\":\"" ip "\",\"bk_cloud_id\":0}"
#define HOST_A3  "{\"ip\":\"10.0.0.3\",\"bk_cloud_id\":2}"
#define OF(list) "{" META ",\"agent_id_list\":[" list "]}"

/* "a1 a2" of the entries, as they are named. */
static const char *named(const json_t *data)
{
    static char text[512];
    const json_t *list = json_object_get(data, "proc_infos");
    int at = 0;

    assert_true(json_is_array(list));
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *info = json_array_get(list, i);

        at +=
            snprintf(text + at, sizeof(text) - (size_t)at, "%s%s/%s", i ? " " : "",
                     text_at(info, "bk_agent_id"), text_at(json_object_get(info, "meta"), "name"));
    }
    return text;
}

static const json_t *first(const json_t *data)
{
    const json_t *list = json_object_get(data, "proc_infos");

    assert_true(json_array_size(list) >= 1);
    return json_array_get(list, 0);
}

/* ---- what is in an entry */

static const struct {
    const char *name;
    json_type type;
} members[] = {
    { "meta", JSON_OBJECT },           { "host", JSON_OBJECT },
    { "bk_agent_id", JSON_STRING },    { "flag", JSON_INTEGER },
    { "status", JSON_INTEGER },        { "message", JSON_STRING },
    { "pid", JSON_INTEGER },           { "version", JSON_STRING },
    { "register_time", JSON_INTEGER }, { "last_start_time", JSON_INTEGER },
    { "report_time", JSON_INTEGER },   { "fd", JSON_INTEGER },
    { "disk", JSON_INTEGER },          { "net", JSON_INTEGER },
};

/* Clients fail if a field is missing, or an integer is written as another number. */
static void must_be_whole(const json_t *info)
{
    const json_t *host = json_object_get(info, "host"), *meta = json_object_get(info, "meta");

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *value = json_object_get(info, members[i].name);

        if (!value || json_typeof(value) != members[i].type)
            fail_msg("%s: missing, or of another type", members[i].name);
    }
    assert_true(json_is_boolean(json_object_get(info, "isauto")));
    assert_true(json_is_number(json_object_get(info, "cpu_usage")));
    assert_true(json_is_number(json_object_get(info, "mem_usage")));
    assert_int_equal(json_object_size(info), ARRAY_LEN(members) + 3);
    assert_int_equal(json_object_size(host), 3);
    int_at(host, "bk_cloud_id");
    int_at(host, "bk_supplier_id");
    text_at(host, "ip");
    assert_int_equal(json_object_size(meta), 3);
    assert_true(json_is_object(json_object_get(meta, "labels")));
    assert_in_range(int_at(info, "status"), 0, 2);
    assert_in_range(int_at(info, "flag"), 0, 2);
}

static const struct {
    const char *method, *path, *body;
} ways[] = {
    { "POST", ESB "get_proc_status/", "{" META ",\"hosts\":[" AT("10.0.0.1") "]}" },
    { "POST", ESB "get_proc_status_v2/", "{" META ",\"hosts\":[" AT("10.0.0.1") "]}" },
    { "POST", ESB "get_proc_status_v2", OF("\"a1\"") },
    { "POST", GATEWAY "get_proc_status_v2", OF("\"a1\"") },
    { "POST", GATEWAY "get_proc_status_v2/", "{" META ",\"hosts\":[" AT("10.0.0.1") "]}" },
    { "POST", ESB "api/v2/proc/get_proc_status_v2/", OF("\"a1\"") },
    { "GET", "/procapi/v1/proc/status", "{" META ",\"hosts\":[" AT("10.0.0.1") "]}" },
    { "GET", "/procapi/v2/proc/status", OF("\"a1\"") },
    { "POST", ESB "sync_proc_status/",
      "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":10}}" },
    { "POST", GATEWAY "sync_proc_status",
      "{\"meta\":{\"namespace\":\"gse\",\"name\":\"\"},\"page\":{\"start\":0,\"limit\":10,"
      "\"return_total\":true}}" },
    { "GET", "/procapi/v1/proc/syncstatus",
      "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":10}}" },
};

static void every_field_is_there_whatever_the_version(void **state)
{
    struct fleet_world *f = *state;

    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const json_t *info =
            first(fleet_world_ask(f, ways[i].method, ways[i].path, DEMO_AUTH, ways[i].body));

        must_be_whole(info);
        assert_string_equal(text_at(info, "bk_agent_id"), "a1");
        assert_string_equal(text_at(json_object_get(info, "host"), "ip"), "10.0.0.1");
        assert_int_equal(int_at(info, "status"), 1);
        assert_int_equal(int_at(info, "flag"), 1);
        assert_int_equal(int_at(info, "pid"), 812);
        assert_true(json_is_true(json_object_get(info, "isauto")));
        assert_string_equal(text_at(info, "version"), "2.0");
        assert_int_equal(int_at(info, "register_time"), WALL_MS - 9000);
        assert_int_equal(int_at(info, "last_start_time"), WALL_MS - 60);
        assert_int_equal(int_at(info, "report_time"), WALL_MS - 50);
        assert_string_equal(text_at(info, "message"), "running for 1m 0s as pid 812");
    }
}

/* GSEKit sends numbers, and BSCP, which reads the same namespaces, accepts only strings. */
static void labels_are_strings_whatever_was_sent(void **state)
{
    static const struct {
        const char *key, *value;
    } wants[] = { { "i", "12" }, { "f", "1.50" }, { "e", "1E5" }, { "t", "true" },
                  { "n", "" },   { "s", "12" },   { "x", "x" } };
    struct fleet_world *f = *state;
    const json_t *info, *labels;

    fleet_world_post(
        f, ESB "update_proc_info",
        "{\"meta\":{\"namespace\":\"gse\",\"name\":\"p\",\"labels\":{\"i\":12,\"f\":"
        "1.50,\"e\":1E5,\"t\":true,\"n\":null,\"s\":\"12\",\"x\":\"x\"}},\"hosts\":[" AT(
            "10.0.0.1") "],\"spec\":{\"identity\":{\"proc_name\":\"p\",\"setup_path\":"
                        "\"/a\",\"pid_path\":\"/a/p\",\"user\":\"root\"}}}");
    info = first(fleet_world_post(f, GATEWAY "get_proc_status_v2", OF("\"a1\"")));
    must_be_whole(info);
    labels = json_object_get(json_object_get(info, "meta"), "labels");
    assert_int_equal(json_object_size(labels), ARRAY_LEN(wants));
    for (size_t i = 0; i < ARRAY_LEN(wants); i++)
        assert_string_equal(text_at(labels, wants[i].key), wants[i].value);
    assert_int_equal(int_at(info, "pid"), -1);
}

/* ---- which hosts are in it */

static const struct {
    const char *path, *body, *named;
} asked[] = {
    { GATEWAY "get_proc_status_v2", OF("\"a2\",\"a1\""), "a2/p a1/p" },
    { GATEWAY "get_proc_status_v2", OF("\"a1\",\"a2\",\"a1\""), "a1/p a2/p" },
    { GATEWAY "get_proc_status_v2", OF("\"nobody\",\"a1\",\"9:9.9.9.9\""), "a1/p" },
    { GATEWAY "get_proc_status_v2", OF("\"nobody\""), "" },
    { GATEWAY "get_proc_status_v2", OF("\"a4\""), "" }, /* it does not have the process */
    { GATEWAY "get_proc_status_v2", OF("\"0:10.0.0.2\",\"a2\""), "0:10.0.0.2/p a2/p" },
    { GATEWAY "get_proc_status_v2",
      "{" META ",\"agent_id_list\":[\"a1\"],\"hosts\":[" AT("10.0.0.2") "]}", "a1/p" },
    { GATEWAY "get_proc_status_v2",
      "{" META ",\"agent_id_list\":[],\"hosts\":[" AT("10.0.0.2") "]}", "a2/p" },
    { ESB "get_proc_status",
      "{" META ",\"hosts\":[" HOST_A3 "," AT("10.0.0.2") "," AT("10.0.0.2") "," AT("10.9.9.9") "]}",
      "a3/p a2/p" },
    { ESB "get_proc_status", "{" META ",\"hosts\":[{\"ip\":\"10.0.0.3\",\"bk_cloud_id\":0}]}", "" },
};

static void hosts_come_as_they_were_asked_for(void **state)
{
    struct fleet_world *f = *state;

    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    fleet_world_put_proc(f->fleet, "a2", "gse", "p");
    fleet_world_put_proc(f->fleet, "a3", "gse", "p");
    fleet_world_put_proc(f->fleet, "a4", "gse", "other");
    fleet_world_put_proc(f->fleet, "a4", "web", "p");
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        const char *got = named(fleet_world_post(f, asked[i].path, asked[i].body));

        if (strcmp(got, asked[i].named) != 0)
            fail_msg("%s: %s", asked[i].body, got);
    }
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

static void a_host_that_can_be_none_is_absent(void **state)
{
    static const char *const bodies[] = {
        OF("\"\",\"a1\",\"" LONG "\",\"a1\\n\",\"\\u0001\""),
        "{" META ",\"hosts\":[" AT("") "," AT("10.0.0.1") "," AT(LONG) "," AT("10.0.0.1\\n") "]}",
    };
    struct fleet_world *f = *state;

    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const json_t *data = fleet_world_post(f, ESB "get_proc_status_v2", bodies[i]);

        assert_int_equal(json_array_size(json_object_get(data, "proc_infos")), 1);
        assert_string_equal(text_at(first(data), "bk_agent_id"), "a1");
    }
}

static void a_supplier_is_echoed_and_means_nothing(void **state)
{
    struct fleet_world *f = *state;
    const json_t *data, *list;

    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    data = fleet_world_post(f, ESB "get_proc_status",
                            "{" META ",\"hosts\":["
                            "{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0,\"bk_supplier_id\":7},"
                            "{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0,\"bk_supplier_id\":8}]}");
    list = json_object_get(data, "proc_infos");
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(int_at(json_object_get(json_array_get(list, i), "host"), "bk_supplier_id"),
                         7 + (int64_t)i);
}

static void many_hosts_are_one_answer(void **state)
{
    enum { MANY = 2000 };
    struct fleet_world *f = *state;
    struct buf body = { 0 };
    const json_t *list;

    buf_puts(&body, "{" META ",\"agent_id_list\":[\"a2\"");
    for (int i = 0; i < MANY; i++)
        buf_printf(&body, ",\"x%d\"", i);
    buf_puts(&body, ",\"a1\"]}");
    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    fleet_world_put_proc(f->fleet, "a2", "gse", "p");
    assert_string_equal(named(fleet_world_post(f, GATEWAY "get_proc_status_v2", buf_text(&body))),
                        "a2/p a1/p");
    list = json_object_get(json_object_get(f->answer, "data"), "proc_infos");
    assert_int_equal(json_array_size(list), 2);
    buf_free(&body);
}

/* ---- what an app may not see */

static void other_businesses_are_absent(void **state)
{
    struct fleet_world *f = *state;

    world_put_app(&f->w, "one", "{\"businesses\":[1]}");
    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    fleet_world_put_proc(f->fleet, "a2", "gse", "p");
    assert_string_equal(named(fleet_world_ask(f, "POST", GATEWAY "get_proc_status_v2",
                                              AUTH_AS("one"), OF("\"a2\",\"a1\""))),
                        "a1/p");
    assert_string_equal(
        named(fleet_world_ask(
            f, "POST", ESB "sync_proc_status", AUTH_AS("one"),
            "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":5}}")),
        "a1/p");
    assert_int_equal(int_at(json_object_get(f->answer, "data"), "count"), 1);
}

static void another_namespace_is_refused(void **state)
{
    static const char *const bodies[][2] = {
        { GATEWAY "get_proc_status_v2", OF("\"a1\"") },
        { ESB "get_proc_status", "{" META ",\"hosts\":[" AT("10.0.0.1") "]}" },
        { ESB "sync_proc_status",
          "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":5}}" },
    };
    struct fleet_world *f = *state;

    world_put_app(&f->w, "web", "{\"namespaces\":[\"web\"]}");
    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        world_ask(&f->w, "POST", bodies[i][0], AUTH_AS("web"), bodies[i][1]);
        assert_int_equal(f->w.status, 200);
        if (!strstr(f->w.body, "\"code\":1000823,\"message\":\"meta.namespace: the app may not use "
                               "namespace gse\",\"data\":null"))
            fail_msg("%s", f->w.body);
    }
}

/* ---- invalid requests */

/* clang-format off */
#define PARAM "\"code\":1000811,\"message\":\"Parameters error, "
static const struct {
    const char *path, *body, *said;
} wrong[] = {
    { GATEWAY "get_proc_status_v2", "{" META "}", PARAM "hosts: required, or agent_id_list\"" },
    { GATEWAY "get_proc_status_v2", "{" META ",\"hosts\":[],\"agent_id_list\":null}", PARAM "hosts: required, or agent_id_list\"" },
    { ESB "get_proc_status", "{" META "}", PARAM "hosts: required\"" },
    { ESB "get_proc_status", "{" META ",\"hosts\":[]}", PARAM "hosts: " },
    { ESB "get_proc_status", "{" META ",\"hosts\":null}", PARAM "hosts: must be a list" },
    { ESB "get_proc_status", "{\"hosts\":[" AT("10.0.0.1") "]}", PARAM "meta: required\"" },
    { ESB "get_proc_status", "{\"meta\":{\"namespace\":\"gse\"},\"hosts\":[" AT("10.0.0.1") "]}", PARAM "meta.name: required\"" },
    { ESB "get_proc_status", "{\"meta\":{\"name\":\"p\"},\"hosts\":[" AT("10.0.0.1") "]}", PARAM "meta.namespace: required\"" },
    { ESB "get_proc_status", "{\"meta\":{\"namespace\":\"a:b\",\"name\":\"p\"},\"hosts\":[" AT("10.0.0.1") "]}", PARAM "meta.namespace: " },
    { ESB "get_proc_status", "{" META ",\"hosts\":[{\"ip\":\"10.0.0.1\"}]}", PARAM "hosts[0].bk_cloud_id: required\"" },
    { ESB "get_proc_status", "{" META ",\"hosts\":[" AT("10.0.0.1") ",{\"bk_cloud_id\":1}]}", PARAM "hosts[1].ip: required\"" },
    { ESB "get_proc_status", "{" META ",\"hosts\":\"10.0.0.1\"}", PARAM "hosts: " },
    { GATEWAY "get_proc_status_v2", OF("1"), PARAM "agent_id_list[0]: " },
    { ESB "sync_proc_status", "{\"page\":{\"start\":0,\"limit\":5}}", PARAM "meta: required\"" },
    { ESB "sync_proc_status", "{\"meta\":{},\"page\":{\"start\":0,\"limit\":5}}", PARAM "meta.namespace: required\"" },
    { ESB "sync_proc_status", "{\"meta\":{\"namespace\":\"gse\"}}", PARAM "page: required\"" },
    { ESB "sync_proc_status", "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"limit\":5}}", PARAM "page.start: required\"" },
    { ESB "sync_proc_status", "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0}}", PARAM "page.limit: required\"" },
    { ESB "sync_proc_status", "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":-1,\"limit\":5}}", PARAM "page.start: " },
    { ESB "sync_proc_status", "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":0}}", PARAM "page.limit: " },
    { ESB "sync_proc_status", "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":\"x\"}}", PARAM "page.limit: " },
};
/* clang-format on */

static void what_is_wrong_is_named_by_its_path(void **state)
{
    struct fleet_world *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        world_ask(&f->w, "POST", wrong[i].path, DEMO_AUTH, wrong[i].body);
        if (f->w.status != 200 || !strstr(f->w.body, wrong[i].said) ||
            !strstr(f->w.body, "\"data\":null"))
            fail_msg("%s: %s", wrong[i].body, f->w.body);
    }
}

static void esb_takes_it_from_the_query_too(void **state)
{
    struct fleet_world *f = *state;

    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    assert_string_equal(
        named(fleet_world_ask(f, "GET",
                              ESB "sync_proc_status/?meta=%7B%22namespace%22%3A%22gse%22%7D&page="
                                  "%7B%22start%22%3A%220%22%2C%22limit%22%3A%225%22%7D",
                              DEMO_AUTH, NULL)),
        "a1/p");
}

/* ---- offline agents */

static const struct {
    int64_t gone_s; /* offline for this long; -1: until one second in the future */
    bool is_known;
} away[] = { { 0, true }, { 9, true }, { 10, false }, { 3600, false }, { -1, false } };

/* An old "running" is not shown as current. */
static void processes_of_an_offline_host_are_unknown(void **state)
{
    struct fleet_world *f = *state;
    const json_t *info;

    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    for (size_t i = 0; i < ARRAY_LEN(away); i++) {
        fleet_set_session(f->fleet, "a1", 0, (WALL_MS - away[i].gone_s) * INT64_C(1000));
        info = first(fleet_world_post(f, GATEWAY "get_proc_status_v2", OF("\"a1\"")));
        must_be_whole(info);
        assert_int_equal(int_at(info, "status"), away[i].is_known ? 1 : 0);
        assert_int_equal(int_at(info, "pid"), away[i].is_known ? 812 : -1);
        assert_int_equal(int_at(info, "flag"), 1);
        assert_true(json_is_true(json_object_get(info, "isauto")));
        assert_int_equal(int_at(info, "register_time"), WALL_MS - 9000);
        assert_int_equal(int_at(info, "last_start_time"), WALL_MS - 60);
        assert_int_equal(int_at(info, "report_time"), WALL_MS - 50);
    }
    fleet_set_session(f->fleet, "a1", 2, WALL_MS * INT64_C(1000));
    info = first(fleet_world_post(f, GATEWAY "get_proc_status_v2", OF("\"a1\"")));
    assert_int_equal(int_at(info, "status"), 1);
}

static void it_says_since_when(void **state)
{
    struct fleet_world *f = *state;
    const json_t *info;

    fleet_world_put_proc(f->fleet, "a3", "gse", "p");
    info = first(fleet_world_post(f, GATEWAY "get_proc_status_v2", OF("\"a3\"")));
    assert_string_equal(text_at(info, "message"),
                        "unknown since 2023-11-14T21:13:20Z: the agent is not connected");
    assert_true(json_number_value(json_object_get(info, "cpu_usage")) == 0);
    info = first(fleet_world_ask(f, "POST", GATEWAY "get_proc_status_v2",
                                 DEMO_AUTH "Blueking-Language: zh-hans\r\n", OF("\"a3\"")));
    assert_string_equal(text_at(info, "message"),
                        "自 2023-11-14T21:13:20Z 起状态未知：Agent 未连接");
    info = first(
        fleet_world_post(f, ESB "sync_proc_status",
                         "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":5}}"));
    assert_int_equal(int_at(info, "status"), 0);
}

/* ---- a namespace, page by page */

static const char *page(struct fleet_world *f, int start, int limit)
{
    char body[128];

    snprintf(body, sizeof(body),
             "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":%d,\"limit\":%d}}", start,
             limit);
    return named(fleet_world_post(f, ESB "sync_proc_status", body));
}

static int64_t count(const struct fleet_world *f)
{
    return int_at(json_object_get(f->answer, "data"), "count");
}

static void pages_have_all_of_it_once(void **state)
{
    struct fleet_world *f = *state;

    assert_string_equal(page(f, 0, 1), "");
    assert_int_equal(count(f), 0);
    fleet_world_put_proc(f->fleet, "a2", "gse", "q");
    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    fleet_world_put_proc(f->fleet, "a2", "gse", "p");
    fleet_world_put_proc(f->fleet, "a1", "web", "p");
    assert_string_equal(page(f, 0, 1), "a1/p");
    assert_int_equal(count(f), 3);
    assert_string_equal(page(f, 0, 2), "a1/p a2/p");
    fleet_world_put_proc(f->fleet, "a1", "gse", "p"); /* changes, and keeps its position */
    fleet_world_put_proc(f->fleet, "a3", "gse", "p");
    assert_string_equal(page(f, 2, 2), "a2/q a3/p");
    assert_int_equal(count(f), 4);
    assert_string_equal(page(f, 4, 2), "");
    assert_int_equal(count(f), 4);
}

static void a_page_has_a_thousand_at_most(void **state)
{
    enum { MANY = 1003 };
    struct fleet_world *f = *state;

    for (int i = 0; i < MANY; i++) {
        char name[16];

        snprintf(name, sizeof(name), "p%04d", i);
        fleet_world_put_proc(f->fleet, i % 2 ? "a1" : "a2", "gse", name);
    }
    fleet_world_post(f, ESB "sync_proc_status",
                     "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":0,\"limit\":50000}}");
    assert_int_equal(count(f), MANY);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(f->answer, "data"), "proc_infos")), 1000);
    assert_string_equal(page(f, 1000, 5), "a2/p0998 a2/p1000 a2/p1002");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLEET_TEST(every_field_is_there_whatever_the_version),
        FLEET_TEST(labels_are_strings_whatever_was_sent),
        FLEET_TEST(hosts_come_as_they_were_asked_for),
        FLEET_TEST(a_host_that_can_be_none_is_absent),
        FLEET_TEST(a_supplier_is_echoed_and_means_nothing),
        FLEET_TEST(many_hosts_are_one_answer),
        FLEET_TEST(other_businesses_are_absent),
        FLEET_TEST(another_namespace_is_refused),
        FLEET_TEST(what_is_wrong_is_named_by_its_path),
        FLEET_TEST(esb_takes_it_from_the_query_too),
        FLEET_TEST(processes_of_an_offline_host_are_unknown),
        FLEET_TEST(it_says_since_when),
        FLEET_TEST(pages_have_all_of_it_once),
        FLEET_TEST(a_page_has_a_thousand_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
