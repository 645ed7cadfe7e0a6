/* SPDX-License-Identifier: MIT */
#include "cli/ini_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static void expect_error(const char *text, const char *error)
{
    struct arena a = { 0 };
    struct list list;
    struct err err = { 0 };

    assert_int_equal(ini_read("f.conf", text, strlen(text), &a, &list, &err), -1);
    assert_string_equal(err.text, error);
    arena_free(&a);
}

static void expect_setting(const struct list *list, size_t i, size_t line, const char *section,
                           const char *key, const char *value)
{
    const struct setting *s = list->items;

    assert_true(i < list->n);
    assert_int_equal(s[i].line, line);
    assert_string_equal(s[i].section, section);
    assert_string_equal(s[i].key, key);
    assert_string_equal(s[i].value, value);
}

static void settings_have_their_lines(void **state)
{
    static const char text[] = "; a comment\r\n"
                               "[program:web] ; why\r\n"
                               "Command = ./web -c a;b ; not this\r\n"
                               "environment: A=\"1\",\n"
                               "   B=2 # nor this\n"
                               "\n"
                               "# between\n"
                               "   ,C=3\n"
                               "[x]\n"
                               "empty=\n";
    struct arena a = { 0 };
    struct list list;
    struct err err;

    (void)state;
    assert_int_equal(ini_read("f.conf", text, strlen(text), &a, &list, &err), 0);
    assert_int_equal(list.n, 5);
    expect_setting(&list, 0, 2, "program:web", "", "");
    expect_setting(&list, 1, 3, "program:web", "command", "./web -c a;b");
    expect_setting(&list, 2, 4, "program:web", "environment", "A=\"1\",\nB=2\n,C=3");
    expect_setting(&list, 4, 10, "x", "empty", "");
    assert_ptr_equal(setting_find(&list, "x", "empty"), (struct setting *)list.items + 4);
    assert_null(setting_find(&list, "x", "command"));
    arena_free(&a);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
    (void)state;
    expect_error("a=1\n", "f.conf:1: a setting before the first [SECTION]");
    expect_error("[x]\nabc\n", "f.conf:2: expected KEY=VALUE");
    expect_error("[x]\n=1\n", "f.conf:2: expected KEY=VALUE");
    expect_error("[x\n", "f.conf:1: a section is written [NAME]");
    expect_error("[]\n", "f.conf:1: a section is written [NAME]");
    expect_error("[x]\na=1\nA=2\n", "f.conf:3: a is given twice, first in line 2");
    expect_error("[x]\n[y]\n[x]\n", "f.conf:3: [x] is given twice, first in line 1");
    expect_error("[x]\na=\xff\n", "f.conf:2: not UTF-8; save the file as UTF-8");
}

static void a_byte_of_zero_and_a_long_line_are_refused(void **state)
{
    enum { LONG = 10 << 20 };
    static const char zero[] = "[x]\na=\0b\n";
    char *text = malloc(LONG);
    struct arena a = { 0 };
    struct list list;
    struct err err;

    (void)state;
    assert_int_equal(ini_read("f.conf", zero, sizeof(zero) - 1, &a, &list, &err), -1);
    assert_string_equal(err.text, "f.conf:2: a byte of zero");
    assert_non_null(text);
    memset(text, 'x', LONG);
    memcpy(text, "[x]\na=", 6);
    assert_int_equal(ini_read("f.conf", text, LONG, &a, &list, &err), -1);
    assert_string_equal(err.text, "f.conf:2: a line of more than 65536 bytes");
    free(text);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_have_their_lines),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(a_byte_of_zero_and_a_long_line_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
