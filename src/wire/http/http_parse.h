/* SPDX-License-Identifier: MIT */
/* http_parse.h - a strict parser for the head of an HTTP/1.1 request, without I/O.
 *
 * A request has exactly one interpretation or is refused.  Anything that another parser might
 * understand differently (two lengths, a length and a coding, a space before the colon, folded
 * lines, bare CR or LF, NUL) is refused, because request smuggling relies on such differences.
 * A refusal is an err that says what is wrong and where ("header 3: space before the colon"),
 * and a status for the answer.
 *
 *   - at most HTTP_HEAD_MAX bytes and HTTP_FIELDS_MAX headers, else 431;
 *   - METHOD SP target SP HTTP/1.0 or 1.1, CRLF; one empty line before it is
 *     ignored; other versions are 505; any method that is a token is accepted;
 *   - the target is a path, an http(s) URL, or "*" for OPTIONS;
 *   - header values are UTF-8 without control characters, trimmed of blanks;
 *   - Host exactly once (at most once in HTTP/1.0); Content-Length digits only,
 *     once; Transfer-Encoding "chunked" only, once, in HTTP/1.1 only and never
 *     with a Content-Length, another coding is 501; Expect 100-continue or 417.
 *
 * The head is parsed line by line as bytes arrive, so a wrong first line is refused before the
 * second has arrived.  For chunked bodies see http_chunks.h. */
#ifndef WIRE_HTTP_HTTP_PARSE_H
#define WIRE_HTTP_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"
#include "base/text/err.h"

enum { HTTP_HEAD_MAX = 16 * 1024, HTTP_FIELDS_MAX = 64 };

/* Offset and lengths of one header in the text of the head. */
struct http_place {
    uint16_t name, name_len, value, value_len;
};

struct http_head {
    /* Valid once the head is complete; all text is NUL-terminated, in the arena. */
    const char *method;
    const char *path;  /* decoded; starts with "/", or is "*" */
    const char *query; /* not decoded, without "?"; "" if there is none */
    const char *host;  /* of the URL if the target is one, else of the Host header; or "" */
    int minor;         /* 0 or 1 */
    bool keep_alive;   /* the peer's wish, with the default of its version */
    bool has_length, chunked, expects_continue;
    int64_t length; /* Content-Length; 0 if there is none */
    size_t n_fields;

    int status; /* set by a refusal: the status of the answer */

    /* State of the parser; private. */
    char *text;
    size_t line, scanned; /* start of the current line; offset from which to search for its end */
    bool has_request_line, has_skipped, has_host, wants_close, wants_keep;
    struct http_place target, absolute_host;
    struct http_place fields[HTTP_FIELDS_MAX];
};

/* Continues to read.  A head starts as all zeroes.  `bytes` are all n bytes received of it so
 * far, from its first byte, on every call.  *ret_taken is the length of the head once it is
 * complete, 0 until then.  After a refusal only the status of the head is valid. */
int http_head_read(struct http_head *h, const char *bytes, size_t n, struct arena *arena,
                   size_t *ret_taken, struct err *err);

/* The value of the first header with this name, in any case; NULL if there is none.  More
 * headers with the same name may follow: callers for which that matters must check all of them. */
const char *http_head_find(const struct http_head *h, const char *name);

/* Header i, from 0; i must be below n_fields. */
const char *http_head_name(const struct http_head *h, size_t i);
const char *http_head_value(const struct http_head *h, size_t i);

#endif
