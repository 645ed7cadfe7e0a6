/* SPDX-License-Identifier: MIT */
/* agents_peer.h - one connection of agents.h, and what its files do with it.
 *
 * A peer is a stranger until it has said a hello that is good; strangers are few, in
 * total and per network, and have little time.  Of an agent one peer is the holder: it
 * has the session, or waits for the store to open it.  At most one other contends with
 * it (the clone rule); a third is told to come again. */
#ifndef SERVER_AGENTS_PEER_H
#define SERVER_AGENTS_PEER_H

#include "link/join.h"
#include "server/agents_in.h"

enum peer_stage {
    PEER_SHAKING,    /* hands */
    PEER_SILENT,     /* said nothing yet */
    PEER_JOINING,    /* the store is looking */
    PEER_CONTENDING, /* for the place of the holder */
    PEER_OPENING,    /* a holder; the store opens its session */
    PEER_OPEN,       /* a holder with a session */
    PEER_CLOSING,    /* what waits is still being sent */
};

struct net {
    char name[ADDRESS_TEXT_SIZE]; /* address_print_net() */
    int64_t strangers, failures, decayed_ms;
    STAILQ_HEAD(, parked) parked; /* accepted, and nothing more, oldest first */
    int64_t n_parked;
    TAILQ_ENTRY(net) link; /* of agents.parking, while there are some */
};

struct peer {
    struct agents *agents;
    struct conn *conn;
    enum peer_stage stage;
    char host[ADDRESS_TEXT_SIZE]; /* numeric, without the port */
    struct net *net;              /* NULL: it is no stranger */
    bool has_cert;
    struct cert_facts cert;
    struct ask *ask;    /* on its way to the store for it; NULL: none */
    struct timer timer; /* for the first word, for the holder's answer, or for the next ping */

    struct arena arena; /* of the hello, until the session is open */
    struct message_hello hello;
    const char *addresses; /* that it told, as host_row has them */

    struct peer *rival; /* of a holder: who contends with it, and the other way */
    int64_t asked_ms;   /* a holder with a rival: when it was pinged for that */
    int64_t epoch;
    int64_t waiting;    /* bytes to be sent, as of peer_weigh() */
    int64_t pinged_ms;  /* when it was last pinged */
    int unheard, stuck; /* pings in a row without a word since; with bytes it would not take */
    int version;        /* of a session: its place in counters.versions */
    struct figures figures;
    TAILQ_ENTRY(peer) link;
};

/* ---- agents_peers.c */

extern const struct listener_owner agents_listener_owner;

void peers_pace(struct agents *a); /* accepts, or rests, as there is room */
bool peers_have_room(const struct agents *a);
void peers_free(struct agents *a);
void peers_say_goodbye(struct agents *a); /* tells each when to come back, and closes it */
void peer_take_up(struct agents *a, int fd, const struct address *from, struct net *n);
void peer_free(struct peer *p); /* drops it at once */
void peer_close(struct peer *p);
void peer_known(struct peer *p); /* it is no stranger any more */
void peer_weigh(struct peer *p); /* counts anew what waits to be sent to it */

/* Says so to the peer, counts and logs it; peer_deny() closes it too. */
struct refusal {
    unsigned type; /* of the message that is refused */
    int code;
    int64_t retry_ms; /* -1: never */
};
void peer_refuse(struct peer *p, const struct refusal *r, const char *text);
void peer_deny(struct peer *p, const struct refusal *r, const char *text);
void peers_count(struct agents *a, enum agents_reason why); /* somebody was turned away */

int64_t retry_soon_ms(void); /* a moment, not the same for all */
bool version_fits(struct peer *p, unsigned type, int64_t min, int64_t max); /* else it is denied */

/* ---- agents_nets.c */

struct net *net_get(struct agents *a, const struct address *peer);
void net_drop_idle(struct agents *a, struct net *n); /* the net may be gone after it */
void net_failed(struct agents *a, struct net *n);
bool net_is_blocked(struct agents *a, struct net *n);
/* In line for being taken up; false: the line is full. */
bool net_park(struct agents *a, struct net *n, int fd, const struct address *from);
void nets_unpark(struct agents *a);
void peers_sweep(struct agents *a); /* forgets networks nobody is in, and who waited too long */
void nets_free(struct agents *a);

/* ---- agents_join.c */

void join_on_message(struct peer *p, const struct message_join *m);
void join_on_renew(struct peer *p, const struct message_renew *m);

/* The row of a host that is known, with another certificate; all of it in the arena. */
void join_host_row(const struct fleet_host *h, const char *serial, struct arena *arena,
                   struct host_row *ret);

/* ---- agents_session.c */

void session_on_hello(struct peer *p, const struct message_hello *m);
void session_on_message(struct peer *p, unsigned type, const void *message);
void session_leave(struct peer *p); /* it goes: a session ends, a rival moves up */
void session_close_again(struct agents *a);
void session_on_event_stored(void *agents, const char *agent_id, int64_t id);
void session_on_timer(struct peer *p);

#endif
