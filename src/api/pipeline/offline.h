/* SPDX-License-Identifier: MIT */
/* offline.h - hosts without a connected agent: the last known state of their processes is shown as
 * unknown.
 *
 * A host is offline if it had no session for OFFLINE_MS, as for operations (server/dispatch/hub.h);
 * a reconnect takes a moment, and the known state stays valid for that long.  A host that has
 * joined and was never connected is offline too.  This applies to BlueKing's calls; /v1 shows a
 * host as offline at once: hosts_unknown_since_s(). */
#ifndef API_PIPELINE_OFFLINE_H
#define API_PIPELINE_OFFLINE_H

#include "base/mem/buf.h"
#include "model/code.h"
#include "server/dispatch/hub.h"
#include "server/fleet/fleet.h"

enum { OFFLINE_MS = HUB_OFFLINE_MS };

/* Epoch seconds; 0: online.  `wall_ms` is the current time. */
int64_t offline_since_s(const struct fleet_host *h, int64_t wall_ms);

/* "unknown since 2026-11-15T05:47:53Z: the agent is not connected" */
void offline_write(int64_t since_s, enum lang lang, struct buf *to);

#endif
