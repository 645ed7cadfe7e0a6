/* SPDX-License-Identifier: MIT */
#include "model/cron.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/os/time.h"
#include "base/text/msg.h"
#include "tests/lib/random.h"

enum { DAY_S = 86400, HOUR_S = 3600 };

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    time_zone_read();
}

static int64_t next(const char *rule, int64_t after_s)
{
    struct cron c;

    assert_null(cron_check(rule));
    cron_read(rule, &c);
    return cron_next(&c, after_s);
}

/* ---- the table: compared with another implementation over ten years */

struct cron_case {
    const char *rule, *zone;
    int64_t after_s, until_s, count;
    uint64_t hash;
    int64_t first_s, last_s;
};

/* clang-format off */
static const struct cron_case cases[] = {
#include "cron_cases.inc"
};
/* clang-format on */

static uint64_t hash_more(uint64_t h, int64_t n)
{
    for (int i = 0; i < 8; i++)
        h = (h ^ ((uint64_t)n >> 8 * i & 0xff)) * UINT64_C(0x100000001b3);
    return h;
}

static void check_case(const struct cron_case *x)
{
    struct cron c;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int64_t n = 0, last_s = 0;

    set_zone(x->zone);
    assert_null(cron_check(x->rule));
    cron_read(x->rule, &c);
    for (int64_t at_s = cron_next(&c, x->after_s); at_s < x->until_s; at_s = cron_next(&c, at_s)) {
        if (n == 0 && at_s != x->first_s)
            fail_msg("%s in %s after %lld: first %lld, not %lld", x->rule, x->zone,
                     (long long)x->after_s, (long long)at_s, (long long)x->first_s);
        assert_true(at_s > last_s);
        hash = hash_more(hash, at_s);
        last_s = at_s;
        n++;
    }
    if (n != x->count || last_s != x->last_s || hash != x->hash)
        fail_msg("%s in %s after %lld: %lld times, last %lld; not %lld, last %lld", x->rule,
                 x->zone, (long long)x->after_s, (long long)n, (long long)last_s,
                 (long long)x->count, (long long)x->last_s);
}

static void rules_match_another_implementation(void **state)
{
    (void)state;
    assert_int_equal(ARRAY_LEN(cases), 200);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_case(&cases[i]);
}

/* ---- every minute of some weeks */

static const char *const zones[] = {
    "UTC0",
    "<+0545>-5:45",
    "CET-1CEST,M3.5.0,M10.5.0/3",
    "EST5EDT,M3.2.0,M11.1.0",
    "CST5CDT,M3.2.0/0,M11.1.0/1",
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
};

static const char *const rules[] = {
    "* * * * *",     "*/15 * * * *",   "30 * * * *",     "0 */2 * * *",      "10 */5 * * 0",
    "30 2 * * *",    "0 0 * * *",      "15 1,2 * * *",   "*/20 0-3 * * sun", "45 23 * * 6,0",
    "0 3 1-7 * sun", "* 1 * 3,4,10 *", "5,35 2-3 * * *", "59 23 31 * *",     "0 12 */3 * *",
};

static bool fits(const struct cron *c, int64_t shown_s)
{
    time_t t = (time_t)shown_s;
    struct tm tm;
    bool day, weekday;

    assert_non_null(gmtime_r(&t, &tm));
    day = c->days >> tm.tm_mday & 1;
    weekday = c->weekdays >> tm.tm_wday & 1;
    return (c->minutes >> tm.tm_min & 1) && (c->hours >> tm.tm_hour & 1) &&
           (c->months >> (tm.tm_mon + 1) & 1) &&
           (c->any_day || c->any_weekday ? day && weekday : day || weekday);
}

/* The definition of a rule, evaluated for one minute. */
static bool comes_at(const struct cron *c, int64_t at_s)
{
    int64_t now_s = time_zone_offset_s(at_s), before_s = time_zone_offset_s(at_s - 60);

    if (fits(c, at_s + now_s)) {
        /* Clocks are set back by at most two hours. */
        for (int64_t ago_s = 60; !c->every_hour && ago_s <= 2 * HOUR_S; ago_s += 60) {
            if (at_s - ago_s + time_zone_offset_s(at_s - ago_s) == at_s + now_s)
                return false;
        }
        return true;
    }
    for (int64_t left_s = before_s; !c->every_hour && left_s < now_s; left_s += 60) {
        if (fits(c, at_s + left_s))
            return true;
    }
    return false;
}

/* The week around every change of the zone, and one without a change. */
static void each_minute_of_some_weeks_is_as_the_rule_says(void **state)
{
    static const int64_t weeks[] = { 1772800000, 1774400000, 1775000000, 1788700000,
                                     1791000000, 1792800000, 1793400000, 1800000000 };
    struct cron c;

    (void)state;
    for (size_t z = 0; z < ARRAY_LEN(zones); z++) {
        set_zone(zones[z]);
        for (size_t i = 0; i < ARRAY_LEN(weeks) * ARRAY_LEN(rules); i++) {
            int64_t from_s = weeks[i % ARRAY_LEN(weeks)] / 60 * 60, next_s;

            if ((i / ARRAY_LEN(weeks) + i + z) % 3 != 0)
                continue; /* tests a third of them */
            cron_read(rules[i / ARRAY_LEN(weeks)], &c);
            next_s = cron_next(&c, from_s);
            for (int64_t at_s = from_s + 60; at_s < from_s + 4 * DAY_S; at_s += 60) {
                if (comes_at(&c, at_s) != (at_s == next_s))
                    fail_msg("%s in %s: wrong at %lld", rules[i / ARRAY_LEN(weeks)], zones[z],
                             (long long)at_s);
                if (at_s == next_s)
                    next_s = cron_next(&c, at_s);
            }
        }
    }
}

/* From any starting point the result is the first match after it. */
static void the_next_run_is_the_first_after_any_time(void **state)
{
    struct cron c;
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        int64_t after_s = 1767225600 + (int64_t)(random_next(&seed) % (400 * DAY_S)), next_s;

        set_zone(zones[random_next(&seed) % ARRAY_LEN(zones)]);
        cron_read(rules[random_next(&seed) % ARRAY_LEN(rules)], &c);
        next_s = cron_next(&c, after_s);
        assert_true(next_s > after_s);
        assert_int_equal(cron_next(&c, next_s - 1), next_s);
        assert_int_equal(cron_next(&c, after_s + (next_s - after_s) / 2 - (next_s == after_s + 1)),
                         next_s);
    }
}

/* ---- changes of the clock */

/* Berlin, 2027-03-28 and 2027-10-31, at 01:00 UTC: the clock skips from 2 to 3, and goes back from
 * 3 to 2. */
enum { SPRING = 1806195600, AUTUMN = 1824944400 };

static void a_skipped_run_happens_once_at_the_end_of_the_skip(void **state)
{
    (void)state;
    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_int_equal(next("30 2 * * *", SPRING - HOUR_S), SPRING);
    assert_int_equal(next("30 2 * * *", SPRING), SPRING + DAY_S - HOUR_S / 2);
    assert_int_equal(next("0,30 2,3 * * *", SPRING - 1), SPRING);
    assert_int_equal(next("0,30 2,3 * * *", SPRING), SPRING + HOUR_S / 2);
    assert_int_equal(next("15 * * * *", SPRING - HOUR_S / 2), SPRING + HOUR_S / 4);
    set_zone("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"); /* by half an hour, 2027-10-02 15:30 UTC */
    assert_int_equal(next("15 2 * * *", 1822491000 - HOUR_S), 1822491000);
}

static void a_repeated_hour_runs_once_except_for_hourly_rules(void **state)
{
    (void)state;
    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_int_equal(next("30 2 * * *", AUTUMN - HOUR_S), AUTUMN - HOUR_S / 2);
    assert_int_equal(next("30 2 * * *", AUTUMN - HOUR_S / 2), AUTUMN + DAY_S + HOUR_S / 2);
    assert_int_equal(next("30 2 * * *", AUTUMN + 60), AUTUMN + DAY_S + HOUR_S / 2);
    assert_int_equal(next("30 * * * *", AUTUMN - HOUR_S / 2), AUTUMN + HOUR_S / 2);
    assert_int_equal(next("0 * * * *", AUTUMN - HOUR_S), AUTUMN);
}

/* An island that crossed the date line had no 30 December. */
static void a_run_on_a_skipped_day_happens_at_its_end(void **state)
{
    const int64_t change_s = 1325239200; /* 2011-12-30 10:00 UTC, midnight there */

    (void)state;
    set_zone(":Pacific/Apia");
    if (time_zone_offset_s(change_s - 1) != -10 * HOUR_S)
        skip(); /* no zone files here */
    assert_int_equal(next("0 12 30 12 *", change_s - DAY_S), change_s);
    assert_int_equal(next("0 12 * * *", change_s - DAY_S), change_s - 12 * HOUR_S);
    assert_int_equal(next("0 12 * * *", change_s - 12 * HOUR_S), change_s);
    assert_int_equal(next("0 12 * * *", change_s), change_s + 12 * HOUR_S);
}

/* ---- years */

static void leap_days_are_found_over_a_century_without_one(void **state)
{
    (void)state;
    set_zone("UTC0");
    assert_int_equal(next("0 0 29 2 *", 1767225600), 1835395200);    /* 2026: 2028 */
    assert_int_equal(next("0 0 29 2 *", 3981312000), 4233686400);    /* 2096: 2104 */
    assert_int_equal(next("0 0 29 2 *", 4107542400), 4233686400);    /* 2100 */
    assert_int_equal(next("0 0 29 2 *", -1), 68169600);              /* 1972 */
    assert_int_equal(next("0 0 1 1 *", -86400 * 366), -86400 * 365); /* 1969 */
}

/* If one of the two fields starts with a star, day and weekday must both match. */
static void a_leap_day_of_a_weekday_is_found_however_far(void **state)
{
    (void)state;
    set_zone("UTC");
    assert_int_equal(next("0 0 29 2 */7", 1078012800), 1961625600); /* sundays, 2004 and 2032 */
    assert_int_equal(next("0 0 29 2 */7", 3728851200), 4991068800); /* 2088 and 2128 */
    assert_int_equal(next("0 0 */31 2 1", 1801440000), 2148595200); /* the 1st, 2027 and 2038 */
}

static void a_rule_that_never_matches_is_detected(void **state)
{
    struct cron c;

    (void)state;
    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    cron_read("0 0 30 2 *", &c);
    assert_true(cron_next(&c, 1767225600) == INT64_MAX);
    cron_read("0 * 30 2 *", &c);
    assert_true(cron_next(&c, 1767225600) == INT64_MAX);
}

/* ---- errors */

/* clang-format off */
static const struct { const char *rule, *wrong; } wrong[] = {
    { "61 * * * *", "minute: 61 is more than 59" },
    { "60 * * * *", "minute: 60 is more than 59" },
    { "* 24 * * *", "hour: 24 is more than 23" },
    { "* * 0 * *", "day-of-month: 0 is less than 1" },
    { "* * 32 * *", "day-of-month: 32 is more than 31" },
    { "* * * 13 *", "month: 13 is more than 12" },
    { "* * * * 8", "day-of-week: 8 is more than 7" },
    { "99999999999999999999 * * * *", "minute: 999999 is more than 59" },
    { "x * * * *", "minute: \"x\" is no number" },
    { "-1 * * * *", "minute: \"-1\" is no number" },
    { "* * * foo *", "month: \"foo\" is no number and no name" },
    { "* * * january *", "month: \"january\" is no value, range or step" },
    { "1,,2 * * * *", "minute: a value is missing" },
    { "1, * * * *", "minute: a value is missing" },
    { "5-1 * * * *", "minute: \"5-1\" goes backwards" },
    { "* 22-2 * * *", "hour: \"22-2\" goes backwards" },
    { "5/10 * * * *", "minute: \"5/10\" has a step, so it must be a range or *" },
    { "*/0 * * * *", "minute: \"/0\" must be / and a number from 1 to 60" },
    { "* */25 * * *", "hour: \"/25\" must be / and a number from 1 to 24" },
    { "*/ * * * *", "minute: \"/\" must be / and a number from 1 to 60" },
    { "1.5 * * * *", "minute: \"1.5\" is no value, range or step" },
    { "** * * * *", "minute: \"**\" is no value, range or step" },
    { "* * L * *", "day-of-month: \"L\" is no number" },
    { "* * ? * *", "day-of-month: \"?\" is no number" },
    { "* * * *", "has 4 fields, must have five: minute hour day-of-month month day-of-week" },
    { "0 0 * * * *", "has 6 fields, must have five: minute hour day-of-month month day-of-week" },
    { "daily", "has 1 field, must have five: minute hour day-of-month month day-of-week" },
    { "  ", "has 0 fields, must have five: minute hour day-of-month month day-of-week" },
    { "@reboot", "must be five fields, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually" },
    { "@daily x", "must be five fields, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually" },
    { "0 0 30 2 *", "day-of-month: no month it names has such a day" },
    { "0 0 31 4,6,9,11 *", "day-of-month: no month it names has such a day" },
    { "0 0 * * \xe4", "must have no other characters than those of cron" },
    { "0 0 * *\n*", "must have no other characters than those of cron" },
};
/* clang-format on */

static void a_bad_rule_is_refused_with_field_and_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const char *text = cron_check(wrong[i].rule);
        char english[200] = "accepted";

        if (text)
            msg_put(english, sizeof(english), text, NULL, 0);
        if (strcmp(english, wrong[i].wrong) != 0)
            fail_msg("%s: %s", wrong[i].rule, english);
    }
}

static void valid_rules_are_accepted(void **state)
{
    static const char *const fine[] = { "",
                                        "* * * * *",
                                        "  0\t0 1 JAN Sun  ",
                                        "@Daily ",
                                        "0 0 * * fri-sun",
                                        "*/60 */24 */31 */12 */7",
                                        "0 0 30 2 1",
                                        "1,2,3-5,*/7 * * * 0-7" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        if (cron_check(fine[i]))
            fail_msg("%s: %s", fine[i], cron_check(fine[i]));
    }
}

/* Of any length and content. */
static void any_text_is_read_or_refused(void **state)
{
    static const char letters[] = "0159*,-/ \t@jansun~L";
    uint64_t seed = 7;
    char text[300];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t n = random_below(&seed, i % 100 ? 24 : sizeof(text) - 1);
        struct cron c;

        for (size_t at = 0; at < n; at++)
            text[at] = letters[random_below(&seed, sizeof(letters) - 1)];
        text[n] = '\0';
        if (*text && !cron_check(text)) {
            cron_read(text, &c);
            assert_true(cron_next(&c, 1767225600) > 1767225600);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_match_another_implementation),
        cmocka_unit_test(each_minute_of_some_weeks_is_as_the_rule_says),
        cmocka_unit_test(the_next_run_is_the_first_after_any_time),
        cmocka_unit_test(a_skipped_run_happens_once_at_the_end_of_the_skip),
        cmocka_unit_test(a_repeated_hour_runs_once_except_for_hourly_rules),
        cmocka_unit_test(a_run_on_a_skipped_day_happens_at_its_end),
        cmocka_unit_test(leap_days_are_found_over_a_century_without_one),
        cmocka_unit_test(a_leap_day_of_a_weekday_is_found_however_far),
        cmocka_unit_test(a_rule_that_never_matches_is_detected),
        cmocka_unit_test(a_bad_rule_is_refused_with_field_and_value),
        cmocka_unit_test(valid_rules_are_accepted),
        cmocka_unit_test(any_text_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
