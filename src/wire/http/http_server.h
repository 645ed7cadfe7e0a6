/* SPDX-License-Identifier: MIT */
/* http_server.h - the HTTP server's state: its listeners, counters and callers.  Only for
 * http*.c.
 *
 * A caller is a socket of a TLS address that is not a connection yet, because its ClientHello
 * was not received (silent), or because too many handshakes are in progress (ready).  It counts
 * as a connection, but has no TLS state. */
#ifndef WIRE_HTTP_HTTP_SERVER_H
#define WIRE_HTTP_HTTP_SERVER_H

#include <sys/queue.h>

#include "base/mem/map.h"
#include "wire/http/http_limits.h"
#include "wire/http/http_req.h"
#include "wire/net/stream.h"

enum { HTTP_LISTENERS_MAX = 8 };

struct http_caller;
TAILQ_HEAD(http_caller_list, http_caller);

/* The connections of one host. */
struct http_peer {
    size_t connections, silent, shaking;
    struct http_caller_list silent_callers; /* oldest first */
    TAILQ_ENTRY(http_peer) rank_link;       /* in callers.ranks, if `silent` is not 0 */
    char host[];
};
TAILQ_HEAD(http_peer_list, http_peer);

struct http_door {
    struct http_server *server;
    struct listener *listener;
    struct tls *tls;
};

struct http_conn;
struct http_request;

struct http_callers {
    struct http_caller_list silent, ready; /* oldest first */
    struct http_peer_list *ranks;          /* hosts, indexed by their number of silent callers */
    size_t top;                            /* the highest index with a host; 0: none */
    struct timer late, squeeze;
};

struct http_server {
    struct loop *loop;
    struct http_limits limits;
    struct stream_limits stream_limits;
    const struct http_owner *owner;
    void *arg;
    struct http_door doors[HTTP_LISTENERS_MAX];
    size_t n_doors;
    LIST_HEAD(, http_conn) conns;
    LIST_HEAD(, http_request) requests;
    struct http_callers callers;
    void (*on_handshake_end)(struct http_server *s); /* set by http_callers.c */
    struct map peers;
    struct http_counters counters;
    struct buf scratch; /* where the head of an answer is built */
    char date[TIME_TEXT_SIZE];
    int64_t date_s;
    struct timer empty;
    void (*on_empty)(void *arg);
    void *empty_arg;
    bool is_draining;
};

/* The host's entry; created if there is none, and freed with its last connection. */
struct http_peer *http_server_peer(struct http_server *s, const char *host);

/* One connection more or less. */
void http_server_enter(struct http_server *s, struct http_peer *p);
void http_server_leave(struct http_server *s, struct http_peer *p);

/* Schedules on_empty() if the server is draining and has no connection. */
void http_server_check_empty(struct http_server *s);

/* Calls the owner's on_trouble(). */
void http_server_trouble(struct http_server *s, const struct err *err);

#endif
