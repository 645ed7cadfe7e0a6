/* SPDX-License-Identifier: MIT */
/* Promises of api/auth/access.h. */
#include "api/auth/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

#define WORDS(...)                                                                                 \
    {                                                                                              \
        (struct setting_word[]){ __VA_ARGS__ },                                                    \
            sizeof((struct setting_word[]){ __VA_ARGS__ }) / sizeof(struct setting_word)           \
    }

static void apps_may_be_written_as_esb_has_them(void **state)
{
    const struct server_settings s = {
        .skip_user_auth_apps = WORDS({ "bk_nodeman;bk_gsekit" }, { " bk_sops ,bk-job;" }, { "x" }),
        .rate_per_second = 7,
    };
    struct access *a;
    struct err err;

    (void)state;
    assert_int_equal(access_new(&s, &a, &err), 0);
    assert_true(access_skips_user(a, "bk_nodeman"));
    assert_true(access_skips_user(a, "bk_gsekit"));
    assert_true(access_skips_user(a, "bk_sops"));
    assert_true(access_skips_user(a, "bk-job"));
    assert_true(access_skips_user(a, "x"));
    assert_false(access_skips_user(a, "bk_gse")); /* exact match */
    assert_false(access_skips_user(a, ""));
    assert_int_equal(access_rate(a), 7);
    access_free(a);
}

static void only_those_named_are_trusted(void **state)
{
    const struct server_settings s = {
        .trusted_esb_from = WORDS({ "10.1.0.0/16, 127.0.0.1" }, { "fd00::/8" }),
    };
    struct access *a;
    struct err err;

    (void)state;
    assert_int_equal(access_new(&s, &a, &err), 0);
    assert_true(access_trusts(a, "10.1.2.3:4000"));
    assert_true(access_trusts(a, "127.0.0.1:1"));
    assert_true(access_trusts(a, "[fd00::7]:1"));
    assert_true(access_trusts(a, "[::ffff:10.1.2.3]:1"));
    assert_false(access_trusts(a, "10.2.2.3:4000"));
    assert_false(access_trusts(a, "[::1]:1"));
    assert_false(access_trusts(a, "unix:/run/x"));
    assert_false(access_trusts(a, ""));
    access_free(a);
}

static void without_settings_nothing_is_trusted(void **state)
{
    const struct server_settings s = { 0 };
    struct access *a;
    struct err err;

    (void)state;
    assert_int_equal(access_new(&s, &a, &err), 0);
    for (int i = 0; i < 2; i++) {
        assert_false(access_trusts(a, "127.0.0.1:1"));
        assert_false(access_skips_user(a, "demo"));
        assert_int_equal(access_rate(a), 0);
        access_free(a);
        a = NULL; /* the same */
    }
}

static void a_wrong_word_is_named(void **state)
{
    const struct server_settings apps = { .skip_user_auth_apps = WORDS({ "good,b?d" }) },
                                 nets = { .trusted_esb_from =
                                              WORDS({ "10.0.0.0/8" }, { "esb.example" }) };
    struct access *a;
    struct err err;

    (void)state;
    assert_int_equal(access_new(&apps, &a, &err), -1);
    assert_string_equal(err.text, "skip_user_auth_apps: \"b?d\": must be letters, digits, \"-\", "
                                  "\"_\" and \".\"");
    assert_int_equal(access_new(&nets, &a, &err), -1);
    assert_string_equal(err.text, "trusted_esb_from: esb.example: must be an address or a network, "
                                  "as 10.0.0.0/8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apps_may_be_written_as_esb_has_them),
        cmocka_unit_test(only_those_named_are_trusted),
        cmocka_unit_test(without_settings_nothing_is_trusted),
        cmocka_unit_test(a_wrong_word_is_named),
    };

    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
