/* SPDX-License-Identifier: MIT */
#include "link/rota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

static const char *const three[] = { "a.example:1", "10.0.0.1:2", "[::1]:3", NULL };

static void make(struct rota *r, const char *const *servers)
{
    struct err err = { 0 };

    if (rota_init(r, servers, &err))
        fail_msg("%s", err.text);
}

static void servers_come_in_turn(void **state)
{
    struct rota r;

    (void)state;
    make(&r, three);
    r.turn = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++) {
            assert_string_equal(rota_server(&r), three[i]);
            assert_int_equal(rota_place(&r, 1), 0);
            assert_int_equal(rota_place(&r, 3), round % 3);
            rota_next(&r);
        }
    }
    rota_done(&r);
    rota_done(&r);
}

static void the_first_is_any_of_them(void **state)
{
    bool seen[3] = { false };

    (void)state;
    for (int i = 0; i < 200; i++) {
        struct rota r;

        make(&r, three);
        assert_true(r.turn < 3);
        seen[r.turn] = true;
        rota_done(&r);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

static void the_wait_doubles_and_is_any_part_of_it(void **state)
{
    int64_t longest[12] = { 0 }, shortest[12];
    struct rota r;

    (void)state;
    make(&r, three);
    memset(shortest, 127, sizeof(shortest));
    for (int round = 0; round < 300; round++) {
        int64_t most = ROTA_FIRST_MS;

        rota_forgive(&r);
        for (int i = 0; i < 12; i++) {
            int64_t wait = rota_fail(&r);

            assert_true(wait >= 0 && wait <= most);
            longest[i] = wait > longest[i] ? wait : longest[i];
            shortest[i] = wait < shortest[i] ? wait : shortest[i];
            most = most * 2 < ROTA_LONGEST_MS ? most * 2 : ROTA_LONGEST_MS;
        }
    }
    for (int i = 0; i < 12; i++) {
        int64_t most = (int64_t)ROTA_FIRST_MS << i;

        most = most < ROTA_LONGEST_MS ? most : ROTA_LONGEST_MS;
        assert_true(longest[i] > most * 3 / 4); /* of 300: all but certain */
        assert_true(shortest[i] < most / 4);
    }
    assert_true(ROTA_LONGEST_MS < 10 * 1000); /* the server takes it for offline then */
    r.failures = 4000000000u;                 /* never overflows */
    assert_in_range(rota_fail(&r), 0, ROTA_LONGEST_MS);
    rota_done(&r);
}

static void what_the_server_said_is_kept_to(void **state)
{
    static const struct {
        int64_t told, least, most;
    } cases[] = {
        { 1, 1, 1 },
        { 1000, 1000, 1250 },
        { 60000, 60000, 75000 },
        { INT64_MAX, ROTA_TOLD_MAX_MS, ROTA_TOLD_MAX_MS / 4 * 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int k = 0; k < 100; k++)
            assert_in_range(rota_told(cases[i].told), cases[i].least, cases[i].most);
    }
}

static void a_server_that_can_not_be_is_named(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const second[] = { "a:1", "b", NULL };
    struct rota r = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(rota_init(&r, none, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.text, "servers: at least one is needed");
    assert_int_equal(rota_init(&r, second, &err), -1);
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
    struct rota r;
    bool is_there;

    (void)state;
    make(&r, three);
    r.turn = 3 + 1; /* the second time round */
    assert_true(rota_fail(&r) >= 0);
    assert_int_equal(rota_set(&r, bad, &is_there, &err), -1);
    assert_string_equal(rota_server(&r), "10.0.0.1:2");
    assert_int_equal(rota_set(&r, with, &is_there, &err), 0);
    assert_true(is_there);
    assert_string_equal(rota_server(&r), "10.0.0.1:2");
    assert_int_equal(rota_place(&r, 3), 1);
    assert_int_equal(r.failures, 1);
    assert_int_equal(rota_set(&r, without, &is_there, &err), 0);
    assert_false(is_there);
    assert_string_equal(rota_server(&r), "new:1");
    rota_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_come_in_turn),
        cmocka_unit_test(the_first_is_any_of_them),
        cmocka_unit_test(the_wait_doubles_and_is_any_part_of_it),
        cmocka_unit_test(what_the_server_said_is_kept_to),
        cmocka_unit_test(a_server_that_can_not_be_is_named),
        cmocka_unit_test(other_servers_leave_the_turn_where_it_was),
    };

    return cmocka_run_group_tests_name("link/rota", tests, NULL, NULL);
}
