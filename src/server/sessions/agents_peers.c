/* SPDX-License-Identifier: MIT */
/* agents_peers.c - see agents_peers.h. */
#include "server/sessions/agents_peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "server/sessions/agents_ask.h"
#include "server/sessions/agents_nets.h"
#include "wire/net/plain.h"

enum {
    SHAKING_MAX = 500,    /* handshakes at one time */
    STRANGERS_MAX = 1000, /* including those in their handshake */
    RATE = 10 * 1000,     /* accepts per second */
    BURST = 200,
    ONE = 1000, /* one accept, in the unit of agents.credit */
    PACE_MS = 10,
    BACK_RATE = 3000,      /* reconnecting agents per second after a stop */
    BACK_FIRST_MS = 100,   /* the earliest reconnect; 1 ms later per BACK_PER_MS sessions: */
    BACK_PER_MS = 4,       /* a restart takes longer with more of them; */
    BACK_LATEST_MS = 3000, /* but not later than this */
    SILENCE_MS = 10 * 1000,
    STALL_MS = 1000,
    OWN_STALL_MS = 2000, /* longer: a fleet that reconnects from one address is slow */
    CLOSING_MS = 500,
    SQUEEZE_MS = 100,
    FIRST_MAX = 65536,         /* bytes of a join or hello: all that a stranger makes us store */
    OUT_MAX = 4 * 1024 * 1024, /* bytes of output; see agents_send() */
};

int64_t retry_soon_ms(void)
{
    uint16_t n;

    sys_random(&n, sizeof(n));
    return 1000 + n % 4000;
}

/* ---- accept rate ---- */

static bool have_room(const struct agents *a)
{
    return a->counters.shaking < SHAKING_MAX && a->counters.strangers < STRANGERS_MAX;
}

static void peer_take_up(struct agents *a, int fd, const struct address *from, struct net *n);

static void take_up_waiting(struct agents *a)
{
    struct address from;
    struct net *n;
    int fd;

    while (have_room(a) && nets_take(a, &fd, &from, &n))
        peer_take_up(a, fd, &from, n);
}

void peers_update_timeslice(struct agents *a)
{
    int64_t now_ms = loop_now_ms(a->loop);

    if (!a->listener)
        return;
    take_up_waiting(a);
    if (!TAILQ_EMPTY(&a->parking) && !a->squeeze.place)
        timer_set(a->loop, &a->squeeze, SQUEEZE_MS);
    a->credit += (now_ms - a->credit_ms) * RATE;
    a->credit_ms = now_ms;
    if (a->credit > (int64_t)BURST * ONE)
        a->credit = (int64_t)BURST * ONE;
    if (a->credit >= ONE) {
        listener_resume(a->listener);
        return;
    }
    listener_pause(a->listener);
    timer_set(a->loop, &a->pace, PACE_MS);
}

/* ---- one peer ---- */

static void leave_shaking(struct peer *p)
{
    if (p->stage == PEER_SHAKING)
        p->agents->counters.shaking--;
}

void peer_set_known(struct peer *p)
{
    struct agents *a = p->agents;
    struct net *n = p->net;

    if (!n)
        return;
    p->net = NULL;
    TAILQ_REMOVE(&a->strangers, p, stranger_link);
    n->strangers--;
    a->counters.strangers--;
    net_drop_idle(a, n);
    peers_update_timeslice(a);
}

void peer_weigh(struct peer *p)
{
    int64_t now = (int64_t)conn_pending(p->conn);

    p->agents->counters.waiting += now - p->waiting;
    p->waiting = now;
}

/* Ends everything but the output: timer, call, session. */
static void peer_retire(struct peer *p)
{
    timer_stop(p->agents->loop, &p->timer);
    ask_forget(p->ask);
    p->ask = NULL;
    p->agents->peer_owner->on_leave(p);
    leave_shaking(p);
    p->stage = PEER_CLOSING;
    p->since_ms = loop_now_ms(p->agents->loop);
}

/* Ends agents_drain() after the last peer. */
static void check_drained(struct agents *a)
{
    if (a->on_drained && TAILQ_EMPTY(&a->peers))
        timer_set(a->loop, &a->drain, 0);
}

static void peer_release(struct peer *p)
{
    struct agents *a = p->agents;

    TAILQ_REMOVE(&a->peers, p, link);
    a->counters.connections--;
    a->counters.waiting -= p->waiting;
    peer_set_known(p);
    arena_free(&p->arena);
    free(p);
    check_drained(a);
}

void peer_free(struct peer *p)
{
    if (p->stage != PEER_CLOSING)
        peer_retire(p);
    conn_free(p->conn);
    peer_release(p);
}

/* A stranger counts until its connection is closed, because it uses a descriptor until then. */
void peer_close(struct peer *p)
{
    if (p->stage == PEER_CLOSING)
        return;
    peer_retire(p);
    conn_end(p->conn);
}

/* ---- stalled peers ---- */

/* How long we have been waiting for the peer; 0: it is waiting for us. */
static int64_t stalled_ms(const struct peer *p)
{
    if (p->stage == PEER_SHAKING)
        return conn_shake_ms(p->conn);
    if (p->stage == PEER_SILENT || p->stage == PEER_CLOSING)
        return loop_now_ms(p->agents->loop) - p->since_ms;
    return 0;
}

static bool blocks_others(const struct peer *p)
{
    bool is_closing = p->stage == PEER_CLOSING;

    if (!have_room(p->agents) && stalled_ms(p) >= (is_closing ? CLOSING_MS : STALL_MS))
        return true;
    return net_is_full(p->net) && stalled_ms(p) >= (is_closing ? CLOSING_MS : OWN_STALL_MS);
}

/* The freed place is filled at once, so the list may have changed afterwards. */
static bool drop_stalled(struct agents *a)
{
    struct peer *p;

    TAILQ_FOREACH(p, &a->strangers, stranger_link) {
        if (!blocks_others(p))
            continue;
        if (p->stage != PEER_CLOSING) /* a closing peer is counted already, or has joined */
            agents_count_refused(a, AGENTS_CROWDED);
        peer_free(p);
        return true;
    }
    return false;
}

void peers_squeeze(struct agents *a)
{
    while (!TAILQ_EMPTY(&a->parking) && drop_stalled(a))
        ;
    peers_update_timeslice(a);
}

/* Does not end sessions one by one: agents_free() ends all sessions in the store with one call,
 * and the next session brings everything that this one would have. */
static void peer_send_goodbye(struct peer *p, int64_t retry_ms)
{
    timer_stop(p->agents->loop, &p->timer);
    ask_forget(p->ask);
    p->ask = NULL;
    p->rival = NULL;
    leave_shaking(p);
    p->stage = PEER_CLOSING;
    conn_refuse(p->conn, 0, ERR_UNAVAILABLE, retry_ms, MSG("the server stops; it is tried again"));
    conn_end(p->conn);
}

/* Agents with a session get a time slot to come back; the others may come at any time. */
void peers_send_goodbye(struct agents *a)
{
    int64_t first_ms = BACK_FIRST_MS + a->counters.sessions / BACK_PER_MS, n = 0;
    struct peer *p;

    if (first_ms > BACK_LATEST_MS)
        first_ms = BACK_LATEST_MS;
    map_free(&a->holders);
    a->counters.sessions = 0;
    TAILQ_FOREACH(p, &a->peers, link) {
        if (p->stage != PEER_CLOSING)
            peer_send_goodbye(p, p->stage == PEER_OPEN ? first_ms + n++ * 1000 / BACK_RATE : 0);
    }
}

void peers_free(struct agents *a)
{
    struct peer *p;

    a->listener = NULL; /* a freed place must not be filled */
    while ((p = TAILQ_FIRST(&a->peers))) {
        timer_stop(a->loop, &p->timer);
        conn_free(p->conn);
        peer_release(p);
    }
    nets_free(a);
    map_free(&a->holders);
    while (!STAILQ_EMPTY(&a->closings)) {
        struct closing *c = STAILQ_FIRST(&a->closings);

        STAILQ_REMOVE_HEAD(&a->closings, link);
        free(c);
    }
}

void peer_refuse(struct peer *p, const struct refusal *r, const char *text)
{
    struct agents *a = p->agents;
    const char *what = message_name(r->type);

    /* Strangers must not fill the log. */
    if (!p->net || a->lines_left-- > 0)
        LOG(a->log, LOG_WARN, "an agent is refused", log_str("message", what),
            log_str("from", p->host), log_str("agent", p->cert.agent_id), log_str("why", text),
            log_int("retry_ms", r->retry_ms));
    conn_refuse(p->conn, r->type, r->code, r->retry_ms, text);
}

static enum agents_reason reason_of(int code)
{
    switch (code) {
    case ERR_INVALID: return AGENTS_INVALID;
    case ERR_DENIED: return AGENTS_DENIED;
    case ERR_CONFLICT: return AGENTS_CONFLICT;
    case ERR_LIMIT: return AGENTS_LIMIT;
    case ERR_UNAVAILABLE: return AGENTS_UNAVAILABLE;
    }
    return AGENTS_OTHER;
}

void peer_deny(struct peer *p, const struct refusal *r, const char *text)
{
    agents_count_refused(p->agents, reason_of(r->code));
    peer_refuse(p, r, text);
    peer_close(p);
}

bool version_check(struct peer *p, unsigned type, int64_t min, int64_t max)
{
    const struct refusal never = { type, ERR_INVALID, -1 };
    char text[256];

    if (min <= LINK_VERSION && LINK_VERSION <= max)
        return true;
    msg_printf(text, sizeof(text),
               max < LINK_VERSION ? "version_max: the agent speaks protocol %lld to %lld, this "
                                    "server %d; upgrade the agent"
                                  : "version_max: the agent speaks protocol %lld to %lld, this "
                                    "server %d; upgrade the server",
               (long long)min, (long long)max, LINK_VERSION);
    peer_deny(p, &never, text);
    return false;
}

/* ---- callbacks of the connection ---- */

static void agents_peers_on_ready(void *arg)
{
    struct peer *p = arg;
    struct err err = { 0 };

    leave_shaking(p);
    p->agents->counters.handshakes[conn_is_resumed(p->conn)]++;
    p->stage = PEER_SILENT;
    p->since_ms = loop_now_ms(p->agents->loop);
    p->has_cert = conn_peer(p->conn, &p->cert, &err) == 0;
    if (!p->has_cert && err.code != ERR_NOT_FOUND) { /* the certificate can not be read */
        agents_count_refused(p->agents, AGENTS_INVALID);
        peer_free(p);
        return;
    }
    timer_set(p->agents->loop, &p->timer, SILENCE_MS);
    peers_update_timeslice(p->agents);
}

static void on_first_message(struct peer *p, unsigned type, const void *message)
{
    const struct refusal never = { type, ERR_INVALID, -1 };

    timer_stop(p->agents->loop, &p->timer);
    if (type == MESSAGE_JOIN)
        p->agents->peer_owner->on_join(p, message);
    else if (type == MESSAGE_HELLO)
        p->agents->peer_owner->on_hello(p, message);
    else
        peer_deny(p, &never, MSG("the first message must be join or hello"));
}

static void deny_early_message(struct peer *p, unsigned type)
{
    const struct refusal later = { type, ERR_CONFLICT, retry_soon_ms() };

    peer_deny(p, &later, MSG("the message before has no answer yet"));
}

static void on_message(void *arg, unsigned type, const void *message)
{
    struct peer *p = arg;

    switch (p->stage) {
    case PEER_SILENT: on_first_message(p, type, message); return;
    case PEER_OPEN: p->agents->peer_owner->on_message(p, type, message); return;
    case PEER_JOINING:
    case PEER_CONTENDING:
    case PEER_OPENING: deny_early_message(p, type); return;
    case PEER_SHAKING:
    case PEER_CLOSING: return; /* the conn delivers no messages then */
    }
}

/* The loss of a session is normal and logged.  A stranger is only counted, because anyone can cause
 * any number of them. */
static void on_end(void *arg, const struct err *why)
{
    struct peer *p = arg;
    struct agents *a = p->agents;

    if (p->stage == PEER_OPEN)
        LOG(a->log, LOG_INFO, "an agent is gone", log_str("agent", p->cert.agent_id),
            log_str("from", p->host), log_str("why", why ? why->text : "it has ended"));
    else if (p->net && why)
        agents_count_refused(a, p->stage == PEER_SHAKING ? AGENTS_HANDSHAKE : AGENTS_BROKEN);
    peer_free(p);
}

static void agents_peers_on_closed(void *arg)
{
    peer_release(arg);
}

static const struct conn_owner conn_owner = { agents_peers_on_ready, on_message, on_end,
                                              agents_peers_on_closed };

static void agents_peers_on_timer(void *arg)
{
    struct peer *p = arg;

    if (p->stage != PEER_SILENT) {
        p->agents->peer_owner->on_timer(p);
        return;
    }
    agents_count_refused(p->agents, AGENTS_SILENT);
    peer_free(p);
}

/* ---- new connections ---- */

static int peer_new(struct agents *a, int fd, const struct address *from, struct net *n,
                    struct err *err)
{
    const struct conn_means means = { .timeslice = a->shakes, .out_max = OUT_MAX };
    struct peer *p = xalloc(sizeof(*p));

    *p = (struct peer){ .agents = a, .net = n, .since_ms = loop_now_ms(a->loop) };
    if (conn_new_by(a->loop, fd, a->tls, &means, &conn_owner, p, &p->conn, err)) {
        free(p);
        return -1;
    }
    conn_set_body_max(p->conn, FIRST_MAX);
    conn_set_counters(p->conn, &a->counters.frames);
    address_print_host(from, p->host);
    timer_init(&p->timer, agents_peers_on_timer, p);
    TAILQ_INSERT_TAIL(&a->peers, p, link);
    TAILQ_INSERT_TAIL(&a->strangers, p, stranger_link);
    n->strangers++;
    a->counters.strangers++;
    a->counters.shaking++;
    a->counters.connections++;
    return 0;
}

static void refuse_socket(struct agents *a, int fd, struct net *n, const struct err *why)
{
    LOG(a->log, LOG_DEBUG, "a connection is not taken up", log_err(why));
    sys_close(fd);
    agents_count_refused(a, why->code == ERR_LIMIT ? AGENTS_CROWDED : AGENTS_HANDSHAKE);
    net_drop_idle(a, n);
}

static void peer_take_up(struct agents *a, int fd, const struct address *from, struct net *n)
{
    struct err err = { 0 };

    /* It may have waited for long, here and in the kernel.  If it disconnected meanwhile, a
     * handshake is wasted. */
    if (plain_is_gone(fd))
        err_set(&err, ERR_UNAVAILABLE, "it has gone before its turn came");
    if (err.code || peer_new(a, fd, from, n, &err))
        refuse_socket(a, fd, n, &err);
}

/* Every connection is queued first; usually it leaves the queue at once. */
static void agents_peers_on_accept(void *arg, int fd, const struct address *from)
{
    struct agents *a = arg;
    struct net *n = net_get(a, from);
    struct err err = { 0 };

    a->credit -= ONE;
    if (!net_park(a, n, fd, from, peers_update_timeslice)) {
        err_set(&err, ERR_LIMIT, "as many are connected, or in line for it, as may be");
        refuse_socket(a, fd, n, &err);
    }
    peers_update_timeslice(a);
}

static void agents_peers_on_trouble(void *arg, const struct err *err)
{
    struct agents *a = arg;

    LOG(a->log, LOG_WARN, "cannot accept agents for a moment", log_err(err));
}

const struct listener_owner agents_listener_owner = { agents_peers_on_accept,
                                                      agents_peers_on_trouble };
