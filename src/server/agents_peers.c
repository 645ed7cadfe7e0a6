/* SPDX-License-Identifier: MIT */
/* agents_peers.c - connections: who is accepted and when, how long a stranger may stay,
 * and where messages go.  See agents_in.h.
 *
 * Two things hold strangers back.  Accepting is paced: above the rate, or with too many
 * hands being shaken, nobody is accepted and the kernel keeps who comes, so a whole
 * fleet that comes back at once is late and not refused.  And one network has at most
 * NET_MAX of the strangers; that one is refused, for it would keep the others out. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "server/agents_peer.h"

enum {
    SHAKING_MAX = 500,    /* at once */
    STRANGERS_MAX = 1000, /* those who shake hands included */
    NET_MAX = 400,        /* of them from one network; a relay has many agents behind it */
    RATE = 2000,          /* accepts a second */
    BURST = 200,
    ONE = 1000, /* accept, in the unit of agents.credit */
    PACE_MS = 10,
    SILENCE_MS = 10 * 1000,
    FAILURES_MAX = 20, /* of one network, in a row */
    FAILURE_MS = 3000, /* one is forgiven in this time */
    NETS_MAX = 4096,   /* remembered only for their failures */
    FIRST_MAX = 65536, /* bytes of a join or hello: all that a stranger makes us keep */
};

int64_t retry_soon_ms(void)
{
    uint16_t n;

    sys_random(&n, sizeof(n));
    return 1000 + n % 4000;
}

/* ---- networks ---- */

static struct net *net_get(struct agents *a, const struct address *peer)
{
    char name[ADDRESS_TEXT_SIZE];
    struct net *n;

    address_print_net(peer, name);
    n = map_find_str(&a->nets, name);
    if (n)
        return n;
    n = xalloc(sizeof(*n));
    memcpy(n->name, name, sizeof(name));
    map_put_str(&a->nets, n->name, n);
    return n;
}

static void net_decay(struct agents *a, struct net *n)
{
    int64_t now_ms = loop_now_ms(a->loop), forgiven = (now_ms - n->decayed_ms) / FAILURE_MS;

    n->decayed_ms += forgiven * FAILURE_MS;
    n->failures -= forgiven < n->failures ? forgiven : n->failures;
    if (n->failures == 0)
        n->decayed_ms = now_ms;
}

void net_failed(struct agents *a, struct net *n)
{
    net_decay(a, n);
    n->failures++;
}

bool net_is_blocked(struct agents *a, struct net *n)
{
    net_decay(a, n);
    return n->failures >= FAILURES_MAX;
}

static void net_drop_idle(struct agents *a, struct net *n)
{
    net_decay(a, n);
    if (n->strangers > 0 || (n->failures > 0 && a->nets.n <= NETS_MAX))
        return;
    map_del_str(&a->nets, n->name);
    free(n);
}

void peers_sweep(struct agents *a)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&a->nets, &at));)
        net_drop_idle(a, e->value);
}

/* ---- pace ---- */

void peers_pace(struct agents *a)
{
    int64_t now_ms = loop_now_ms(a->loop);
    bool full;

    if (!a->listener)
        return;
    a->credit += (now_ms - a->credit_ms) * RATE;
    a->credit_ms = now_ms;
    if (a->credit > (int64_t)BURST * ONE)
        a->credit = (int64_t)BURST * ONE;
    full = a->shaking >= SHAKING_MAX || a->strangers >= STRANGERS_MAX;
    if (full || a->credit < ONE)
        listener_pause(a->listener);
    else
        listener_resume(a->listener);
    if (!full && a->credit < ONE)
        timer_set(a->loop, &a->pace, PACE_MS); /* else somebody who leaves makes room */
}

/* ---- one peer ---- */

static void leave_shaking(struct peer *p)
{
    if (p->stage == PEER_SHAKING)
        p->agents->shaking--;
}

void peer_known(struct peer *p)
{
    struct agents *a = p->agents;
    struct net *n = p->net;

    if (!n)
        return;
    p->net = NULL;
    n->strangers--;
    a->strangers--;
    net_drop_idle(a, n);
    peers_pace(a);
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
    peer_known(p);
    arena_free(&p->arena);
    free(p);
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

void peers_free(struct agents *a)
{
    struct map_entry *e;
    struct peer *p;

    a->listener = NULL; /* whoever leaves makes room for nobody */
    while ((p = TAILQ_FIRST(&a->peers))) {
        timer_stop(a->loop, &p->timer);
        conn_free(p->conn);
        release(p);
    }
    for (size_t at = 0; (e = map_next(&a->nets, &at));)
        free(e->value);
    map_free(&a->nets);
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

void peer_deny(struct peer *p, const struct refusal *r, const char *text)
{
    p->agents->counters.refused++;
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
    p->stage = PEER_SILENT;
    p->has_cert = conn_peer(p->conn, &p->cert, &err) == 0;
    if (!p->has_cert && err.code != ERR_NOT_FOUND) { /* one that we can not read */
        p->agents->counters.refused++;
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

static void on_message(void *arg, unsigned type, const void *message)
{
    struct peer *p = arg;
    const struct refusal later = { type, ERR_CONFLICT, retry_soon_ms() };

    switch (p->stage) {
    case PEER_SILENT: on_first_word(p, type, message); return;
    case PEER_OPEN: session_on_message(p, type, message); return;
    case PEER_JOINING:
    case PEER_CONTENDING:
    case PEER_OPENING: peer_deny(p, &later, "the message before has no answer yet"); return;
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
        a->counters.refused++;
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
    p->agents->counters.refused++;
    peer_free(p);
}

/* ---- those who come ---- */

static int peer_new(struct agents *a, int fd, const struct address *from, struct net *n,
                    struct err *err)
{
    struct peer *p = xalloc(sizeof(*p));

    *p = (struct peer){ .agents = a, .net = n };
    if (conn_new(a->loop, fd, a->tls, NULL, &conn_owner, p, &p->conn, err)) {
        free(p);
        return -1;
    }
    conn_set_body_max(p->conn, FIRST_MAX);
    address_print_host(from, p->host);
    timer_init(&p->timer, on_timer, p);
    TAILQ_INSERT_TAIL(&a->peers, p, link);
    n->strangers++;
    a->strangers++;
    a->shaking++;
    a->counters.connections++;
    return 0;
}

static void on_accept(void *arg, int fd, const struct address *from)
{
    struct agents *a = arg;
    struct net *n = net_get(a, from);
    struct err err = { 0 };

    a->credit -= ONE;
    if (n->strangers >= NET_MAX)
        err_set(&err, ERR_LIMIT, "too many from %s that have not said who they are", n->name);
    if (err.code || peer_new(a, fd, from, n, &err)) {
        LOG(a->log, LOG_DEBUG, "a connection is not taken up", log_err(&err));
        sys_close(fd);
        a->counters.refused++;
        net_drop_idle(a, n);
    }
    peers_pace(a);
}

static void on_trouble(void *arg, const struct err *err)
{
    struct agents *a = arg;

    LOG(a->log, LOG_WARN, "cannot accept agents for a moment", log_err(err));
}

const struct listener_owner agents_listener_owner = { on_accept, on_trouble };
