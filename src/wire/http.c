/* SPDX-License-Identifier: MIT */
/* http.c - the server: its doors, its caps and its books.  See http.h. */
#include "wire/http.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "wire/http_conn.h"

enum { IN_MAX = HTTP_HEAD_MAX, OUT_SLACK = 512 * 1024 };

const struct http_limits http_limits_default = {
    .header_ms = HTTP_HEADER_S * 1000,
    .idle_ms = HTTP_IDLE_S * 1000,
    .body_grace_ms = 10 * 1000,
    .body_rate = 1024,
    .write_ms = 30 * 1000,
    .linger_ms = 2 * 1000,
    .connections_max = HTTP_CONNECTIONS_MAX,
    .per_address_max = HTTP_PER_ADDRESS_MAX,
    .body_budget_bytes = HTTP_BODY_BUDGET,
    .answer_budget_bytes = 512 * 1024 * 1024,
    .stream_max_bytes = 1024 * 1024,
};

static const char *const reason_names[HTTP_REASONS] = {
    [HTTP_BAD_HEAD] = "bad_head",       [HTTP_BAD_BODY] = "bad_body",
    [HTTP_LARGE_BODY] = "large_body",   [HTTP_OVER_BUDGET] = "over_budget",
    [HTTP_LATE_HEAD] = "late_head",     [HTTP_SLOW_BODY] = "slow_body",
    [HTTP_SLOW_READER] = "slow_reader", [HTTP_CONNECTIONS] = "connections",
    [HTTP_PER_ADDRESS] = "per_address", [HTTP_BAD_ANSWER] = "bad_answer",
};

const char *http_reason_name(enum http_reason reason)
{
    return reason_names[reason];
}

const struct http_counters *http_server_counters(const struct http_server *s)
{
    return &s->counters;
}

static void on_empty(void *arg)
{
    struct http_server *s = arg;

    s->on_empty(s->empty_arg);
}

struct http_server *http_server_new(struct loop *loop, const struct http_limits *limits,
                                    const struct http_owner *owner, void *arg)
{
    struct http_server *s = xalloc(sizeof(*s));

    s->loop = loop;
    s->limits = limits ? *limits : http_limits_default;
    s->stream_limits = (struct stream_limits){
        .in_max = IN_MAX,
        .out_max = s->limits.stream_max_bytes + OUT_SLACK,
        .handshake_ms = s->limits.header_ms,
        .linger_ms = s->limits.linger_ms,
    };
    s->owner = owner;
    s->arg = arg;
    s->date_s = -1;
    timer_init(&s->empty, on_empty, s);
    return s;
}

/* ---- who comes in */

static struct http_peer *peer_of(struct http_server *s, const char *host)
{
    struct http_peer *p = map_find_str(&s->peers, host);
    size_t n = strlen(host) + 1;

    if (p)
        return p;
    p = xalloc(sizeof(*p) + n);
    memcpy(p->host, host, n);
    map_put_str(&s->peers, p->host, p);
    return p;
}

static void forget_peer(struct http_server *s, struct http_peer *p)
{
    if (p->connections > 0)
        return;
    map_del_str(&s->peers, p->host);
    free(p);
}

/* Best effort: one write, and nobody waits for it to arrive. */
static void turn_away(struct http_server *s, int fd, const struct tls *tls, enum http_reason why)
{
    s->counters.refused[why]++;
    if (!tls)
        (void)sys_send(fd, http_full_answer, strlen(http_full_answer));
    sys_close(fd);
}

static void trouble(struct http_server *s, const struct err *err)
{
    if (s->owner->on_trouble)
        s->owner->on_trouble(s->arg, err);
}

static void on_accept(void *arg, int fd, const struct address *from)
{
    struct http_door *door = arg;
    struct http_server *s = door->server;
    char host[ADDRESS_TEXT_SIZE], text[ADDRESS_TEXT_SIZE];
    struct http_peer *peer;
    struct err err;

    if (s->counters.connections >= s->limits.connections_max) {
        turn_away(s, fd, door->tls, HTTP_CONNECTIONS);
        return;
    }
    address_print_net(from, host);
    address_print(from, text);
    peer = peer_of(s, host);
    if (peer->connections >= s->limits.per_address_max) {
        turn_away(s, fd, door->tls, HTTP_PER_ADDRESS);
    } else if (http_conn_new(s, fd, door->tls, peer, text, &err)) {
        sys_close(fd);
        trouble(s, &err);
    } else {
        peer->connections++;
        s->counters.connections++;
        s->counters.accepted++;
    }
    forget_peer(s, peer);
}

static void on_trouble(void *arg, const struct err *err)
{
    struct http_door *door = arg;

    trouble(door->server, err);
}

static const struct listener_owner door_owner = { on_accept, on_trouble };

int http_server_listen(struct http_server *s, const struct address *at, struct tls *tls,
                       struct address *ret_real, struct err *err)
{
    struct http_door *door = &s->doors[s->n_doors];

    if (s->n_doors == HTTP_LISTENERS_MAX)
        return err_set(err, ERR_LIMIT, "more than %d addresses to listen to", HTTP_LISTENERS_MAX);
    *door = (struct http_door){ .server = s, .tls = tls };
    if (listener_new(s->loop, at, &door_owner, door, &door->listener, err))
        return -1;
    listener_address(door->listener, ret_real);
    s->n_doors++;
    return 0;
}

/* ---- the end */

static void tell_if_empty(struct http_server *s)
{
    if (s->is_draining && s->counters.connections == 0 && s->on_empty)
        timer_set(s->loop, &s->empty, 0);
}

void http_server_forget(struct http_server *s, struct http_conn *c)
{
    LIST_REMOVE(c, link);
    s->counters.connections--;
    c->peer->connections--;
    forget_peer(s, c->peer);
    tell_if_empty(s);
}

static void close_doors(struct http_server *s)
{
    for (size_t i = 0; i < s->n_doors; i++)
        listener_free(s->doors[i].listener);
    s->n_doors = 0;
}

void http_server_drain(struct http_server *s, void (*done)(void *arg), void *arg)
{
    struct http_conn *c, *next;

    s->is_draining = true;
    s->on_empty = done;
    s->empty_arg = arg;
    close_doors(s);
    for (c = LIST_FIRST(&s->conns); c; c = next) {
        next = LIST_NEXT(c, link);
        if (c->state == CONN_IDLE && !c->is_closed)
            http_conn_drop(c, HTTP_QUIET);
    }
    tell_if_empty(s);
}

void http_server_free(struct http_server *s)
{
    struct http_request *r;

    if (!s)
        return;
    close_doors(s);
    s->is_draining = false;
    while (!LIST_EMPTY(&s->conns)) {
        assert(LIST_FIRST(&s->conns)->depth == 0);
        http_conn_drop(LIST_FIRST(&s->conns), HTTP_TELL);
    }
    LIST_FOREACH(r, &s->requests, link)
    r->server = NULL;
    timer_stop(s->loop, &s->empty);
    map_free(&s->peers);
    buf_free(&s->scratch);
    free(s);
}
