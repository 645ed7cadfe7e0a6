/* SPDX-License-Identifier: MIT */
/* heartbeat.h - agents that are away for too long, and those that come back: an event each
 * (events.h).
 *
 * An agent is lost when it has had no session for a time; after the server's start it has
 * longer, for the whole fleet comes back then.  Who was lost before is not lost again by a
 * restart of the server.  One that comes and goes is given twice the time after each return,
 * up to ten minutes, until it has stayed for an hour; so it tells little. */
#ifndef SERVER_HEARTBEAT_H
#define SERVER_HEARTBEAT_H

#include "base/loop.h"
#include "server/events.h"
#include "server/fleet.h"

enum {
    HEARTBEAT_LOST_MS = 30 * 1000,
    HEARTBEAT_START_MS = 60 * 1000, /* at least so long after a start */
    HEARTBEAT_LOST_MAX_MS = 10 * 60 * 1000,
    HEARTBEAT_STEADY_MS = 60 * 60 * 1000,
};

struct heartbeat;

/* lost_ms 0: as above. */
struct heartbeat *heartbeat_new(struct loop *loop, struct fleet *fleet, struct events *events,
                                int64_t lost_ms);
void heartbeat_free(struct heartbeat *h); /* nobody is lost by it; NULL is fine */

/* All hosts of the fleet are away; `lost` (struct lost_row) is who was lost already. */
void heartbeat_start(struct heartbeat *h, const struct list *lost);

void heartbeat_on_joined(struct heartbeat *h, const char *agent_id); /* a session is to come */
void heartbeat_on_session(struct heartbeat *h, const char *agent_id);
void heartbeat_on_session_end(struct heartbeat *h, const char *agent_id);

void heartbeat_forget_gone(struct heartbeat *h); /* what it knows of hosts that were removed */

#endif
