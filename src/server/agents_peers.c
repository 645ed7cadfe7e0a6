/* SPDX-License-Identifier: MIT */
/* agents_peers.c - connections: who is accepted and when, how long a stranger may stay,
 * and where messages go.  See agents_in.h.
 *
 * Three things hold strangers back, so that a whole fleet that comes back at once is late
 * and not refused, and the API is served meanwhile.  Accepting is paced: above the rate nobody
 * is accepted and the kernel keeps who comes.  With too many hands being shaken, in all or
 * in one network, the others wait as bare sockets (agents_nets.c); not with the kernel, which
 * forgets who comes when its queue is full, for seconds.  And handshakes wait for their slice
 * of a turn (wire/pace.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "server/agents_peer.h"
#include "wire/plain.h"

enum {
    SHAKING_MAX = 500,    /* at once */
    STRANGERS_MAX = 1000, /* those who shake hands included */
    RATE = 10 * 1000,     /* accepts a second */
    BURST = 200,
    ONE = 1000, /* accept, in the unit of agents.credit */
    PACE_MS = 10,
    BACK_RATE = 3000,      /* of those who were told to come back, a second */
    BACK_FIRST_MS = 100,   /* the first of them comes after this time, and later by a ms for */
    BACK_PER_MS = 4,       /* each so many: stopping and starting takes longer with more of them; */
    BACK_LATEST_MS = 3000, /* not later than this */
    SILENCE_MS = 10 * 1000,
    FIRST_MAX = 65536,         /* bytes of a join or hello: all that a stranger makes us keep */
    OUT_MAX = 4 * 1024 * 1024, /* bytes that wait to be sent; see agents_send() */
};

int64_t retry_soon_ms(void)
{
    uint16_t n;

    sys_random(&n, sizeof(n));
    return 1000 + n % 4000;
}

/* ---- pace ---- */

bool peers_have_room(const struct agents *a)
{
    return a->counters.shaking < SHAKING_MAX && a->counters.strangers < STRANGERS_MAX;
}

void peers_pace(struct agents *a)
{
    int64_t now_ms = loop_now_ms(a->loop);

    if (!a->listener)
        return;
    nets_unpark(a);
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

void peer_known(struct peer *p)
{
    struct agents *a = p->agents;
    struct net *n = p->net;

    if (!n)
        return;
    p->net = NULL;
    n->strangers--;
    a->counters.strangers--;
    net_drop_idle(a, n);
    peers_pace(a);
}

void peer_weigh(struct peer *p)
{
    int64_t now = (int64_t)conn_pending(p->conn);

    p->agents->counters.waiting += now - p->waiting;
    p->waiting = now;
}

/* It stands for nothing any more; only its bytes may still be on their way. */
static void retire(struct peer *p)
{
    timer_stop(p->agents->loop, &p->timer);
    ask_forget(p->ask);
    p->ask = NULL;
    session_leave(p);
    leave_shaking(p);
    p->stage = PEER_CLOSING;
}

static void release(struct peer *p)
{
    struct agents *a = p->agents;

    TAILQ_REMOVE(&a->peers, p, link);
    a->counters.connections--;
    a->counters.waiting -= p->waiting;
    peer_known(p);
    arena_free(&p->arena);
    free(p);
    agents_peer_gone(a);
}

void peer_free(struct peer *p)
{
    if (p->stage != PEER_CLOSING)
        retire(p);
    conn_free(p->conn);
    release(p);
}

/* A stranger counts until the last of it is gone: it has a descriptor until then. */
void peer_close(struct peer *p)
{
    if (p->stage == PEER_CLOSING)
        return;
    retire(p);
    conn_end(p->conn);
}

/* The store is told of all at once when we end (agents_free()), and nobody else needs to know:
 * what a session would have brought comes with the next one. */
static void say_goodbye(struct peer *p, int64_t retry_ms)
{
    timer_stop(p->agents->loop, &p->timer);
    ask_forget(p->ask);
    p->ask = NULL;
    p->rival = NULL;
    leave_shaking(p);
    p->stage = PEER_CLOSING;
    conn_refuse(p->conn, 0, ERR_UNAVAILABLE, retry_ms, "the server stops; it is tried again");
    conn_end(p->conn);
}

/* Whoever has a session gets a place in the line of those who come back; the others have
 * little to lose and come when they like. */
void peers_say_goodbye(struct agents *a)
{
    int64_t first_ms = BACK_FIRST_MS + a->counters.sessions / BACK_PER_MS, n = 0;
    struct peer *p;

    if (first_ms > BACK_LATEST_MS)
        first_ms = BACK_LATEST_MS;
    map_free(&a->holders);
    a->counters.sessions = 0;
    TAILQ_FOREACH(p, &a->peers, link)
    {
        if (p->stage != PEER_CLOSING)
            say_goodbye(p, p->stage == PEER_OPEN ? first_ms + n++ * 1000 / BACK_RATE : 0);
    }
}

void peers_free(struct agents *a)
{
    struct peer *p;

    a->listener = NULL; /* whoever leaves makes room for nobody */
    while ((p = TAILQ_FIRST(&a->peers))) {
        timer_stop(a->loop, &p->timer);
        conn_free(p->conn);
        release(p);
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

    /* The log is not for strangers to fill. */
    if (!p->net || a->lines_left-- > 0)
        LOG(a->log, LOG_WARN, "an agent is refused", log_str("message", what),
            log_str("from", p->host), log_str("agent", p->cert.agent_id), log_str("why", text),
            log_int("retry_ms", r->retry_ms));
    conn_refuse(p->conn, r->type, r->code, r->retry_ms, text);
}

void peers_count(struct agents *a, enum agents_reason why)
{
    a->counters.refused++;
    a->counters.refused_by[why]++;
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
    peers_count(p->agents, reason_of(r->code));
    peer_refuse(p, r, text);
    peer_close(p);
}

bool version_fits(struct peer *p, unsigned type, int64_t min, int64_t max)
{
    const struct refusal never = { type, ERR_INVALID, -1 };
    char text[160];

    if (min <= LINK_VERSION && LINK_VERSION <= max)
        return true;
    snprintf(text, sizeof(text),
             "version_max: the agent speaks protocol %lld to %lld, this server %d; upgrade the %s",
             (long long)min, (long long)max, LINK_VERSION, max < LINK_VERSION ? "agent" : "server");
    peer_deny(p, &never, text);
    return false;
}

/* ---- what the connection says ---- */

static void on_ready(void *arg)
{
    struct peer *p = arg;
    struct err err = { 0 };

    leave_shaking(p);
    p->agents->counters.handshakes[conn_is_resumed(p->conn)]++;
    p->stage = PEER_SILENT;
    p->has_cert = conn_peer(p->conn, &p->cert, &err) == 0;
    if (!p->has_cert && err.code != ERR_NOT_FOUND) { /* one that we can not read */
        peers_count(p->agents, AGENTS_INVALID);
        peer_free(p);
        return;
    }
    timer_set(p->agents->loop, &p->timer, SILENCE_MS);
    peers_pace(p->agents);
}

static void on_first_word(struct peer *p, unsigned type, const void *message)
{
    const struct refusal never = { type, ERR_INVALID, -1 };

    timer_stop(p->agents->loop, &p->timer);
    if (type == MESSAGE_JOIN)
        join_on_message(p, message);
    else if (type == MESSAGE_HELLO)
        session_on_hello(p, message);
    else
        peer_deny(p, &never, "the first message must be join or hello");
}

static void deny_haste(struct peer *p, unsigned type)
{
    const struct refusal later = { type, ERR_CONFLICT, retry_soon_ms() };

    peer_deny(p, &later, "the message before has no answer yet");
}

static void on_message(void *arg, unsigned type, const void *message)
{
    struct peer *p = arg;

    switch (p->stage) {
    case PEER_SILENT: on_first_word(p, type, message); return;
    case PEER_OPEN: session_on_message(p, type, message); return;
    case PEER_JOINING:
    case PEER_CONTENDING:
    case PEER_OPENING: deny_haste(p, type); return;
    case PEER_SHAKING:
    case PEER_CLOSING: return; /* the conn hands out nothing then */
    }
}

/* A lost connection is an ordinary thing where there was a session; a stranger's is
 * only counted, because anybody can make as many of them as he likes. */
static void on_end(void *arg, const struct err *why)
{
    struct peer *p = arg;
    struct agents *a = p->agents;

    if (p->stage == PEER_OPEN)
        LOG(a->log, LOG_INFO, "an agent is gone", log_str("agent", p->cert.agent_id),
            log_str("from", p->host), log_str("why", why ? why->text : "it has ended"));
    else if (p->net && why)
        peers_count(a, p->stage == PEER_SHAKING ? AGENTS_HANDSHAKE : AGENTS_BROKEN);
    peer_free(p);
}

static void on_closed(void *arg)
{
    release(arg);
}

static const struct conn_owner conn_owner = { on_ready, on_message, on_end, on_closed };

static void on_timer(void *arg)
{
    struct peer *p = arg;

    if (p->stage != PEER_SILENT) {
        session_on_timer(p);
        return;
    }
    peers_count(p->agents, AGENTS_SILENT);
    peer_free(p);
}

/* ---- those who come ---- */

static int peer_new(struct agents *a, int fd, const struct address *from, struct net *n,
                    struct err *err)
{
    const struct conn_means means = { .pace = a->shakes, .crew = a->crew, .out_max = OUT_MAX };
    struct peer *p = xalloc(sizeof(*p));

    *p = (struct peer){ .agents = a, .net = n };
    if (conn_new_by(a->loop, fd, a->tls, &means, &conn_owner, p, &p->conn, err)) {
        free(p);
        return -1;
    }
    conn_set_body_max(p->conn, FIRST_MAX);
    conn_set_counters(p->conn, &a->counters.frames);
    address_print_host(from, p->host);
    timer_init(&p->timer, on_timer, p);
    TAILQ_INSERT_TAIL(&a->peers, p, link);
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
    peers_count(a, why->code == ERR_LIMIT ? AGENTS_CROWDED : AGENTS_HANDSHAKE);
    net_drop_idle(a, n);
}

void peer_take_up(struct agents *a, int fd, const struct address *from, struct net *n)
{
    struct err err = { 0 };

    /* It may have been in line for long, here and with the kernel: what gave up meanwhile is
     * not worth a handshake. */
    if (plain_is_gone(fd))
        err_set(&err, ERR_UNAVAILABLE, "it has gone before its turn came");
    if (err.code || peer_new(a, fd, from, n, &err))
        refuse_socket(a, fd, n, &err);
}

/* Who comes stands in line, and is first in it as a rule. */
static void on_accept(void *arg, int fd, const struct address *from)
{
    struct agents *a = arg;
    struct net *n = net_get(a, from);
    struct err err = { 0 };

    a->credit -= ONE;
    if (!net_park(a, n, fd, from)) {
        err_set(&err, ERR_LIMIT, "as many are connected, or in line for it, as may be");
        refuse_socket(a, fd, n, &err);
    }
    peers_pace(a);
}

static void on_trouble(void *arg, const struct err *err)
{
    struct agents *a = arg;

    LOG(a->log, LOG_WARN, "cannot accept agents for a moment", log_err(err));
}

const struct listener_owner agents_listener_owner = { on_accept, on_trouble };
