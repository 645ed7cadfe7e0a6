/* SPDX-License-Identifier: MIT */
/* http.c - the server: its listeners, limits and counters.  See http.h. */
#include "wire/http/http.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "wire/http/http_callers.h"
#include "wire/http/http_conn.h"

enum { IN_MAX = HTTP_HEAD_MAX, OUT_SLACK = 512 * 1024 };

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
    http_callers_init(s);
    return s;
}

/* ---- accepting connections ---- */

/* Best effort: one write, without waiting until it has arrived. */
static void refuse_socket(struct http_server *s, int fd, const struct tls *tls,
                          enum http_reason why)
{
    s->counters.refused[why]++;
    if (!tls)
        (void)sys_send(fd, http_full_answer, strlen(http_full_answer));
    sys_close(fd);
}

static void http_on_accept(void *arg, int fd, const struct address *from)
{
    struct http_door *door = arg;
    struct http_server *s = door->server;
    char host[ADDRESS_TEXT_SIZE], text[ADDRESS_TEXT_SIZE];
    struct http_peer *peer;
    struct err err;

    if (s->counters.connections >= s->limits.connections_max && !http_callers_drop(s, NULL)) {
        refuse_socket(s, fd, door->tls, HTTP_CONNECTIONS);
        return;
    }
    address_print_net(from, host);
    address_print(from, text);
    peer = http_server_peer(s, host);
    http_server_enter(s, peer);
    if (peer->connections > s->limits.per_address_max && !http_callers_drop(s, peer)) {
        refuse_socket(s, fd, door->tls, HTTP_PER_ADDRESS);
    } else if (door->tls ? http_caller_new(door, fd, peer, text, &err)
                         : http_conn_new(s, fd, NULL, peer, text, &err)) {
        sys_close(fd);
        http_server_trouble(s, &err);
    } else {
        s->counters.accepted++;
        return;
    }
    http_server_leave(s, peer);
}

static void http_on_trouble(void *arg, const struct err *err)
{
    struct http_door *door = arg;

    http_server_trouble(door->server, err);
}

static const struct listener_owner door_owner = { http_on_accept, http_on_trouble };

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

void http_server_set_tls(struct http_server *s, struct tls *tls)
{
    for (size_t i = 0; i < s->n_doors; i++) {
        if (s->doors[i].tls)
            s->doors[i].tls = tls;
    }
}

/* ---- shutting down ---- */

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
    http_callers_free(s);
    for (c = LIST_FIRST(&s->conns); c; c = next) {
        next = LIST_NEXT(c, link);
        if (c->state == CONN_IDLE && !c->is_closed)
            http_conn_drop(c, HTTP_QUIET);
    }
    http_server_check_empty(s);
}

void http_server_free(struct http_server *s)
{
    struct http_request *r;

    if (!s)
        return;
    close_doors(s);
    s->is_draining = false;
    http_callers_free(s);
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
