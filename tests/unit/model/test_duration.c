/* SPDX-License-Identifier: MIT */
#include "model/duration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "base/mem/mem.h"

static void durations_are_written_in_two_units(void **state)
{
    static const struct {
        int64_t ms;
        const char *en, *zh;
    } cases[] = {
        { -5, "0s", "0秒" },
        { 0, "0s", "0秒" },
        { 99, "0s", "0秒" },
        { 400, "0.4s", "0.4秒" },
        { 9999, "9.9s", "9.9秒" },
        { 12345, "12s", "12秒" },
        { 59999, "59s", "59秒" },
        { 60000, "1m 0s", "1分0秒" },
        { 192000, "3m 12s", "3分12秒" },
        { 3600000, "1h 0m", "1小时0分" },
        { 86399000, "23h 59m", "23小时59分" },
        { 86400000, "1d 0h", "1天0小时" },
        { INT64_C(864000000000), "10000d 0h", "10000天0小时" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        duration_put(&b, LANG_EN, cases[i].ms);
        assert_string_equal(buf_text(&b), cases[i].en);
        buf_truncate(&b, 0);
        duration_put(&b, LANG_ZH, cases[i].ms);
        assert_string_equal(buf_text(&b), cases[i].zh);
        buf_free(&b);
    }
}

static void durations_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: refused */
    } cases[] = {
        { "0", 0 },        { "90", 90 },          { "30s", 30 },
        { "5m", 300 },     { "12h", 43200 },      { "7d", 604800 },
        { "1h30m", 5400 }, { "1d2h3m4s", 93784 }, { "36525d", INT64_C(36525) * 86400 },
        { "36526d", -1 },  { "36525d1s", -1 },    { "99999999999999999999", -1 },
        { "", -1 },        { "d", -1 },           { "5", 5 },
        { "5 m", -1 },     { "5M", -1 },          { "30m1h", -1 },
        { "1m1m", -1 },    { "1h30", -1 },        { "-1", -1 },
        { "+1", -1 },      { "1.5h", -1 },        { "5mm", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t s = -7;
        bool good = duration_read(cases[i].text, &s);

        if (good != (cases[i].seconds >= 0) || s != (good ? cases[i].seconds : -7))
            fail_msg("%s: %d, %lld", cases[i].text, good, (long long)s);
    }
}

static void a_date_is_local(void **state)
{
    struct buf b = { 0 };

    (void)state;
    setenv("TZ", "XST-8", 1);
    tzset();
    duration_put_date(&b, 1000000000);
    assert_string_equal(buf_text(&b), "2001-09-09 09:46");
    buf_truncate(&b, 0);
    duration_put_date(&b, INT64_MAX);
    assert_string_equal(buf_text(&b), "9223372036854775807");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_written_in_two_units),
        cmocka_unit_test(durations_are_read_as_people_write_them),
        cmocka_unit_test(a_date_is_local),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
