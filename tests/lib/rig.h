/* SPDX-License-Identifier: MIT */
/* rig.h - a loop to turn by hand, with a clock that moves a millisecond a turn,
 * for tests of what hangs on a loop.  Nothing sleeps: a condition holds within
 * a bounded number of turns, or the test fails. */
#ifndef TESTS_LIB_RIG_H
#define TESTS_LIB_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/io/loop.h"

struct rig {
    struct clock_fake clock;
    struct loop *loop;
};

static inline void rig_init(struct rig *r)
{
    struct err err;

    clock_fake_init(&r->clock, 1000, 0);
    assert_int_equal(loop_new(&r->clock.clock, &r->loop, &err), 0);
}

static inline void rig_done(struct rig *r)
{
    loop_free(r->loop);
}

static inline void rig_turn_in(struct rig *r, int64_t ms, int64_t wait_ms)
{
    struct err err;

    r->clock.mono += ms;
    assert_int_equal(loop_turn(r->loop, wait_ms, &err), 0);
}

/* Gives the kernel a moment (some milliseconds, by the clock of libevent) to bring
 * what is under way, if nothing is there yet. */
static inline void rig_turn(struct rig *r)
{
    rig_turn_in(r, 1, 1);
}

/* Time for what must not happen.  One moment does for what is under way; what
 * comes of it in this process is there at once. */
static inline void rig_turns(struct rig *r, int n)
{
    rig_turn(r);
    while (--n > 0)
        rig_turn_in(r, 1, 0);
}

/* Time that only our clock knows of: nothing is waited for. */
static inline void rig_pass_ms(struct rig *r, int64_t ms)
{
    rig_turn_in(r, ms, 0);
}

/* The condition is looked at once a turn, so it may do something. */
#define TURN_UNTIL(rig, condition)                                                                 \
    do {                                                                                           \
        bool holds_ = (condition);                                                                 \
                                                                                                   \
        for (int turn_ = 0; turn_ < 5000 && !holds_; turn_++) {                                    \
            rig_turn(rig);                                                                         \
            holds_ = (condition);                                                                  \
        }                                                                                          \
        if (!holds_)                                                                               \
            fail_msg("never came true: %s", #condition);                                           \
    } while (0)

/* The same for what comes with time, a tenth of a second a turn. */
#define PASS_UNTIL(rig, condition) TURN_UNTIL(rig, (rig_pass_ms(rig, 100), (condition)))

#endif
