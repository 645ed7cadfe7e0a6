/* SPDX-License-Identifier: MIT */
/* event_seen.h - which events a caller asks for, and may see: the same for a page and for a
 * stream.
 *
 * Of a process: its namespace and its host's business must be the app's.  Of a host itself:
 * the business.  Of a host that is no more: only those see it who may see all businesses; of
 * the server: who may see all. */
#ifndef API_EVENT_SEEN_H
#define API_EVENT_SEEN_H

#include "api/call.h"
#include "model/event.h"
#include "store/store_events.h"

struct event_sight {
    const struct call *call;
    const char *agent_id, *space, *name, *event; /* "": all; in the call's arena */
};

/* False: the filter names what the caller may not see, and the call was ended. */
bool event_sight_init(struct call *c, const struct event_filter *f, struct event_sight *ret);

bool event_sight_has(const struct event_sight *s, const struct event_row *row);

struct event_view event_seen(const struct event_row *row); /* the texts are the row's */

#endif
