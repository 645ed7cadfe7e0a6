/* SPDX-License-Identifier: MIT */
/* http_server.c - counts the connections of the HTTP server, per host.  See http_server.h. */
#include "wire/http/http_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

struct http_peer *http_server_peer(struct http_server *s, const char *host)
{
    struct http_peer *p = map_find_str(&s->peers, host);
    size_t n = strlen(host) + 1;

    if (p)
        return p;
    p = xalloc(sizeof(*p) + n);
    memcpy(p->host, host, n);
    TAILQ_INIT(&p->silent_callers);
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

void http_server_check_empty(struct http_server *s)
{
    if (s->is_draining && s->counters.connections == 0 && s->on_empty)
        timer_set(s->loop, &s->empty, 0);
}

void http_server_enter(struct http_server *s, struct http_peer *p)
{
    p->connections++;
    s->counters.connections++;
}

void http_server_leave(struct http_server *s, struct http_peer *p)
{
    s->counters.connections--;
    p->connections--;
    forget_peer(s, p);
    http_server_check_empty(s);
}

void http_server_trouble(struct http_server *s, const struct err *err)
{
    if (s->owner->on_trouble)
        s->owner->on_trouble(s->arg, err);
}
