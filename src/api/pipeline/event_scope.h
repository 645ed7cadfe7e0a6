/* SPDX-License-Identifier: MIT */
/* event_scope.h - the events that a caller asks for and may see, for pages and for streams.
 *
 * An app sees the event of a process if it may use the process's namespace and the business of its
 * host; the event of a host if it may use the business; the event of a removed host only if it may
 * use all businesses; and events of the server only without any limits. */
#ifndef API_PIPELINE_EVENT_SCOPE_H
#define API_PIPELINE_EVENT_SCOPE_H

#include "api/pipeline/call.h"
#include "model/event.h"
#include "store/store_events.h"

struct event_scope {
    const struct call *call;
    const char *agent_id, *space, *name, *event; /* "": any; in the call's arena */
};

/* False: the filter names something that the caller may not see, and the call was ended. */
bool event_scope_init(struct call *c, const struct event_filter *f, struct event_scope *ret);

bool event_scope_has(const struct event_scope *s, const struct event_row *row);

struct event_view event_scope_view(const struct event_row *row); /* the texts are the row's */

#endif
