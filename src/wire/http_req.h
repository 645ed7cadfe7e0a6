/* SPDX-License-Identifier: MIT */
/* http_req.h - one request to our HTTP server, and the ways to answer it.
 *
 * A request's way, and who owns it when, is told in http.h. */
#ifndef WIRE_HTTP_REQ_H
#define WIRE_HTTP_REQ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "wire/http_parse.h"

enum { HTTP_BODY_MAX = 40 * 1024 * 1024 };

struct http_req {
    struct http_head head; /* method, path, query, headers */
    const char *peer;      /* "10.0.0.7:51324" */
    struct buf body;       /* complete in on_request(); the owner may take it */
    size_t body_max;       /* for on_head() to set; at most HTTP_BODY_MAX */
    bool is_owned;         /* from on_request() or http_stream_begin() on */
    struct arena arena;    /* for the owner's use too */
    void *user;            /* the owner's */
};

struct http_field {
    const char *name, *value; /* a name of NULL ends a list */
};

/* Answers.  `extra` may be NULL.  Length, date, connection and coding are set
 * here and must not be in it.  `type` NULL: no Content-Type.  HEAD gets the head
 * alone, 204 and 304 have no body.  An answer that would break the framing (a
 * control character in a value, a name that is no token) is sent as 500. */
void http_answer(struct http_req *req, int status, const struct http_field *extra, const char *type,
                 struct buf *body); /* moved, empty after; NULL: none */

/* The same with bytes that live longer than the server. */
void http_answer_const(struct http_req *req, int status, const struct http_field *extra,
                       const char *type, const void *bytes, size_t n);

/* An answer of unknown length.  http_stream_send() is false when the client has
 * gone or was too slow (over stream_max_bytes would wait; it is cut off then,
 * without on_gone()); http_stream_end() is owed in any case. */
void http_stream_begin(struct http_req *req, int status, const struct http_field *extra,
                       const char *type);
bool http_stream_send(struct http_req *req, const void *bytes, size_t n);
size_t http_stream_pending(const struct http_req *req); /* bytes the socket has not taken */
void http_stream_end(struct http_req *req);

bool http_is_gone(const struct http_req *req);

#endif
