/* SPDX-License-Identifier: MIT */
/* pool.h - many short-lived things of one size, apart from what lives long.
 *
 * A thousand operations that come and go among a thousand processes that stay would
 * leave a heap full of holes, none of them a whole page that could go back to the
 * system.  A pool takes its memory in slabs, and gives one back when nothing in it is
 * in use.  For one thread. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>
#include <sys/queue.h>

struct slab;

struct pool {
    size_t size, per_slab;   /* of each; how many go into one */
    LIST_HEAD(, slab) roomy; /* slabs in which one is free */
    size_t in_use;
};

void pool_init(struct pool *p, size_t size);
void *pool_get(struct pool *p); /* zeroed, aligned for anything */
void pool_put(struct pool *p, void *thing);
void pool_done(struct pool *p); /* nothing may be in use any more */

#endif
