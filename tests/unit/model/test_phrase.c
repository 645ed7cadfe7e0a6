/* SPDX-License-Identifier: MIT */
#include "model/phrase.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static void places_are_filled_by_number(void **state)
{
    static const struct {
        const char *phrase;
        const char *args[4];
        const char *got;
    } cases[] = {
        { "", { "a" }, "" },
        { "none", { "a" }, "none" },
        { "{0}", { "a" }, "a" },
        { "{1} before {0}", { "a", "b" }, "b before a" },
        { "{0}{0}", { "中" }, "中中" },
        { "{2} is not there", { "a", "b" }, "{2} is not there" },
        { "{0}", { NULL }, "{0}" },
        { "{0}", { "{1}", "b" }, "{1}" }, /* placeholders in an argument are not replaced */
        { "{x} {10} {", { "a", "b" }, "{x} {10} {" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        phrase_put(&b, cases[i].phrase, cases[i].args);
        assert_string_equal(buf_text(&b), cases[i].got);
        buf_free(&b);
    }
}

static void no_arguments_are_fine(void **state)
{
    struct buf b = { 0 };

    (void)state;
    phrase_put(&b, "as {0} is", NULL);
    assert_string_equal(buf_text(&b), "as {0} is");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_filled_by_number),
        cmocka_unit_test(no_arguments_are_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
