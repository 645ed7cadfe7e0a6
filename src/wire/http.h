/* SPDX-License-Identifier: MIT */
/* http.h - an HTTP/1.1 server on one loop, plain or TLS.
 *
 * A request's way: its head is read (http_parse.h) and on_head() sees it, which
 * may set req->body_max, or answer at once.  A body larger than body_max, which
 * is 0 unless set, is answered with 413.  When the body is there on_request() is
 * called, and from then on the request is the owner's, until it answers: at once
 * or later, exactly once, by http_answer(), http_answer_const() or
 * http_stream_end().  That frees the request with its body and its arena.
 *
 * If the client goes, or is refused while its body comes, on_gone() says so.  A
 * request that is_owned stays valid until it is answered all the same (nothing is
 * sent then); one that is not is freed when on_gone() returns.  A client that has
 * only ended its side is not gone, unless its answer is streamed.
 *
 * One request of a connection is in work at a time; further ones wait unread.  A
 * connection is closed after every refusal, and after an answer that was given
 * before the body had been read.  Memory grows with what has come, never by what
 * was announced: bodies and answers are bounded by their budgets, the rest by the
 * number of connections: each keeps at most HTTP_HEAD_MAX bytes unread. */
#ifndef WIRE_HTTP_H
#define WIRE_HTTP_H

#include "base/loop.h"
#include "wire/http_req.h"
#include "wire/listen.h"
#include "wire/tls.h"

/* The defaults that programs let their users change. */
enum {
    HTTP_HEADER_S = 10,
    HTTP_IDLE_S = 75,
    HTTP_CONNECTIONS_MAX = 10000,
    HTTP_PER_ADDRESS_MAX = 1000,
    HTTP_BODY_BUDGET = 256 * 1024 * 1024,
};

struct http_limits {
    int64_t header_ms; /* for a head, from its first byte; the first one's from accept */
    int64_t idle_ms;   /* between requests */
    /* A body has body_grace_ms (10 s) to itself; of every further such time it
     * must bring body_rate (1,024) bytes a second. */
    int64_t body_grace_ms, body_rate;
    int64_t write_ms;  /* 30 s: a waiting answer too must get on at body_rate, measured so often */
    int64_t linger_ms; /* 2 s: for the peer to take the last answer and close */
    size_t connections_max, per_address_max;
    size_t body_budget_bytes;   /* bodies of all requests together; else 503 */
    size_t answer_budget_bytes; /* 512 MiB: answers that have not gone out; else 503 */
    size_t stream_max_bytes;    /* 1 MiB: a streamed answer's unsent bytes */
};
extern const struct http_limits http_limits_default;

struct http_owner {
    void (*on_head)(void *arg, struct http_req *req);
    void (*on_request)(void *arg, struct http_req *req);
    void (*on_gone)(void *arg, struct http_req *req);     /* may be NULL */
    void (*on_trouble)(void *arg, const struct err *err); /* accepting fails; may be NULL */
};

struct http_server;

/* `limits` NULL: the defaults.  It listens to nothing yet. */
struct http_server *http_server_new(struct loop *loop, const struct http_limits *limits,
                                    const struct http_owner *owner, void *arg);

/* May be called for several addresses; `tls` NULL: plain.  Limits are shared. */
int http_server_listen(struct http_server *s, const struct address *at, struct tls *tls,
                       struct address *ret_real, struct err *err);

/* Stops accepting, closes idle connections and lets the others finish their
 * request; then on_empty() is called, from the loop.  Streams are the owner's to end. */
void http_server_drain(struct http_server *s, void (*on_empty)(void *arg), void *arg);

/* Drops all; on_gone() is called for what is in work, which may be answered
 * (to nobody) even afterwards.  Not to be called from on_head, on_request or
 * on_gone; NULL is fine. */
void http_server_free(struct http_server *s);

enum http_reason {
    HTTP_BAD_HEAD,
    HTTP_BAD_BODY,
    HTTP_LARGE_BODY,
    HTTP_OVER_BUDGET,
    HTTP_LATE_HEAD,
    HTTP_SLOW_BODY,
    HTTP_SLOW_READER,
    HTTP_CONNECTIONS,
    HTTP_PER_ADDRESS,
    HTTP_BAD_ANSWER,
    HTTP_REASONS
};
const char *http_reason_name(enum http_reason reason); /* "bad_head" */

struct http_counters {
    uint64_t accepted, requests, bytes_in, bytes_out; /* since the start */
    uint64_t refused[HTTP_REASONS];
    uint64_t connections; /* now, those that are being closed included */
    uint64_t open_requests, body_bytes, answer_bytes; /* now */
};
const struct http_counters *http_server_counters(const struct http_server *s);

#endif
