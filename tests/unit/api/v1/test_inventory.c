/* SPDX-License-Identifier: MIT */
/* Promises of api/v1/v1_hosts.c, v1_import.c and v1_business.c. */
#include <jansson.h>

#include "api/pipeline/api_state.h"
#include "store/store_business.h"
#include "store/store_hosts.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct inventory_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
};

/* Three hosts: a1 and a2 in business 1, a3 in business 2; in the store as in memory. */
static int setup(void **state)
{
    struct inventory_world *v = xalloc(sizeof(*v));

    world_init(&v->w);
    for (size_t i = 0; i < 3; i++) {
        struct host_row row = {
            .agent_id = (const char *const[]){ "a1", "a2", "a3" }[i],
            .ip = (const char *const[]){ "10.0.0.1", "10.0.0.2", "10.0.0.3" }[i],
            .hostname = (const char *const[]){ "web-1", "Web-2", "db" }[i],
            .version = "0.1",
            .cloud_id = i == 2,
            .biz_id = i == 2 ? 2 : 1,
            .joined_ms = 2000,
            .addresses = i == 0 ? "fd00::1 10.0.0.1" : "",
        };

        store_rig_do(&v->w.store, &store_host_put, &row, NULL);
        v->fleet.hosts[i] = (struct fleet_host){
            .agent_id = row.agent_id,
            .ip = row.ip,
            .hostname = row.hostname,
            .version = row.version,
            .cloud_id = row.cloud_id,
            .biz_id = row.biz_id,
            .addresses = row.addresses,
            .joined_ms = 2000,
            .since_ms = 1000,
            .epoch = i == 0,
        };
    }
    v->fleet.n = 3;
    world_put_app(&v->w, "one", "{\"businesses\":[1]}");
    world_put_app(&v->w, "two", "{\"business_sets\":[8000001]}");
    world_open(&v->w, &v->fleet, &v->tasks);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct inventory_world *v = *state;

    world_close_doors(&v->w);
    world_done(&v->w);
    buf_free(&v->tasks.asked);
    free(v);
    return 0;
}

static const char *admin(struct inventory_world *v, const char *method, const char *path,
                         const char *body, int status)
{
    world_admin(&v->w, method, path, body);
    if (v->w.status != status)
        fail_msg("%s %s: %d %s", method, path, v->w.status, v->w.body);
    return v->w.body;
}

#define AS(app)                                                                                    \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"" app "\",\"bk_app_secret\":\"" WORLD_SECRET        \
    "\"}\r\n"

/* The values of a field in a list of objects, separated by blanks. */
static const char *list_of(struct inventory_world *v, const char *list, const char *key,
                           struct buf *to)
{
    json_t *page = json_loads(v->w.body, 0, NULL), *item;
    size_t i;

    buf_truncate(to, 0);
    json_array_foreach(json_object_get(page, list), i, item)
    {
        const json_t *value = json_object_get(item, key);

        buf_puts(to, i ? " " : "");
        if (json_is_string(value))
            buf_puts(to, json_string_value(value));
        else
            buf_put_int(to, json_integer_value(value));
    }
    json_decref(page);
    return buf_text(to);
}

/* ---- hosts */

static void a_host_shows_all_that_is_known(void **state)
{
    struct inventory_world *v = *state;

    admin(v, "PUT", "/v1/hosts", "{\"host\":\"a1\",\"host_id\":17,\"note\":\"rack 4\"}", 200);
    assert_string_equal(
        admin(v, "GET", "/v1/hosts?limit=1", NULL, 200),
        "{\"hosts\":[{\"agent_id\":\"a1\",\"cloud_id\":0,\"ip\":\"10.0.0.1\",\"addresses\":["
        "\"10.0.0.1\",\"fd00::1\"],\"biz_id\":1,\"host_id\":17,\"note\":\"rack 4\",\"hostname\":"
        "\"web-1\",\"version\":\"0.1\",\"state\":\"online\",\"online\":true,\"since_s\":1,"
        "\"silent_since_s\":0,\"joined_s\":2,\"processes\":0,\"running\":0}],\"next\":\"a1\"}\n");
}

static void hosts_are_found_by_what_is_asked(void **state)
{
    static const struct {
        const char *query, *ips;
    } cases[] = {
        { "", "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.9" },
        { "?business=1", "10.0.0.1 10.0.0.2" },
        { "?business=2", "10.0.0.3 10.0.0.9" },
        { "?business=0", "" },
        { "?cloud=1", "10.0.0.3" },
        { "?state=online", "10.0.0.1" },
        { "?state=offline", "10.0.0.2 10.0.0.3" },
        { "?state=expected", "10.0.0.9" },
        { "?text=WEB", "10.0.0.1 10.0.0.2" },
        { "?text=fd00", "10.0.0.1" },
        { "?text=a3", "10.0.0.3" },
        { "?text=soon", "10.0.0.9" },
        { "?text=10.0.0.&business=2&cloud=0", "10.0.0.9" },
        { "?text='%20OR%20'1'='1", "" },
        { "?text=%25", "" },
    };
    struct inventory_world *v = *state;
    struct buf b = { 0 };

    admin(v, "PUT", "/v1/hosts", "{\"host\":\"10.0.0.9\",\"biz_id\":2,\"note\":\"soon\"}", 200);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[128];

        snprintf(path, sizeof(path), "/v1/hosts%s", cases[i].query);
        admin(v, "GET", path, NULL, 200);
        if (strcmp(list_of(v, "hosts", "ip", &b), cases[i].ips) != 0)
            fail_msg("%s: %s", cases[i].query, buf_text(&b));
    }
    v->fleet.hosts[0].silent_ms = 5000;
    for (size_t i = 0; i < 2; i++) { /* a silent host is still online */
        admin(v, "GET", i ? "/v1/hosts?state=silent" : "/v1/hosts?state=online", NULL, 200);
        assert_string_equal(list_of(v, "hosts", "ip", &b), "10.0.0.1");
        assert_string_equal(list_of(v, "hosts", "state", &b), "silent");
        assert_non_null(strstr(v->w.body, "\"online\":true"));
        assert_non_null(strstr(v->w.body, "\"silent_since_s\":5,"));
    }
    admin(v, "GET", "/v1/hosts?state=asleep", NULL, 400);
    assert_non_null(strstr(v->w.body, "state: "));
    admin(v, "GET", "/v1/hosts?after=%2Bnowhere", NULL, 400);
    assert_non_null(strstr(v->w.body, "after: "));
    buf_free(&b);
}

/* Every host once, whatever the size of a page, joined or expected. */
static void pages_of_hosts_are_stable(void **state)
{
    struct inventory_world *v = *state;
    char path[256];

    admin(v, "POST", "/v1/hosts/import",
          "{\"hosts\":[{\"ip\":\"10.0.0.9\"},{\"ip\":\"10.0.0.8\"},{\"ip\":\"10.0.0.7\",\"cloud_"
          "id\":3}]}",
          200);
    for (int limit = 1; limit <= 7; limit++) {
        struct buf all = { 0 }, page = { 0 };
        char next[64] = "";

        do {
            json_t *json;

            snprintf(path, sizeof(path), "/v1/hosts?limit=%d&after=%s%s", limit,
                     *next == '+' ? "%2B" : "", *next == '+' ? next + 1 : next);
            admin(v, "GET", path, NULL, 200);
            buf_printf(&all, "%s%s", all.len ? " " : "", list_of(v, "hosts", "ip", &page));
            json = json_loads(v->w.body, 0, NULL);
            snprintf(next, sizeof(next), "%s", json_string_value(json_object_get(json, "next")));
            json_decref(json);
        } while (*next);
        assert_string_equal(buf_text(&all),
                            "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.8 10.0.0.9 10.0.0.7");
        buf_free(&all);
        buf_free(&page);
    }
}

/* "3:fd00::1" is an address, too. */
static void a_place_with_an_ipv6_address_is_not_taken_for_an_address(void **state)
{
    struct inventory_world *v = *state;
    struct buf b = { 0 };

    admin(v, "POST", "/v1/hosts/import",
          "{\"hosts\":[{\"cloud_id\":3,\"ip\":\"fd00::1\"},{\"cloud_id\":3,\"ip\":\"fd00::2\"}]}",
          200);
    admin(v, "GET", "/v1/hosts?state=expected&limit=1", NULL, 200);
    assert_string_equal(list_of(v, "hosts", "ip", &b), "fd00::1");
    assert_non_null(strstr(v->w.body, "\"next\":\"+3:fd00::1\""));
    admin(v, "GET", "/v1/hosts?state=expected&limit=1&after=%2B3:fd00::1", NULL, 200);
    assert_string_equal(list_of(v, "hosts", "ip", &b), "fd00::2");
    assert_non_null(strstr(v->w.body, "\"next\":\"\""));
    admin(v, "PUT", "/v1/hosts", "{\"host\":\"3:fd00::1\",\"note\":\"x\"}", 400);
    assert_non_null(strstr(v->w.body, "host: 3:fd00::1 can be read in two ways: use ip and "
                                      "cloud_id"));
    admin(v, "POST", "/v1/hosts/remove", "{\"host\":\"3:fd00::1\"}", 200);
    admin(v, "POST", "/v1/hosts/remove", "{\"host\":\"3:fd00::1\"}", 404);
    buf_free(&b);
}

static void an_expected_host_can_be_forgotten(void **state)
{
    struct inventory_world *v = *state;

    admin(v, "PUT", "/v1/hosts", "{\"ip\":\"10.0.0.9\",\"cloud_id\":3,\"biz_id\":2}", 200);
    assert_non_null(strstr(v->w.body, "\"result\":\"expected\""));
    admin(v, "POST", "/v1/hosts/remove", "{\"host\":\"3:10.0.0.9\"}", 200);
    assert_non_null(strstr(v->w.body, "\"state\":\"expected\""));
    admin(v, "POST", "/v1/hosts/remove", "{\"host\":\"3:10.0.0.9\"}", 404);
    admin(v, "POST", "/v1/hosts/remove", "{\"host\":\"nobody\"}", 404);
    admin(v, "POST", "/v1/hosts/remove", "{\"host\":\"a1\"}", 200);
    assert_int_equal(v->fleet.n, 2);
}

/* ---- settings of hosts */

static void an_import_is_all_or_nothing(void **state)
{
    static const struct {
        const char *bad, *error;
    } cases[] = {
        { "{\"ip\":\"10.0.0.x\"}", "ip: must be a numeric address" },
        { "{\"note\":\"nobody\"}", "host: required, or agent_id, or ip" },
        { "{\"host\":\"a2\",\"ip\":\"10.0.0.2\"}", "host: goes without agent_id and ip" },
        { "{\"host\":\"unknown\"}", "agent_id: unknown has not joined" },
        { "{\"host\":\"a1\"}", "the same host as hosts[0]" },
        { "{\"host\":\"0:10.0.0.1\"}", "the same host as hosts[0]" },
        { "{\"agent_id\":\"a2\",\"ip\":\"10.0.0.3\"}", "ip: host a2 is 0:10.0.0.2" },
        { "{\"host\":\"a2\",\"biz_id\":8000001}", "biz_id: 8000001 is a number of a business set" },
    };
    struct inventory_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char body[512];

        snprintf(body, sizeof(body), "{\"hosts\":[{\"host\":\"a1\",\"biz_id\":9},%s]}",
                 cases[i].bad);
        admin(v, "POST", "/v1/hosts/import", body, 200);
        assert_non_null(strstr(v->w.body, "{\"applied\":false,"));
        assert_non_null(strstr(v->w.body, "\"bad\":1,"));
        if (!strstr(v->w.body, cases[i].error))
            fail_msg("%s: %s", cases[i].bad, v->w.body);
        assert_int_equal(v->fleet.hosts[0].biz_id, 1);
    }
    admin(v, "POST", "/v1/hosts/import", "{\"hosts\":[]}", 400);
    admin(v, "POST", "/v1/hosts/import", "{\"hosts\":[{\"ip\":\"10.0.0.1\",\"biz_id\":-1}]}", 400);
    assert_non_null(strstr(v->w.body, "hosts[0].biz_id: "));
}

static void an_import_is_told_host_by_host(void **state)
{
    static const char body[] =
        "{\"hosts\":[{\"bk_agent_id\":\"a1\",\"bk_biz_id\":9,\"bk_host_id\":100},"
        "{\"host\":\"a2\",\"biz_id\":1},"
        "{\"bk_host_innerip\":\"10.0.0.9\",\"bk_cloud_id\":0,\"business\":9}]%s}";
    struct inventory_world *v = *state;
    struct buf b = { 0 };
    char ask[512];

    snprintf(ask, sizeof(ask), body, ",\"dry_run\":true");
    admin(v, "POST", "/v1/hosts/import", ask, 200);
    assert_non_null(strstr(
        v->w.body, "{\"applied\":false,\"unchanged\":1,\"changed\":1,\"expected\":1,\"bad\":0,"));
    assert_int_equal(v->fleet.hosts[0].biz_id, 1);
    snprintf(ask, sizeof(ask), body, "");
    admin(v, "POST", "/v1/hosts/import", ask, 200);
    assert_non_null(strstr(
        v->w.body, "{\"applied\":true,\"unchanged\":1,\"changed\":1,\"expected\":1,\"bad\":0,"));
    assert_string_equal(list_of(v, "hosts", "result", &b), "changed unchanged expected");
    assert_int_equal(v->fleet.hosts[0].biz_id, 9);
    assert_int_equal(v->fleet.hosts[0].host_id, 100);
    admin(v, "POST", "/v1/hosts/import", ask, 200);
    assert_non_null(strstr(
        v->w.body, "{\"applied\":true,\"unchanged\":3,\"changed\":0,\"expected\":0,\"bad\":0,"));
    buf_free(&b);
}

static void one_host_that_can_not_be_is_a_conflict(void **state)
{
    struct inventory_world *v = *state;

    admin(v, "PUT", "/v1/hosts", "{\"host\":\"a1\",\"host_id\":5}", 200);
    admin(v, "PUT", "/v1/hosts", "{\"host\":\"a2\",\"host_id\":5}", 409);
    assert_non_null(strstr(v->w.body, "host_id: 5 is that of a1"));
    admin(v, "PUT", "/v1/hosts", "{\"host\":\"a1\",\"bussiness\":5}", 400);
    admin(v, "PUT", "/v1/hosts", "{}", 400);
}

/* ---- businesses */

static void businesses_are_listed_or_have_hosts(void **state)
{
    struct inventory_world *v = *state;

    admin(v, "PUT", "/v1/businesses", "{\"id\":2,\"name\":\"two\"}", 200);
    assert_string_equal(v->w.body, "{\"id\":2,\"name\":\"two\",\"hosts\":1}\n");
    admin(v, "PUT", "/v1/businesses", "{\"bk_biz_id\":7,\"bk_biz_name\":\"seven\"}", 200);
    assert_string_equal(
        admin(v, "GET", "/v1/businesses", NULL, 200),
        "{\"businesses\":[{\"id\":1,\"name\":\"\",\"hosts\":2},{\"id\":2,\"name\":"
        "\"two\",\"hosts\":1},{\"id\":7,\"name\":\"seven\",\"hosts\":0}],\"next\":\"\"}\n");
    admin(v, "GET", "/v1/businesses?limit=2", NULL, 200);
    assert_non_null(strstr(v->w.body, "\"next\":\"2\""));
    admin(v, "GET", "/v1/businesses?limit=2&after=2", NULL, 200);
    assert_non_null(strstr(v->w.body, "{\"businesses\":[{\"id\":7,"));
    admin(v, "PUT", "/v1/hosts", "{\"host\":\"10.0.0.77\",\"biz_id\":5}", 200);
    admin(v, "PUT", "/v1/hosts", "{\"host\":\"10.0.0.78\",\"biz_id\":7}", 200);
    assert_string_equal(
        admin(v, "GET", "/v1/businesses?after=2", NULL, 200),
        "{\"businesses\":[{\"id\":5,\"name\":\"\",\"hosts\":0,\"expected\":1},"
        "{\"id\":7,\"name\":\"seven\",\"hosts\":0,\"expected\":1}],\"next\":\"\"}\n");
    admin(v, "GET", "/v1/businesses?after=x", NULL, 400);
    admin(v, "PUT", "/v1/businesses", "{\"id\":8000001,\"name\":\"no\"}", 400);
    admin(v, "PUT", "/v1/businesses", "{\"id\":0,\"name\":\"no\"}", 400);
    admin(v, "DELETE", "/v1/businesses/2", NULL, 409);
    assert_non_null(strstr(v->w.body, "1 hosts are in it"));
    admin(v, "DELETE", "/v1/businesses/7", NULL, 200);
    admin(v, "DELETE", "/v1/businesses/7", NULL, 404);
    admin(v, "DELETE", "/v1/businesses/x", NULL, 404);
}

static void a_business_set_has_each_once(void **state)
{
    struct inventory_world *v = *state;
    struct scopes *again;
    struct err err;

    admin(v, "PUT", "/v1/business_sets", "{\"id\":8000001,\"name\":\"all\",\"businesses\":[7,2,7]}",
          200);
    assert_string_equal(v->w.body, "{\"id\":8000001,\"name\":\"all\",\"businesses\":[2,7]}\n");
    admin(v, "PUT", "/v1/businesses", "{\"id\":7,\"name\":\"seven\"}", 200);
    admin(v, "DELETE", "/v1/businesses/7", NULL, 409);
    assert_non_null(strstr(v->w.body, "business set 8000001 has it"));
    admin(v, "GET", "/v1/business_sets", NULL, 200);
    assert_non_null(strstr(v->w.body, "\"businesses\":[2,7]}],\"next\":\"\"}"));
    again = scopes_new(NULL);
    assert_int_equal(scopes_load(again, v->w.store.store, &err), 0);
    assert_true(scopes_covers(again, SCOPE_BIZ_SET, 8000001, 7));
    scopes_free(again);
    admin(v, "DELETE", "/v1/business_sets/8000001", NULL, 200);
    admin(v, "DELETE", "/v1/business_sets/8000001", NULL, 404);
    admin(v, "DELETE", "/v1/businesses/7", NULL, 200);
}

/* ---- permissions */

static void an_app_sees_hosts_of_its_businesses(void **state)
{
    static const struct {
        const char *as, *path, *list, *key, *seen;
    } cases[] = {
        { AS("one"), "/v1/hosts", "hosts", "ip", "10.0.0.1 10.0.0.2" },
        { AS("one"), "/v1/hosts?business=2", "hosts", "ip", "" },
        { AS("one"), "/v1/hosts?text=10.0.0.9", "hosts", "ip", "" },
        { AS("one"), "/v1/hosts?state=expected", "hosts", "ip", "" },
        { AS("one"), "/v1/businesses", "businesses", "id", "1" },
        { AS("one"), "/v1/business_sets", "sets", "id", "" },
        { AS("two"), "/v1/hosts", "hosts", "ip", "10.0.0.3 10.0.0.9" },
        { AS("two"), "/v1/hosts?business=1", "hosts", "ip", "" },
        { AS("two"), "/v1/businesses", "businesses", "id", "2" },
        { AS("two"), "/v1/business_sets", "sets", "id", "8000001" },
        { DEMO_AUTH, "/v1/business_sets", "sets", "id", "8000001" },
        { DEMO_AUTH, "/v1/businesses", "businesses", "id", "1 2" },
    };
    struct inventory_world *v = *state;
    struct buf b = { 0 };

    admin(v, "PUT", "/v1/hosts", "{\"host\":\"10.0.0.9\",\"biz_id\":2}", 200);
    admin(v, "PUT", "/v1/business_sets", "{\"id\":8000001,\"name\":\"s\",\"businesses\":[2]}", 200);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_ask(&v->w, "GET", cases[i].path, cases[i].as, NULL);
        assert_int_equal(v->w.status, 200);
        if (strcmp(list_of(v, cases[i].list, cases[i].key, &b), cases[i].seen) != 0)
            fail_msg("%zu: %s", i, buf_text(&b));
    }
    buf_free(&b);
}

static void changes_without_the_right_are_refused(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } cases[] = {
        { "PUT", "/v1/hosts", "{\"host\":\"a1\",\"biz_id\":2}" },
        { "POST", "/v1/hosts/import", "{\"hosts\":[{\"host\":\"a1\",\"biz_id\":2}]}" },
        { "POST", "/v1/hosts/remove", "{\"host\":\"a1\"}" },
        { "PUT", "/v1/businesses", "{\"id\":2,\"name\":\"x\"}" },
        { "DELETE", "/v1/businesses/2", NULL },
        { "PUT", "/v1/business_sets", "{\"id\":2,\"name\":\"x\"}" },
        { "DELETE", "/v1/business_sets/2", NULL },
        { "GET", "/v1/audit", NULL },
    };
    struct inventory_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_ask(&v->w, cases[i].method, cases[i].path, AS("one"), cases[i].body);
        assert_int_equal(v->w.status, 403);
    }
    assert_int_equal(v->fleet.n, 3);
    assert_int_equal(v->fleet.hosts[0].biz_id, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_host_shows_all_that_is_known),
        TEST(hosts_are_found_by_what_is_asked),
        TEST(pages_of_hosts_are_stable),
        TEST(a_place_with_an_ipv6_address_is_not_taken_for_an_address),
        TEST(an_expected_host_can_be_forgotten),
        TEST(an_import_is_all_or_nothing),
        TEST(an_import_is_told_host_by_host),
        TEST(one_host_that_can_not_be_is_a_conflict),
        TEST(businesses_are_listed_or_have_hosts),
        TEST(a_business_set_has_each_once),
        TEST(an_app_sees_hosts_of_its_businesses),
        TEST(changes_without_the_right_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
