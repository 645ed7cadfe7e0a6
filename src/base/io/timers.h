/* SPDX-License-Identifier: MIT */
/* timers.h - a heap of timers; each timer is a member of its owner.
 *
 * The heap reads no clock: its owner passes the time.  Timers that are due at the same time go
 * off in the order they were set.  A heap of all zeroes is empty and ready. */
#ifndef BASE_IO_TIMERS_H
#define BASE_IO_TIMERS_H

#include <stddef.h>
#include <stdint.h>

/* Setting a timer again moves it.  A timer that goes off is no longer set. */
struct timer {
    void (*fn)(void *arg);
    void *arg;
    int64_t due_ms;
    size_t place; /* index in the heap, from 1; 0: not set */
};

/* Contains the time, so that sifting does not read the timers, which are scattered over memory:
 * with tens of thousands of timers the cache misses would cost more than the rest. */
struct timers_slot {
    int64_t due_ms;
    uint64_t seq; /* orders timers with the same due_ms */
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
void timers_free(struct timers *ts); /* does not touch the timers */

int64_t timers_next_ms(const struct timers *ts); /* INT64_MAX: no timer is set */

/* Removes and returns the next timer that is due by now_ms and was set before `seq` (an earlier
 * value of ts->next_seq); NULL if there is none.  Calling it with the same seq ends even if
 * callbacks set new timers. */
struct timer *timers_take(struct timers *ts, int64_t now_ms, uint64_t seq);

#endif
