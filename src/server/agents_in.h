/* SPDX-License-Identifier: MIT */
/* agents_in.h - what the files of agents.h share: the whole, and how it asks the store.
 *
 * A peer that goes while an ask is on its way for it is no longer named when that comes
 * back. */
#ifndef SERVER_AGENTS_IN_H
#define SERVER_AGENTS_IN_H

#include <sys/queue.h>

#include "base/map.h"
#include "link/conn.h"
#include "server/agents.h"
#include "server/errands.h"
#include "wire/ca.h"
#include "wire/pace.h"

/* The end of a session that the store could not yet be told. */
struct closing {
    char agent_id[CERT_AGENT_ID_SIZE];
    int64_t epoch, since_ms;
    STAILQ_ENTRY(closing) link;
};

struct net;
struct peer;

struct agents {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct errands *errands;
    struct fleet *fleet;
    struct events *events;
    struct tasks *tasks;   /* NULL until agents_set_tasks() */
    struct logs *logs;     /* NULL until agents_set_logs() */
    struct pushes *pushes; /* these two NULL until agents_set_registry() */
    struct groups *groups;
    struct heartbeat *heartbeat; /* NULL until agents_set_heartbeat() */
    char *node, *tickets_path;
    int64_t ping_ms, links_max;
    struct address at;
    struct ca *ca;
    struct tls *tls;
    struct far_crew *crew; /* NULL: connections are worked by the loop's own thread */
    int64_t tickets_ms;    /* when the newest of its ticket keys was made */
    struct cert_facts own; /* our certificate */
    struct listener *listener;
    bool has_listened;
    void (*on_drained)(void *arg); /* agents_drain(): all are gone; NULL: not asked for */
    void *drained_arg;
    struct timer drain; /* until they must be */

    TAILQ_HEAD(, peer) peers;
    struct map holders;        /* by agent id */
    struct map nets;           /* of strangers, and where tokens were guessed */
    TAILQ_HEAD(, net) parking; /* those of them with somebody in line */
    struct pace *shakes;       /* where handshakes wait for their slice of a turn */
    int64_t credit, credit_ms; /* accepts we may make, in thousandths; as of when */
    struct timer pace, tick;
    int64_t kept_ms;       /* when certificate and tickets were last looked at */
    uint64_t refused_said; /* counters.refused as of the last tick */
    int64_t lines_left;    /* that strangers may still put in the log until the next */
    struct agents_counters counters;
    STAILQ_HEAD(, closing) closings;
};

/* ---- agents.c */

struct ask;
/* The peer is NULL if it has gone; the call is freed after it. */
typedef void ask_done_fn(struct agents *a, struct peer *p, struct store_call *c, void *data);

/* A call whose arena is there to be filled; ask_submit() sends it. */
struct store_call *ask_new(struct agents *a, struct peer *p, const struct store_verb *verb,
                           ask_done_fn *done);
void ask_set_data(struct store_call *c, void *data);   /* for done() */
int ask_submit(struct store_call *c, struct err *err); /* on failure the call is gone */
void ask_forget(struct ask *ask);                      /* its peer goes; NULL is fine */

int64_t agents_wall_ms(const struct agents *a);
void agents_peer_gone(struct agents *a); /* one fewer of them */

#endif
