/* SPDX-License-Identifier: MIT */
/* The audit log: rows are added, filtered, and removed only by age. */
#include "store/store_audit.h"

#include "tests/lib/store_rig.h"

static void put(struct store_rig *r, int64_t at_ms, const char *id, const char *app,
                const char *user, const char *route)
{
    const struct audit_row row = { at_ms,  id,    app,  user, true,  "10.0.0.7:1",
                                   "POST", route, "{}", -1,   "why", "GSETASK:1" };

    store_rig_do(r, &store_audit_put, &row, NULL);
}

static void put_some(struct store_rig *r)
{
    put(r, 1000, "a", "one", "tom", "operate_proc_v2");
    put(r, 2000, "c", "two", "tom", "/v1/hosts");
    put(r, 2000, "b", "one", "ann", "/v1/hosts");
    put(r, 3000, "d", "one", "", "operate_proc_v2");
}

static struct audit_page all(void)
{
    return (struct audit_page){ .before_ms = INT64_MAX,
                                .before_id = "",
                                .until_ms = INT64_MAX,
                                .app = "",
                                .user = "",
                                .route = "",
                                .limit = 10 };
}

/* The ids of the rows, concatenated. */
static const char *ids(struct store_rig *r, const struct audit_page *page)
{
    struct list rows;
    char *text;

    store_rig_do(r, &store_audit_list, page, &rows);
    text = arena_alloc(&r->arena, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++)
        text[i] = ROW(audit_row, rows, i)->request_id[0];
    return text;
}

static void a_row_comes_back_as_it_was(void **state)
{
    struct store_rig *r = *state;
    const struct audit_page page = all();
    const struct audit_row *row;
    struct list rows;

    put(r, 1000, "a", "one", "tom", "operate_proc_v2");
    store_rig_do(r, &store_audit_list, &page, &rows);
    assert_int_equal(rows.n, 1);
    row = rows.items;
    assert_int_equal(row->at_ms, 1000);
    assert_string_equal(row->app, "one");
    assert_string_equal(row->user, "tom");
    assert_true(row->is_proven);
    assert_string_equal(row->peer, "10.0.0.7:1");
    assert_string_equal(row->method, "POST");
    assert_string_equal(row->route, "operate_proc_v2");
    assert_string_equal(row->what, "{}");
    assert_int_equal(row->code, -1);
    assert_string_equal(row->message, "why");
    assert_string_equal(row->task_id, "GSETASK:1");
}

static void the_newest_come_first_page_by_page(void **state)
{
    struct store_rig *r = *state;
    struct audit_page page = all();

    put_some(r);
    assert_string_equal(ids(r, &page), "dcba");
    page.limit = 2;
    assert_string_equal(ids(r, &page), "dc");
    page.before_ms = 2000;
    page.before_id = "c";
    put(r, 4000, "e", "one", "", "x"); /* new rows do not move the page */
    assert_string_equal(ids(r, &page), "ba");
}

static void filters_narrow_it(void **state)
{
    const struct {
        const char *app, *user, *route;
        int64_t since, until;
        const char *ids;
    } cases[] = {
        { "one", "", "", 0, INT64_MAX, "dba" },
        { "", "tom", "", 0, INT64_MAX, "ca" },
        { "", "", "/v1/hosts", 0, INT64_MAX, "cb" },
        { "one", "ann", "/v1/hosts", 0, INT64_MAX, "b" },
        { "", "", "", 2000, INT64_MAX, "dcb" },
        { "", "", "", 0, 2000, "a" },
        { "' OR '1'='1", "", "", 0, INT64_MAX, "" },
        { "", "%", "", 0, INT64_MAX, "" },
        { "", "", "\"; DROP TABLE audit; --", 0, INT64_MAX, "" },
    };
    struct store_rig *r = *state;

    put_some(r);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct audit_page page = all();

        page.app = cases[i].app;
        page.user = cases[i].user;
        page.route = cases[i].route;
        page.since_ms = cases[i].since;
        page.until_ms = cases[i].until;
        assert_string_equal(ids(r, &page), cases[i].ids);
    }
}

static void a_route_has_what_is_below_it(void **state)
{
    static const struct {
        const char *route, *ids;
    } cases[] = {
        { "/v1/hosts", "ecb" }, { "/v1/hosts/*", "e" }, { "/v1/host", "" },
        { "/v1", "fecb" },      { "operate_proc", "" }, { "operate_proc_v2", "da" },
    };
    struct store_rig *r = *state;

    put_some(r);
    put(r, 4000, "e", "one", "", "/v1/hosts/*");
    put(r, 5000, "f", "one", "", "/v1/hosts_of");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct audit_page page = all();

        page.route = cases[i].route;
        assert_string_equal(ids(r, &page), cases[i].ids);
    }
}

static void the_old_go_the_oldest_first(void **state)
{
    struct store_rig *r = *state;
    const struct audit_page page = all();
    struct list gone;

    put_some(r);
    store_rig_do(r, &store_audit_trim, &(struct audit_trim){ 2001, 1 }, &gone);
    assert_int_equal(gone.n, 1);
    assert_string_equal(ids(r, &page), "dcb");
    store_rig_do(r, &store_audit_trim, &(struct audit_trim){ 2001, 10 }, &gone);
    assert_int_equal(gone.n, 2);
    assert_string_equal(ids(r, &page), "d");
    store_rig_do(r, &store_audit_trim, &(struct audit_trim){ 2001, 10 }, &gone);
    assert_int_equal(gone.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_row_comes_back_as_it_was),  STORE_TEST(the_newest_come_first_page_by_page),
        STORE_TEST(filters_narrow_it),           STORE_TEST(a_route_has_what_is_below_it),
        STORE_TEST(the_old_go_the_oldest_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
