/* SPDX-License-Identifier: MIT */
/* agents_session.h - hello, the clone rule, start and end of a session.
 *
 * A host is identified by its key: the certificate must be for the stored key.  So after a host is
 * removed, its old certificate is useless, even if the host joins again with a new key.  This is
 * checked with every hello, because a resumed TLS session verifies no certificate. */
#ifndef SERVER_SESSIONS_AGENTS_SESSION_H
#define SERVER_SESSIONS_AGENTS_SESSION_H

#include "server/sessions/agents_state.h"

void session_on_hello(struct peer *p, const struct message_hello *m);
void session_on_message(struct peer *p, unsigned type, const void *message);
void session_leave(struct peer *p); /* ends its session; a contender becomes the holder */
void session_close_again(struct agents *a);
void session_on_event_stored(void *agents, const char *agent_id, int64_t id);
void session_on_timer(struct peer *p);

#endif
