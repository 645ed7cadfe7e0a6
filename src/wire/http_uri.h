/* SPDX-License-Identifier: MIT */
/* http_uri.h - percent-encoding: paths, and the key=value pairs of query strings
 * and form bodies.
 *
 * What comes out is checked text: UTF-8 without NUL.  A path has no control
 * characters and no dot segments either, however they were written; "%2F" is a
 * slash like any other, so that there is one reading of a path and no second. */
#ifndef WIRE_HTTP_URI_H
#define WIRE_HTTP_URI_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Decodes the n bytes of a path where they stand; a decoded path is never
 * longer.  Not terminated: that is the caller's, who knows what follows. */
int http_path_decode(char *path, size_t n, size_t *ret_n, struct err *err);

/* Appends the text as one piece of a path or a query. */
void http_escape(struct buf *to, const char *text);

/* Pairs of "a=1&b=two+words&c".  A piece without '=' has the value "", empty
 * pieces are skipped, and a key may come more than once. */
struct http_pairs {
    const char *at, *end;
    size_t number; /* of the pair that was read last, from 1 */
};

struct http_pair {
    const char *key, *value; /* in the arena; key NULL: there are no more */
};

void http_pairs_init(struct http_pairs *p, const char *bytes, size_t n);
int http_pairs_next(struct http_pairs *p, struct arena *arena, struct http_pair *ret,
                    struct err *err);

#endif
