/* SPDX-License-Identifier: MIT */
/* fleet_spaces.h - the processes of one namespace in pages, on all hosts or those of some
 * businesses; and iteration over the hosts of a part of the fleet.
 *
 * The fleet counts the processes of each namespace per host, for all hosts and for each business.
 * So a page costs as much as it has rows, the last page no more than the first; for a caller
 * limited to businesses, plus one look-up per business.
 *
 * Pages are sorted by agent id and name.  Businesses come one after the other, in the given order.
 * So the order changes only where processes appear or disappear, or a host changes its business. */
#ifndef SERVER_FLEET_FLEET_SPACES_H
#define SERVER_FLEET_FLEET_SPACES_H

#include "base/mem/arena.h"
#include "server/fleet/fleet.h"

/* A part of the fleet: hosts of these businesses, processes of these namespaces; each once. */
struct fleet_part {
    bool has_businesses, has_spaces; /* whether the list restricts; false: it is ignored */
    const int64_t *businesses;
    size_t n_businesses;
    const char *const *spaces;
    size_t n_spaces;
};

/* Totals.  Hosts count whatever runs on them. */
struct fleet_totals fleet_count(const struct fleet *f, const struct fleet_part *part);

struct fleet_page {
    const char *space;
    size_t start, most;
    const struct fleet_part *part; /* only its businesses are used; NULL: all */
};

struct fleet_hit {
    const struct fleet_host *host;
    const struct fleet_proc *proc;
};

/* Fills `hits` with at most ask->most processes; returns the total number. */
size_t fleet_page(const struct fleet *f, const struct fleet_page *ask, struct fleet_hit *hits,
                  size_t *ret_n);

/* Iterates over the hosts of a part by agent id, after `after` ("": from the first); if the part
 * has namespaces, only hosts with processes of them.  The start costs a look-up per business and
 * namespace, each step next to nothing.  The fleet must not change meanwhile. */
struct fleet_walk {
    struct fleet_step *steps; /* a heap: the step with the next host is first */
    size_t n;
    const struct fleet_host *last;
};
void fleet_walk(struct fleet_walk *w, const struct fleet *f, const struct fleet_part *part,
                const char *after, struct arena *a);
const struct fleet_host *fleet_walk_next(struct fleet_walk *w); /* NULL: no more */

#endif
