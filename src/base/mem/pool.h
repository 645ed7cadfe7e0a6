/* SPDX-License-Identifier: MIT */
/* pool.h - an allocator for many short-lived objects of one size.
 *
 * Thousands of operations, allocated between processes that live long, would fragment the heap
 * so that no whole page can be returned to the system.  A pool allocates slabs and frees a slab
 * when none of its objects is in use.  For one thread. */
#ifndef BASE_MEM_POOL_H
#define BASE_MEM_POOL_H

#include <stddef.h>
#include <sys/queue.h>

struct slab;

struct pool {
    size_t size, per_slab;   /* bytes of an object; objects in a slab */
    LIST_HEAD(, slab) roomy; /* slabs with a free object */
    size_t in_use;
};

void pool_init(struct pool *p, size_t size);
void *pool_get(struct pool *p); /* zeroed, maximally aligned */
void pool_put(struct pool *p, void *thing);
void pool_done(struct pool *p); /* no object may be in use */

#endif
