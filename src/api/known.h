/* SPDX-License-Identifier: MIT */
/* known.h - how hosts run a process, as the fleet has it: its spec and labels, out of JSON.
 * Hosts that say the same share one, as tasks keep one spec for all who share it. */
#ifndef API_KNOWN_H
#define API_KNOWN_H

#include "base/map.h"
#include "model/proc.h"
#include "server/fleet.h"

struct known {
    struct proc_spec spec;
    struct list labels; /* they go with the spec: what makes a process known sets them */
};

struct knowns {
    struct arena *arena;
    struct map by_text; /* of the fleet, which has each text once: where labels and spec are */
};

void knowns_init(struct knowns *k, struct arena *a);
void knowns_done(struct knowns *k); /* what was read stays in the arena */

/* Either text may be NULL: then there are none, or the spec is empty.  NULL: what is stored can
 * not be read (CODE_SYSTEM). */
const struct known *known_read(struct knowns *k, const char *labels, const char *spec,
                               struct err *err);

/* NULL: the process is not there, or has no spec (CODE_NOT_REGISTERED), or what is stored can
 * not be read (CODE_SYSTEM). */
const struct known *known_of(struct knowns *k, const struct fleet_proc *p, struct err *err);

#endif
