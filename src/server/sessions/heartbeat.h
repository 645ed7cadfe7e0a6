/* SPDX-License-Identifier: MIT */
/* heartbeat.h - events (events.h) for agents that are offline for too long, and for those that come
 * back.
 *
 * An agent is lost when it had no session for `lost_ms`.  After a start of the server it has at
 * least HEARTBEAT_START_MS, because the whole fleet reconnects then.  An agent that was lost before
 * a restart of the server is not reported again.  For an agent that comes back, the time doubles
 * with each return, up to HEARTBEAT_LOST_MAX_MS, until it has stayed connected for
 * HEARTBEAT_STEADY_MS; so a flapping agent causes few events. */
#ifndef SERVER_SESSIONS_HEARTBEAT_H
#define SERVER_SESSIONS_HEARTBEAT_H

#include "base/io/loop.h"
#include "server/events/events.h"
#include "server/fleet/fleet.h"

enum {
    HEARTBEAT_LOST_MS = 30 * 1000,
    HEARTBEAT_START_MS = 60 * 1000, /* minimum after a start */
    HEARTBEAT_LOST_MAX_MS = 10 * 60 * 1000,
    HEARTBEAT_STEADY_MS = 60 * 60 * 1000,
};

struct heartbeat;

/* lost_ms 0: HEARTBEAT_LOST_MS. */
struct heartbeat *heartbeat_new(struct loop *loop, struct fleet *fleet, struct events *events,
                                int64_t lost_ms);
void heartbeat_free(struct heartbeat *h); /* sends no events; NULL is allowed */

/* Call once at start, when all hosts are offline.  `lost` (struct lost_row): agents that were
 * reported as lost already. */
void heartbeat_start(struct heartbeat *h, const struct list *lost);

void heartbeat_on_joined(struct heartbeat *h, const char *agent_id); /* its session must follow */
void heartbeat_on_session(struct heartbeat *h, const char *agent_id);
void heartbeat_on_session_end(struct heartbeat *h, const char *agent_id);

void heartbeat_forget_gone(struct heartbeat *h); /* drops the state of removed hosts */

#endif
