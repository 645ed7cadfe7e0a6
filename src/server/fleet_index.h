/* SPDX-License-Identifier: MIT */
/* fleet_index.h - where the fleet finds the hosts of a business, and the processes of a
 * namespace; and how many they are.  Shared by the sources of fleet.h, not for others.
 *
 * A share is what the hosts of one business have of one namespace.  Every process is of one
 * share, and its host of one business, so that a change of either is counted where it is. */
#ifndef SERVER_FLEET_INDEX_H
#define SERVER_FLEET_INDEX_H

#include "server/fleet_roll.h"

struct host;

struct business {
    int64_t id;       /* first, for by_id.h */
    struct roll roll; /* its hosts, 1 each */
    struct fleet_totals totals;
};

struct space {
    struct roll roll;           /* hosts, and how many processes of it they have */
    struct fleet_totals totals; /* of processes alone, as in a share */
    char name[];
};

struct share {
    struct share_key {
        struct space *space;
        int64_t biz_id;
    } key;
    struct roll roll;
    struct fleet_totals totals;
};

/* fleet_business.c */
struct business *business_find(const struct fleet *f, int64_t biz_id);
void business_enter(struct host *h); /* that of pub.biz_id */
void business_leave(struct host *h); /* its processes have left before */
void businesses_free(struct fleet *f);

/* fleet_spaces.c */
struct space *space_find(const struct fleet *f, const char *name);
struct share *share_find(const struct fleet *f, struct space *s, int64_t biz_id);
struct share *share_enter(struct host *h, const char *space); /* one process more */
void share_leave(struct host *h, struct share *s);            /* which may be gone then */

#endif
