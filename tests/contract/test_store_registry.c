/* SPDX-License-Identifier: MIT */
/* The promises of store_registry.h and store_groups.h, with any database. */
#include "store/store_groups.h"
#include "store/store_hosts.h"
#include "store/store_registry.h"
#include "tests/lib/store_rig.h"

static struct registry_row row_of(const char *agent, const char *name, int64_t state, int64_t ms)
{
    return (struct registry_row){
        .agent_id = agent,
        .space = "s",
        .name = name,
        .state = state,
        .labels = state == STORE_REGISTERED ? "{\"a\":1}" : NULL,
        .spec = state == STORE_REGISTERED ? "{\"identity\":{}}" : NULL,
        .registered_ms = ms,
        .said_ms = ms,
        .is_behind = true,
        .trouble = "",
    };
}

/* Only hosts that exist have registrations. */
static int setup(void **state)
{
    static const char *const agents[] = { "a", "b", "c" };

    if (store_rig_setup(state))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
        const struct host_row host = { .agent_id = agents[i], .ip = agents[i] };

        store_rig_do(*state, &store_host_put, &host, NULL);
    }
    return 0;
}

static const struct registry_row *find(struct store_rig *r, const char *agent, size_t n)
{
    const struct agent_row ask = { agent };
    struct list rows;

    store_rig_do(r, &store_registry_of, &ask, &rows);
    assert_int_equal(rows.n, n);
    return rows.items;
}

static void only_what_is_new_is_added(void **state)
{
    struct store_rig *r = *state;
    struct registry_row first[] = { row_of("a", "p", STORE_REGISTERED, 1) };
    struct registry_row all[] = { row_of("a", "p", STORE_REGISTERED, 2),
                                  row_of("b", "p", STORE_REGISTERED, 2),
                                  row_of("c", "p", STORE_REGISTERED, 2) };
    struct list added;

    store_rig_do(r, &store_registry_add, &(struct registry_ask){ LIST(first) }, &added);
    assert_int_equal(added.n, 1);
    store_rig_do(r, &store_registry_add, &(struct registry_ask){ LIST(all) }, &added);
    assert_int_equal(added.n, 2);
    assert_string_equal(ROW(agent_row, added, 0)->agent_id, "b");
    assert_string_equal(ROW(agent_row, added, 1)->agent_id, "c");
    assert_int_equal(find(r, "a", 1)->said_ms, 1);
    assert_string_equal(find(r, "a", 1)->spec, "{\"identity\":{}}");
    assert_string_equal(find(r, "a", 1)->labels, "{\"a\":1}");
    assert_true(find(r, "a", 1)->is_behind);
}

static void what_was_unregistered_is_new_again(void **state)
{
    struct store_rig *r = *state;
    struct registry_row on[] = { row_of("a", "p", STORE_REGISTERED, 1) };
    struct registry_row off[] = { row_of("a", "p", STORE_UNREGISTERED, 2) };
    struct registry_row again[] = { row_of("a", "p", STORE_REGISTERED, 3) };
    struct list added;

    store_rig_do(r, &store_registry_add, &(struct registry_ask){ LIST(on) }, NULL);
    store_rig_do(r, &store_registry_put, &(struct registry_ask){ LIST(off) }, NULL);
    assert_int_equal(find(r, "a", 1)->state, STORE_UNREGISTERED);
    assert_null(find(r, "a", 1)->spec);
    assert_null(find(r, "a", 1)->labels);
    store_rig_do(r, &store_registry_add, &(struct registry_ask){ LIST(again) }, &added);
    assert_int_equal(added.n, 1);
    assert_int_equal(find(r, "a", 1)->registered_ms, 3);
}

static void it_is_registered_since_the_first_time(void **state)
{
    struct store_rig *r = *state;
    struct registry_row rows[] = { row_of("a", "q", STORE_REGISTERED, 1),
                                   row_of("a", "p", STORE_REGISTERED, 1) };
    struct registry_row other[] = { row_of("a", "p", STORE_REGISTERED, 9) };

    store_rig_do(r, &store_registry_put, &(struct registry_ask){ LIST(rows) }, NULL);
    other[0].trouble = "no";
    other[0].is_behind = false;
    store_rig_do(r, &store_registry_put, &(struct registry_ask){ LIST(other) }, NULL);
    assert_string_equal(find(r, "a", 2)[0].name, "p"); /* in their order */
    assert_int_equal(find(r, "a", 2)[0].registered_ms, 1);
    assert_int_equal(find(r, "a", 2)[0].said_ms, 9);
    assert_string_equal(find(r, "a", 2)[0].trouble, "no");
    assert_false(find(r, "a", 2)[0].is_behind);
}

static void what_is_deleted_is_gone(void **state)
{
    struct store_rig *r = *state;
    struct registry_row rows[] = { row_of("a", "p", STORE_UNREGISTERED, 1),
                                   row_of("b", "p", STORE_REGISTERED, 1) };
    struct proc_ref_row refs[] = { { "a", "s", "p" },
                                   { "a", "s", "nothing" },
                                   { "b", "s", "p" } }; /* registered again meanwhile */

    store_rig_do(r, &store_registry_put, &(struct registry_ask){ LIST(rows) }, NULL);
    store_rig_do(r, &store_registry_del, &(struct registry_del_ask){ LIST(refs) }, NULL);
    find(r, "a", 0);
    find(r, "b", 1);
}

static const struct group_row *groups(struct store_rig *r, size_t n)
{
    struct list rows;

    store_rig_do(r, &store_group_all, NULL, &rows);
    assert_int_equal(rows.n, n);
    return rows.items;
}

static void a_group_is_taken_by_its_number(void **state)
{
    struct store_rig *r = *state;
    struct group_row rows[] = { { "b", "g", "s", "{}", 2, false },
                                { "a", "g", "s", "{}", 1, false } };
    struct group_row newer[] = { { "a", "g", "t", "{\"cpu_pool_limit\":1}", 3, false } };

    store_rig_do(r, &store_group_put, &(struct group_put_ask){ LIST(rows) }, NULL);
    store_rig_do(r, &store_group_taken, &(struct group_taken_ask){ "a", 2 }, NULL); /* b's */
    assert_false(groups(r, 2)[0].is_taken);
    store_rig_do(r, &store_group_taken, &(struct group_taken_ask){ "a", 1 }, NULL);
    assert_string_equal(groups(r, 2)[0].agent_id, "a");
    assert_true(groups(r, 2)[0].is_taken);
    assert_false(groups(r, 2)[1].is_taken);
    store_rig_do(r, &store_group_put, &(struct group_put_ask){ LIST(newer) }, NULL);
    store_rig_do(r, &store_group_taken, &(struct group_taken_ask){ "a", 1 },
                 NULL); /* the old one */
    assert_false(groups(r, 2)[0].is_taken);
    assert_string_equal(groups(r, 2)[0].space, "t");
    assert_string_equal(groups(r, 2)[0].resource, "{\"cpu_pool_limit\":1}");
}

static void a_host_takes_all_of_it_along(void **state)
{
    struct store_rig *r = *state;
    struct registry_row rows[] = { row_of("a", "p", STORE_REGISTERED, 1),
                                   row_of("b", "p", STORE_REGISTERED, 1) };
    struct group_row limits[] = { { "a", "g", "s", "{}", 1, false },
                                  { "b", "g", "s", "{}", 2, false } };
    const struct agent_row gone = { "a" };
    struct list hosts;

    store_rig_do(r, &store_registry_put, &(struct registry_ask){ LIST(rows) }, NULL);
    store_rig_do(r, &store_group_put, &(struct group_put_ask){ LIST(limits) }, NULL);
    store_rig_do(r, &store_host_del, &gone, &hosts);
    find(r, "a", 0);
    find(r, "b", 1);
    assert_string_equal(groups(r, 1)->agent_id, "b");

    /* Late writes for a removed host are ignored. */
    store_rig_do(r, &store_registry_put, &(struct registry_ask){ LIST(rows) }, NULL);
    store_rig_do(r, &store_registry_add, &(struct registry_ask){ LIST(rows) }, &hosts);
    assert_int_equal(hosts.n, 0);
    store_rig_do(r, &store_group_put, &(struct group_put_ask){ LIST(limits) }, NULL);
    find(r, "a", 0);
    groups(r, 1);
}

#define HOSTS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, store_rig_teardown)

/* ---- all rows, page by page: of the registry and of processes */

static const char *const keys[][2] = {
    { "a", "p" }, { "a", "q" }, { "b", "a" }, { "b", "p" }, { "c", "p" },
};

static void put_keys(struct store_rig *r)
{
    for (size_t i = ARRAY_LEN(keys); i-- > 0;) {
        struct registry_row row[] = { row_of(keys[i][0], keys[i][1], STORE_REGISTERED, 1) };
        const struct proc_row proc = { .agent_id = keys[i][0],
                                       .space = row->space,
                                       .name = keys[i][1],
                                       .version = "",
                                       .message = "" };

        store_rig_do(r, &store_registry_put, &(struct registry_ask){ LIST(row) }, NULL);
        store_rig_do(r, &store_proc_put, &proc, NULL);
    }
}

static void all_come_in_their_order(void **state)
{
    struct store_rig *r = *state;
    struct proc_all_ask ask = { { "", "", "" }, 2 };
    struct list rows = { NULL, 2 }, procs;
    size_t n = 0;

    put_keys(r);
    while (rows.n == 2) {
        store_rig_do(r, &store_proc_all, &ask, &procs);
        store_rig_do(r, &store_registry_all, &ask, &rows);
        assert_int_equal(procs.n, rows.n);
        for (size_t i = 0; i < rows.n; i++, n++) {
            assert_string_equal(ROW(registry_row, rows, i)->agent_id, keys[n][0]);
            assert_string_equal(ROW(registry_row, rows, i)->name, keys[n][1]);
            assert_string_equal(ROW(proc_row, procs, i)->agent_id, keys[n][0]);
            assert_string_equal(ROW(proc_row, procs, i)->name, keys[n][1]);
            ask.after =
                (struct proc_ref_row){ keys[n][0], ROW(registry_row, rows, i)->space, keys[n][1] };
        }
    }
    assert_int_equal(n, ARRAY_LEN(keys));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOSTS_TEST(only_what_is_new_is_added),
        HOSTS_TEST(what_was_unregistered_is_new_again),
        HOSTS_TEST(it_is_registered_since_the_first_time),
        HOSTS_TEST(what_is_deleted_is_gone),
        HOSTS_TEST(a_group_is_taken_by_its_number),
        HOSTS_TEST(a_host_takes_all_of_it_along),
        HOSTS_TEST(all_come_in_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
