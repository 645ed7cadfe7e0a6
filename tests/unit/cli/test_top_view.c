/* SPDX-License-Identifier: MIT */
#include "cli/top_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "cli/width.h"

enum { NOW_S = 1000000, ROWS = 3 };

static struct process_view rows[ROWS];
static struct list list;
static struct arena arena;

static struct process_view make_row(const char *name, int64_t pid, double cpu, int64_t mb,
                                    int64_t restarts, int64_t up_s)
{
    struct process_view p = { .agent_id = "", .ip = "", .online = true };

    shape_defaults(&proc_view_shape, &p.view);
    p.view.space = "shop";
    p.view.name = name;
    p.view.wanted = PROC_RUNNING;
    p.view.hosted = true;
    p.view.pid = pid;
    p.view.status = pid > 0 ? PROC_RUNNING : PROC_STOPPED;
    p.view.cpu_percent = cpu;
    p.view.mem_bytes = mb << 20;
    p.view.restarts = restarts;
    p.view.cause.since_s = NOW_S - up_s;
    p.view.health = "";
    return p;
}

static int set_up(void **state)
{
    (void)state;
    rows[0] = make_row("db", 77, 1.5, 300, 0, 3600);
    rows[1] = make_row("web", 4711, 12.25, 20, 3, 59);
    rows[2] = make_row("down", -1, 0, 0, 9, 0);
    rows[1].view.health = "ok";
    rows[2].view.wanted = PROC_STOPPED;
    rows[2].view.hosted = false;
    list = (struct list){ rows, ROWS };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct top_view view(enum lang lang, size_t width, size_t height)
{
    return (struct top_view){ .lang = lang,
                              .width = width,
                              .height = height,
                              .host = "box",
                              .time = "12:00:00",
                              .sorted_by = TOP_CPU };
}

static const char *order(enum top_column by, bool is_reversed)
{
    static char text[64];

    top_sort(&list, by, is_reversed);
    snprintf(text, sizeof(text), "%s %s %s", rows[0].view.name, rows[1].view.name,
             rows[2].view.name);
    return text;
}

static void each_column_sorts(void **state)
{
    (void)state;
    assert_string_equal(order(TOP_NAME, false), "db down web");
    assert_string_equal(order(TOP_NAME, true), "web down db");
    assert_string_equal(order(TOP_CPU, false), "web db down");
    assert_string_equal(order(TOP_MEM, false), "db web down");
    assert_string_equal(order(TOP_PID, false), "web db down");
    assert_string_equal(order(TOP_RESTARTS, false), "down web db");
    assert_string_equal(order(TOP_HEALTH, false), "web db down");
    assert_string_equal(order(TOP_UPTIME, false), "db web down");
    assert_string_equal(order(TOP_STATE, false), "down db web");
}

static void all_of_it_is_on_a_screen_of_eighty_columns(void **state)
{
    struct top_view v = view(LANG_EN, 80, 8);
    const char **lines;

    (void)state;
    v.selected = ROWS; /* none */
    top_sort(&list, TOP_CPU, false);
    lines = top_lines(&v, &list, NOW_S, &arena);
    assert_string_equal(lines[0],
                        "box  3 processes, 2 running, 0 not as wanted  CPU 13.8%  MEM 320M"
                        "  12:00:00");
    assert_string_equal(lines[1],
                        "PROCESS    STATE     PID   CPU*   MEM   RESTARTS  HEALTH    UPTIME");
    assert_string_equal(lines[2],
                        "shop/web   running  4711  12.2%   20M          3  ok           59s");
    assert_string_equal(lines[3],
                        "shop/db    running    77   1.5%  300M          0  -          1h 0m");
    assert_string_equal(lines[4],
                        "shop/down  stopped     -      -     -          9  -              -");
    assert_string_equal(lines[5], "");
    assert_non_null(strstr(lines[7], "q quit"));
}

static void every_line_fits(void **state)
{
    static const size_t widths[] = { 1, 5, 20, 40, 60, 80, 120, 300 };

    (void)state;
    rows[0].view.name =
        "a-name-that-is-longer-than-any-terminal-is-wide-and-not-in-english-网关网关网关"
        "-a-name-that-is-longer-than-any-terminal-is-wide";
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        for (int lang = LANG_EN; lang < LANGS; lang++) {
            for (size_t height = 0; height < 7; height++) {
                const struct top_view v = view((enum lang)lang, widths[i], height);
                const char **lines = top_lines(&v, &list, NOW_S, &arena);

                for (size_t n = 0; n < height; n++)
                    if (widths[i] >= 40)
                        assert_true(width_text(lines[n]) <= widths[i]);
            }
        }
    }
}

static void the_name_is_cut_before_a_narrow_screen_loses_columns(void **state)
{
    struct top_view v = view(LANG_EN, 76, 8);

    (void)state;
    rows[0].view.name = "a-rather-long-name-of-a-process";
    assert_non_null(strstr(top_lines(&v, &list, NOW_S, &arena)[1], "HEALTH"));
    assert_non_null(strstr(top_lines(&v, &list, NOW_S, &arena)[2], "…"));
    v.width = 50;
    assert_null(strstr(top_lines(&v, &list, NOW_S, &arena)[1], "HEALTH"));
    assert_non_null(strstr(top_lines(&v, &list, NOW_S, &arena)[1], "CPU"));
}

static void the_selected_row_stays_on_the_screen(void **state)
{
    struct top_view v = view(LANG_EN, 80, 5); /* room for two */
    const char **lines;

    (void)state;
    assert_int_equal(top_room(&v), 2);
    v.colour = true;
    v.selected = 2;
    top_scroll(&v, ROWS);
    assert_int_equal(v.first, 1);
    lines = top_lines(&v, &list, NOW_S, &arena);
    assert_true(!strncmp(lines[3], "\033[7mshop/down", 13));
    assert_null(strstr(lines[2], "\033[7m"));
    assert_non_null(strstr(lines[2], "\033[32m")); /* its state */
    v.selected = 0;
    top_scroll(&v, ROWS);
    assert_int_equal(v.first, 0);
    v.selected = 7; /* there were more */
    top_scroll(&v, ROWS);
    assert_int_equal(v.selected, 2);
    top_scroll(&v, 0);
    assert_int_equal(v.selected, 0);
    assert_int_equal(v.first, 0);
    list.n = 0;
    list.items = NULL;
    assert_true(!strncmp(top_lines(&v, &list, NOW_S, &arena)[0], "box  0 processes", 16));
}

static void a_message_is_in_place_of_the_keys(void **state)
{
    struct top_view v = view(LANG_ZH, 80, 6);

    (void)state;
    v.message = "stop shop/web?\033[2J";
    assert_string_equal(top_lines(&v, &list, NOW_S, &arena)[5], "stop shop/web??[2J");
    assert_non_null(strstr(top_lines(&v, &list, NOW_S, &arena)[1], "内存"));
}

static void a_table_for_a_file_has_no_marks_and_cuts_nothing(void **state)
{
    struct out out = { .lang = LANG_EN };

    (void)state;
    top_sort(&list, TOP_NAME, false);
    top_put_plain(&list, NOW_S, &out);
    assert_true(!strncmp(buf_text(&out.b), "PROCESS    STATE", 16));
    assert_null(strstr(buf_text(&out.b), "*"));
    assert_non_null(strstr(buf_text(&out.b), "shop/web   running  4711"));
    out_done(&out);
}

static void a_page_shows_the_beginning_or_the_end(void **state)
{
    const struct top_view v = view(LANG_EN, 10, 4);
    const char **lines = top_page(&v, "one\ntwo and three\nfour\x1b[1m\nfive\n", false, &arena);

    (void)state;
    assert_string_equal(lines[0], "one");
    assert_string_equal(lines[1], "two and");
    assert_string_equal(lines[2], "three");
    assert_string_equal(lines[3], "any key: …");
    lines = top_page(&v, "one\ntwo\nthree\nfour\n", true, &arena);
    assert_string_equal(lines[0], "two");
    assert_string_equal(lines[2], "four");
    lines = top_page(&v, "", true, &arena);
    assert_string_equal(lines[0], "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_column_sorts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_of_it_is_on_a_screen_of_eighty_columns, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_line_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_name_is_cut_before_a_narrow_screen_loses_columns,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_selected_row_stays_on_the_screen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_message_is_in_place_of_the_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_for_a_file_has_no_marks_and_cuts_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_page_shows_the_beginning_or_the_end, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
