/* SPDX-License-Identifier: MIT */
/* record.h - the bytes of a journal: a file of records that knows what it is missing.
 *
 *     file    "HOLDFJ1\n", u64 id, u32 crc of those
 *     record  u32 length, u8 type, u32 crc of the body, u32 crc of (id, the record's
 *             offset, the 9 bytes before), body; numbers little-endian, crc32c
 *
 * A record is valid only in its own file and place, so nothing that is inside a body
 * or was left in a block by an older file is ever taken for one.
 *
 * Type 0 is a mark: "the first N bytes of this file have been synced".  It tells an
 * end that was torn off from damage: bytes that no mark vouches for were promised to
 * nobody, and a crash may leave any of them out.  A bad record that a mark does vouch
 * for is damage, wherever in the file that mark stands. */
#ifndef AGENT_RECORD_H
#define AGENT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
    RECORD_FILE_HEAD = 20,
    RECORD_HEAD = 13,
    RECORD_BODY_MAX = 1 << 20,
    RECORD_MARK = 0, /* the type of a mark */
};

/* Both add at the end of `b`; `offset` is where in the file that end is. */
void record_put_head(struct buf *b, uint64_t id);
void record_put(struct buf *b, uint64_t id, uint64_t offset, uint8_t type, const void *body,
                size_t n);
void record_put_mark(struct buf *b, uint64_t id, uint64_t offset, uint64_t synced);

struct record_file {
    uint64_t id;
    size_t end;    /* behind the last good record; what follows is torn */
    size_t synced; /* what the marks vouch for */
    size_t count;  /* records, without marks */
};

/* Looks at all bytes of a file; ERR_MALFORMED, with the offset, if it is damaged. */
int record_scan(const char *bytes, size_t n, struct record_file *ret, struct err *err);

/* The records of a file that was scanned, marks left out, in order.  -1 from fn ends
 * it and is passed on. */
typedef int record_fn(void *arg, uint8_t type, const char *body, size_t n, struct err *err);
int record_each(const char *bytes, const struct record_file *file, record_fn *fn, void *arg,
                struct err *err);

#endif
