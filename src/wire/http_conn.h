/* SPDX-License-Identifier: MIT */
/* http_conn.h - what http.c, http_conn.c and http_answer.c share: the server, its
 * connections and their requests.  Not for others.
 *
 * A connection may be closed by anything an owner does in a callback, so whoever
 * calls one stands between http_conn_enter() and http_conn_leave(): a connection
 * that has no stream any more is freed by the last leave. */
#ifndef WIRE_HTTP_CONN_H
#define WIRE_HTTP_CONN_H

#include <sys/queue.h>

#include "base/map.h"
#include "wire/http.h"
#include "wire/http_chunks.h"
#include "wire/stream.h"

enum { HTTP_LISTENERS_MAX = 8 };

enum http_conn_state {
    CONN_IDLE, /* nothing of the next request has come */
    CONN_HEAD,
    CONN_BODY,
    CONN_WAIT,   /* the owner has the request */
    CONN_WRITE,  /* the answer is given, not all of it has gone out */
    CONN_STREAM, /* the owner is giving the answer */
    CONN_STATES
};

/* How many connections one host has. */
struct http_peer {
    size_t connections;
    char host[];
};

struct http_request {
    struct http_req pub; /* first: the owner's pointer is ours */
    LIST_ENTRY(http_request) link;
    struct http_server *server; /* NULL: freed before the answer */
    struct http_conn *conn;     /* NULL: the client has gone */
    struct http_chunks chunks;
    int64_t left;      /* of a body with a length */
    size_t body_bytes; /* what of the budget it holds */
    bool is_shown;     /* on_head() has seen it */
    bool is_read;      /* nothing of it is left in the connection */
    bool is_streaming; /* http_stream_begin() was called */
    bool is_mute;      /* nothing may follow the head of its answer */
    bool is_ending;    /* will be freed after on_gone() */
};

struct http_conn {
    LIST_ENTRY(http_conn) link;
    struct http_server *server;
    struct stream *stream; /* NULL once it is through */
    struct http_peer *peer;
    char *address;
    struct http_request *req; /* NULL between requests, and once it is answered */
    struct timer timer;       /* goes off at deadline_ms or before */
    int64_t deadline_ms;      /* 0: none */
    int64_t moved, mark;      /* bytes of the answer written; bytes moved at the last check */
    struct buf body;          /* of the answer, if it is ours to free */
    size_t body_cap;          /* what of the budget it holds */
    const char *rest;         /* what of it is still to be written */
    size_t rest_n;
    unsigned depth;
    enum http_conn_state state;
    bool is_closed; /* nothing more is read or answered */
    bool is_first, is_paused, has_ended, keeps;
};

struct http_door {
    struct http_server *server;
    struct listener *listener;
    struct tls *tls;
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
    struct map peers;
    struct http_counters counters;
    struct buf scratch; /* an answer's head is put together here */
    char date[TIME_TEXT_SIZE];
    int64_t date_s;
    struct timer empty;
    void (*on_empty)(void *arg);
    void *empty_arg;
    bool is_draining;
};

void http_server_forget(struct http_server *s, struct http_conn *c); /* takes it off the books */

/* On failure the fd is still the caller's. */
int http_conn_new(struct http_server *s, int fd, struct tls *tls, struct http_peer *peer,
                  const char *address, struct err *err);
void http_conn_enter(struct http_conn *c);
void http_conn_leave(struct http_conn *c);
enum http_gone { HTTP_TELL, HTTP_QUIET }; /* the owner of the request in work */
void http_conn_end(struct http_conn *c);  /* in order */
void http_conn_drop(struct http_conn *c, enum http_gone tell); /* at once */
void http_conn_deadline(struct http_conn *c, int64_t in_ms);   /* 0: none */
void http_conn_next(struct http_conn *c);                      /* the answer has gone out */
void http_request_free(struct http_request *r);
void http_request_gone(struct http_request *r, enum http_gone tell);

bool http_conn_keep_body(struct http_conn *c, struct buf *body); /* false: over the budget */
void http_conn_refuse(struct http_conn *c, enum http_reason why, int status, const char *text);
void http_conn_continue(struct http_conn *c); /* 100 */
void http_conn_pump(struct http_conn *c);     /* goes on writing the answer */
int64_t http_conn_progress(const struct http_conn *c);
extern const char http_full_answer[]; /* to a connection over the caps */

#endif
