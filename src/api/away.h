/* SPDX-License-Identifier: MIT */
/* away.h - agents that are not connected: what is known of their processes is old, and
 * nobody is told that it is not.
 *
 * Away is who has had no session for AWAY_MS, as for operations (server/hub.h): to connect
 * anew takes a moment, and nothing is forgotten in it.  A host that has joined and was never
 * connected is away, too. */
#ifndef API_AWAY_H
#define API_AWAY_H

#include "base/buf.h"
#include "model/code.h"
#include "server/fleet.h"
#include "server/hub.h"

enum { AWAY_MS = HUB_OFFLINE_MS };

/* Epoch seconds; 0: it is here.  `wall_ms` is now. */
int64_t away_since_s(const struct fleet_host *h, int64_t wall_ms);

/* "unknown since 2026-11-15T05:47:53Z: the agent is not connected" */
void away_write(int64_t since_s, enum lang lang, struct buf *to);

#endif
