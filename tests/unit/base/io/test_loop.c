/* SPDX-License-Identifier: MIT */
#include "base/io/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem/mem.h"

/* Each test has a loop on a clock that stands still, and two connected sockets. */
static struct {
    struct clock_fake clock;
    struct loop *loop;
    struct err err;
    int fds[2];
} here;

static int set_up_with(const struct clock *clock)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, here.fds))
        return -1;
    return loop_new(clock, &here.loop, &here.err);
}

static int set_up(void **state)
{
    (void)state;
    clock_fake_init(&here.clock, 1000, 0);
    return set_up_with(&here.clock.clock);
}

static int set_up_real(void **state)
{
    (void)state;
    return set_up_with(&clock_system);
}

static int tear_down(void **state)
{
    (void)state;
    loop_free(here.loop);
    close(here.fds[0]);
    close(here.fds[1]);
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

/* A watch that counts its calls and performs one action when it is called. */
struct probe {
    struct watch *watch;
    int calls;
    unsigned ready;
    void (*then)(struct probe *p);
    struct probe *other;
};

static void on_probe(void *arg, unsigned ready)
{
    struct probe *p = arg;

    p->calls++;
    p->ready = ready;
    if (p->then)
        p->then(p);
}

static void watch_for(struct probe *p, int fd, unsigned interest)
{
    assert_int_equal(watch_new(here.loop, fd, on_probe, p, &p->watch, &here.err), 0);
    assert_int_equal(watch_want(p->watch, interest, &here.err), 0);
}

static void want(struct probe *p, unsigned interest)
{
    assert_int_equal(watch_want(p->watch, interest, &here.err), 0);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

struct hungry {
    struct timer timer;
    int calls;
};

static void on_hungry(void *arg)
{
    struct hungry *h = arg;

    if (++h->calls < 1000)
        timer_set(here.loop, &h->timer, 0);
}

static void a_timer_for_now_starves_no_descriptor(void **state)
{
    struct hungry h = { 0 };
    struct probe p = { 0 };

    (void)state;
    timer_init(&h.timer, on_hungry, &h);
    timer_set(here.loop, &h.timer, 0);
    watch_for(&p, here.fds[0], WATCH_WRITE);
    for (int i = 1; i < 10; i++) {
        advance(1);
        assert_int_equal(p.calls, i);
        assert_int_equal(h.calls, i);
    }
    timer_stop(here.loop, &h.timer);
    watch_free(p.watch);
}

/* Descriptors. */

static void a_watch_begins_with_interest_in_nothing(void **state)
{
    struct probe p = { 0 };

    (void)state;
    assert_int_equal(watch_new(here.loop, here.fds[0], on_probe, &p, &p.watch, &here.err), 0);
    assert_int_equal(write(here.fds[1], "x", 1), 1);
    turn(0);
    assert_int_equal(p.calls, 0);
    watch_free(p.watch);
    watch_free(NULL);
}

static void a_watch_is_called_for_what_it_wants_and_no_more(void **state)
{
    static const struct {
        bool readable;
        unsigned want, ready;
    } cases[] = {
        { true, WATCH_READ, WATCH_READ },
        { true, WATCH_READ | WATCH_WRITE, WATCH_READ | WATCH_WRITE },
        { true, WATCH_WRITE, WATCH_WRITE },
        { true, 0, 0 },
        { false, WATCH_READ, 0 },
        { false, WATCH_READ | WATCH_WRITE, WATCH_WRITE },
        { false, WATCH_WRITE, WATCH_WRITE },
        { false, 0, 0 },
    };
    struct probe p = { 0 };
    char byte;

    (void)state;
    watch_for(&p, here.fds[0], 0);
    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(cases); i++) {
        size_t k = i % 2 ? i / ARRAY_LEN(cases) : i % ARRAY_LEN(cases);

        while (read(here.fds[0], &byte, 1) == 1)
            ;
        if (cases[k].readable)
            assert_int_equal(write(here.fds[1], "x", 1), 1);
        want(&p, cases[k].want);
        want(&p, cases[k].want);
        for (int again = 0; again < 2; again++) { /* level, not edge */
            p.ready = 0;
            turn(0);
            assert_int_equal(p.ready, cases[k].ready);
        }
    }
    watch_free(p.watch);
}

static void a_descriptor_that_cannot_be_watched_is_an_error(void **state)
{
    struct probe p = { 0 };
    int file = open("/proc/self/exe", O_RDONLY);

    (void)state;
    assert_int_equal(watch_new(here.loop, file, on_probe, &p, &p.watch, &here.err), 0);
    assert_int_equal(watch_want(p.watch, WATCH_READ, &here.err), -1);
    assert_int_equal(here.err.code, ERR_SYSTEM);
    assert_int_equal(here.err.sys, EPERM);
    want(&p, 0);
    watch_free(p.watch);
    close(file);
}

static void free_self(struct probe *p)
{
    watch_free(p->watch);
    p->watch = NULL;
}

static void free_other(struct probe *p)
{
    watch_free(p->other->watch);
    p->other->watch = NULL;
}

static void pause_self(struct probe *p)
{
    want(p, 0);
}

static void pause_other(struct probe *p)
{
    want(p->other, 0);
}

static void widen_self(struct probe *p)
{
    want(p, p->ready ^ (WATCH_READ | WATCH_WRITE));
}

static void stop_loop(struct probe *p)
{
    (void)p;
    loop_stop(here.loop);
}

/* Both are ready in one turn.  The callback that runs first acts on itself or on the other
 * watch.  The sum of calls does not depend on which one that is. */
static void a_callback_may_do_anything_to_any_watch(void **state)
{
    static const struct {
        void (*then)(struct probe *p);
        int first, second; /* calls of both together, after one turn and after two */
    } cases[] = {
        { NULL, 2, 4 },        { free_self, 2, 2 },  { free_other, 1, 2 }, { pause_self, 2, 2 },
        { pause_other, 1, 2 }, { widen_self, 2, 4 }, { stop_loop, 1, 2 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct probe a = { .then = cases[i].then }, b = { .then = cases[i].then, .other = &a };
        char byte[10];

        a.other = &b;
        assert_int_equal(write(here.fds[0], "x", 1), 1);
        assert_int_equal(write(here.fds[1], "x", 1), 1);
        watch_for(&a, here.fds[0], WATCH_READ);
        watch_for(&b, here.fds[1], WATCH_READ);
        turn(0);
        assert_int_equal(a.calls + b.calls, cases[i].first);
        turn(0);
        if (cases[i].then == stop_loop) /* the other watch was called in this turn */
            assert_true(a.calls > 0 && b.calls > 0);
        assert_int_equal(a.calls + b.calls, cases[i].second);
        watch_free(a.watch);
        watch_free(b.watch);
        assert_int_equal(read(here.fds[0], byte, 10), 1);
        assert_int_equal(read(here.fds[1], byte, 10), 1);
    }
}

static void an_end_is_seen_as_readable(void **state)
{
    struct probe p = { 0 };

    (void)state;
    watch_for(&p, here.fds[0], WATCH_READ);
    shutdown(here.fds[1], SHUT_RDWR);
    turn(-1);
    assert_int_equal(p.ready, WATCH_READ);
    watch_free(p.watch);
}

/* Time as callbacks see it: the loop waited, and the clock has moved. */

static int64_t seen_ms;
static struct timer grace;
static int grace_calls;

static void see_time(struct probe *p)
{
    (void)p;
    seen_ms = loop_now_ms(here.loop);
    timer_set(here.loop, &grace, 100);
}

static void on_signal_see_time(void *arg, int number)
{
    *(int *)arg = number;
    see_time(NULL);
}

static void callbacks_see_the_time_after_the_wait(void **state)
{
    struct probe p = { .then = see_time };
    int number = 0;

    (void)state;
    timer_init(&grace, count, &grace_calls);
    grace_calls = 0;
    watch_for(&p, here.fds[0], WATCH_WRITE);
    advance(3600000);
    assert_int_equal(seen_ms, here.clock.mono);
    assert_int_equal(grace_calls, 0);
    want(&p, 0);
    assert_int_equal(loop_on_signal(here.loop, SIGUSR1, on_signal_see_time, &number, &here.err), 0);
    raise(SIGUSR1);
    here.clock.mono += 3600000;
    turn(0);
    assert_int_equal(number, SIGUSR1);
    assert_int_equal(seen_ms, here.clock.mono);
    assert_int_equal(grace_calls, 0); /* 100 ms from the signal, not from before the wait */
    advance(99);
    assert_int_equal(grace_calls, 0);
    advance(1);
    assert_int_equal(grace_calls, 1);
    assert_ptr_equal(loop_clock(here.loop), &here.clock.clock);
    watch_free(p.watch);
}

/* Signals. */

static int signals_seen[65];

static void on_signal_count(void *arg, int number)
{
    (void)arg;
    signals_seen[number]++;
}

static void signals_are_ordinary_callbacks(void **state)
{
    static const int numbers[] = { SIGUSR1, SIGUSR2, SIGHUP,  SIGTERM,
                                   SIGINT,  SIGCHLD, SIGPIPE, SIGWINCH };

    (void)state;
    memset(signals_seen, 0, sizeof(signals_seen));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        assert_int_equal(loop_on_signal(here.loop, numbers[i], on_signal_count, NULL, &here.err),
                         0);
    assert_int_equal(loop_on_signal(here.loop, SIGQUIT, on_signal_count, NULL, &here.err), -1);
    assert_int_equal(here.err.code, ERR_LIMIT);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        raise(numbers[i]);
        assert_int_equal(signals_seen[numbers[i]], 0); /* not in the handler */
        turn(-1);
        assert_int_equal(signals_seen[numbers[i]], 1);
        turn(0);
        assert_int_equal(signals_seen[numbers[i]], 1);
    }
}

static void a_signal_that_cannot_be_caught_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(loop_on_signal(here.loop, SIGKILL, on_signal_count, NULL, &here.err), -1);
    assert_int_equal(here.err.code, ERR_SYSTEM);
    assert_int_equal(loop_on_signal(here.loop, SIGUSR1, on_signal_count, NULL, &here.err), 0);
}

/* Running and stopping. */

static void stop_on_timer(void *arg)
{
    ++*(int *)arg;
    loop_stop(here.loop);
}

static void run_ends_when_a_callback_stops_it(void **state)
{
    struct probe p = { .then = stop_loop };
    struct timer t[2];
    int calls = 0;

    (void)state;
    watch_for(&p, here.fds[0], WATCH_WRITE);
    assert_int_equal(loop_run(here.loop, &here.err), 0);
    assert_int_equal(p.calls, 1);
    assert_int_equal(loop_run(here.loop, &here.err), 0); /* and can be run again */
    assert_int_equal(p.calls, 2);
    want(&p, 0);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        timer_init(&t[i], stop_on_timer, &calls);
        timer_set(here.loop, &t[i], 0);
    }
    assert_int_equal(loop_run(here.loop, &here.err), 0);
    assert_int_equal(calls, 1); /* the second waits for the next run */
    assert_int_equal(loop_run(here.loop, &here.err), 0);
    assert_int_equal(calls, 2);
    watch_free(p.watch);
}

static void a_stop_before_the_run_is_not_lost(void **state)
{
    struct probe p = { .then = stop_loop };

    (void)state;
    watch_for(&p, here.fds[0], WATCH_WRITE);
    loop_stop(here.loop);
    assert_int_equal(loop_run(here.loop, &here.err), 0);
    assert_int_equal(p.calls, 0);
    assert_int_equal(loop_run(here.loop, &here.err), 0);
    assert_int_equal(p.calls, 1);
    watch_free(p.watch);
}

static void turns_after_a_stop_are_whole_turns(void **state)
{
    struct timer t;
    int calls = 0;

    (void)state;
    timer_init(&t, stop_on_timer, &calls);
    for (int i = 1; i < 4; i++) {
        timer_set(here.loop, &t, 5);
        advance(5);
        assert_int_equal(calls, i);
    }
}

/* The real clock. */

static int64_t real_ms(void)
{
    return clock_mono_ms(&clock_system);
}

static void a_turn_waits_as_long_as_it_is_told(void **state)
{
    static const int64_t waits[] = { 0, 1, 2, 20 };
    struct timer late;
    int calls = 0;

    (void)state;
    timer_init(&late, count, &calls);
    for (int with_timer = 0; with_timer < 2; with_timer++) {
        if (with_timer)
            timer_set(here.loop, &late, 3600000);
        for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
            int64_t before = real_ms();

            turn(waits[i]);
            assert_true(real_ms() - before >= waits[i]);
            assert_true(real_ms() - before < waits[i] + 5000);
        }
    }
    assert_int_equal(calls, 0);
    timer_stop(here.loop, &late);
}

static void a_turn_ends_when_something_happens(void **state)
{
    struct probe p = { 0 };
    int64_t before = real_ms();

    (void)state;
    watch_for(&p, here.fds[0], WATCH_READ);
    assert_int_equal(write(here.fds[1], "x", 1), 1);
    turn(3600000);
    turn(-1);
    turn(INT64_MAX);
    assert_int_equal(p.calls, 3);
    assert_true(real_ms() - before < 5000);
    watch_free(p.watch);
}

static void without_descriptors_there_is_no_loop(void **state)
{
    struct rlimit old, none;
    struct loop *l = NULL;
    int rc;

    (void)state;
    getrlimit(RLIMIT_NOFILE, &old);
    none = (struct rlimit){ 0, old.rlim_max };
    setrlimit(RLIMIT_NOFILE, &none);
    rc = loop_new(&clock_system, &l, &here.err);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(rc, -1);
    assert_null(l);
    assert_int_equal(here.err.code, ERR_SYSTEM);
    assert_int_equal(here.err.sys, EMFILE);
    loop_free(NULL);
}

/* Environment variables of libevent do not change how the loop waits. */
static void the_environment_changes_nothing(void **state)
{
    struct loop *l = NULL;

    (void)state;
    setenv("EVENT_NOEPOLL", "1", 1);
    assert_int_equal(loop_new(&clock_system, &l, &here.err), 0);
    unsetenv("EVENT_NOEPOLL");
    loop_free(l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define REAL(name) cmocka_unit_test_setup_teardown(name, set_up_real, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_timer_for_now_starves_no_descriptor),
        TEST(a_watch_begins_with_interest_in_nothing),
        TEST(a_watch_is_called_for_what_it_wants_and_no_more),
        TEST(a_descriptor_that_cannot_be_watched_is_an_error),
        TEST(a_callback_may_do_anything_to_any_watch),
        TEST(an_end_is_seen_as_readable),
        TEST(callbacks_see_the_time_after_the_wait),
        TEST(signals_are_ordinary_callbacks),
        TEST(a_signal_that_cannot_be_caught_is_an_error),
        TEST(run_ends_when_a_callback_stops_it),
        TEST(a_stop_before_the_run_is_not_lost),
        TEST(turns_after_a_stop_are_whole_turns),
        REAL(a_turn_waits_as_long_as_it_is_told),
        REAL(a_turn_ends_when_something_happens),
        TEST(without_descriptors_there_is_no_loop),
        TEST(the_environment_changes_nothing),
    };

    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
