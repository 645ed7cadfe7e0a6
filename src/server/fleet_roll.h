/* SPDX-License-Identifier: MIT */
/* fleet_roll.h - hosts in the order of their agent ids, each with a count: who is the next
 * one, and who has the n-th of what is counted.
 *
 * Hosts stand in blocks of at most ROLL_BLOCK, and each block has its sum beside it.  To find,
 * add or take away one costs the search of a block and a move within it; to find the n-th, an
 * addition per block: a few hundred for 100,000 hosts.  What is added to the last one, or
 * behind it, as everything is when a store is read, costs no search.
 *
 * A roll that is all zeroes is empty and ready.  The hosts are not its own, and their ids must
 * not change while they are on it.  Places are good until it changes. */
#ifndef SERVER_FLEET_ROLL_H
#define SERVER_FLEET_ROLL_H

#include "server/fleet.h"

enum { ROLL_BLOCK = 256 };

struct roll_entry {
    const struct fleet_host *host;
    size_t count; /* never 0 */
};

struct roll_block {
    size_t n, cap;
    struct roll_entry entries[];
};

struct roll {
    struct roll_slot {
        struct roll_block *block; /* never empty */
        size_t sum;
    } * slots;
    size_t n, cap;
    size_t total;
};

struct roll_place {
    size_t slot, entry;
};

void roll_add(struct roll *r, const struct fleet_host *h, size_t n); /* so many more */
void roll_sub(struct roll *r, const struct fleet_host *h, size_t n); /* it must have them */
void roll_free(struct roll *r);                                      /* empty and ready again */

/* The first host whose id is greater; "": the first of all. */
struct roll_place roll_after(const struct roll *r, const char *agent_id);

/* The host that has the n-th, and how many of its own come before that; n is less than the
 * total. */
struct roll_place roll_find(const struct roll *r, size_t n, size_t *ret_skip);

const struct roll_entry *roll_at(const struct roll *r, struct roll_place p); /* NULL: the end */
struct roll_place roll_next(const struct roll *r, struct roll_place p);

#endif
