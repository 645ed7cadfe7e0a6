/* SPDX-License-Identifier: MIT */
#include "fleetsim/fleet_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static void counts_of_two_processes_become_one(void **state)
{
    const struct fleet_counts a = {
        .expected = 3, .reached = 3, .up = 2, .up_ns = 5, .all_up_ms = 70
    };
    const struct fleet_counts b = {
        .expected = 4, .reached = 4, .up = 4, .up_ns = 9, .all_up_ms = 60
    };
    const struct fleet_counts late = { .expected = 1, .rss_kb = 8 };
    struct fleet_counts sum = { 0 };

    (void)state;
    fleet_counts_add(&sum, &a);
    fleet_counts_add(&sum, &b);
    assert_int_equal(sum.expected, 7);
    assert_int_equal(sum.up, 6);
    assert_int_equal(sum.up_ns, 9);
    assert_int_equal(sum.all_up_ms, 70);
    fleet_counts_add(&sum, &late);
    assert_int_equal(sum.all_up_ms, 0); /* not all of them yet */
    assert_int_equal(sum.rss_kb, 8);
}

static void a_line_is_read_as_it_was_written(void **state)
{
    struct fleet_counts from = { .agents = 12, .lies = 3, .begun_ns = INT64_MAX, .rss_kb = 9 }, to;
    struct err err = { 0 };
    struct buf line = { 0 };

    (void)state;
    for (int64_t us = 50; us < 100 * 1000 * 1000; us *= 3)
        fleet_counts_stored(&from, us);
    fleet_counts_write(&from, &line);
    assert_int_equal(buf_text(&line)[line.len - 1], '\n');
    if (fleet_counts_read(buf_data(&line), line.len - 1, &to, &err))
        fail_msg("%s", err.text);
    assert_memory_equal(&from, &to, sizeof(to));
    buf_free(&line);
    assert_int_equal(fleet_counts_read("nothing", 7, &to, &err), -1);
    assert_string_equal(err.text, "no counts: nothing");
}

static void percentiles_are_reported(void **state)
{
    struct fleet_counts c = { 0 };

    (void)state;
    assert_int_equal(fleet_counts_stored_us(&c, 500), 0);
    for (int i = 0; i < 98; i++)
        fleet_counts_stored(&c, 1000);
    fleet_counts_stored(&c, 500 * 1000);
    fleet_counts_stored(&c, INT64_MAX);
    assert_int_equal(c.stored, 100);
    assert_in_range(fleet_counts_stored_us(&c, 500), 1000, 1414);
    assert_in_range(fleet_counts_stored_us(&c, 990), 500 * 1000, 500 * 1414);
    assert_true(fleet_counts_stored_us(&c, 1000) > 1000 * 1000);
}

static void people_and_programs_see_the_same(void **state)
{
    const struct fleet_counts c = {
        .agents = 100, .expected = 97, .up = 90, .lost = 4, .unstored = 2
    };
    struct buf text = { 0 };

    (void)state;
    fleet_counts_line(&c, 12000, &text);
    assert_string_equal(buf_text(&text),
                        "12 s: 90 of 97 connected, 0 commands, 0 results stored, 0 "
                        "changes, 4 sessions lost, 2 results wait");
    buf_truncate(&text, 0);
    fleet_counts_table(&c, 12000, &text);
    assert_non_null(strstr(buf_text(&text), "          97  of them to be connected"));
    assert_non_null(strstr(buf_text(&text), "           4  sessions lost"));
    assert_null(strstr(buf_text(&text), "false messages sent")); /* the count is 0 */
    buf_truncate(&text, 0);
    fleet_counts_json(&c, 12000, &text);
    assert_non_null(strstr(buf_text(&text), "\"up\":90,"));
    assert_non_null(strstr(buf_text(&text), "\"ran_ms\":12000,"));
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_two_processes_become_one),
        cmocka_unit_test(a_line_is_read_as_it_was_written),
        cmocka_unit_test(percentiles_are_reported),
        cmocka_unit_test(people_and_programs_see_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
