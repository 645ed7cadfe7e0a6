/* SPDX-License-Identifier: MIT */
/* http_reply.h - reads the answer of an HTTP server that may be hostile: its status, and whether
 * its body contains a text.  Without I/O; input may be split anywhere.
 *
 * Nothing of the answer is stored but the current line of the head, up to HTTP_REPLY_LINE bytes,
 * and the end of the body that a text may begin in.  The head may have HTTP_HEAD_MAX bytes,
 * interim answers (1xx) included.  Of the body HTTP_REPLY_BODY_MAX bytes are read, and none unless
 * a text is looked for. */
#ifndef WIRE_HTTP_HTTP_REPLY_H
#define WIRE_HTTP_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "wire/http/http_chunks.h"

enum { HTTP_REPLY_LINE = 256, HTTP_REPLY_TEXT = 256, HTTP_REPLY_BODY_MAX = 64 * 1024 };

enum http_reply_state {
    REPLY_STATUS, /* the first state: a struct of all zeroes is an answer that has not begun */
    REPLY_HEADERS,
    REPLY_LENGTH, /* the body has `left` bytes */
    REPLY_CHUNKS,
    REPLY_UNTIL_END, /* the body ends with the connection */
    REPLY_DONE,
};

struct http_reply {
    const char *text; /* to look for in the body; NULL: the body does not matter */
    enum http_reply_state state;
    int status; /* valid in REPLY_DONE */
    bool has_text;

    /* Private. */
    char line[HTTP_REPLY_LINE];
    size_t line_n, head_n, body_n;
    bool has_length, is_chunked;
    uint64_t left;
    struct http_chunks chunks;
    char tail[HTTP_REPLY_TEXT];
    size_t tail_n;
};

/* Continues to read; in REPLY_DONE further bytes are ignored. */
int http_reply_read(struct http_reply *r, const char *bytes, size_t n, struct err *err);

/* The server has closed the connection.  Fails unless that is a proper end of the answer. */
int http_reply_end(struct http_reply *r, struct err *err);

#endif
