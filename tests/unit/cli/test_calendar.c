/* SPDX-License-Identifier: MIT */
#include "cli/calendar.h"

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

static void events_become_rules(void **state)
{
    static const char *const cases[][2] = {
        { "daily", "0 0 * * *" },
        { "weekly", "0 0 * * 1" },
        { "*-*-* 02:00:00", "0 2 * * *" },
        { "*-*-* 02:30", "30 2 * * *" },
        { "Mon..Fri 09:30", "30 9 * * 1-5" },
        { "Mon,Wed *-*-* 9:00", "0 9 * * 1,3" },
        { "Sat..Sun 8:00", "0 8 * * 6-7" },
        { "*:0/15", "0-59/15 * * * *" },
        { "*:*/10", "*/10 * * * *" },
        { "*-*-1,15 04:05:00", "5 4 1,15 * *" },
        { "*-01..03-01", "0 0 1 1-3 *" },
        { "12-24 18:00", "0 18 24 12 *" },
        { "Sunday", "0 0 * * 0" },
    };
    static const char *const none[] = {
        "",         "2026-*-* 00:00", "*-*-* 02:00:30", "Mon *-*-1 00:00", "00:00 UTC",
        "Fri..Mon", "*:61",           "*-*-~1",         "Mon Tue",         "abc",
        "*:/5",     "12:00 13:00"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf b = { 0 };

        if (!calendar_to_cron(cases[i][0], &b))
            fail_msg("%s", cases[i][0]);
        assert_string_equal(buf_text(&b), cases[i][1]);
        buf_free(&b);
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct buf b = { 0 };

        if (calendar_to_cron(none[i], &b))
            fail_msg("%s is %s", none[i], buf_text(&b));
        assert_int_equal(b.len, 0);
    }
}

static void spans_are_seconds(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        { "90", 90 },   { "1min 30s", 90 }, { "1min30s", 90 }, { "500ms", 1 },  { "1.5min", 90 },
        { "2h", 7200 }, { "infinity", -1 }, { "0", 0 },        { "1d", 86400 },
    };
    int64_t seconds;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(calendar_span(cases[i].text, &seconds));
        assert_int_equal(seconds, cases[i].seconds);
    }
    assert_false(calendar_span("", &seconds));
    assert_false(calendar_span("x", &seconds));
    assert_false(calendar_span("5 parsecs", &seconds));
    assert_false(calendar_span("-5", &seconds));
    assert_false(calendar_span("99999999999999999999", &seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_become_rules),
        cmocka_unit_test(spans_are_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
