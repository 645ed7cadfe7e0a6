/* SPDX-License-Identifier: MIT */
/* core_order.h - the start order of hosted processes when a host boots, or after several have
 * died at once.  For the core's own sources.
 *
 * A process that names others in `after` is restarted once those of them are up that are
 * restarted automatically too; a name that is not hosted here is ignored.  When the agent starts
 * on a new boot, smaller priorities come first.  The next level begins when each process of the
 * current level is up, has failed once, or waits for a process of a later level.
 *
 * The wait is limited: ORDER_MAX_MS after the turn of the awaited process had come, the waiting
 * process is started anyway, with an event that says so.  The order applies only to automatic
 * restarts; a requested operation runs when it is requested.
 *
 * One timer serves all.  A process waits for one other at a time, so a process that comes up
 * costs time proportional to the number of its waiters, and a boot of n processes costs n log n. */
#ifndef AGENT_SUPERVISE_CORE_ORDER_H
#define AGENT_SUPERVISE_CORE_ORDER_H

#include "agent/supervise/core_in.h"

enum { ORDER_MAX_MS = 120 * 1000 };

void order_begin(struct core *c);
void order_end(struct core *c);     /* before the processes are freed */
void order_free(struct proc *k);    /* before this process is freed */
void order_on_boot(struct core *c); /* on a new boot: before any process is evaluated */

/* Whether it may be restarted now; if not, restart_on_timer() is called when it may. */
bool order_may_start(struct proc *k);
void order_on_change(struct proc *k); /* it runs, is no longer hosted, or an attempt has ended */

/* "namespace:name" of the process that k waits for; "": none. */
const char *order_waits_for(const struct proc *k);

/* The i-th process of `after`; NULL: not known. */
struct proc *order_named(const struct proc *k, const struct proc_extra *extra, size_t i);

/* The sentence about the dependency cycle, allocated in the arena, if `after` of this spec leads
 * back to k through hosted processes; NULL: there is none. */
const char *order_find_circle(const struct proc *k, const struct proc_spec *spec, struct arena *a);

#endif
