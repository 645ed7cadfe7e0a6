/* SPDX-License-Identifier: MIT */
/* agents.h - the server side of the link: connections and sessions of agents.
 *
 * A connection without a certificate can only join: with a valid token, for an address that no
 * other host has.  An agent that already has the address may join again with the same key.  A
 * connection with a certificate sends hello and gets a session, if its host is known and the
 * certificate has the agent id of the hello.  The clone rule: when a second connection has the same
 * identity, the older one is pinged.  If it does not answer within 2 s it is replaced; if it
 * answers, the newer one is refused, and an event reports the clone.  The session is in the store
 * before welcome is sent.
 *
 * A host is identified by its key; host_row.cert_fingerprint is the key's SHA-256.  So every
 * certificate for this key is valid until it expires, and a renewal changes nothing.  The session
 * of a removed host is closed at the next ping.
 *
 * The accept rate is limited: when a whole fleet reconnects, connections wait in the kernel.  A
 * refusal says when to try again. */
#ifndef SERVER_SESSIONS_AGENTS_H
#define SERVER_SESSIONS_AGENTS_H

#include <stdint.h>

#include "base/io/log.h"
#include "base/io/loop.h"
#include "server/dispatch/tasks.h"
#include "server/events/events.h"
#include "server/fleet/fleet.h"
#include "server/registry/groups.h"
#include "server/registry/pushes.h"
#include "server/sessions/agents_counters.h"
#include "server/sessions/heartbeat.h"
#include "server/sessions/logs.h"
#include "wire/net/listen.h"

struct agents;

struct agents_settings {
    const char *dir;    /* directory of the CA (wire/tls/ca.h) and the ticket keys */
    const char *listen; /* address of the link */
    const char *node;   /* the name of this server node */
    int64_t ping_ms;    /* time between two pings; 0: 5000 */
    int64_t links_max;  /* most connections, with sockets that wait for a handshake; 0: 4000 */
};

/* Opens the CA, and creates it at the first start.  Connections are accepted only from
 * agents_listen() on, when the tasks are loaded. */
int agents_new(struct loop *loop, struct log *log, struct store *store, struct fleet *fleet,
               struct events *events, const struct agents_settings *s, struct agents **ret,
               struct err *err);
void agents_set_tasks(struct agents *a, struct tasks *t);
void agents_set_logs(struct agents *a, struct logs *l);
void agents_set_registry(struct agents *a, struct pushes *p, struct groups *g);
void agents_set_heartbeat(struct agents *a, struct heartbeat *h);
int agents_listen(struct agents *a, struct address *ret_real, struct err *err);
/* Prepares to stop: accepts no more connections and sends each agent the time to come back, spread
 * so that we can take them all.  Calls on_empty() from the loop when all are gone, or after a
 * second. */
void agents_drain(struct agents *a, void (*on_empty)(void *arg), void *arg);
void agents_free(struct agents *a); /* closes all connections; NULL is allowed */

/* An effect of the tasks; `agents` is a struct agents.  A message for another session than that of
 * this epoch is dropped.  While too much waits for the agent, so is a message that its sender
 * repeats until it is acknowledged. */
void agents_send(void *agents, const char *agent, int64_t epoch, unsigned type,
                 const struct shape *s, const void *message);
/* An effect of the tasks: whether agents_send() would drop a command for this session. */
bool agents_is_full(void *agents, const char *agent, int64_t epoch);

const char *agents_ca_fingerprint(const struct agents *a); /* for join tokens */
const struct agents_counters *agents_counters(const struct agents *a);
void agents_stats(const struct agents *a, struct agent_stats_now *ret); /* walks all peers */

#endif
