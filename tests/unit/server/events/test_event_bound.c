/* SPDX-License-Identifier: MIT */
/* Promises of server/events/event_bound.h. */
#include "server/events/event_bound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

enum { BEGIN_MS = 1000000 };

static struct event_row row_at(const char *proc, int64_t ms)
{
    return (struct event_row){ .agent_id = "a1",
                               .name = "process_restart_success",
                               .space = "gse",
                               .proc = proc,
                               .taken_ms = BEGIN_MS + ms };
}

static int64_t put(struct event_bound *b, const struct event_row *row)
{
    int64_t count = event_bound_look(b, row);

    assert_int_equal(event_bound_look(b, row),
                     count); /* a line that can not be written is tried again */
    event_bound_note(b, row);
    return count;
}

static void the_first_ten_have_a_line_each_then_one_a_minute(void **state)
{
    struct event_bound *b = event_bound_new();
    struct event_row row;
    int64_t lines = 0, events = 0;

    (void)state;
    for (int64_t s = 0; s < 600; s++) {
        int64_t count;

        row = row_at("p", s * 1000);
        count = put(b, &row);
        if (s < 10)
            assert_int_equal(count, 1);
        else
            assert_int_equal(count, (s - 9) % 60 == 0 ? 60 : 0);
        lines += count > 0;
        events += count;
    }
    assert_int_equal(lines, 10 + 9);
    assert_int_equal(events, 10 + 9 * 60);
    row = row_at("p", 600 * 1000); /* ten minutes are over */
    assert_int_equal(put(b, &row), 51);
    row = row_at("p", 601 * 1000);
    assert_int_equal(put(b, &row), 1);
    event_bound_free(b);
}

static void each_process_has_its_own_and_other_events_have_none(void **state)
{
    struct event_bound *b = event_bound_new();
    struct event_row row;

    (void)state;
    for (int i = 0; i < 11; i++) {
        row = row_at("p", i);
        put(b, &row);
    }
    assert_int_equal(put(b, &row), 0);
    row = row_at("q", 11);
    assert_int_equal(put(b, &row), 1);
    row = row_at("p", 11);
    row.agent_id = "a2";
    assert_int_equal(put(b, &row), 1);
    for (int i = 0; i < 20; i++) {
        row = row_at("p", 12);
        row.name = "process_restart_failed";
        assert_int_equal(put(b, &row), 1);
        row = row_at("p", 12);
        row.report_id = 7; /* another data id */
        assert_int_equal(put(b, &row), 1);
    }
    event_bound_free(b);
}

static void those_that_are_past_are_forgotten(void **state)
{
    struct event_bound *b = event_bound_new();
    char name[16];

    (void)state;
    for (int i = 0; i < 30000; i++) {
        struct event_row row;

        snprintf(name, sizeof(name), "p%d", i);
        row = row_at(name, i * 1000);
        assert_int_equal(put(b, &row), 1);
    }
    event_bound_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_ten_have_a_line_each_then_one_a_minute),
        cmocka_unit_test(each_process_has_its_own_and_other_events_have_none),
        cmocka_unit_test(those_that_are_past_are_forgotten),
    };

    return cmocka_run_group_tests_name("server/event_bound", tests, NULL, NULL);
}
