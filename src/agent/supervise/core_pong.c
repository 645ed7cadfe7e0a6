/* SPDX-License-Identifier: MIT */
/* core_pong.c - see core_pong.h.  It reports only values that are already known: pings arrive
 * every few seconds, and the cost must not depend on the number of processes. */
#include "agent/supervise/core_pong.h"

#include "agent/supervise/core_in.h"
#include "link/message.h"

void pong_send(struct core *c, int64_t server_ms)
{
    struct message_pong pong = {
        .server_ms = server_ms,
        .agent_ms = c->now_ms,
        .agent_stats = { .processes = (int64_t)c->proc.n,
                         .running = (int64_t)c->by_pid.n,
                         .restarts = c->restarted,
                         .operations = (int64_t)c->by_id.n,
                         .events = (int64_t)c->events.n,
                         .unexpected = c->unexpected },
    };

    if (c->effects->agent_stats)
        c->effects->agent_stats(c->arg, &pong.agent_stats);
    c->effects->send(c->arg, MESSAGE_PONG, &message_pong_shape, &pong);
}
