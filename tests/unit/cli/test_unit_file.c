/* SPDX-License-Identifier: MIT */
#include "cli/unit_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static void settings_have_their_lines(void **state)
{
    static const char text[] = "# comment\n[Service]\nExecStart=/opt/a \\\n# between\n  b \\\n  "
                               "c\n\n; other\nA = 1 \n[Unit]\nA=\n";
    struct arena a = { 0 };
    const struct setting *s;
    struct list list;
    struct err err;

    (void)state;
    assert_int_equal(unit_read("u", text, strlen(text), &a, &list, &err), 0);
    assert_int_equal(list.n, 3);
    s = list.items;
    assert_int_equal(s[0].line, 3);
    assert_string_equal(s[0].value, "/opt/a    b    c");
    assert_int_equal(s[1].line, 9);
    assert_string_equal(s[1].key, "A");
    assert_string_equal(s[1].value, "1");
    assert_string_equal(s[2].section, "Unit");
    assert_string_equal(s[2].value, "");
    arena_free(&a);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
    static const char *const cases[][2] = {
        { "A=1\n", "u:1: a setting before the first [SECTION]" },
        { "[S]\nabc\n", "u:2: expected KEY=VALUE" },
        { "[S]\n=1\n", "u:2: expected KEY=VALUE" },
        { "[S\n", "u:1: a section is written [NAME]" },
        { "[S]\nA=\xff\n", "u:2: not UTF-8; save the file as UTF-8" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a = { 0 };
        struct list list;
        struct err err = { 0 };

        assert_int_equal(unit_read("u", cases[i][0], strlen(cases[i][0]), &a, &list, &err), -1);
        assert_string_equal(err.text, cases[i][1]);
        arena_free(&a);
    }
}

static void lines_that_go_on_for_ever_are_refused(void **state)
{
    enum { LINES = 5 << 20 };
    char *text = malloc(LINES);
    struct arena a = { 0 };
    struct list list;
    struct err err = { 0 };

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < LINES; i += 2)
        memcpy(text + i, "\\\n", 2);
    memcpy(text, "[S]\nA=", 6);
    assert_int_equal(unit_read("u", text, LINES, &a, &list, &err), -1);
    assert_non_null(strstr(err.text, "a line of more than 65536 bytes"));
    free(text);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_have_their_lines),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(lines_that_go_on_for_ever_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
