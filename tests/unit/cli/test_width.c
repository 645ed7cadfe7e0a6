/* SPDX-License-Identifier: MIT */
#include "cli/width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"

static void characters_take_their_columns(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        { "", 0 },
        { "web", 3 },
        { "网关", 4 },
        { "a网b", 4 },
        { "é", 1 },
        { "e\xCC\x81", 1 }, /* e and a combining accent */
        { "ｗ", 2 },        /* full width */
        { "ｶ", 1 },         /* half width */
        { "한글", 4 },
        { "かな", 4 },
        { "（）：，", 8 },
        { "…", 1 },
        { "\xF0\x9F\x98\x80", 2 },         /* emoji */
        { "\xF0\xA0\x80\x80", 2 },         /* CJK beyond the first plane */
        { "\xE4\xB8\xAD\xEF\xB8\x80", 2 }, /* with a variation selector */
        { "a\xE2\x80\x8B"
          "b",
          2 }, /* zero width space */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (width_text(cases[i].text) != cases[i].columns)
            fail_msg("%s: %zu", cases[i].text, width_text(cases[i].text));
    }
}

static void a_cut_is_between_characters_and_fits(void **state)
{
    static const char text[] = "a网b关e\xCC\x81\xF0\x9F\x98\x80z";

    (void)state;
    for (size_t columns = 0; columns < 12; columns++) {
        size_t n = width_cut(text, columns);
        struct arena a = { 0 };
        const char *part = arena_memdup(&a, text, n);

        assert_int_equal(utf8_valid(part, n), n);
        assert_true(width_text(part) <= columns);
        assert_true(n == strlen(text) || width_text(part) + 2 > columns);
        arena_free(&a);
    }
    assert_int_equal(width_cut("网关", 3), 3);
    assert_int_equal(width_cut("e\xCC\x81x", 1), 3); /* the accent stays with its letter */
}

static void a_line_ends_where_it_may(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
        const char *line;
    } cases[] = {
        { "all of it", 9, "all of it" },
        { "all of it", 8, "all of" },
        { "all of it", 6, "all of" },
        { "all of it", 5, "all" },
        { "unbreakable", 4, "unbr" },
        { "已运行 27秒，PID 103，未托管", 20, "已运行 27秒，PID" },
        { "退出码 1；二十九秒前启动失败", 16, "退出码 1；二十九" },
        { "启动失败；原因", 8, "启动失" }, /* no line begins with ； */
        { "原因（65535）", 6, "原因" },    /* no line ends with （ */
        { "网关", 1, "网" },
        { "", 5, "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = width_line(cases[i].text, cases[i].columns);

        if (n != strlen(cases[i].line))
            fail_msg("%s in %zu: %.*s", cases[i].text, cases[i].columns, (int)n, cases[i].text);
    }
}

static void what_would_move_the_cursor_is_taken_out(void **state)
{
    static const struct {
        const char *text, *clean;
    } cases[] = {
        { "plain 中文", "plain 中文" },
        { "two\nlines\r\tend", "two lines  end" },
        { "\033[31mred\a\b", "?[31mred??" },
        { "\x7F", "?" },
        { "\xC2\x9B"
          "2J",
          "?2J" }, /* C1: an escape sequence may begin here too */
        { "\xE2\x80\xAE"
          "abc",
          "?abc" },              /* right to left */
        { "\xE2\x80\xA8", "?" }, /* line separator */
        { "bad\xFF\xE4\xB8", "bad???" },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(width_clean(&a, cases[i].text), cases[i].clean);
    arena_free(&a);
}

static void or_is_written_out_where_lines_matter(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "plain 中文 e\xCC\x81\n", "plain 中文 e\xCC\x81\n" },
        { "two\nlines\tend\r\n", "two\nlines\tend\\x0D\n" },
        { "\033[31mred\a", "\\x1B[31mred\\x07" },
        { "\033]0;title\x07", "\\x1B]0;title\\x07" },
        { "\x7F", "\\x7F" },
        { "\xC2\x9B"
          "2J",
          "\\x9B2J" },
        { "\xE2\x80\xAE"
          "abc",
          "\\u202Eabc" },
        { "bad\xFF\xE4\xB8", "bad\\xFF\\xE4\\xB8" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        width_show(&b, cases[i].text);
        assert_string_equal(buf_text(&b), cases[i].shown);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_take_their_columns),
        cmocka_unit_test(a_cut_is_between_characters_and_fits),
        cmocka_unit_test(a_line_ends_where_it_may),
        cmocka_unit_test(what_would_move_the_cursor_is_taken_out),
        cmocka_unit_test(or_is_written_out_where_lines_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
