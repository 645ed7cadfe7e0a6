/* SPDX-License-Identifier: MIT */
/* http_uri.h - percent-encoding: paths, and the key=value pairs of query strings and form
 * bodies.
 *
 * Decoded text is UTF-8 without NUL.  A path has no control characters and no dot segments
 * either, encoded or not; "%2F" is the same as "/", so that a path has only one interpretation. */
#ifndef WIRE_HTTP_HTTP_URI_H
#define WIRE_HTTP_HTTP_URI_H

#include <stddef.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"

/* Decodes the n bytes of a path in place; a decoded path is never longer.  The caller must
 * terminate it. */
int http_path_decode(char *path, size_t n, size_t *ret_n, struct err *err);

/* Appends the text, escaped as one segment of a path or a query. */
void http_escape(struct buf *to, const char *text);

/* Iterates over the pairs of "a=1&b=two+words&c".  A part without '=' has the value "", empty
 * parts are skipped, and a key may occur more than once. */
struct http_pairs {
    const char *at, *end;
    size_t number; /* of the current pair, from 1 */
};

struct http_pair {
    const char *key, *value; /* in the arena; key NULL: there are no more pairs */
};

void http_pairs_init(struct http_pairs *p, const char *bytes, size_t n);
int http_pairs_next(struct http_pairs *p, struct arena *arena, struct http_pair *ret,
                    struct err *err);

#endif
