/* SPDX-License-Identifier: MIT */
/* loop.h - an event loop: one thread waits for descriptors, signals and timers.
 *
 * A loop, its watches and its timers belong to one thread.  Callbacks run one at a time and must
 * not block; they may free any watch and stop any timer, their own included.  Other threads
 * reach a loop through a queue (queue.h) that the loop watches. */
#ifndef BASE_IO_LOOP_H
#define BASE_IO_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io/timers.h"
#include "base/os/time.h"
#include "base/text/err.h"

struct loop;
struct watch;

int loop_new(const struct clock *clock, struct loop **ret, struct err *err);
void loop_free(struct loop *l); /* all watches must be freed before; NULL is allowed */

/* loop_stop() makes loop_run() return after the current callback.  Outside of loop_run() it
 * makes the next loop_run() return before its first turn. */
int loop_run(struct loop *l, struct err *err);
void loop_stop(struct loop *l);

/* One turn: waits at most wait_ms (-1: until something happens), then calls the callbacks of
 * ready descriptors and due timers. */
int loop_turn(struct loop *l, int64_t wait_ms, struct err *err);

/* Monotonic time when the last wait ended; no system call. */
int64_t loop_now_ms(const struct loop *l);
int64_t loop_now_us(const struct loop *l); /* the same in microseconds: clock_mono_us() */
const struct clock *loop_clock(const struct loop *l);

/* Descriptors.  A new watch waits for nothing until watch_want(). */
enum { WATCH_READ = 1 << 0, WATCH_WRITE = 1 << 1 };
typedef void watch_fn(void *arg, unsigned ready);

int watch_new(struct loop *l, int fd, watch_fn *fn, void *arg, struct watch **ret, struct err *err);
int watch_want(struct watch *w, unsigned interest, struct err *err);
void watch_free(struct watch *w); /* does not close the fd; NULL is allowed */

/* Signals, delivered as ordinary callbacks. */
typedef void signal_fn(void *arg, int number);
int loop_on_signal(struct loop *l, int number, signal_fn *fn, void *arg, struct err *err);

/* Timers (see timers.h for timer_init()).  in_ms counts from loop_now_ms().  Timers that are due
 * at the same time go off in the order they were set; a timer that a timer's callback sets for
 * "now" goes off in the next turn. */
void timer_set(struct loop *l, struct timer *t, int64_t in_ms);
void timer_stop(struct loop *l, struct timer *t);

#endif
