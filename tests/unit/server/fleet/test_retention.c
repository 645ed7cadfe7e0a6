/* SPDX-License-Identifier: MIT */
/* By which time things grow old, whatever the clock does. */
#include "server/fleet/retention.h"

#include "tests/lib/store_rig.h"

enum { HOUR_MS = 3600 * 1000, TICK_MS = 10 * 60 * 1000 };

struct world {
    struct store_rig rig;
    struct clock_fake clock;
    struct loop *loop;
    struct watch *watch;
    struct retention *retention;
};

static void settle(struct world *w)
{
    for (int quiet = 0; quiet < 4; quiet++) {
        bool is_out = store_counters(w->rig.store)->on_their_way > 0;

        assert_int_equal(loop_turn(w->loop, is_out ? 1000 : 0, &w->rig.err), 0);
        if (is_out)
            quiet = 0;
    }
}

static void begin(struct world *w)
{
    struct err *err = &w->rig.err;

    store_rig_open(&w->rig);
    if (loop_new(&w->clock.clock, &w->loop, err) ||
        watch_new(w->loop, store_fd(w->rig.store), store_on_ready, w->rig.store, &w->watch, err) ||
        watch_want(w->watch, WATCH_READ, err))
        fail_msg("%s", err->text);
    w->retention = retention_new(w->loop, NULL, w->rig.store);
    assert_int_equal(retention_load(w->retention, err), 0);
    settle(w);
}

static void end(struct world *w)
{
    retention_free(w->retention);
    watch_free(w->watch);
    store_rig_close(&w->rig);
    loop_free(w->loop);
}

static int set_up(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    clock_fake_init(&w->clock, 1000, 100 * HOUR_MS);
    store_rig_place(&w->rig);
    begin(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    end(w);
    store_rig_remove(&w->rig);
    free(w);
    return 0;
}

/* Time passes, and both clocks show it. */
static void pass(struct world *w, int64_t ms)
{
    for (; ms > 0; ms -= TICK_MS) {
        w->clock.mono += TICK_MS;
        w->clock.wall += TICK_MS;
        settle(w);
    }
}

static int64_t behind_ms(const struct world *w)
{
    return w->clock.wall - retention_now_ms(w->retention, &w->clock.clock);
}

static void without_one_the_clock_is_believed(void **state)
{
    struct world *w = *state;

    assert_int_equal(retention_now_ms(NULL, &w->clock.clock), w->clock.wall);
}

static void it_goes_with_the_clock(void **state)
{
    struct world *w = *state;

    assert_int_equal(behind_ms(w), 0);
    pass(w, 3 * HOUR_MS);
    assert_int_equal(behind_ms(w), 0);
    w->clock.wall += HOUR_MS / 2; /* it was set */
    pass(w, TICK_MS);
    assert_int_equal(behind_ms(w), 0);
    w->clock.wall -= 50 * HOUR_MS; /* and set back */
    pass(w, TICK_MS);
    assert_int_equal(behind_ms(w), 0);
}

static void a_leap_is_believed_after_a_day(void **state)
{
    struct world *w = *state;
    int64_t before;

    pass(w, HOUR_MS);
    before = retention_now_ms(w->retention, &w->clock.clock);
    w->clock.wall += 1000 * INT64_C(24) * HOUR_MS;
    pass(w, 23 * HOUR_MS);
    assert_int_equal(retention_now_ms(w->retention, &w->clock.clock), before);
    pass(w, HOUR_MS + TICK_MS);
    assert_int_equal(behind_ms(w), 0);
}

static void a_leap_that_is_taken_back_never_was(void **state)
{
    struct world *w = *state;

    w->clock.wall += 1000 * INT64_C(24) * HOUR_MS;
    pass(w, 20 * HOUR_MS);
    w->clock.wall -= 1000 * INT64_C(24) * HOUR_MS + 20 * HOUR_MS;
    pass(w, TICK_MS);
    assert_int_equal(behind_ms(w), 0);
    w->clock.wall += 1000 * INT64_C(24) * HOUR_MS;
    pass(w, 20 * HOUR_MS); /* its day begins anew */
    assert_true(behind_ms(w) > 999 * INT64_C(24) * HOUR_MS);
}

/* We were away, or the clock is wrong since: that can not be told apart. */
static void at_a_start_it_goes_on_from_where_it_was(void **state)
{
    struct world *w = *state;

    pass(w, HOUR_MS);
    end(w);
    w->clock.wall += 90 * INT64_C(24) * HOUR_MS;
    begin(w);
    assert_true(behind_ms(w) > 89 * INT64_C(24) * HOUR_MS);
    pass(w, 12 * HOUR_MS);
    end(w);
    w->clock.mono = 7;
    begin(w);
    assert_true(behind_ms(w) > 89 * INT64_C(24) * HOUR_MS);
    pass(w, 12 * HOUR_MS + TICK_MS); /* a restart costs a tick of its day */
    assert_int_equal(behind_ms(w), 0);
    end(w);
    begin(w);
    assert_int_equal(behind_ms(w), 0);
}

#define CLOCK_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLOCK_TEST(without_one_the_clock_is_believed),
        CLOCK_TEST(it_goes_with_the_clock),
        CLOCK_TEST(a_leap_is_believed_after_a_day),
        CLOCK_TEST(a_leap_that_is_taken_back_never_was),
        CLOCK_TEST(at_a_start_it_goes_on_from_where_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
