/* SPDX-License-Identifier: MIT */
/* Tests for base/mem/hist.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem/hist.h"

static void the_bounds_rise(void **state)
{
    (void)state;
    for (size_t i = 1; i < HIST_BOUNDS; i++)
        assert_true(hist_bounds_us[i] > hist_bounds_us[i - 1]);
}

/* A duration equal to a bound counts below it, one microsecond more counts above. */
static void each_is_counted_at_its_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < HIST_BOUNDS; i++) {
        struct hist h = { 0 };

        hist_add(&h, hist_bounds_us[i]);
        hist_add(&h, hist_bounds_us[i] + 1);
        assert_int_equal(h.counts[i], 1);
        assert_int_equal(h.counts[i + 1], 1);
        assert_int_equal(h.sum_us, 2 * hist_bounds_us[i] + 1);
    }
}

static void what_is_beyond_all_bounds_counts_too(void **state)
{
    struct hist h = { 0 };

    (void)state;
    hist_add(&h, INT64_MAX / 2);
    assert_int_equal(h.counts[HIST_BOUNDS], 1);
    assert_int_equal(h.sum_us, INT64_MAX / 2);
}

static void a_clock_that_went_back_counts_as_nothing(void **state)
{
    struct hist h = { 0 };

    (void)state;
    hist_add(&h, -5);
    hist_add(&h, INT64_MIN);
    assert_int_equal(h.counts[0], 2);
    assert_int_equal(h.sum_us, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bounds_rise),
        cmocka_unit_test(each_is_counted_at_its_bound),
        cmocka_unit_test(what_is_beyond_all_bounds_counts_too),
        cmocka_unit_test(a_clock_that_went_back_counts_as_nothing),
    };

    return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
