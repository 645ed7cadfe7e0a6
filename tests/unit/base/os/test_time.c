/* SPDX-License-Identifier: MIT */
#include "base/os/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem/mem.h"

static const struct {
    int64_t ms;
    const char *iso, *http;
} cases[] = {
    { 0, "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT" },
    { 1, "1970-01-01T00:00:00.001Z", "Thu, 01 Jan 1970 00:00:00 GMT" },
    { 999, "1970-01-01T00:00:00.999Z", "Thu, 01 Jan 1970 00:00:00 GMT" },
    { -1, "1969-12-31T23:59:59.999Z", "Wed, 31 Dec 1969 23:59:59 GMT" },
    { -1000, "1969-12-31T23:59:59.000Z", "Wed, 31 Dec 1969 23:59:59 GMT" },
    { -1001, "1969-12-31T23:59:58.999Z", "Wed, 31 Dec 1969 23:59:58 GMT" },
    { 784111777000, "1994-11-06T08:49:37.000Z", "Sun, 06 Nov 1994 08:49:37 GMT" },
    { 951782400000, "2000-02-29T00:00:00.000Z", "Tue, 29 Feb 2000 00:00:00 GMT" },
    { 1709251199999, "2024-02-29T23:59:59.999Z", "Thu, 29 Feb 2024 23:59:59 GMT" },
    { 1709251200000, "2024-03-01T00:00:00.000Z", "Fri, 01 Mar 2024 00:00:00 GMT" },
    { 2147483648000, "2038-01-19T03:14:08.000Z", "Tue, 19 Jan 2038 03:14:08 GMT" },
    { 4107542400000, "2100-03-01T00:00:00.000Z", "Mon, 01 Mar 2100 00:00:00 GMT" },
    { 253402300799999, "9999-12-31T23:59:59.999Z", "Fri, 31 Dec 9999 23:59:59 GMT" },
    { -62135596800000, "0001-01-01T00:00:00.000Z", "Mon, 01 Jan 0001 00:00:00 GMT" },
    { INT64_MAX, "292278994-08-17T07:12:55.807Z", "Sun, 17 Aug 292278994 07:12:55 GMT" },
    { INT64_MIN, "-292275055-05-16T16:47:04.192Z", "Sun, 16 May -292275055 16:47:04 GMT" },
};

static void times_are_written_as_the_formats_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[TIME_TEXT_SIZE];

        time_iso(cases[i].ms, text);
        assert_string_equal(text, cases[i].iso);
        time_http(cases[i].ms, text);
        assert_string_equal(text, cases[i].http);
    }
}

static void the_time_zone_of_the_host_does_not_matter(void **state)
{
    static const char *const zones[] = { "Asia/Shanghai", "XYZ-11", "America/New_York" };

    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        setenv("TZ", zones[i], 1);
        tzset();
        times_are_written_as_the_formats_say(state);
    }
    unsetenv("TZ");
    tzset();
}

static void every_month_and_weekday_has_its_name(void **state)
{
    (void)state;
    for (int64_t day = 0; day < 366; day++) {
        time_t s = (time_t)(1704067200 + day * 86400);
        char ours[TIME_TEXT_SIZE], theirs[TIME_TEXT_SIZE];
        struct tm tm;

        gmtime_r(&s, &tm);
        strftime(theirs, sizeof(theirs), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        time_http((int64_t)s * 1000, ours);
        assert_string_equal(ours, theirs);
    }
}

static void a_fake_clock_moves_only_when_it_is_moved(void **state)
{
    struct clock_fake f;

    (void)state;
    clock_fake_init(&f, 5, 1700000000000);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clock_mono_ms(&f.clock), 5);
        assert_int_equal(clock_wall_ms(&f.clock), 1700000000000);
    }
    f.mono = 6;
    assert_int_equal(clock_mono_ms(&f.clock), 6);
    assert_int_equal(clock_wall_ms(&f.clock), 1700000000000);
    f.wall = -1;
    assert_int_equal(clock_mono_ms(&f.clock), 6);
    assert_int_equal(clock_wall_ms(&f.clock), -1);
}

static int64_t read_ms(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void the_system_clock_is_the_kernels(void **state)
{
    const struct clock *c = &clock_system;
    int64_t before = read_ms(CLOCK_MONOTONIC), now = clock_mono_ms(c);

    (void)state;
    assert_true(before <= now && now <= read_ms(CLOCK_MONOTONIC));
    before = read_ms(CLOCK_REALTIME);
    now = clock_wall_ms(c);
    assert_true(before <= now && now <= read_ms(CLOCK_REALTIME));
}

/* A clock that has only milliseconds returns those. */
static void a_finer_time_is_the_same_time(void **state)
{
    struct clock_fake f;
    int64_t before = time_mono_us(), now = clock_mono_us(&clock_system), after = time_mono_us();

    (void)state;
    assert_true(before <= now && now <= after);
    assert_true(clock_mono_ms(&clock_system) >= before / 1000);
    clock_fake_init(&f, 1234, 0);
    assert_int_equal(clock_mono_us(&f.clock), 1234000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finer_time_is_the_same_time),
        cmocka_unit_test(times_are_written_as_the_formats_say),
        cmocka_unit_test(the_time_zone_of_the_host_does_not_matter),
        cmocka_unit_test(every_month_and_weekday_has_its_name),
        cmocka_unit_test(a_fake_clock_moves_only_when_it_is_moved),
        cmocka_unit_test(the_system_clock_is_the_kernels),
    };

    return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
