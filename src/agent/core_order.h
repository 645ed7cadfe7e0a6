/* SPDX-License-Identifier: MIT */
/* core_order.h - which hosted process comes before which when a host comes up, or several
 * have died at once.  For the core's own sources.
 *
 * One that names others in `after` is pulled up when those of them are up that are pulled up
 * themselves; a name that nobody hosts here holds nobody up.  When the agent starts on a new
 * boot, smaller priorities come first: the next ones when each of those before is up, has
 * failed once, or waits for somebody who comes later.
 *
 * Nobody is held up for ever: ORDER_MAX_MS after the other's own turn had come it goes on,
 * with an event that says so.  Only pulling up is ordered; what is asked for is done when it is
 * asked for.
 *
 * One timer does for all.  A process waits for one other at a time, so that who comes up
 * costs as much as wait for it, and a boot of n processes n log n. */
#ifndef AGENT_CORE_ORDER_H
#define AGENT_CORE_ORDER_H

#include "agent/core_in.h"

enum { ORDER_MAX_MS = 120 * 1000 };

void order_begin(struct core *c);
void order_end(struct core *c);     /* before the processes go */
void order_free(struct kept *k);    /* this one does */
void order_on_boot(struct core *c); /* a new one: before anybody is looked at */

/* Whether it may be pulled up now; if not, keep_on_time() comes when it may. */
bool order_may_start(struct kept *k);
void order_on_change(struct kept *k); /* it runs, or is hosted no more, or has been tried */

/* "namespace:name" that it waits for; "": nobody. */
const char *order_waits_for(const struct kept *k);

/* The i-th of `after`; NULL: nobody knows it. */
struct kept *order_named(const struct kept *k, const struct proc_extra *extra, size_t i);

/* Whether `after` of this spec, with what is hosted, leads back to k: the whole circle, in
 * the arena; NULL: it does not. */
const char *order_find_circle(const struct kept *k, const struct proc_spec *spec, struct arena *a);

#endif
