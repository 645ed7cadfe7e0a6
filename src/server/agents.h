/* SPDX-License-Identifier: MIT */
/* agents.h - the server's end of the link: who may connect, who is connected.
 *
 * A connection without a certificate may do one thing: join, by a token that is good,
 * for an address nobody has (or the very agent that has it and shows the same key).
 * One with a certificate says hello and gets a session: its host must be known, the
 * certificate's id must be the hello's, and the clone rule holds: of two connections
 * with one identity the older is pinged; silent for 2 s it is replaced, answering, the
 * newer one is refused and an event says so.  All that is stored before welcome is said.
 *
 * A host is known by its key, whose SHA-256 stands in host_row.cert_fingerprint: so each
 * certificate for that key is good until its own end, a renewal changes nothing, and a
 * host that is removed from the fleet is out, its session at the next ping.
 *
 * Accepting is paced: a fleet that comes back at once waits with the kernel.  Whoever is
 * refused is told when to come again. */
#ifndef SERVER_AGENTS_H
#define SERVER_AGENTS_H

#include <stdint.h>

#include "base/log.h"
#include "base/loop.h"
#include "link/conn.h"
#include "server/events.h"
#include "server/figures.h"
#include "server/fleet.h"
#include "server/groups.h"
#include "server/heartbeat.h"
#include "server/logs.h"
#include "server/pushes.h"
#include "server/tasks.h"
#include "server/versions.h"
#include "wire/listen.h"

struct agents;

struct agents_settings {
    const char *dir;    /* of the CA (wire/ca.h) and the ticket keys */
    const char *listen; /* address of the link */
    const char *node;   /* the name of this server among several */
    int64_t ping_ms;    /* 0: 5000 */
    int64_t links_max;  /* connections, those included that wait in line as bare sockets; 0: 4000 */
    int64_t threads;    /* that do the work of sockets and TLS; 0: the loop's own */
};

/* Why a connection was turned away. */
enum agents_reason {
    AGENTS_HANDSHAKE, /* it failed, or did not end */
    AGENTS_CROWDED,   /* no more may be connected, or it has stood in line for too long */
    AGENTS_SILENT,    /* it said nothing */
    AGENTS_BROKEN,    /* what it said made no sense, or it went before it had said it */
    AGENTS_INVALID,   /* these by the code that it was told */
    AGENTS_DENIED,
    AGENTS_CONFLICT,
    AGENTS_LIMIT,
    AGENTS_UNAVAILABLE,
    AGENTS_OTHER,
    AGENTS_REASONS
};
const char *agents_reason_name(enum agents_reason why); /* "handshake" */

struct agents_counters {
    int64_t connections, sessions;
    int64_t shaking, strangers; /* of the connections: hands are being shaken; not known yet */
    int64_t parked;             /* accepted, and in line behind others of their network */
    uint64_t joined, refused;   /* since the start */
    uint64_t refused_by[AGENTS_REASONS];
    uint64_t handshakes[2]; /* that succeeded: full ones, and those that took up a session */
    int64_t waiting;        /* bytes to be sent to agents, as of when each was last looked at */
    uint64_t held_back;     /* messages that were not sent, as too much waits for the agent */
    struct conn_counters frames;
    struct versions versions; /* of those with a session */
    struct figures_grown grown;
};

/* Opens (at the first start, makes) the CA; listens from agents_listen() on, so that
 * nobody comes before the tasks are loaded. */
int agents_new(struct loop *loop, struct log *log, struct store *store, struct fleet *fleet,
               struct events *events, const struct agents_settings *s, struct agents **ret,
               struct err *err);
void agents_set_tasks(struct agents *a, struct tasks *t);
void agents_set_logs(struct agents *a, struct logs *l);
void agents_set_registry(struct agents *a, struct pushes *p, struct groups *g);
void agents_set_heartbeat(struct agents *a, struct heartbeat *h);
int agents_listen(struct agents *a, struct address *ret_real, struct err *err);
/* Before the end: nobody is accepted any more, each agent is told when to come back (in turn,
 * so many a second as we can take), and on_empty() is called, from the loop, when they have
 * gone or a second has passed. */
void agents_drain(struct agents *a, void (*on_empty)(void *arg), void *arg);
void agents_free(struct agents *a); /* drops all connections; NULL is fine */

/* A hand of the tasks: arg is a struct agents.  What is not for that session is dropped; so is
 * what its sender says again until it is taken, while much waits for the agent already. */
void agents_send(void *agents, const char *agent, int64_t epoch, unsigned type,
                 const struct shape *s, const void *message);
/* Another hand of theirs: so much waits for that session that a command would be dropped. */
bool agents_is_full(void *agents, const char *agent, int64_t epoch);

const char *agents_ca_fingerprint(const struct agents *a); /* for join tokens */
const struct agents_counters *agents_counters(const struct agents *a);
void agents_figures(const struct agents *a, struct figures_now *ret); /* asks each peer */

#endif
