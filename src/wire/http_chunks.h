/* SPDX-License-Identifier: MIT */
/* http_chunks.h - a chunked body, read strictly, byte by byte if need be.
 *
 * Sizes are 1 to 16 hex digits and nothing around them; extensions are at most
 * HTTP_EXTENSION_MAX bytes a chunk, without control characters, and ignored;
 * trailers are held to the rules and limits of the head, and discarded.  No byte
 * of the body is copied: the caller is shown where it stands. */
#ifndef WIRE_HTTP_CHUNKS_H
#define WIRE_HTTP_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { HTTP_EXTENSION_MAX = 256 };

enum http_chunk_state {
    CHUNK_SIZE, /* the first state: all zeroes is a body not begun */
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
    int status;    /* set by a refusal: what to answer with */
    uint64_t left; /* of the chunk's data */
    uint64_t number;
    unsigned digits, extension;
    unsigned trailers, trailer_bytes;
};

struct http_span {
    const char *bytes;
    size_t n;
};

/* Reads on from where it stopped.  Takes bytes up to and including the next run
 * of body bytes, or all n, or up to the body's end (state CHUNK_DONE); call it
 * again with the rest.  ret_body->n may be 0. */
int http_chunks_read(struct http_chunks *c, const char *bytes, size_t n, size_t *ret_taken,
                     struct http_span *ret_body, struct err *err);

#endif
