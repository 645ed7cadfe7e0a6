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

#include "base/loop.h"

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

static inline void rig_turn(struct rig *r)
{
    struct err err;

    r->clock.mono++;
    assert_int_equal(loop_turn(r->loop, 1, &err), 0);
}

static inline void rig_turns(struct rig *r, int n)
{
    while (n-- > 0)
        rig_turn(r);
}

static inline void rig_pass_ms(struct rig *r, int64_t ms)
{
    r->clock.mono += ms;
    rig_turn(r);
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

#endif
