/* SPDX-License-Identifier: MIT */
/* frame.c - see frame.h. */
#include "wire/net/frame.h"

#include <endian.h>
#include <string.h>

/* Offsets of the parts of the head. */
enum { AT_LENGTH = 0, AT_VERSION = 4, AT_TYPE = 5, AT_FLAGS = 6, AT_SEQ = 8 };

static uint32_t get_u32(const char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return be32toh(v);
}

static uint16_t get_u16(const char *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return be16toh(v);
}

static uint64_t get_u64(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return be64toh(v);
}

static void put_u32(char *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof(v));
}

static void put_u16(char *p, uint16_t v)
{
    v = htobe16(v);
    memcpy(p, &v, sizeof(v));
}

static void put_u64(char *p, uint64_t v)
{
    v = htobe64(v);
    memcpy(p, &v, sizeof(v));
}

enum frame_status frame_read(const char *bytes, size_t n, struct frame *ret, size_t *ret_used,
                             struct err *err)
{
    uint32_t length;

    if (n < FRAME_HEAD_SIZE)
        return FRAME_MORE;
    if ((uint8_t)bytes[AT_VERSION] != FRAME_VERSION) {
        err_set(err, ERR_MALFORMED, "a frame of version %u, this side speaks %d",
                (uint8_t)bytes[AT_VERSION], FRAME_VERSION);
        return FRAME_BAD;
    }
    length = get_u32(bytes + AT_LENGTH);
    if (length > FRAME_BODY_MAX) {
        err_set(err, ERR_LIMIT, "a frame's body of %u bytes, at most %d go in one", length,
                FRAME_BODY_MAX);
        return FRAME_BAD;
    }
    if (n - FRAME_HEAD_SIZE < length)
        return FRAME_MORE;
    *ret = (struct frame){
        .type = (uint8_t)bytes[AT_TYPE],
        .flags = get_u16(bytes + AT_FLAGS),
        .seq = get_u64(bytes + AT_SEQ),
        .body = bytes + FRAME_HEAD_SIZE,
        .body_n = length,
    };
    *ret_used = FRAME_HEAD_SIZE + length;
    return FRAME_READY;
}

size_t frame_begin(struct buf *out, uint8_t type, uint16_t flags, uint64_t seq)
{
    size_t mark = out->len;
    char *head = buf_reserve(out, FRAME_HEAD_SIZE);

    put_u32(head + AT_LENGTH, 0);
    head[AT_VERSION] = FRAME_VERSION;
    head[AT_TYPE] = (char)type;
    put_u16(head + AT_FLAGS, flags);
    put_u64(head + AT_SEQ, seq);
    out->len += FRAME_HEAD_SIZE;
    return mark;
}

int frame_end(struct buf *out, size_t mark, struct err *err)
{
    size_t length = out->len - mark - FRAME_HEAD_SIZE;

    if (length > FRAME_BODY_MAX) {
        buf_truncate(out, mark);
        return err_set(err, ERR_LIMIT, "a frame's body of %zu bytes, at most %d go in one", length,
                       FRAME_BODY_MAX);
    }
    put_u32(buf_data(out) + mark + AT_LENGTH, (uint32_t)length);
    return 0;
}
