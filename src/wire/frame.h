/* SPDX-License-Identifier: MIT */
/* frame.h - one message between agent and server, as bytes.
 *
 *     u32 length of the body | u8 version | u8 type | u16 flags | u64 seq | body
 *
 * Numbers are big-endian.  The body is JSON by the field tables, at most
 * FRAME_BODY_MAX bytes; what is larger is sent in pages.  What types and flags
 * mean is the link's affair; a peer that does not know one still knows where
 * the frame ends. */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { FRAME_VERSION = 1, FRAME_HEAD_SIZE = 16, FRAME_BODY_MAX = 1 << 20 };

struct frame {
    uint8_t type;
    uint16_t flags;
    uint64_t seq;
    const char *body; /* in the bytes it was read from */
    size_t body_n;
};

enum frame_status {
    FRAME_MORE, /* not all of it has come yet */
    FRAME_READY,
    FRAME_BAD, /* *err says why; what follows can not be understood either */
};

/* Looks at the first frame in n bytes; *ret_used is its whole length.  A length
 * or version that can not be is found as soon as the head is there. */
enum frame_status frame_read(const char *bytes, size_t n, struct frame *ret, size_t *ret_used,
                             struct err *err);

/* Writing: the body is appended to `out` between the two calls.
 *
 *     size_t mark = frame_begin(out, type, flags, seq);
 *     shape_write(shape, message, out);
 *     if (frame_end(out, mark, err)) ...
 *
 * A body that is too large is taken out again, with the head. */
size_t frame_begin(struct buf *out, uint8_t type, uint16_t flags, uint64_t seq);
int frame_end(struct buf *out, size_t mark, struct err *err);

#endif
