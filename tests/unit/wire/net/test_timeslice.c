/* SPDX-License-Identifier: MIT */
/* Promises of wire/net/timeslice.h: expensive work runs in slices, in order. */
#include "wire/net/timeslice.h"

#include <stdlib.h>

#include "tests/lib/rig.h"

enum { N = 10 };

struct worker {
    struct timeslice_waiter place;
    struct world *w;
    int done;  /* position in the order of calls, from 1 */
    bool more; /* it has another step and waits again */
    struct worker *takes_along;
};

struct world {
    struct rig rig;
    struct timeslice *timeslice;
    struct worker workers[N];
    int calls;
    int64_t costs_ms;
};

static void on_call(void *arg)
{
    struct worker *k = arg;

    k->done = ++k->w->calls;
    k->w->rig.clock.mono += k->w->costs_ms;
    if (k->takes_along)
        timeslice_leave(k->w->timeslice, &k->takes_along->place);
    if (k->more)
        timeslice_wait(k->w->timeslice, &k->place);
    k->more = false;
}

static void begin(struct world *w, int64_t ms, size_t n)
{
    *w = (struct world){ 0 };
    rig_init(&w->rig);
    w->timeslice = timeslice_new(w->rig.loop, &(struct timeslice_limit){ ms, n });
    for (int i = 0; i < N; i++) {
        w->workers[i] =
            (struct worker){ .place = { .fn = on_call, .arg = &w->workers[i] }, .w = w };
        timeslice_wait(w->timeslice, &w->workers[i].place);
    }
}

static void end(struct world *w)
{
    assert_int_equal(timeslice_waiting(w->timeslice), 0);
    timeslice_free(w->timeslice);
    rig_done(&w->rig);
}

static void a_turn_does_so_many_in_order(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1000, 4);
    assert_int_equal(w.calls, 0);
    for (int turn = 1; turn <= 2; turn++) {
        rig_turn(&w.rig);
        assert_int_equal(w.calls, 4 * turn);
        assert_int_equal(timeslice_waiting(w.timeslice), N - 4 * turn);
    }
    rig_turns(&w.rig, 2);
    for (int i = 0; i < N; i++)
        assert_int_equal(w.workers[i].done, i + 1);
    end(&w);
}

static void a_turn_is_over_when_its_time_is(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 10, 100);
    w.costs_ms = 4;
    rig_turn(&w.rig);
    assert_int_equal(w.calls, 3); /* 12 ms: the third one started in time */
    w.costs_ms = 1000;
    rig_turn(&w.rig);
    assert_int_equal(w.calls, 4); /* at least one runs in each turn */
    w.costs_ms = 0;
    rig_turn(&w.rig);
    assert_int_equal(w.calls, N);
    end(&w);
}

static void a_waiter_with_more_work_queues_behind_the_others(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1000, 4);
    w.workers[0].more = true;
    timeslice_wait(w.timeslice, &w.workers[1].place); /* a second call changes nothing */
    rig_turns(&w.rig, 5);
    assert_int_equal(w.calls, N + 1);
    assert_int_equal(w.workers[0].done, N + 1);
    end(&w);
}

static void one_may_leave_at_any_time(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1000, 100);
    w.workers[0].takes_along = &w.workers[1];
    timeslice_leave(w.timeslice, &w.workers[5].place);
    timeslice_leave(w.timeslice, &w.workers[5].place);
    rig_turns(&w.rig, 2);
    assert_int_equal(w.calls, N - 2);
    assert_int_equal(w.workers[1].done + w.workers[5].done, 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_does_so_many_in_order),
        cmocka_unit_test(a_turn_is_over_when_its_time_is),
        cmocka_unit_test(a_waiter_with_more_work_queues_behind_the_others),
        cmocka_unit_test(one_may_leave_at_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
