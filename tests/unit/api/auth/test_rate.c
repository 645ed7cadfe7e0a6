/* SPDX-License-Identifier: MIT */
/* Promises of api/auth/rate.h. */
#include "api/auth/rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

/* How many requests pass at this moment. */
static int burst(struct rate *r, int64_t per_second, int64_t now_ms)
{
    int n = 0;

    while (n < 100000 && rate_take(r, per_second, now_ms) == 0)
        n++;
    return n;
}

static void a_second_of_them_may_come_at_once(void **state)
{
    struct rate r = { 0 };

    (void)state;
    assert_int_equal(burst(&r, 50, 7), 50);
    assert_int_equal(rate_take(&r, 50, 7), 20);
    assert_int_equal(rate_take(&r, 50, 26), 1);
    assert_int_equal(rate_take(&r, 50, 27), 0);
    assert_int_equal(rate_take(&r, 50, 27), 20);
}

static void it_fills_evenly_and_never_over(void **state)
{
    struct rate r = { 0 };

    (void)state;
    assert_int_equal(burst(&r, 10, 0), 10);
    assert_int_equal(burst(&r, 10, 500), 5);
    assert_int_equal(burst(&r, 10, 10000000), 10);
    assert_int_equal(burst(&r, 10, 10000999), 9);
}

static void in_the_long_run_it_is_the_rate(void **state)
{
    struct rate r = { 0 };
    int n = 0;

    (void)state;
    for (int64_t ms = 0; ms < 60000; ms++)
        n += burst(&r, 7, ms);
    assert_in_range(n, 7 * 60, 7 * 61);
}

static void a_clock_that_goes_back_gives_nothing(void **state)
{
    struct rate r = { 0 };

    (void)state;
    assert_int_equal(burst(&r, 1, 5000), 1);
    assert_true(rate_take(&r, 1, 4000) > 0);
    assert_true(rate_take(&r, 1, 4500) > 0);
    assert_int_equal(rate_take(&r, 1, 5000), 0);
}

static void another_rate_counts_at_once(void **state)
{
    struct rate r = { 0 };

    (void)state;
    assert_int_equal(burst(&r, 1000, 0), 1000);
    assert_int_equal(burst(&r, 1000, 1000), 1000);
    r = (struct rate){ 0 };
    assert_int_equal(rate_take(&r, 1000, 0), 0);
    assert_int_equal(burst(&r, 2, 0), 2); /* the rest is capped by the new limit */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_of_them_may_come_at_once),
        cmocka_unit_test(it_fills_evenly_and_never_over),
        cmocka_unit_test(in_the_long_run_it_is_the_rate),
        cmocka_unit_test(a_clock_that_goes_back_gives_nothing),
        cmocka_unit_test(another_rate_counts_at_once),
    };

    return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
