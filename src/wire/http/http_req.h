/* SPDX-License-Identifier: MIT */
/* http_req.h - a request to our HTTP server, and the functions that answer it.
 *
 * http.h describes the life of a request and its owners. */
#ifndef WIRE_HTTP_HTTP_REQ_H
#define WIRE_HTTP_HTTP_REQ_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/http/http_parse.h"

enum { HTTP_BODY_MAX = 40 * 1024 * 1024 };

struct http_req {
    struct http_head head; /* method, path, query, headers */
    const char *peer;      /* "10.0.0.7:51324" */
    const char *net;       /* key of limits per address: "10.0.0.7", for IPv6 its /64 */
    bool is_peer_told;     /* a unix socket, and the kernel identifies the peer, */
    uid_t peer_uid;        /* which is this user */
    struct buf body;       /* complete in on_request(); the owner may move it out */
    size_t body_max;       /* set by on_head(); at most HTTP_BODY_MAX */
    bool is_owned;         /* true from on_request() or http_stream_begin() on */
    struct arena arena;    /* the owner may use it too */
    void *user;            /* for the owner */
};

struct http_field {
    const char *name, *value; /* a NULL name ends a list */
};

/* Answers.  `extra` may be NULL.  Length, date, connection and coding are set here and must not
 * be in it.  `type` NULL: no Content-Type.  An answer to HEAD, and 204 and 304, have no body.
 * An answer that would break the framing (a control character in a value, a name that is not a
 * token) is sent as 500. */
void http_answer(struct http_req *req, int status, const struct http_field *extra, const char *type,
                 struct buf *body); /* moved, empty afterwards; NULL: none */

/* The same, for bytes that live longer than the server. */
void http_answer_const(struct http_req *req, int status, const struct http_field *extra,
                       const char *type, const void *bytes, size_t n);

/* An answer of unknown length.  http_stream_send() returns false if the client has disconnected
 * or is too slow (more than stream_max_bytes are unsent; the connection is closed then, without
 * on_gone()).  http_stream_end() must be called in any case. */
void http_stream_begin(struct http_req *req, int status, const struct http_field *extra,
                       const char *type);
bool http_stream_send(struct http_req *req, const void *bytes, size_t n);
size_t http_stream_pending(const struct http_req *req); /* bytes that are not sent yet */
void http_stream_end(struct http_req *req);

/* Only in on_head(): the body is not read until http_read_body() or an answer.  body_max may be
 * set until then. */
void http_hold_body(struct http_req *req);
void http_read_body(struct http_req *req);

bool http_is_gone(const struct http_req *req);

/* The owner of a server: its callbacks.  http.h describes when they are called. */
struct http_owner {
    void (*on_head)(void *arg, struct http_req *req);
    void (*on_request)(void *arg, struct http_req *req);
    void (*on_gone)(void *arg, struct http_req *req);     /* may be NULL */
    void (*on_trouble)(void *arg, const struct err *err); /* accept() fails; may be NULL */
    /* Called when n more bytes of the body were received; they are added to it on return.  Returns
     * false if the owner has answered the request instead.  May be NULL. */
    bool (*on_body)(void *arg, struct http_req *req, size_t n);
};

#endif
