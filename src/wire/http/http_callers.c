/* SPDX-License-Identifier: MIT */
/* http_callers.c - see http_callers.h.
 *
 * The number of handshakes is limited and shared fairly: the next one is of the host with the
 * fewest handshakes in progress.  A handshake with an unresponsive peer is aborted only if other
 * callers wait. */
#include "wire/http/http_callers.h"

#include <stdlib.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "wire/http/http_conn.h"
#include "wire/net/hello.h"

enum {
    SHAKING_MAX = 500, /* handshakes at a time; each takes up to 100 KiB */
    STALL_MS = 1000,   /* for the peer's next step, if other callers wait */
    SQUEEZE_MS = 100,  /* how often stalled handshakes are looked for */
    SILENT_LEAST_MS =
        100, /* a caller is kept at least this long: its ClientHello may be on the way */
};

struct http_caller {
    TAILQ_ENTRY(http_caller) link, peer_link; /* peer_link: in the silent callers of its host */
    struct http_door *door;
    struct http_peer *peer;
    char *address;
    struct hello *hello; /* NULL: the ClientHello was received */
    int64_t since_ms;
    int fd;
};

/* ---- hosts by their number of silent callers: when all connections are in use, each accept
 * needs the host with the most ---- */

static void leave_rank(struct http_callers *all, struct http_peer *p)
{
    if (p->silent)
        TAILQ_REMOVE(&all->ranks[p->silent], p, rank_link);
}

static void enter_rank(struct http_callers *all, struct http_peer *p)
{
    if (p->silent)
        TAILQ_INSERT_TAIL(&all->ranks[p->silent], p, rank_link);
    if (p->silent > all->top)
        all->top = p->silent;
    while (all->top && TAILQ_EMPTY(&all->ranks[all->top]))
        all->top--;
}

static void add_silent(struct http_callers *all, struct http_caller *c)
{
    leave_rank(all, c->peer);
    c->peer->silent++;
    enter_rank(all, c->peer);
    TAILQ_INSERT_TAIL(&all->silent, c, link);
    TAILQ_INSERT_TAIL(&c->peer->silent_callers, c, peer_link);
}

static void del_silent(struct http_callers *all, struct http_caller *c)
{
    TAILQ_REMOVE(&all->silent, c, link);
    TAILQ_REMOVE(&c->peer->silent_callers, c, peer_link);
    leave_rank(all, c->peer);
    c->peer->silent--;
    enter_rank(all, c->peer);
}

static void take_out(struct http_caller *c)
{
    struct http_callers *all = &c->door->server->callers;

    if (c->hello) {
        del_silent(all, c);
    } else {
        TAILQ_REMOVE(&all->ready, c, link);
    }
    hello_free(c->hello);
    free(c->address);
    free(c);
}

static void close_caller(struct http_caller *c)
{
    struct http_server *s = c->door->server;
    struct http_peer *peer = c->peer;

    sys_close(c->fd);
    take_out(c);
    http_server_leave(s, peer);
}

/* Turns the caller into a connection, which is counted already. */
static void become_conn(struct http_caller *c, struct tls *tls)
{
    struct http_server *s = c->door->server;
    struct err err;

    if (http_conn_new(s, c->fd, tls, c->peer, c->address, &err)) {
        http_server_trouble(s, &err);
        close_caller(c);
        return;
    }
    LIST_FIRST(&s->conns)->wants_tls = !tls;
    take_out(c);
}

/* ---- callers with a ClientHello ---- */

/* The oldest caller of the host with the fewest handshakes. */
static struct http_caller *next_ready(const struct http_callers *all)
{
    struct http_caller *c, *found = NULL;

    TAILQ_FOREACH(c, &all->ready, link) {
        if (!found || c->peer->shaking < found->peer->shaking)
            found = c;
        if (found->peer->shaking == 0)
            break;
    }
    return found;
}

static void start_handshakes(struct http_server *s)
{
    struct http_callers *all = &s->callers;
    struct http_caller *c;

    while (s->counters.shaking < SHAKING_MAX && (c = next_ready(all)))
        become_conn(c, c->door->tls);
    if (!TAILQ_EMPTY(&all->ready) && !all->squeeze.place)
        timer_set(s->loop, &all->squeeze, SQUEEZE_MS);
}

static bool drop_stalled(struct http_server *s)
{
    struct http_conn *c;

    LIST_FOREACH(c, &s->conns, link) {
        if (!c->is_shaking || stream_shake_ms(c->stream) < STALL_MS)
            continue;
        s->counters.refused[HTTP_CONNECTIONS]++;
        http_conn_drop(c, HTTP_QUIET); /* this starts the next handshake */
        return true;
    }
    return false;
}

static void on_squeeze(void *arg)
{
    struct http_server *s = arg;

    while (!TAILQ_EMPTY(&s->callers.ready) && drop_stalled(s))
        ;
    start_handshakes(s);
}

static void on_hello(void *arg, enum hello_kind kind)
{
    struct http_caller *c = arg;
    struct http_server *s = c->door->server;

    if (kind == HELLO_GONE) {
        close_caller(c);
        return;
    }
    if (kind == HELLO_HTTP) {
        become_conn(c, NULL);
        return;
    }
    del_silent(&s->callers, c);
    hello_free(c->hello);
    c->hello = NULL;
    TAILQ_INSERT_TAIL(&s->callers.ready, c, link);
    start_handshakes(s);
}

/* ---- silent callers ---- */

static void http_callers_on_late(void *arg)
{
    struct http_server *s = arg;
    int64_t now_ms = loop_now_ms(s->loop);
    struct http_caller *c;

    while ((c = TAILQ_FIRST(&s->callers.silent)) && c->since_ms <= now_ms - s->limits.header_ms) {
        s->counters.refused[HTTP_LATE_HEAD]++;
        close_caller(c);
    }
    if (c)
        timer_set(s->loop, &s->callers.late, c->since_ms + s->limits.header_ms - now_ms);
}

/* NULL: no caller of the host has been silent for long enough. */
static struct http_caller *oldest_of(const struct http_server *s, const struct http_peer *p)
{
    struct http_caller *c = p ? TAILQ_FIRST(&p->silent_callers) : NULL;

    return c && c->since_ms <= loop_now_ms(s->loop) - SILENT_LEAST_MS ? c : NULL;
}

/* Of several hosts with the same number, the one that has had that number for longest. */
static struct http_caller *oldest_of_most(const struct http_server *s)
{
    struct http_caller *c = NULL;

    for (size_t rank = s->callers.top; rank && !c; rank--)
        c = oldest_of(s, TAILQ_FIRST(&s->callers.ranks[rank]));
    return c;
}

bool http_callers_drop(struct http_server *s, struct http_peer *of)
{
    struct http_caller *c = of ? oldest_of(s, of) : oldest_of_most(s);

    if (!c)
        return false;
    s->counters.refused[of ? HTTP_PER_ADDRESS : HTTP_CONNECTIONS]++;
    close_caller(c);
    return true;
}

int http_caller_new(struct http_door *door, int fd, struct http_peer *peer, const char *address,
                    struct err *err)
{
    struct http_server *s = door->server;
    struct http_caller *c = xalloc(sizeof(*c));

    *c = (struct http_caller){
        .door = door, .peer = peer, .since_ms = loop_now_ms(s->loop), .fd = fd
    };
    if (hello_new(s->loop, fd, on_hello, c, &c->hello, err)) {
        free(c);
        return -1;
    }
    c->address = xstrdup(address);
    add_silent(&s->callers, c);
    if (!s->callers.late.place)
        timer_set(s->loop, &s->callers.late, s->limits.header_ms);
    return 0;
}

void http_callers_init(struct http_server *s)
{
    size_t most = s->limits.per_address_max < s->limits.connections_max ? s->limits.per_address_max
                                                                        : s->limits.connections_max;

    /* A host has at most `most` callers, plus the one that is being accepted. */
    s->callers.ranks = xalloc((most + 2) * sizeof(*s->callers.ranks));
    for (size_t i = 0; i < most + 2; i++)
        TAILQ_INIT(&s->callers.ranks[i]);
    TAILQ_INIT(&s->callers.silent);
    TAILQ_INIT(&s->callers.ready);
    s->on_handshake_end = start_handshakes;
    timer_init(&s->callers.late, http_callers_on_late, s);
    timer_init(&s->callers.squeeze, on_squeeze, s);
}

void http_callers_free(struct http_server *s)
{
    struct http_caller *c;

    while ((c = TAILQ_FIRST(&s->callers.silent)) || (c = TAILQ_FIRST(&s->callers.ready)))
        close_caller(c);
    timer_stop(s->loop, &s->callers.late);
    timer_stop(s->loop, &s->callers.squeeze);
    free(s->callers.ranks);
    s->callers.ranks = NULL;
}
