/* SPDX-License-Identifier: MIT */
/* agents_join.h - joining of a new agent, and renewal of a certificate.
 *
 * A join makes two calls to the store.  The first reads the token, the host at the address in the
 * token's cloud area, and the host with the requested id; a bad token costs no write.  The second,
 * store_join, takes a use of the token and writes the host in one transaction, so a failure never
 * costs a use.
 *
 * The key is the identity.  An agent with the key of the host at that address is that host: it
 * keeps its id, and no use is taken.  So an agent that missed our answer simply asks again, even
 * with a token that its first attempt used up. */
#ifndef SERVER_SESSIONS_AGENTS_JOIN_H
#define SERVER_SESSIONS_AGENTS_JOIN_H

#include "link/message.h"
#include "server/fleet/fleet_view.h"
#include "server/sessions/agents_state.h"
#include "store/store_hosts.h"

void join_on_message(struct peer *p, const struct message_join *m);
void join_on_renew(struct peer *p, const struct message_renew *m);

/* The row of a known host, with this certificate serial; a copy in the arena. */
void join_host_row(const struct fleet_host *h, const char *serial, struct arena *arena,
                   struct host_row *ret);

#endif
