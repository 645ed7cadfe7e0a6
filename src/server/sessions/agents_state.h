/* SPDX-License-Identifier: MIT */
/* agents_state.h - private state of the link's server side.  Only the sources of agents.h include
 * it:
 *
 *   agents_ask.h      calls to the store
 *   agents_nets.h     networks, and sockets that wait for their handshake
 *   agents_peers.h    connections
 *   agents_join.h     joining, and renewal of certificates
 *   agents_session.h  sessions
 *   agents.h          set-up, periodic work, sending
 *
 * Each may use those before it.
 *
 * A peer is a stranger until its hello is accepted; strangers are limited in number, in total and
 * per network, and in time.  Of all peers of an agent one is the holder: it has the session, or the
 * store is opening it.  At most one other contends with the holder (the clone rule of agents.h); a
 * third is refused and told to try later. */
#ifndef SERVER_SESSIONS_AGENTS_STATE_H
#define SERVER_SESSIONS_AGENTS_STATE_H

#include <sys/queue.h>

#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "link/conn.h"
#include "link/message.h"
#include "server/fleet/pending_calls.h"
#include "server/sessions/agents_counters.h"
#include "wire/net/listen.h"
#include "wire/net/timeslice.h"
#include "wire/tls/ca.h"

/* The end of a session that the store failed to write; it is retried. */
struct closing {
    char agent_id[CERT_AGENT_ID_SIZE];
    int64_t epoch, since_ms;
    STAILQ_ENTRY(closing) link;
};

struct agents {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct pending_calls *pending_calls;
    struct fleet *fleet;
    struct events *events;
    struct tasks *tasks;   /* NULL until agents_set_tasks() */
    struct logs *logs;     /* NULL until agents_set_logs() */
    struct pushes *pushes; /* both NULL until agents_set_registry() */
    struct groups *groups;
    struct heartbeat *heartbeat; /* NULL until agents_set_heartbeat() */
    char *node, *tickets_path;
    int64_t ping_ms, links_max;
    struct address at;
    const struct peer_owner *peer_owner; /* agents_peers.h */
    struct ca *ca;
    struct tls *tls;
    struct tickets tickets; /* keys of session tickets, as in the file */
    int64_t tickets_ms;     /* creation time of the newest key that `tls` uses */
    struct cert_facts own;  /* our certificate */
    struct listener *listener;
    bool has_listened;
    void (*on_drained)(void *arg); /* from agents_drain(); NULL: not draining */
    void *drained_arg;
    struct timer drain; /* time limit of agents_drain() */

    TAILQ_HEAD(, peer) peers;
    struct map holders;           /* agent id -> peer that has the session, or opens it */
    struct map nets;              /* networks with strangers or with failed joins */
    TAILQ_HEAD(, net) parking;    /* networks with sockets that wait for their handshake */
    TAILQ_HEAD(, peer) strangers; /* oldest first */
    struct timer squeeze;         /* drops stalled handshakes while sockets wait for theirs */
    struct timeslice *shakes;     /* limits the time of handshakes per loop iteration */
    int64_t credit, credit_ms;    /* allowed accepts, in thousandths; time of that value */
    struct timer pace, tick;
    int64_t renewed_ms;      /* last check of certificate and tickets */
    uint64_t refused_logged; /* counters.refused as of the last tick */
    bool was_full;           /* since the last tick a connection found no room */
    int64_t lines_left;      /* log lines that strangers may still cause until the next tick */
    struct agents_counters counters;
    STAILQ_HEAD(, closing) closings;
};

enum peer_stage {
    PEER_SHAKING,    /* TLS handshake in progress */
    PEER_SILENT,     /* no message yet */
    PEER_JOINING,    /* the store handles its join */
    PEER_CONTENDING, /* wants the place of the holder */
    PEER_OPENING,    /* a holder; the store opens its session */
    PEER_OPEN,       /* a holder with a session */
    PEER_CLOSING,    /* only its output is still being sent */
};

struct net {
    char name[ADDRESS_TEXT_SIZE]; /* from address_print_net() */
    int64_t strangers, failures, decayed_ms;
    TAILQ_HEAD(, parked) silent; /* accepted, ClientHello incomplete; oldest first */
    TAILQ_HEAD(, parked) parked; /* wait for their handshake; oldest first */
    int64_t n_silent, n_parked;
    TAILQ_ENTRY(net) link; /* in agents.parking while n_parked > 0 */
};

struct peer {
    struct agents *agents;
    struct conn *conn;
    enum peer_stage stage;
    char host[ADDRESS_TEXT_SIZE]; /* numeric, without the port */
    struct net *net;              /* NULL: it is not a stranger */
    TAILQ_ENTRY(peer) stranger_link;
    int64_t since_ms; /* when it was created, its handshake ended, or its closing began */
    bool has_cert;
    struct cert_facts cert;
    struct ask *ask;    /* its call at the store; NULL: none */
    struct timer timer; /* for the first message, the holder's answer, or the next ping */

    struct arena arena; /* holds `hello` and `addresses` until the session is open */
    struct message_hello hello;
    const char *addresses; /* reported by its hello, in the format of host_row */

    struct peer *rival; /* of a holder: the contender; of a contender: the holder */
    int64_t asked_ms;   /* of a holder with a rival: when it was pinged for the clone rule */
    int64_t epoch;
    int64_t waiting;    /* bytes to be sent, as of the last peer_weigh() */
    int64_t pinged_ms;  /* time of the last ping */
    int unheard, stuck; /* consecutive pings without a message; with stuck output */
    int version;        /* index in counters.versions, while it has a session */
    struct agent_stats agent_stats;
    TAILQ_ENTRY(peer) link;
};

static inline int64_t agents_wall_ms(const struct agents *a)
{
    return clock_wall_ms(loop_clock(a->loop));
}

/* Counts a refused connection. */
static inline void agents_count_refused(struct agents *a, enum agents_reason why)
{
    a->counters.refused++;
    a->counters.refused_by[why]++;
}

#endif
