/* SPDX-License-Identifier: MIT */
/* fetch.h - an HTTP and HTTPS client for a loop.
 *
 * One thread runs all requests, many at a time.  Only this module and cli/client.c use libcurl.
 * Requests and answers pass through queues.  Everything is bounded: the number of requests, the
 * time of each, and the size of an answer.  Certificates and host names are verified.  Redirects
 * are not followed and proxies of the environment are not used, so a request goes only to the
 * host in its URL.
 *
 * Each request that fetch_start() accepted calls its function exactly once, on the loop's
 * thread.  fetch_free() calls it with a failure for requests that still run. */
#ifndef WIRE_HTTP_FETCH_H
#define WIRE_HTTP_FETCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/io/loop.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/http/http_req.h"

enum { FETCH_MAX = 1024 }; /* requests at a time; further ones are refused */

struct fetch_ask { /* A request; fetch_start() copies it. */
    const char *url;
    const struct http_field *headers; /* terminated by a NULL name; NULL: none */
    const char *body;                 /* NULL: GET; otherwise POST */
    int64_t timeout_ms;               /* for the whole request */
    size_t answer_max;                /* largest body of the answer */
};

/* status 0: there was no answer, and err gives the reason. */
struct fetch_answer {
    int status;
    struct buf body; /* freed when the function returns, unless it moves the bytes out */
    struct err err;
};

typedef void fetch_done_fn(void *arg, struct fetch_answer *answer);

struct fetch;

/* `ca` is a file with the CA certificates to trust; "": those of the system. */
int fetch_new(struct loop *loop, const char *ca, struct fetch **ret, struct err *err);
void fetch_free(struct fetch *f); /* NULL is allowed */

/* ERR_UNAVAILABLE if too many requests are running.  Never calls `fn` itself. */
int fetch_start(struct fetch *f, const struct fetch_ask *ask, fetch_done_fn *fn, void *arg,
                struct err *err);

/* NULL if the URL is valid, else what is wrong: not http(s), no host, or a user in it. */
const char *fetch_check_url(const char *url);

#endif
