/* SPDX-License-Identifier: MIT */
/* loop.h - one thread waiting for many things.
 *
 * A loop and all that hangs on it belong to one thread.  Callbacks run one at a
 * time and must not block; they may free any watch or stop any timer, their own
 * included.  Other threads reach a loop through a queue (queue.h) whose fd it
 * watches. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "base/timers.h"

struct loop;
struct watch;

int loop_new(const struct clock *clock, struct loop **ret, struct err *err);
void loop_free(struct loop *l); /* what was watched must be freed before; NULL is fine */

/* loop_stop() ends the turn after the callback it is called from, and loop_run()
 * with it; outside of a run it ends the next one before its first turn. */
int loop_run(struct loop *l, struct err *err);
void loop_stop(struct loop *l);

/* One turn: waits at most wait_ms (-1: until something happens), then calls what
 * is ready and what is due. */
int loop_turn(struct loop *l, int64_t wait_ms, struct err *err);

/* Monotonic time at the last return from waiting; costs nothing. */
int64_t loop_now_ms(const struct loop *l);
int64_t loop_now_us(const struct loop *l); /* the same, finer: clock_mono_us() */
const struct clock *loop_clock(const struct loop *l);

/* Descriptors.  A watch begins with interest in nothing. */
enum { WATCH_READ = 1 << 0, WATCH_WRITE = 1 << 1 };
typedef void watch_fn(void *arg, unsigned ready);

int watch_new(struct loop *l, int fd, watch_fn *fn, void *arg, struct watch **ret, struct err *err);
int watch_want(struct watch *w, unsigned interest, struct err *err);
void watch_free(struct watch *w); /* does not close the fd; NULL is fine */

/* Signals, delivered as ordinary callbacks. */
typedef void signal_fn(void *arg, int number);
int loop_on_signal(struct loop *l, int number, signal_fn *fn, void *arg, struct err *err);

/* Timers (timers.h, where timer_init() is).  in_ms counts from loop_now_ms().  Timers due at the
 * same time go off in the order they were set; what a timer's callback sets for "now" goes off in
 * the next turn. */
void timer_set(struct loop *l, struct timer *t, int64_t in_ms);
void timer_stop(struct loop *l, struct timer *t);

#endif
