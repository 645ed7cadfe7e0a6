/* SPDX-License-Identifier: MIT */
/* mapped.h - answers that say at once, for each host that was named, what came of it: a map
 * from key to result, as GSE's v1 has it.
 *
 * A key is in the caller's own spelling.  A host that is named twice has one key; one that is
 * named in two ways is one target, and has both. */
#ifndef API_MAPPED_H
#define API_MAPPED_H

#include "api/call.h"
#include "base/map.h"
#include "server/fleet_registry.h"

struct mapped_key {
    const char *text;
    size_t target;
};

struct mapped {
    struct call *call;
    struct mapped_key *keys;
    size_t n_keys;
    struct registering_target *targets; /* those we know of, and may touch, have code 0 */
    size_t n;
    struct map by_key, by_agent;
};

struct mapped *mapped_new(struct call *c, size_t most); /* in the call's arena */
void mapped_add(struct mapped *m, const struct fleet_host *h, const char *key); /* h NULL: none */
void mapped_ready(struct mapped *m);                                            /* all are there */

/* Ends the call: by the failure, or by what the targets say. */
void mapped_end(struct mapped *m, const struct err *failure);

#endif
