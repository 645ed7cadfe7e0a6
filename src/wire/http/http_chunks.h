/* SPDX-License-Identifier: MIT */
/* http_chunks.h - a strict decoder of chunked bodies.  Input may be split anywhere.
 *
 * A size is 1 to 16 hex digits without surrounding blanks.  Extensions are at most
 * HTTP_EXTENSION_MAX bytes per chunk, without control characters, and ignored.  Trailers follow
 * the rules and limits of the head, and are discarded.  No byte of the body is copied: the
 * caller gets its position in the input. */
#ifndef WIRE_HTTP_HTTP_CHUNKS_H
#define WIRE_HTTP_HTTP_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

enum { HTTP_EXTENSION_MAX = 256 };

enum http_chunk_state {
    CHUNK_SIZE, /* the first state: a struct of all zeroes is a body that has not begun */
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER, /* at the start of a line */
    CHUNK_TRAILER_NAME,
    CHUNK_TRAILER_VALUE,
    CHUNK_TRAILER_LF,
    CHUNK_LAST_LF,
    CHUNK_DONE,
};

struct http_chunks {
    enum http_chunk_state state;
    int status;    /* set by a refusal: the status of the answer */
    uint64_t left; /* bytes of the chunk's data that are missing */
    uint64_t number;
    unsigned digits, extension;
    unsigned trailers, trailer_bytes;
};

struct http_span {
    const char *bytes;
    size_t n;
};

/* Continues to read.  Consumes bytes up to and including the next run of body bytes, or all n,
 * or up to the end of the body (state CHUNK_DONE).  Call it again with the rest.  ret_body->n
 * may be 0. */
int http_chunks_read(struct http_chunks *c, const char *bytes, size_t n, size_t *ret_taken,
                     struct http_span *ret_body, struct err *err);

#endif
