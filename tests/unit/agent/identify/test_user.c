/* SPDX-License-Identifier: MIT */
#include "agent/identify/user.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "model/code.h"

static void a_user_is_looked_up_with_his_groups(void **state)
{
    struct user *u = NULL;
    struct err err;
    bool has_own = false;

    (void)state;
    assert_int_equal(user_new("nobody", &u, &err), 0);
    assert_string_equal(u->name, "nobody");
    assert_int_equal(u->uid, 65534);
    assert_true(u->home[0] == '/' && u->shell[0] == '/');
    for (size_t i = 0; i < u->groups_n; i++)
        has_own |= u->groups[i] == u->gid;
    assert_true(has_own);
    user_free(u);
    user_free(NULL);
}

static void one_that_is_not_there_has_its_own_code(void **state)
{
    static const char *const names[] = { "nobody2", "", "0", "65534", "root:x", "a b" };
    struct user *u;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_int_equal(user_new(names[i], &u, &err), -1);
        assert_int_equal(err.code, CODE_USER);
    }
}

static void a_user_is_kept_for_a_while(void **state)
{
    struct users c = { 0 };
    const struct user *u, *again;
    struct err err;

    (void)state;
    assert_null(users_find(&c, "nobody", 0));
    assert_int_equal(users_get(&c, "nobody", 1000, &u, &err), 0);
    assert_ptr_equal(users_find(&c, "nobody", 1000 + USERS_FRESH_MS - 1), u);
    assert_null(users_find(&c, "nobody", 1000 + USERS_FRESH_MS));
    assert_int_equal(users_get(&c, "nobody", 2000, &again, &err), 0);
    assert_ptr_equal(again, u);
    assert_int_equal(users_get(&c, "nobody", 1000 + USERS_FRESH_MS, &again, &err), 0);
    assert_int_equal(again->known_ms, 1000 + USERS_FRESH_MS);
    assert_int_equal(users_get(&c, "nobody2", 0, &again, &err), -1);
    users_done(&c);
}

/* Put under a name that does not exist: at its next look-up it is gone. */
static void one_that_is_no_more_is_forgotten(void **state)
{
    struct users c = { 0 };
    struct user *made = NULL;
    const struct user *u;
    struct err err;

    (void)state;
    assert_int_equal(user_new("nobody", &made, &err), 0);
    free(made->name);
    made->name = xstrdup("nobody2");
    assert_ptr_equal(users_put(&c, made, 0), made);
    assert_int_equal(users_get(&c, "nobody2", 10, &u, &err), 0);
    assert_ptr_equal(u, made);
    assert_int_equal(users_get(&c, "nobody2", USERS_FRESH_MS, &u, &err), -1);
    assert_int_equal(err.code, CODE_USER);
    assert_null(users_find(&c, "nobody2", 10));
    users_done(&c);
}

/* A directory that does not answer is no reason to let hosted processes lie. */
static void one_that_nobody_can_be_asked_about_stays(void **state)
{
    const struct err silent = { .code = ERR_UNAVAILABLE }, unknown = { .code = CODE_USER };
    struct users c = { 0 };
    const struct user *u;
    struct err err;

    (void)state;
    assert_null(users_fail(&c, "nobody", &silent, 0));
    assert_int_equal(users_get(&c, "nobody", 0, &u, &err), 0);
    assert_ptr_equal(users_fail(&c, "nobody", &silent, USERS_FRESH_MS), u);
    assert_ptr_equal(users_find(&c, "nobody", 2 * USERS_FRESH_MS - 1), u);
    assert_null(users_fail(&c, "nobody", &unknown, USERS_FRESH_MS));
    assert_null(users_find(&c, "nobody", USERS_FRESH_MS));
    users_done(&c);
}

static void a_number_has_a_name_or_is_its_own(void **state)
{
    char name[USER_NAME_SIZE];

    (void)state;
    user_name_of(0, name);
    assert_string_equal(name, "root");
    user_name_of(4000000001, name);
    assert_string_equal(name, "4000000001");
}

static void a_group_is_a_name_or_a_number(void **state)
{
    struct err err = { 0 };
    gid_t gid = 7;

    (void)state;
    assert_int_equal(group_find("root", &gid, &err), 0);
    assert_int_equal(gid, 0);
    assert_int_equal(group_find("4321", &gid, &err), 0);
    assert_int_equal(gid, 4321);
    assert_int_equal(group_find("no-such-group", &gid, &err), -1);
    assert_string_equal(err.text, "group no-such-group: no such group");
    assert_int_equal(group_find("12x", &gid, &err), -1);
    assert_int_equal(group_find("4294967295", &gid, &err), -1); /* chown() takes it for "none" */
    assert_int_equal(gid, 4321);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_is_looked_up_with_his_groups),
        cmocka_unit_test(one_that_is_not_there_has_its_own_code),
        cmocka_unit_test(a_user_is_kept_for_a_while),
        cmocka_unit_test(one_that_is_no_more_is_forgotten),
        cmocka_unit_test(one_that_nobody_can_be_asked_about_stays),
        cmocka_unit_test(a_number_has_a_name_or_is_its_own),
        cmocka_unit_test(a_group_is_a_name_or_a_number),
    };

    return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
