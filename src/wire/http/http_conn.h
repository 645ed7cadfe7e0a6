/* SPDX-License-Identifier: MIT */
/* http_conn.h - connections of the HTTP server and their requests.  Only for http.c,
 * http_callers.c, http_conn.c and http_answer.c.
 *
 * Any callback of the owner may close the connection.  So callbacks are called between
 * http_conn_enter() and http_conn_leave(): the last leave frees a connection that has no stream
 * any more. */
#ifndef WIRE_HTTP_HTTP_CONN_H
#define WIRE_HTTP_HTTP_CONN_H

#include <sys/queue.h>

#include "wire/http/http_chunks.h"
#include "wire/http/http_server.h"

enum http_conn_state {
    CONN_IDLE, /* no byte of the next request was received */
    CONN_HEAD,
    CONN_BODY,
    CONN_HELD,   /* the owner holds the body back */
    CONN_WAIT,   /* the owner has the request */
    CONN_WRITE,  /* the request is answered, but not all of the answer is sent */
    CONN_STREAM, /* the owner is streaming the answer */
    CONN_STATES
};

struct http_request {
    struct http_req pub; /* must be first: the owner's pointer is converted to ours */
    LIST_ENTRY(http_request) link;
    struct http_server *server; /* NULL: the server was freed before the answer */
    struct http_conn *conn;     /* NULL: the client has disconnected */
    struct http_chunks chunks;
    int64_t left;      /* bytes of the body that are missing, if it has a Content-Length */
    size_t body_bytes; /* bytes that it holds of the body budget */
    bool is_shown;     /* on_head() was called */
    bool is_read;      /* all of it was read from the connection */
    bool is_streaming; /* http_stream_begin() was called */
    bool is_mute;      /* the answer is only a head (HEAD, 204, 304) */
    bool is_ending;    /* is freed after on_gone() */
};

struct http_conn {
    LIST_ENTRY(http_conn) link;
    struct http_server *server;
    struct stream *stream; /* NULL once it is closed */
    struct http_peer *peer;
    char *address;
    bool is_peer_told; /* as in struct http_req, with peer_uid */
    uid_t peer_uid;
    struct http_request *req; /* NULL between requests, and once the request is answered */
    struct timer timer;       /* goes off at deadline_ms or earlier */
    int64_t deadline_ms;      /* 0: none */
    int64_t moved, mark; /* bytes of the answer written; the value of `moved` at the last check */
    struct buf body;     /* body of the answer, if we must free it */
    size_t body_cap;     /* bytes that it holds of the answer budget */
    const char *rest;    /* part of the body that is not written yet */
    size_t rest_n;
    unsigned depth;
    enum http_conn_state state;
    bool is_closed; /* reads and answers nothing more */
    bool is_first, is_paused, has_ended, keeps;
    bool is_shaking; /* its TLS handshake is in progress */
    bool wants_tls;  /* it speaks plain HTTP on a TLS address */
};

/* On failure the caller still owns the fd. */
int http_conn_new(struct http_server *s, int fd, struct tls *tls, struct http_peer *peer,
                  const char *address, struct err *err);
void http_conn_enter(struct http_conn *c);
void http_conn_leave(struct http_conn *c);
enum http_gone { HTTP_TELL, HTTP_QUIET };                      /* whether to call on_gone() */
void http_conn_end(struct http_conn *c);                       /* orderly close */
void http_conn_drop(struct http_conn *c, enum http_gone tell); /* immediate close */
void http_conn_deadline(struct http_conn *c, int64_t in_ms);   /* 0: none */
void http_conn_next(struct http_conn *c);                      /* the answer is sent */
void http_request_free(struct http_request *r);
void http_request_gone(struct http_request *r, enum http_gone tell);

bool http_conn_keep_body(struct http_conn *c, struct buf *body); /* false: over the budget */
void http_conn_refuse(struct http_conn *c, enum http_reason why, int status, const char *text);
void http_conn_continue(struct http_conn *c); /* sends 100 Continue */
void http_conn_pump(struct http_conn *c);     /* continues to write the answer */
int64_t http_conn_progress(const struct http_conn *c);
extern const char http_full_answer[]; /* for a connection above the limits */

#endif
