/* SPDX-License-Identifier: MIT */
/* http.h - an HTTP/1.1 server on one loop, plain or TLS.
 *
 * Life of a request: its head is read (http_parse.h) and passed to on_head(), which may set
 * req->body_max, answer at once, or hold the body back (http_hold_body()).  A body larger than
 * body_max, which is 0 unless set, is answered with 413.  When the body is complete,
 * on_request() is called.  From then on the owner has the request until it answers: at once or
 * later, exactly once, by http_answer(), http_answer_const() or http_stream_end().  Answering
 * frees the request with its body and its arena.
 *
 * on_gone() reports that the client has disconnected, or was refused while it sent its body.  A
 * request that is_owned stays valid until it is answered nevertheless (nothing is sent then);
 * other requests are freed when on_gone() returns.  A client that has only closed its sending
 * side is not gone, unless its answer is streamed.
 *
 * A connection processes one request at a time; further ones wait unread.  It is closed after
 * every refusal, and after an answer that was given before the whole body was read.  Memory
 * grows with the bytes received, never with the length announced: bodies and answers are bounded
 * by their budgets, the rest by the number of connections: each buffers at most HTTP_HEAD_MAX
 * unread bytes. */
#ifndef WIRE_HTTP_HTTP_H
#define WIRE_HTTP_HTTP_H

#include "base/io/loop.h"
#include "wire/http/http_limits.h"
#include "wire/http/http_req.h"
#include "wire/net/listen.h"
#include "wire/tls/tls.h"

struct http_server;

/* `limits` NULL: the defaults.  The new server listens to no address yet. */
struct http_server *http_server_new(struct loop *loop, const struct http_limits *limits,
                                    const struct http_owner *owner, void *arg);

/* May be called for several addresses, which share the limits; `tls` NULL: plain. */
int http_server_listen(struct http_server *s, const struct address *at, struct tls *tls,
                       struct address *ret_real, struct err *err);

/* New connections of all addresses with TLS use it from now on; open connections keep theirs. */
void http_server_set_tls(struct http_server *s, struct tls *tls);

/* Stops accepting, closes idle connections and lets the others finish their request; then the
 * loop calls on_empty().  The owner must end its streams. */
void http_server_drain(struct http_server *s, void (*on_empty)(void *arg), void *arg);

/* Drops all connections.  Calls on_gone() for requests in progress, which may still be answered
 * afterwards (nothing is sent).  Must not be called from on_head(), on_request() or on_gone();
 * NULL is allowed. */
void http_server_free(struct http_server *s);

const struct http_counters *http_server_counters(const struct http_server *s);

#endif
