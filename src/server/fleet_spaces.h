/* SPDX-License-Identifier: MIT */
/* fleet_spaces.h - the processes of one namespace, over all hosts or those of some
 * businesses, page by page; and the hosts of some part of the fleet, one by one.
 *
 * The fleet counts what each host has of each namespace, for all hosts and for each business,
 * so a page costs what is on it, and the last one no more than the first; and for who is held
 * to businesses, a look at each of these.
 *
 * The order of a page is that of agent id and name.  Where businesses are named they come one
 * after the other, in the order in which they are given.  So it changes only where processes
 * come and go, and where a host goes to another business. */
#ifndef SERVER_FLEET_SPACES_H
#define SERVER_FLEET_SPACES_H

#include "base/arena.h"
#include "server/fleet.h"

/* Hosts of these businesses, processes of these namespaces; each once. */
struct fleet_part {
    bool has_businesses, has_spaces; /* it is held to some; else the list is not looked at */
    const int64_t *businesses;
    size_t n_businesses;
    const char *const *spaces;
    size_t n_spaces;
};

/* What there is.  Hosts count whatever runs on them. */
struct fleet_totals fleet_count(const struct fleet *f, const struct fleet_part *part);

struct fleet_page {
    const char *space;
    size_t start, most;
    const struct fleet_part *part; /* of which the businesses count; NULL: all */
};

struct fleet_hit {
    const struct fleet_host *host;
    const struct fleet_proc *proc;
};

/* Fills in `hits`, of which there are ask->most; returns how many processes there are in
 * all. */
size_t fleet_page(const struct fleet *f, const struct fleet_page *ask, struct fleet_hit *hits,
                  size_t *ret_n);

/* The hosts of a part by agent id, those behind `after` ("": all); if it is held to
 * namespaces, those that have processes of them.  It begins with a look at each business and
 * namespace, and costs next to nothing per host.  Nothing may change meanwhile. */
struct fleet_walk {
    struct fleet_step *steps; /* the one whose host is next stands first */
    size_t n;
    const struct fleet_host *last;
};
void fleet_walk(struct fleet_walk *w, const struct fleet *f, const struct fleet_part *part,
                const char *after, struct arena *a);
const struct fleet_host *fleet_walk_next(struct fleet_walk *w); /* NULL: no more */

#endif
