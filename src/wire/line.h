/* SPDX-License-Identifier: MIT */
/* line.h - a stream that is worked here (wire/stream.h) or on another thread (wire/far.h).
 *
 * Plain data: which of the two it is; neither, and it is closed.  The functions are those of
 * stream.h. */
#ifndef WIRE_LINE_H
#define WIRE_LINE_H

#include "wire/far.h"

struct line {
    struct stream *near;
    struct far *far;
};

/* `crew` NULL: here.  Only a server's may be elsewhere. */
int line_open(struct line *l, struct loop *loop, struct far_crew *crew, int fd, struct tls *tls,
              const char *host, const struct stream_limits *limits,
              const struct stream_owner *owner, void *arg, struct err *err);
bool line_is_open(const struct line *l);
void line_write(struct line *l, const void *bytes, size_t n);
size_t line_pending(const struct line *l);
int64_t line_stuck_ms(const struct line *l);
int line_peer(const struct line *l, struct cert_facts *ret, struct err *err);
bool line_is_resumed(const struct line *l);
void line_end(struct line *l);
void line_free(struct line *l); /* it is closed after it; one that is closed is fine */

#endif
