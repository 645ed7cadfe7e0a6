/* SPDX-License-Identifier: MIT */
/* http_parse.h - the head of an HTTP/1.1 request, read strictly and without I/O.
 *
 * There is one reading of a request or none: whatever another parser might
 * understand differently (two lengths, a length and a coding, a space before the
 * colon, folded lines, bare CR or LF, NUL) is refused, because requests are
 * smuggled through such differences.  A refusal is an err that names what and
 * where ("header 3: space before the colon"), and the status to answer with.
 *
 *   - at most HTTP_HEAD_MAX bytes and HTTP_FIELDS_MAX headers, else 431;
 *   - METHOD SP target SP HTTP/1.0 or 1.1, CRLF; one empty line before it is let
 *     pass; other versions are 505; any method that is a token is let pass;
 *   - the target is a path, an http(s) URL, or "*" for OPTIONS;
 *   - header values are UTF-8 without control characters, trimmed of blanks;
 *   - Host exactly once (at most once in HTTP/1.0); Content-Length digits only,
 *     once; Transfer-Encoding "chunked" only, once, in HTTP/1.1 only and never
 *     with a Content-Length, another coding is 501; Expect 100-continue or 417.
 *
 * Reading goes on line by line as bytes come, so a wrong first line is refused
 * before the second has arrived.  The body's chunks: http_chunks.h. */
#ifndef WIRE_HTTP_PARSE_H
#define WIRE_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { HTTP_HEAD_MAX = 16 * 1024, HTTP_FIELDS_MAX = 64 };

/* Where one header stands in the head's text. */
struct http_place {
    uint16_t name, name_len, value, value_len;
};

struct http_head {
    /* Good once the head is whole; all text is NUL-terminated in the arena. */
    const char *method;
    const char *path;  /* decoded, begins with "/"; or "*" */
    const char *query; /* as it came, without "?"; "" if there is none */
    const char *host;  /* of the URL if one was the target, else of Host; or "" */
    int minor;         /* 0 or 1 */
    bool keep_alive;   /* what the peer wants, after the defaults of its version */
    bool has_length, chunked, expects_continue;
    int64_t length; /* Content-Length; 0 without */
    size_t n_fields;

    int status; /* set by a refusal: what to answer with */

    /* How far reading has come; private. */
    char *text;
    size_t line, scanned; /* start of the line in work; where to look for its end */
    bool has_request_line, has_skipped, has_host, wants_close, wants_keep;
    struct http_place target, absolute_host;
    struct http_place fields[HTTP_FIELDS_MAX];
};

/* Reads on.  A head starts all zeroes.  `bytes` are all that have come of it so
 * far, n of them, from its first byte on every call.  *ret_taken is the head's
 * length once it is whole, 0 until then.  After a refusal the head is of no use
 * but for its status. */
int http_head_read(struct http_head *h, const char *bytes, size_t n, struct arena *arena,
                   size_t *ret_taken, struct err *err);

/* The value of the first header of that name, in any case; NULL if none.  Others of
 * the same name may follow: who must not be fooled by that looks at all of them. */
const char *http_head_find(const struct http_head *h, const char *name);

/* Header i, from 0; i is below n_fields. */
const char *http_head_name(const struct http_head *h, size_t i);
const char *http_head_value(const struct http_head *h, size_t i);

#endif
