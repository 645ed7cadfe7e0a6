/* SPDX-License-Identifier: MIT */
/* timers.h - what is due when: a heap of timers that live inside what they
 * belong to.
 *
 * It reads no clock: whoever owns it says what time it is.  Timers due at the
 * same time go off in the order they were set.  One that is all zeroes is empty
 * and ready. */
#ifndef BASE_TIMERS_H
#define BASE_TIMERS_H

#include <stddef.h>
#include <stdint.h>

/* One that is set again moves; one that goes off is no longer set. */
struct timer {
    void (*fn)(void *arg);
    void *arg;
    int64_t due_ms;
    size_t place; /* in the heap, from 1; 0: not set */
};

/* With the time in it, so that whoever looks for the next one need not go to timers that are
 * all over the memory: with ten thousands of them that takes longer than all else. */
struct timers_slot {
    int64_t due_ms;
    uint64_t seq; /* orders timers that are due at the same time */
    struct timer *timer;
};

struct timers {
    struct timers_slot *heap; /* heap[1] is due first */
    size_t n, cap;
    uint64_t next_seq;
};

void timer_init(struct timer *t, void (*fn)(void *arg), void *arg);
void timers_set(struct timers *ts, struct timer *t, int64_t due_ms);
void timers_stop(struct timers *ts, struct timer *t);
void timers_free(struct timers *ts); /* the timers are not touched */

int64_t timers_next_ms(const struct timers *ts); /* INT64_MAX: nothing is set */

/* Takes out and returns the next one that is due by now_ms and was set before
 * `seq` (a ts->next_seq of earlier); NULL if there is none.  So a round of calls
 * with one seq ends, whatever the callbacks set. */
struct timer *timers_take(struct timers *ts, int64_t now_ms, uint64_t seq);

#endif
