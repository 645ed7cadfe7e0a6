/* SPDX-License-Identifier: MIT */
/* host_index.h - hosts sorted by agent id, each with a count: finds the next host, and the host
 * that has the n-th of all counted things.
 *
 * Hosts are in blocks of at most HOST_INDEX_BLOCK, each with its sum.  Finding, adding or removing
 * one costs a search for the block and a move within it; finding the n-th, an addition per block: a
 * few hundred for 100,000 hosts.  Appending, as when the store is read, needs no search.
 *
 * An all-zero index is empty and ready.  It does not own the hosts, and their ids must not change
 * while they are in it.  Places are valid until it changes. */
#ifndef SERVER_FLEET_HOST_INDEX_H
#define SERVER_FLEET_HOST_INDEX_H

#include "server/fleet/fleet_view.h"

enum { HOST_INDEX_BLOCK = 256 };

struct host_index_entry {
    const struct fleet_host *host;
    size_t count; /* never 0 */
};

struct host_index_block {
    size_t n, cap;
    struct host_index_entry entries[];
};

struct host_index {
    struct host_index_slot {
        struct host_index_block *block; /* never empty */
        size_t sum;
    } * slots;
    size_t n, cap;
    size_t total;
};

struct host_index_place {
    size_t slot, entry;
};

void host_index_add(struct host_index *r, const struct fleet_host *h,
                    size_t n); /* adds n to its count */
void host_index_sub(struct host_index *r, const struct fleet_host *h,
                    size_t n);              /* its count must be at least n */
void host_index_free(struct host_index *r); /* empty and ready again */

/* The first host with a greater id; "": the first. */
struct host_index_place host_index_after(const struct host_index *r, const char *agent_id);

/* The host that has the n-th thing, and how many of its own come before it; n is less than the
 * total. */
struct host_index_place host_index_find(const struct host_index *r, size_t n, size_t *ret_skip);

const struct host_index_entry *host_index_at(const struct host_index *r,
                                             struct host_index_place p); /* NULL: the end */
struct host_index_place host_index_next(const struct host_index *r, struct host_index_place p);

#endif
