/* SPDX-License-Identifier: MIT */
#include "server/fleet/scopes.h"

#include "store/store_business.h"
#include "tests/unit/server/task_world.h"

static void a_business_is_listed_or_has_hosts(void **state)
{
    struct world *w = *state;
    struct scopes *s = scopes_new(w->fleet);

    assert_true(scopes_has(s, SCOPE_BIZ, 2)); /* where the hosts of this world are */
    assert_false(scopes_has(s, SCOPE_BIZ, 5));
    assert_false(scopes_has(s, SCOPE_BIZ, 0));
    assert_false(scopes_has(s, SCOPE_BIZ, -1));
    scopes_put(s, SCOPE_BIZ, &(struct scope){ .id = 5, .name = "five" });
    assert_true(scopes_has(s, SCOPE_BIZ, 5));
    assert_false(scopes_has(s, SCOPE_BIZ_SET, 5));
    scopes_del(s, SCOPE_BIZ, 5);
    assert_false(scopes_has(s, SCOPE_BIZ, 5));
    scopes_free(s);
}

static void hosts_are_counted_by_business(void **state)
{
    struct world *w = *state;
    const struct fleet_host *a = fleet_find(w->fleet, "agent-a");
    struct host_row row = { .agent_id = a->agent_id, .ip = a->ip, .biz_id = 9 };
    size_t before = fleet_in_business(w->fleet, 2);

    assert_true(before > 0);
    assert_int_equal(fleet_next_business(w->fleet, 0), 2);
    fleet_put_host(w->fleet, &row);
    assert_int_equal(fleet_in_business(w->fleet, 2), before - 1);
    assert_int_equal(fleet_in_business(w->fleet, 9), 1);
    assert_int_equal(fleet_next_business(w->fleet, 2), 9);
    fleet_del_host(w->fleet, "agent-a");
    assert_int_equal(fleet_in_business(w->fleet, 9), 0);
    assert_int_equal(fleet_next_business(w->fleet, 2), 0);
}

static void a_set_covers_what_it_has(void **state)
{
    static const int64_t ids[] = { 7, 1, 3 };
    struct scopes *s = scopes_new(NULL);

    (void)state;
    scopes_put(s, SCOPE_BIZ_SET, &(struct scope){ 8000001, "some", ids, 3 });
    assert_true(scopes_has(s, SCOPE_BIZ_SET, 8000001));
    assert_true(scopes_covers(s, SCOPE_BIZ_SET, 8000001, 1));
    assert_true(scopes_covers(s, SCOPE_BIZ_SET, 8000001, 7));
    assert_false(scopes_covers(s, SCOPE_BIZ_SET, 8000001, 2));
    assert_false(scopes_covers(s, SCOPE_BIZ_SET, 8000002, 1));
    assert_false(scopes_covers(s, SCOPE_BIZ_SET, 1, 1));
    assert_true(scopes_covers(s, SCOPE_BIZ, 1, 1));
    assert_false(scopes_covers(s, SCOPE_BIZ, 1, 2));
    assert_int_equal(scopes_set_with(s, 3)->id, 8000001);
    assert_null(scopes_set_with(s, 2));
    scopes_put(s, SCOPE_BIZ_SET, &(struct scope){ 8000001, "none", NULL, 0 });
    assert_false(scopes_covers(s, SCOPE_BIZ_SET, 8000001, 1));
    assert_string_equal(scopes_find(s, SCOPE_BIZ_SET, 8000001)->name, "none");
    scopes_free(s);
}

static void they_stand_in_order(void **state)
{
    struct scopes *s = scopes_new(NULL);
    int64_t last = 0;
    size_t n = 0;

    (void)state;
    for (int64_t i = 0; i < 100; i++)
        scopes_put(s, SCOPE_BIZ, &(struct scope){ .id = 1 + i * 37 % 100, .name = "" });
    for (const struct scope *at = scopes_next(s, SCOPE_BIZ, 0); at;
         at = scopes_next(s, SCOPE_BIZ, last)) {
        assert_true(at->id > last);
        last = at->id;
        n++;
    }
    assert_int_equal(n, 100);
    scopes_free(s);
}

static void they_are_loaded(void **state)
{
    struct world *w = *state;
    struct scopes *s = scopes_new(NULL);
    const struct business_row set = { 8000001, "both", "2 30" };
    struct err err;

    for (int64_t i = 1; i <= 1001; i++) /* more than a page */
        store_rig_do(&w->rig, &store_business_put, &(struct business_row){ i, "name", "" }, NULL);
    store_rig_do(&w->rig, &store_business_set_put, &set, NULL);
    assert_int_equal(scopes_load(s, w->rig.store, &err), 0);
    assert_true(scopes_has(s, SCOPE_BIZ, 1));
    assert_true(scopes_has(s, SCOPE_BIZ, 1001));
    assert_false(scopes_has(s, SCOPE_BIZ, 1002));
    assert_string_equal(scopes_find(s, SCOPE_BIZ_SET, 8000001)->name, "both");
    assert_int_equal(scopes_find(s, SCOPE_BIZ_SET, 8000001)->n_businesses, 2);
    assert_true(scopes_covers(s, SCOPE_BIZ_SET, 8000001, 30));
    scopes_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_business_is_listed_or_has_hosts),
        TEST(hosts_are_counted_by_business),
        cmocka_unit_test(a_set_covers_what_it_has),
        cmocka_unit_test(they_stand_in_order),
        TEST(they_are_loaded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
