/* SPDX-License-Identifier: MIT */
/* timeslice.h - runs expensive work in slices, one slice per turn of the loop.
 *
 * Expensive work (a TLS handshake costs as much as fifty messages) waits in a queue.  Each turn
 * of the loop runs waiters from the front until a slice of time is used up, or a number of them
 * has run.  All other events of the loop are handled between two slices, however long the queue
 * is. */
#ifndef WIRE_NET_TIMESLICE_H
#define WIRE_NET_TIMESLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/io/loop.h"

struct timeslice;

/* A member of the waiting object.  The loop calls fn, which may free the object. */
struct timeslice_waiter {
    void (*fn)(void *arg);
    void *arg;
    TAILQ_ENTRY(timeslice_waiter) link;
    bool is_waiting;
};

struct timeslice_limit {
    int64_t ms;
    size_t n;
};

struct timeslice *timeslice_new(struct loop *loop, const struct timeslice_limit *slice);
void timeslice_free(struct timeslice *p); /* no waiter may be queued; NULL is allowed */

/* Keeps its position if it is queued already. */
void timeslice_wait(struct timeslice *p, struct timeslice_waiter *place);
void timeslice_leave(struct timeslice *p,
                     struct timeslice_waiter *place); /* does nothing if it is not queued */
size_t timeslice_waiting(const struct timeslice *p);

#endif
