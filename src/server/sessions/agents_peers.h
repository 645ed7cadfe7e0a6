/* SPDX-License-Identifier: MIT */
/* agents_peers.h - connections: accepting, time limits of strangers, delivery of messages.
 *
 * Three limits slow strangers down, so that a whole fleet that reconnects at once is delayed and
 * not refused, and the API stays responsive.  First, accepts per second are limited; further
 * connections wait in the kernel.  Second, handshakes at one time are limited, in total and per
 * network; further connections wait as bare sockets (agents_nets.h), because a kernel queue that is
 * full drops connections for seconds.  Third, handshakes share a limited time slice of each loop
 * iteration (wire/net/timeslice.h).
 *
 * A stranger that stalls keeps its place only while no other connection waits for it.  Otherwise it
 * has STALL_MS for its next step, or OWN_STALL_MS if only its own network waits.  A peer that was
 * answered has CLOSING_MS to read the answer and disconnect. */
#ifndef SERVER_SESSIONS_AGENTS_PEERS_H
#define SERVER_SESSIONS_AGENTS_PEERS_H

#include "link/message.h"
#include "server/sessions/agents_state.h"

/* Called by the connections.  A handler may close or free its peer. */
struct peer_owner {
    void (*on_join)(struct peer *p, const struct message_join *m);          /* a first message */
    void (*on_hello)(struct peer *p, const struct message_hello *m);        /* a first message */
    void (*on_message)(struct peer *p, unsigned type, const void *message); /* PEER_OPEN */
    void (*on_timer)(struct peer *p); /* peer.timer, unless it is PEER_SILENT */
    void (*on_leave)(struct peer *p); /* before it is closed */
};

extern const struct listener_owner agents_listener_owner;

void peers_update_timeslice(struct agents *a); /* accepts or pauses, depending on room and rate */
void peers_squeeze(struct agents *a);          /* drops stalled strangers while others wait */
void peers_free(struct agents *a);
void peers_send_goodbye(struct agents *a); /* tells each when to come back, and closes it */
void peer_free(struct peer *p);            /* closes it at once */
void peer_close(struct peer *p);
void peer_set_known(struct peer *p); /* it is not a stranger any more */
void peer_weigh(struct peer *p);     /* updates the count of bytes to be sent */

/* Sends a refusal and logs it; peer_deny() also counts it and closes the peer. */
struct refusal {
    unsigned type; /* type of the refused message */
    int code;
    int64_t retry_ms; /* -1: never */
};
void peer_refuse(struct peer *p, const struct refusal *r, const char *text);
void peer_deny(struct peer *p, const struct refusal *r, const char *text);

int64_t retry_soon_ms(void); /* a random delay of 1 to 5 s */
bool version_check(struct peer *p, unsigned type, int64_t min, int64_t max); /* false: denied */

#endif
