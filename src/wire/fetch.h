/* SPDX-License-Identifier: MIT */
/* fetch.h - asks other servers over HTTP and HTTPS, while the loop goes on.
 *
 * One thread has all requests, many at once; libcurl is known to this module alone.  What is
 * asked and what comes back goes through queues.  All is bounded: how many wait, how long one
 * takes, and how large an answer may be.  Certificates and names are verified; redirects are
 * not followed, and proxies of the environment not used: what is sent goes to who was named.
 *
 * Definite: each request that was taken comes back by its function, exactly once, on the
 * loop's thread; those in work when fetch_free() is called, from there, as failures. */
#ifndef WIRE_FETCH_H
#define WIRE_FETCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/loop.h"
#include "wire/http_req.h"

enum { FETCH_MAX = 1024 }; /* on their way at once; more are refused */

struct fetch_ask { /* copied */
    const char *url;
    const struct http_field *headers; /* ends with a NULL name; NULL: none */
    const char *body;                 /* NULL: GET; else it is posted */
    int64_t timeout_ms;               /* for all of it */
    size_t answer_max;                /* bytes of its body */
};

/* status 0: there was no answer, and err says why. */
struct fetch_answer {
    int status;
    struct buf body; /* freed when the function returns, but for what it takes */
    struct err err;
};

typedef void fetch_done_fn(void *arg, struct fetch_answer *answer);

struct fetch;

/* `ca` is a file of certificates to trust; "": those of the system. */
int fetch_new(struct loop *loop, const char *ca, struct fetch **ret, struct err *err);
void fetch_free(struct fetch *f); /* NULL is fine */

/* ERR_UNAVAILABLE: too many are on their way.  Never calls `fn` itself. */
int fetch_start(struct fetch *f, const struct fetch_ask *ask, fetch_done_fn *fn, void *arg,
                struct err *err);

/* NULL, or what is wrong with a URL: not http(s), no host, a user in it. */
const char *fetch_check_url(const char *url);

#endif
