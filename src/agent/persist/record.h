/* SPDX-License-Identifier: MIT */
/* record.h - file format of the journal, with detection of torn ends and of damage.
 *
 *     file    "HOLDFJ1\n", u64 id, u32 crc of those
 *     record  u32 length, u8 type, u32 crc of the body, u32 crc of (id, the record's
 *             offset, the 9 bytes before), body; numbers little-endian, crc32c
 *
 * A record is valid only in its own file and at its own offset. So bytes inside a body, or left in
 * a block by an older file, are never taken for a record.
 *
 * Type 0 is a mark: "the first N bytes of this file have been synced". Marks tell a torn end from
 * damage: bytes not covered by a mark were never reported as durable, and a crash may lose any of
 * them. A bad record that is covered by a mark is damage, wherever in the file that mark is. */
#ifndef AGENT_PERSIST_RECORD_H
#define AGENT_PERSIST_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem/buf.h"
#include "base/text/err.h"

enum {
    RECORD_FILE_HEAD = 20,
    RECORD_HEAD = 13,
    RECORD_BODY_MAX = 1 << 20,
    RECORD_MARK = 0, /* the type of a mark */
};

/* Both append to `b`; `offset` is the file offset of its end. */
void record_put_head(struct buf *b, uint64_t id);
void record_put(struct buf *b, uint64_t id, uint64_t offset, uint8_t type, const void *body,
                size_t n);
void record_put_mark(struct buf *b, uint64_t id, uint64_t offset, uint64_t synced);

struct record_file {
    uint64_t id;
    size_t end;    /* after the last valid record; the rest is torn */
    size_t synced; /* bytes covered by marks */
    size_t count;  /* records, without marks */
};

/* Checks all bytes of a file; ERR_MALFORMED, with the offset: it is damaged. */
int record_scan(const char *bytes, size_t n, struct record_file *ret, struct err *err);

/* Passes the records of a scanned file to fn in order, without marks. -1 from fn stops and is
 * returned. */
typedef int record_fn(void *arg, uint8_t type, const char *body, size_t n, struct err *err);
int record_each(const char *bytes, const struct record_file *file, record_fn *fn, void *arg,
                struct err *err);

#endif
