/* SPDX-License-Identifier: MIT */
/* pace.h - dear work, a slice of it a turn.
 *
 * Whoever has work of that kind (a TLS handshake costs as much as fifty messages) waits in
 * line for it; each turn of the loop calls those at the front until a slice of time is over,
 * or so many of them.  Everything else on the loop gets its turn between two slices, however
 * long the line is. */
#ifndef WIRE_PACE_H
#define WIRE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/loop.h"

struct pace;

/* Lives in who waits.  fn is called from the loop, and may free that. */
struct pace_place {
    void (*fn)(void *arg);
    void *arg;
    TAILQ_ENTRY(pace_place) link;
    bool is_waiting;
};

struct pace_slice {
    int64_t ms;
    size_t n;
};

struct pace *pace_new(struct loop *loop, const struct pace_slice *slice);
void pace_free(struct pace *p); /* nobody may be in line; NULL is fine */

void pace_wait(struct pace *p, struct pace_place *place);  /* in line already: stays there */
void pace_leave(struct pace *p, struct pace_place *place); /* not in line: nothing */
size_t pace_waiting(const struct pace *p);

#endif
