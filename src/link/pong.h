/* SPDX-License-Identifier: MIT */
/* pong.h - an agent's answer to ping: its clock, and what it says of itself.
 *
 * The figures are few and cheap to tell: the server adds them up over the fleet.  Of an agent
 * that tells none, an older one, all are 0; one that does uses memory, so rss_bytes is not. */
#ifndef LINK_PONG_H
#define LINK_PONG_H

#include <stdint.h>

#include "wire/shape.h"

struct message_figures {
    int64_t rss_bytes, cpu_ms; /* of the agent itself; cpu_ms and restarts since it began */
    int64_t journal_bytes;
    int64_t processes, running; /* that it knows; those of them that run */
    int64_t restarts;           /* of processes, of its own making */
    int64_t operations;         /* in work or waiting */
    int64_t events;             /* that wait for the server */
};

struct message_pong { /* begins as struct message_ping does */
    int64_t server_ms, agent_ms;
    struct message_figures figures;
};

extern const struct shape message_pong_shape, message_figures_shape;

#endif
