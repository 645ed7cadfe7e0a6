/* SPDX-License-Identifier: MIT */
#include "base/text/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static void distances_count_slips(void **state)
{
    static const struct {
        const char *a, *b;
        size_t far;
    } cases[] = {
        { "", "", 0 },
        { "stop", "stop", 0 },
        { "stauts", "status", 1 },
        { "stop", "start", 3 },
        { "", "ps", 2 },
        { "kil", "kill", 1 },
        { "kill", "kil", 1 },
        { "realod", "reload", 2 },
        { "abcdefghijabcdefghijabcdefghijabcdefghijx", "ps", SIZE_MAX },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(suggest_distance(cases[i].a, cases[i].b), cases[i].far);
        assert_int_equal(suggest_distance(cases[i].b, cases[i].a), cases[i].far);
    }
}

static void only_what_is_near_is_named(void **state)
{
    static const char *const words[] = { "status", "ps",   "start",      "stop",
                                         "task",   "note", "app create", NULL };
    static const struct {
        const char *typed, *meant;
    } cases[] = {
        { "stat", "status" },   { "strat", "start" },
        { "satus", "status" },  { "app craete", "app create" },
        { "pss", "ps" },        { "p", "ps" },
        { "frobnicate", NULL }, { "xy", NULL },
        { "", NULL },           { "zzzz", NULL },
        { "name", NULL },       { "nope", "note" },
        { "nto", NULL },        { "noet", "note" },
        { "force", NULL },      { "satrts", "start" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *found = suggest_find(cases[i].typed, words);

        if (!found != !cases[i].meant || (found && strcmp(found, cases[i].meant) != 0))
            fail_msg("%s: %s", cases[i].typed, found ? found : "(none)");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_count_slips),
        cmocka_unit_test(only_what_is_near_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
