/* SPDX-License-Identifier: MIT */
#include "link/server_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static const char *const three[] = { "a.example:1", "10.0.0.1:2", "[::1]:3", NULL };

static void make(struct server_list *r, const char *const *servers)
{
    struct err err = { 0 };

    if (server_list_init(r, servers, &err))
        fail_msg("%s", err.text);
}

static void servers_come_in_turn(void **state)
{
    struct server_list r;

    (void)state;
    make(&r, three);
    r.turn = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++) {
            assert_string_equal(server_list_server(&r), three[i]);
            assert_int_equal(server_list_place(&r, 1), 0);
            assert_int_equal(server_list_place(&r, 3), round % 3);
            server_list_next(&r, 0);
        }
    }
    server_list_done(&r);
    server_list_done(&r);
}

static void the_first_is_any_of_them(void **state)
{
    bool seen[3] = { false };

    (void)state;
    for (int i = 0; i < 200; i++) {
        struct server_list r;

        make(&r, three);
        assert_true(r.turn < 3);
        seen[r.turn] = true;
        server_list_done(&r);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

static void the_wait_doubles_and_is_any_part_of_it(void **state)
{
    int64_t longest[12] = { 0 }, shortest[12];
    struct server_list r;

    (void)state;
    make(&r, three);
    memset(shortest, 127, sizeof(shortest));
    for (int round = 0; round < 300; round++) {
        int64_t most = SERVER_LIST_FIRST_MS;

        server_list_forgive(&r);
        for (int i = 0; i < 12; i++) {
            int64_t wait = server_list_fail(&r);

            assert_true(wait >= 0 && wait <= most);
            longest[i] = wait > longest[i] ? wait : longest[i];
            shortest[i] = wait < shortest[i] ? wait : shortest[i];
            most = most * 2 < SERVER_LIST_LONGEST_MS ? most * 2 : SERVER_LIST_LONGEST_MS;
        }
    }
    for (int i = 0; i < 12; i++) {
        int64_t most = (int64_t)SERVER_LIST_FIRST_MS << i;

        most = most < SERVER_LIST_LONGEST_MS ? most : SERVER_LIST_LONGEST_MS;
        assert_true(longest[i] > most * 3 / 4); /* practically certain with 300 samples */
        assert_true(shortest[i] < most / 4);
    }
    assert_true(SERVER_LIST_LONGEST_MS < 10 * 1000); /* then the server reports it as offline */
    r.failures = 4000000000u;                        /* does not overflow */
    assert_in_range(server_list_fail(&r), 0, SERVER_LIST_LONGEST_MS);
    server_list_done(&r);
}

static void the_wait_that_the_server_asked_for_is_kept(void **state)
{
    static const struct {
        int64_t told, least, most;
    } cases[] = {
        { 1, 1, 1 },
        { 1000, 1000, 1250 },
        { 60000, 60000, 75000 },
        { INT64_MAX, SERVER_LIST_TOLD_MAX_MS, SERVER_LIST_TOLD_MAX_MS / 4 * 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int k = 0; k < 100; k++)
            assert_in_range(server_list_wait_ms(cases[i].told), cases[i].least, cases[i].most);
    }
}

static void a_refusing_server_is_skipped_until_its_time_is_over(void **state)
{
    int64_t now_ms = 1000, wait_ms;
    struct server_list r;

    (void)state;
    make(&r, three);
    r.turn = 0;
    assert_int_equal(server_list_refused(&r, 60000, now_ms), 0); /* the next server at once */
    assert_string_equal(server_list_server(&r), three[1]);
    server_list_next(&r, now_ms);
    server_list_next(&r, now_ms);
    assert_string_equal(server_list_server(&r), three[1]); /* and not the one that refused */
    assert_int_equal(server_list_refused(&r, 30000, now_ms), 0);
    assert_string_equal(server_list_server(&r), three[2]);
    wait_ms = server_list_refused(&r, 90000, now_ms); /* all have: the one that is free first */
    assert_in_range(wait_ms, 30000, 37500);
    assert_string_equal(server_list_server(&r), three[1]);
    now_ms += wait_ms;
    assert_in_range(server_list_refused(&r, 90000, now_ms), 60000 - 37500, 75000 - 30000);
    assert_string_equal(server_list_server(&r), three[0]);
    server_list_forgive(&r);
    server_list_next(&r, now_ms);
    assert_string_equal(server_list_server(&r), three[0]);
    server_list_done(&r);
}

static void each_address_of_a_server_is_asked_before_it_counts_as_refusing(void **state)
{
    static const char *const one[] = { "a.example:1", NULL };
    struct server_list r;

    (void)state;
    make(&r, one);
    r.turn = 0;
    assert_int_equal(server_list_place(&r, 2), 0);
    assert_int_equal(server_list_refused(&r, 60000, 0), 0);
    assert_int_equal(server_list_place(&r, 2), 1);
    assert_in_range(server_list_refused(&r, 60000, 0), 60000, 75000);
    server_list_done(&r);
}

static void an_invalid_server_is_named(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const second[] = { "a:1", "b", NULL };
    struct server_list r = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(server_list_init(&r, none, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.text, "servers: at least one is needed");
    assert_int_equal(server_list_init(&r, second, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "servers[1]: 'b' must be"));
    assert_null(r.servers);
}

static void other_servers_leave_the_turn_where_it_was(void **state)
{
    static const char *const with[] = { "new:1", "10.0.0.1:2", NULL };
    static const char *const without[] = { "new:1", NULL };
    static const char *const bad[] = { "new", NULL };
    struct err err = { 0 };
    struct server_list r;
    bool is_there;

    (void)state;
    make(&r, three);
    r.turn = 3 + 1; /* the second round */
    assert_true(server_list_fail(&r) >= 0);
    assert_int_equal(server_list_set(&r, bad, &is_there, &err), -1);
    assert_string_equal(server_list_server(&r), "10.0.0.1:2");
    assert_int_equal(server_list_set(&r, with, &is_there, &err), 0);
    assert_true(is_there);
    assert_string_equal(server_list_server(&r), "10.0.0.1:2");
    assert_int_equal(server_list_place(&r, 3), 1);
    assert_int_equal(r.failures, 1);
    assert_int_equal(server_list_set(&r, without, &is_there, &err), 0);
    assert_false(is_there);
    assert_string_equal(server_list_server(&r), "new:1");
    server_list_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_come_in_turn),
        cmocka_unit_test(the_first_is_any_of_them),
        cmocka_unit_test(the_wait_doubles_and_is_any_part_of_it),
        cmocka_unit_test(the_wait_that_the_server_asked_for_is_kept),
        cmocka_unit_test(a_refusing_server_is_skipped_until_its_time_is_over),
        cmocka_unit_test(each_address_of_a_server_is_asked_before_it_counts_as_refusing),
        cmocka_unit_test(an_invalid_server_is_named),
        cmocka_unit_test(other_servers_leave_the_turn_where_it_was),
    };

    return cmocka_run_group_tests_name("link/server_list", tests, NULL, NULL);
}
