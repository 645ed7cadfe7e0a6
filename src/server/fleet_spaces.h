/* SPDX-License-Identifier: MIT */
/* fleet_spaces.h - the processes of one namespace, over all hosts, page by page.
 *
 * For each namespace the fleet knows which hosts have how many processes of it, so a page
 * costs what is on it, and the last one no more than the first.  The order is that of agent
 * id and name: it changes only where processes come and go. */
#ifndef SERVER_FLEET_SPACES_H
#define SERVER_FLEET_SPACES_H

#include "server/fleet.h"

struct fleet_page {
    const char *space;
    size_t start, most;
    /* Which hosts count; NULL: all.  Then each host of the namespace is looked at. */
    bool (*counts)(const void *arg, const struct fleet_host *h);
    const void *arg;
};

struct fleet_hit {
    const struct fleet_host *host;
    const struct fleet_proc *proc;
};

/* Fills in `hits`, of which there are ask->most; returns how many processes there are in
 * all. */
size_t fleet_page(const struct fleet *f, const struct fleet_page *ask, struct fleet_hit *hits,
                  size_t *ret_n);

/* The next host by agent id that has processes of the namespace; "" begins, NULL ends. */
const struct fleet_host *fleet_next_in(const struct fleet *f, const char *space, const char *after);

#endif
