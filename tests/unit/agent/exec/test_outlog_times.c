/* SPDX-License-Identifier: MIT */
#include "agent/exec/outlog_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static struct outlog_times *times;

static int set_up(void **state)
{
    (void)state;
    times = outlog_times_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    outlog_times_free(times);
    return 0;
}

static uint64_t find(int64_t s)
{
    return outlog_times_find(times, "web", s * 1000);
}

static void note(int64_t s, uint64_t end)
{
    outlog_times_note(times, "web", s * 1000, end);
}

static void what_was_written_before_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(find(1000), 0); /* nothing is known */
    note(100, 10);
    note(105, 20);
    assert_int_equal(find(99), 0);
    assert_int_equal(find(104), 10);
    assert_int_equal(find(105), 20);
    assert_int_equal(find(5000), 20); /* quiet since then: nothing is newer */
    note(3600, 30);
    assert_int_equal(find(3000), 20); /* and it does not move */
    assert_int_equal(find(3600), 30);
    assert_int_equal(outlog_times_find(times, "other", 3600 * 1000), 0);
    outlog_times_forget(times, "web");
    assert_int_equal(find(3600), 0);
    outlog_times_forget(times, "web");
}

static void a_file_that_was_truncated_begins_anew(void **state)
{
    (void)state;
    note(100, 1000);
    note(200, 5);
    assert_int_equal(find(150), 0);
    assert_int_equal(find(200), 5);
}

/* Never too late, so no line that is new enough is lost; never far too early. */
static void it_is_exact_to_some_seconds_for_recent_output(void **state)
{
    (void)state;
    for (int64_t s = 1; s <= 3600; s++) /* a byte each second */
        note(s, (uint64_t)s);
    for (int64_t s = 3600 - 100; s <= 3600; s++) {
        assert_true((int64_t)find(s) <= s);
        assert_true((int64_t)find(s) >= s - 10);
    }
    for (int64_t s = 1; s <= 3600; s++)
        assert_true((int64_t)find(s) <= s);
    assert_true(find(1800) > 0); /* older output is known, too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_before_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_was_truncated_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_exact_to_some_seconds_for_recent_output, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
