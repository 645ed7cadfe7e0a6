/* SPDX-License-Identifier: MIT */
/* core_pong.c - see core_pong.h.  All that is told of us here is known anyway: pings come every
 * few seconds, however many processes there are. */
#include "agent/core_pong.h"

#include "agent/core_in.h"
#include "link/pong.h"

void pong_send(struct core *c, int64_t server_ms)
{
    struct message_pong pong = {
        .server_ms = server_ms,
        .agent_ms = c->now_ms,
        .figures = { .processes = (int64_t)c->kept.n,
                     .running = (int64_t)c->by_pid.n,
                     .restarts = c->restarted,
                     .operations = (int64_t)c->by_id.n,
                     .events = (int64_t)c->events.n },
    };

    if (c->hands->figures)
        c->hands->figures(c->arg, &pong.figures);
    c->hands->send(c->arg, MESSAGE_PONG, &message_pong_shape, &pong);
}
