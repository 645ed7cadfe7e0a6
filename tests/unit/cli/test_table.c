/* SPDX-License-Identifier: MIT */
#include "cli/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "cli/width.h"

static const struct column columns[] = {
    { TEXT_HOST, false },
    { TEXT_PID, true },
    { TEXT_WHY, false },
};

static void fill(struct table *t)
{
    table_init(t, columns, ARRAY_LEN(columns));
    table_add(t, STYLE_PLAIN, "10.0.0.1");
    table_add_number(t, 7);
    table_add(t, STYLE_BAD, "exit code 1, the last output was: no such file");
    table_add(t, STYLE_PLAIN, "主机");
    table_add_number(t, -4711);
    table_add(t, STYLE_PLAIN, "");
}

static const char *put(struct out *out)
{
    struct table t;

    fill(&t);
    table_put(&t, out);
    table_done(&t);
    return buf_text(&out->b);
}

static void columns_are_aligned_by_what_is_seen(void **state)
{
    struct out en = { .lang = LANG_EN }, zh = { .lang = LANG_ZH };

    (void)state;
    assert_string_equal(put(&en),
                        "HOST        PID  WHY\n"
                        "10.0.0.1      7  exit code 1, the last output was: no such file\n"
                        "主机      -4711  -\n");
    assert_string_equal(put(&zh),
                        "主机        PID  原因\n"
                        "10.0.0.1      7  exit code 1, the last output was: no such file\n"
                        "主机      -4711  -\n");
    out_done(&en);
    out_done(&zh);
}

static void the_last_column_is_cut_on_a_terminal_alone(void **state)
{
    struct out out = { .lang = LANG_EN, .terminal = true, .width = 40 };

    (void)state;
    assert_string_equal(put(&out), "HOST        PID  WHY\n"
                                   "10.0.0.1      7  exit code 1, the last …\n"
                                   "主机      -4711  -\n");
    out_done(&out);
    out = (struct out){ .lang = LANG_EN, .terminal = true, .width = 10 };
    assert_non_null(strstr(put(&out), "10.0.0.1      7  exit co…\n"));
    out_done(&out);
}

static void or_goes_on_below(void **state)
{
    static const struct column some[] = { { TEXT_HOST, false },
                                          { TEXT_WHY, false, .wraps = true } };
    struct out out = { .lang = LANG_EN, .terminal = true, .width = 30 };
    struct table t;

    (void)state;
    table_init(&t, some, ARRAY_LEN(some));
    table_add(&t, STYLE_PLAIN, "host");
    table_add(&t, STYLE_PLAIN, "process (web) is not running: no pid file");
    table_put(&t, &out);
    assert_string_equal(buf_text(&out.b), "HOST  WHY\n"
                                          "host  process (web) is not\n"
                                          "      running: no pid file\n");
    out_done(&out);
    out = (struct out){ .lang = LANG_EN };
    table_put(&t, &out);
    assert_string_equal(buf_text(&out.b), "HOST  WHY\n"
                                          "host  process (web) is not running: no pid file\n");
    table_done(&t);
    out_done(&out);
}

static void what_matters_least_makes_room_for_why(void **state)
{
    static const struct column some[] = {
        { TEXT_HOST, false },
        { TEXT_PID, true, .goes = 2 },
        { TEXT_RESTARTS, true, .goes = 1 },
        { TEXT_WHY, false },
    };
    static const struct {
        size_t width;
        const char *head;
    } cases[] = {
        { 64, "HOST  PID  RESTARTS  WHY\n" }, /* everything fits */
        { 46, "HOST  PID  WHY\n" },
        { 38, "HOST  WHY\n" },
        { 10, "HOST  WHY\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct out out = { .lang = LANG_EN, .terminal = true, .width = cases[i].width };
        struct table t;

        table_init(&t, some, ARRAY_LEN(some));
        table_add(&t, STYLE_PLAIN, "h");
        table_add_number(&t, 7);
        table_add_number(&t, 1);
        table_add(&t, STYLE_PLAIN, "a reason of forty-three bytes, all of them.");
        table_put(&t, &out);
        assert_memory_equal(buf_text(&out.b), cases[i].head, strlen(cases[i].head));
        table_done(&t);
        out_done(&out);
    }
}

static void a_wide_character_that_does_not_fit_is_left_out_whole(void **state)
{
    static const struct column one[] = { { TEXT_WHY, false } };

    (void)state;
    for (size_t width = 8; width < 14; width++) {
        struct out out = { .lang = LANG_EN, .terminal = true, .width = width };
        struct table t;
        char *end;

        table_init(&t, one, 1);
        table_add(&t, STYLE_PLAIN, "进程退出了退出了");
        table_put(&t, &out);
        end = strchr(buf_text(&out.b), '\n') + 1;
        end[strlen(end) - 1] = '\0';
        assert_true(width_text(end) == width || width_text(end) + 1 == width);
        assert_non_null(strstr(end, "…"));
        table_done(&t);
        out_done(&out);
    }
}

static void colours_do_not_count(void **state)
{
    struct out out = { .lang = LANG_EN, .colour = true };

    (void)state;
    assert_string_equal(put(&out),
                        "\033[1mHOST\033[0m        \033[1mPID\033[0m  \033[1mWHY\033[0m\n"
                        "10.0.0.1      7  \033[31mexit code 1, the last output was: no such "
                        "file\033[0m\n"
                        "主机      -4711  -\n");
    out_done(&out);
}

static void a_write_that_fails_is_told_and_not_repeated(void **state)
{
    struct err err = { 0 };
    struct out out;
    int ends[2];
    char got[8];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    out_init(&out, ends[1], "standard output", LANG_EN);
    assert_false(out.terminal);
    assert_int_equal(out.width, 80);
    out_puts(&out, "lost");
    sys_fault("write", 1, ENOSPC);
    assert_int_equal(out_flush(&out, &err), -1);
    assert_true(sys_fault_hit());
    assert_string_equal(err.text, "write to standard output: No space left on device");
    out_puts(&out, "kept");
    assert_int_equal(out_flush(&out, &err), 0);
    assert_int_equal(read(ends[0], got, sizeof(got)), 4);
    assert_memory_equal(got, "kept", 4);
    close(ends[0]);
    close(ends[1]);
    out_done(&out);
}

static void colour_is_for_terminals_that_have_it(void **state)
{
    static const struct {
        bool terminal;
        enum colour_wish wish;
        const char *no_colour, *term;
        bool colour;
    } cases[] = {
        { true, COLOUR_AUTO, NULL, "xterm", true },  { true, COLOUR_AUTO, NULL, NULL, true },
        { true, COLOUR_AUTO, "", "xterm", true },    { true, COLOUR_AUTO, "1", "xterm", false },
        { true, COLOUR_AUTO, NULL, "dumb", false },  { false, COLOUR_AUTO, NULL, "xterm", false },
        { false, COLOUR_ALWAYS, "1", "dumb", true }, { true, COLOUR_NEVER, NULL, "xterm", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct out out = { .terminal = cases[i].terminal };

        out_colour(&out, cases[i].wish, cases[i].no_colour, cases[i].term);
        assert_int_equal(out.colour, cases[i].colour);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned_by_what_is_seen),
        cmocka_unit_test(the_last_column_is_cut_on_a_terminal_alone),
        cmocka_unit_test(or_goes_on_below),
        cmocka_unit_test(what_matters_least_makes_room_for_why),
        cmocka_unit_test(a_wide_character_that_does_not_fit_is_left_out_whole),
        cmocka_unit_test(colours_do_not_count),
        cmocka_unit_test(a_write_that_fails_is_told_and_not_repeated),
        cmocka_unit_test(colour_is_for_terminals_that_have_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
