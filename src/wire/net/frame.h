/* SPDX-License-Identifier: MIT */
/* frame.h - one message between agent and server, as bytes.
 *
 *     u32 length of the body | u8 version | u8 type | u16 flags | u64 seq | body
 *
 * Numbers are big-endian.  The body is JSON by the field tables, at most FRAME_BODY_MAX bytes;
 * larger data is sent in pages.  src/link defines types and flags; a peer that does not know a
 * type still knows where the frame ends. */
#ifndef WIRE_NET_FRAME_H
#define WIRE_NET_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem/buf.h"
#include "base/text/err.h"

enum { FRAME_VERSION = 1, FRAME_HEAD_SIZE = 16, FRAME_BODY_MAX = 1 << 20 };

struct frame {
    uint8_t type;
    uint16_t flags;
    uint64_t seq;
    const char *body; /* points into the bytes it was read from */
    size_t body_n;
};

enum frame_status {
    FRAME_MORE, /* incomplete */
    FRAME_READY,
    FRAME_BAD, /* *err gives the reason; the bytes behind it cannot be read either */
};

/* Reads the first frame in n bytes; *ret_used is its whole length.  An invalid length or version
 * is reported as soon as the head is complete. */
enum frame_status frame_read(const char *bytes, size_t n, struct frame *ret, size_t *ret_used,
                             struct err *err);

/* Writing: the body is appended to `out` between the two calls.
 *
 *     size_t mark = frame_begin(out, type, flags, seq);
 *     shape_write(shape, message, out);
 *     if (frame_end(out, mark, err)) ...
 *
 * If the body is too large, frame_end() removes head and body again. */
size_t frame_begin(struct buf *out, uint8_t type, uint16_t flags, uint64_t seq);
int frame_end(struct buf *out, size_t mark, struct err *err);

#endif
