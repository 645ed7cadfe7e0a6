/* SPDX-License-Identifier: MIT */
/* fleet_procs.h - one process, and the list of a host. */
#ifndef SERVER_FLEET_FLEET_PROCS_H
#define SERVER_FLEET_FLEET_PROCS_H

#include "server/fleet/fleet_state.h"

/* Changes a view to what queries show of a process with this registration. */
void proc_overlay(const struct fleet_proc *facts, struct proc_view *view);

/* `facts` has what the agent does not report: labels, spec, registry; NULL: nothing. */
struct proc *proc_new(struct fleet *f, const struct proc_view *view,
                      const struct fleet_proc *facts);
struct proc *proc_remake(struct fleet *f, const struct proc *old, const struct proc_view *view);
void proc_free(struct fleet *f, struct proc *p);
struct proc *procs_find(const struct host *h, const char *space, const char *name);
void procs_put(struct host *h, struct proc *p); /* replaces the one of that name */
void procs_del(struct host *h, const char *space, const char *name);
void procs_add_page(struct host *h, struct proc *p);
void procs_drop_pages(struct host *h);

/* The snapshot is complete: procs_match_pages() gives its processes the labels and specs of the
 * current ones and marks these as seen; procs_take_pages() replaces the list. */
void procs_match_pages(struct host *h);
void procs_take_pages(struct host *h);

void procs_clear(struct host *h);
void procs_count(struct host *h, int64_t by); /* adds (1) or subtracts (-1) all in the totals */
void procs_enter(struct host *h);             /* into the shares of its business */
void procs_leave(struct host *h);             /* and out of them */

#endif
