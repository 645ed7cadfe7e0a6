/* SPDX-License-Identifier: MIT */
/* http_limits.h - limits of the HTTP server, the reasons for which it refuses, and its counters. */
#ifndef WIRE_HTTP_HTTP_LIMITS_H
#define WIRE_HTTP_HTTP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Defaults of the limits that operators can configure. */
enum {
    HTTP_HEADER_S = 10,
    HTTP_IDLE_S = 75,
    HTTP_CONNECTIONS_MAX = 10000,
    HTTP_PER_ADDRESS_MAX = 1000,
    HTTP_BODY_BUDGET = 256 * 1024 * 1024,
};

struct http_limits {
    int64_t header_ms; /* to receive a head, from its first byte (the first head: from accept), to
                        * receive a ClientHello, and for the TLS handshake */
    int64_t idle_ms;   /* between requests */
    /* A body may take body_grace_ms (10 s).  In each further such period it must deliver body_rate
     * (1,024) bytes per second. */
    int64_t body_grace_ms, body_rate;
    int64_t write_ms;  /* 30 s: a pending answer must progress at body_rate too, measured over this
                          period */
    int64_t linger_ms; /* 2 s: for the peer to receive the last answer and close */
    size_t connections_max, per_address_max;
    size_t body_budget_bytes;   /* of the bodies of all requests together; beyond it requests are
                                   answered with 503 */
    size_t answer_budget_bytes; /* 512 MiB: of answers that are not sent yet; beyond it requests are
                                   answered with 503 */
    size_t stream_max_bytes;    /* 1 MiB: unsent bytes of a streamed answer */
};
extern const struct http_limits http_limits_default;

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
    uint64_t accepted, requests, bytes_in, bytes_out; /* totals since the start */
    uint64_t refused[HTTP_REASONS];
    uint64_t connections; /* open now, including those that are being closed */
    uint64_t shaking;     /* of these, in the TLS handshake */
    uint64_t open_requests, body_bytes, answer_bytes; /* current values */
};

#endif
