/* SPDX-License-Identifier: MIT */
/* fleet_registrations.h - registrations of processes in memory.  Requests: fleet_registry.h. */
#ifndef SERVER_FLEET_FLEET_REGISTRATIONS_H
#define SERVER_FLEET_FLEET_REGISTRATIONS_H

#include "server/fleet/fleet_state.h"
#include "store/store_registry.h"

/* Replaces the facts of a process and keeps its view; creates a process that does not exist.
 * Returns the new one. */
struct proc *registry_put_facts(struct host *h, const char *space, const char *name,
                                const struct fleet_proc *facts);

/* Takes a row of the store.  If the registration was written after `registry_writes` (the value of
 * fleet.registry_writes when the row was written or read), it must be written again.  False: the
 * process is gone, and its row can be removed. */
bool registry_apply(struct host *h, const struct registry_row *row, int64_t registry_writes);

void registry_add_missing(struct host *h); /* adds registered processes that the snapshot lacks */
void registry_report_needs_push(struct host *h); /* reports processes that need a push */
void registry_report_proc(const struct host *h, const struct proc *p); /* if it needs a push */

/* Removal of rows that nothing needs any more.  A failed removal is repeated at our next start. */
struct removal {
    struct store_call *call; /* NULL: none to remove */
    struct list refs;
};
void removal_add(struct removal *l, size_t most, const struct proc_ref_row *ref);
void removal_submit(struct removal *l, struct fleet *f);

#endif
