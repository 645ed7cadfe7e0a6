/* SPDX-License-Identifier: MIT */
/* agents_counters.h - counters of the link, for metrics: plain data. */
#ifndef SERVER_SESSIONS_AGENTS_COUNTERS_H
#define SERVER_SESSIONS_AGENTS_COUNTERS_H

#include <stdint.h>

#include "link/conn.h"
#include "server/fleet/agent_stats.h"
#include "server/fleet/versions.h"

/* Why a connection was refused. */
enum agents_reason {
    AGENTS_HANDSHAKE, /* the handshake failed, or timed out */
    AGENTS_CROWDED,   /* the connection limit is reached, or it waited too long for its handshake */
    AGENTS_SILENT,    /* no message came in time */
    AGENTS_BROKEN,    /* the first message was invalid, or incomplete when the peer left */
    AGENTS_INVALID,   /* this and the following ones: by the error code that the peer was sent */
    AGENTS_DENIED,
    AGENTS_CONFLICT,
    AGENTS_LIMIT,
    AGENTS_UNAVAILABLE,
    AGENTS_OTHER,
    AGENTS_REASONS
};
const char *agents_reason_name(enum agents_reason why); /* for example "handshake" */

struct agents_counters {
    int64_t connections, sessions;
    int64_t shaking, strangers; /* in their handshake; without an accepted hello */
    int64_t parked; /* accepted sockets that wait for a ClientHello or for their handshake */
    uint64_t joined, refused; /* since the start */
    uint64_t refused_by[AGENTS_REASONS];
    uint64_t handshakes[2]; /* successful ones: [0] full, [1] resumed */
    int64_t waiting;        /* bytes to be sent to agents, as of the last peer_weigh() of each */
    uint64_t held_back;     /* messages that were not sent because too much waits for the agent */
    struct conn_counters frames;
    struct versions versions; /* of agents with a session */
    struct agent_stats_grown grown;
};

#endif
