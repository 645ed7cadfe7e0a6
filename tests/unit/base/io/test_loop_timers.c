/* SPDX-License-Identifier: MIT */
#include "base/io/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "tests/lib/random.h"

/* Each test has a loop on a clock that stands still. */
static struct {
    struct clock_fake clock;
    struct loop *loop;
    struct err err;
} here;

static int set_up(void **state)
{
    (void)state;
    clock_fake_init(&here.clock, 1000, 0);
    return loop_new(&here.clock.clock, &here.loop, &here.err);
}

static int set_up_real(void **state)
{
    (void)state;
    return loop_new(&clock_system, &here.loop, &here.err);
}

static int tear_down(void **state)
{
    (void)state;
    loop_free(here.loop);
    return 0;
}

static void turn(int64_t wait_ms)
{
    assert_int_equal(loop_turn(here.loop, wait_ms, &here.err), 0);
}

static void advance(int64_t ms)
{
    here.clock.mono += ms;
    turn(0);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

static void a_timer_goes_off_once_and_not_before_its_time(void **state)
{
    struct timer t;
    int calls = 0;

    (void)state;
    timer_init(&t, count, &calls);
    timer_set(here.loop, &t, 50);
    turn(0);
    advance(49);
    assert_int_equal(calls, 0);
    advance(1);
    assert_int_equal(calls, 1);
    assert_int_equal(t.place, 0);
    advance(1000);
    assert_int_equal(calls, 1);
}

static void a_timer_set_again_moves(void **state)
{
    struct timer t;
    int calls = 0;

    (void)state;
    timer_init(&t, count, &calls);
    timer_set(here.loop, &t, 50);
    advance(20);
    timer_set(here.loop, &t, 50); /* counts from the current time */
    advance(49);
    assert_int_equal(calls, 0);
    timer_set(here.loop, &t, 1);
    advance(1);
    assert_int_equal(calls, 1);
    timer_set(here.loop, &t, 5);
    timer_stop(here.loop, &t);
    timer_stop(here.loop, &t);
    advance(100);
    assert_int_equal(calls, 1);
}

static void times_past_and_never_are_times_too(void **state)
{
    struct timer past, never, later;
    int calls[3] = { 0 };

    (void)state;
    timer_init(&past, count, &calls[0]);
    timer_init(&never, count, &calls[1]);
    timer_init(&later, count, &calls[2]);
    timer_set(here.loop, &never, INT64_MAX);
    timer_set(here.loop, &past, INT64_MIN);
    timer_set(here.loop, &later, 10);
    turn(0);
    assert_int_equal(calls[0], 1);
    advance(10);
    assert_int_equal(calls[2], 1);
    advance(1LL << 50);
    assert_int_equal(calls[1], 0);
    timer_stop(here.loop, &never);
}

/* The model of all timers: when each is due, -1 if it is not set. */
enum { TIMERS = 10000 };
static struct model {
    struct timer timer;
    int64_t due;
    bool next_turn; /* set for "now" by a callback */
} timers[TIMERS];
static uint64_t seed;
static int64_t last_due;
static size_t fired;

static void change_one(void)
{
    struct model *m = &timers[random_below(&seed, TIMERS)];
    int64_t in = (int64_t)random_below(&seed, random_below(&seed, 10) ? 500 : 20000);

    if (random_below(&seed, 5) == 0) {
        timer_stop(here.loop, &m->timer);
        m->due = -1;
        return;
    }
    timer_set(here.loop, &m->timer, in);
    m->due = loop_now_ms(here.loop) + in;
}

static void on_model(void *arg)
{
    struct model *m = arg;
    int64_t now = loop_now_ms(here.loop);

    fired++;
    if (m->due < 0 || m->due > now || m->due < last_due || now != here.clock.mono)
        fail_msg("due %ld, last %ld, now %ld", (long)m->due, (long)last_due, (long)now);
    last_due = m->due;
    m->due = -1;
    for (uint64_t n = random_below(&seed, 3); n > 0; n--) {
        struct model *other = &timers[random_below(&seed, TIMERS)];
        int64_t in = (int64_t)random_below(&seed, 300);

        timer_set(here.loop, &other->timer, in);
        other->due = now + in;
        other->next_turn = in == 0;
    }
}

static void ten_thousand_timers_go_off_in_order(void **state)
{
    (void)state;
    seed = 7;
    fired = 0;
    for (size_t i = 0; i < TIMERS; i++) {
        timer_init(&timers[i].timer, on_model, &timers[i]);
        timers[i].due = -1;
    }
    for (int step = 0; step < 1500; step++) {
        for (uint64_t n = random_below(&seed, 200); n > 0; n--)
            change_one();
        last_due = 0;
        advance((int64_t)random_below(&seed, 60));
        for (size_t i = 0; i < TIMERS; i++) {
            if (timers[i].due >= 0 && timers[i].due <= here.clock.mono && !timers[i].next_turn)
                fail_msg("timer %zu did not go off", i);
            timers[i].next_turn = false;
            if ((timers[i].due >= 0) != (timers[i].timer.place > 0))
                fail_msg("timer %zu is set and is not", i);
        }
    }
    assert_true(fired > 50000);
}

static char order[32];

static void note_order(void *arg)
{
    size_t n = strlen(order);

    order[n] = *(const char *)arg;
    order[n + 1] = '\0';
}

static void timers_due_together_go_off_in_the_order_they_were_set(void **state)
{
    static const char names[] = "abcdefghij";
    struct timer t[10];

    (void)state;
    order[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        timer_init(&t[i], note_order, (void *)&names[i]);
        timer_set(here.loop, &t[i], 5);
    }
    timer_set(here.loop, &t[3], 5); /* set again: now it is the last one */
    advance(5);
    assert_string_equal(order, "abcefghijd");
}

static struct timer again;

static void set_again(void *arg)
{
    ++*(int *)arg;
    timer_set(here.loop, &again, 0);
}

static void a_timer_set_for_now_by_a_timer_goes_off_in_the_next_turn(void **state)
{
    int calls = 0;

    (void)state;
    timer_init(&again, set_again, &calls);
    timer_set(here.loop, &again, 0);
    for (int turn = 1; turn <= 3; turn++) {
        advance(0);
        assert_int_equal(calls, turn);
    }
    timer_stop(here.loop, &again);
}

static struct timer *victims[3];

static void stop_victims(void *arg)
{
    ++*(int *)arg;
    for (size_t i = 0; i < ARRAY_LEN(victims); i++)
        timer_stop(here.loop, victims[i]);
}

static void a_timer_stopped_by_another_does_not_go_off(void **state)
{
    struct timer t[3];
    int calls = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        timer_init(&t[i], stop_victims, &calls);
        timer_set(here.loop, &t[i], 5);
        victims[i] = &t[i];
    }
    advance(5);
    assert_int_equal(calls, 1);
}

static void free_timer(void *arg)
{
    free(arg);
}

static void a_timer_may_be_freed_by_its_own_callback(void **state)
{
    struct timer *t = xalloc(sizeof(*t));

    (void)state;
    timer_init(t, free_timer, t);
    timer_set(here.loop, t, 1);
    advance(1);
    advance(1);
}

struct real_timer {
    struct timer timer;
    int64_t due_ms, fired_ms;
};

static void on_real(void *arg)
{
    ((struct real_timer *)arg)->fired_ms = clock_mono_ms(&clock_system);
}

static void real_timers_are_neither_early_nor_forgotten(void **state)
{
    struct real_timer t[50] = { 0 };
    int turns = 0;

    (void)state;
    turn(0); /* updates the loop's time */
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        int64_t in = (int64_t)(i * 7 % ARRAY_LEN(t));

        timer_init(&t[i].timer, on_real, &t[i]);
        t[i].due_ms = loop_now_ms(here.loop) + in;
        timer_set(here.loop, &t[i].timer, in);
    }
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        for (; !t[i].fired_ms; turns++)
            turn(-1);
        assert_true(t[i].fired_ms >= t[i].due_ms);
        assert_true(t[i].fired_ms < t[i].due_ms + 5000);
    }
    assert_in_range(turns, 1, 2 * ARRAY_LEN(t)); /* the loop waited instead of spinning */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define REAL(name) cmocka_unit_test_setup_teardown(name, set_up_real, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_timer_goes_off_once_and_not_before_its_time),
        TEST(a_timer_set_again_moves),
        TEST(times_past_and_never_are_times_too),
        TEST(ten_thousand_timers_go_off_in_order),
        TEST(timers_due_together_go_off_in_the_order_they_were_set),
        TEST(a_timer_set_for_now_by_a_timer_goes_off_in_the_next_turn),
        TEST(a_timer_stopped_by_another_does_not_go_off),
        TEST(a_timer_may_be_freed_by_its_own_callback),
        REAL(real_timers_are_neither_early_nor_forgotten),
    };

    return cmocka_run_group_tests_name("loop_timers", tests, NULL, NULL);
}
