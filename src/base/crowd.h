/* SPDX-License-Identifier: MIT */
/* crowd.h - many descriptors that say something once in their lives (pidfds), on a loop.
 *
 * A watch of loop.h costs some 250 bytes; here nothing is allocated for one, and a hundred
 * that are ready at once are heard of by one system call.  They have numbers, not pointers:
 * who is told of one finds out himself whether it is still there. */
#ifndef BASE_CROWD_H
#define BASE_CROWD_H

#include "base/loop.h"

struct crowd;

/* Called for each that can be read, again and again while it can. */
typedef void crowd_fn(void *arg, uint64_t key);

int crowd_new(struct loop *l, crowd_fn *fn, void *arg, struct crowd **ret, struct err *err);
void crowd_free(struct crowd *c); /* its descriptors are the caller's; NULL is fine */

int crowd_add(struct crowd *c, int fd, uint64_t key, struct err *err);
void crowd_del(struct crowd *c, int fd); /* before it is closed */

#endif
