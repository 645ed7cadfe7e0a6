/* SPDX-License-Identifier: MIT */
/* record.c - see record.h. */
#include "agent/persist/record.h"

#include <stdbool.h>
#include <string.h>

#include "agent/persist/crc.h"

static const char magic[] = "HOLDFJ1\n";

enum { MAGIC_BYTES = sizeof(magic) - 1, CHECKED_BYTES = 9, MARK_BYTES = 8 };

static void write_number(char *to, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (char)(number >> (8 * i));
}

static uint64_t record_read_number(const char *from, size_t bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)(unsigned char)from[i] << (8 * i);
    return number;
}

void record_put_head(struct buf *b, uint64_t id)
{
    char head[RECORD_FILE_HEAD];

    memcpy(head, magic, MAGIC_BYTES);
    write_number(head + MAGIC_BYTES, id, 8);
    write_number(head + MAGIC_BYTES + 8, crc32c(0, head, MAGIC_BYTES + 8), 4);
    buf_add(b, head, sizeof(head));
}

static uint32_t head_crc(uint64_t id, uint64_t offset, const char *head)
{
    char place[16];

    write_number(place, id, 8);
    write_number(place + 8, offset, 8);
    return crc32c(crc32c(0, place, sizeof(place)), head, CHECKED_BYTES);
}

void record_put(struct buf *b, uint64_t id, uint64_t offset, uint8_t type, const void *body,
                size_t n)
{
    char head[RECORD_HEAD];

    write_number(head, n, 4);
    head[4] = (char)type;
    write_number(head + 5, crc32c(0, body, n), 4);
    write_number(head + CHECKED_BYTES, head_crc(id, offset, head), 4);
    buf_add(b, head, sizeof(head));
    buf_add(b, body, n);
}

void record_put_mark(struct buf *b, uint64_t id, uint64_t offset, uint64_t synced)
{
    char body[MARK_BYTES];

    write_number(body, synced, sizeof(body));
    record_put(b, id, offset, RECORD_MARK, body, sizeof(body));
}

struct record {
    uint8_t type;
    const char *body;
    size_t n, size; /* of the body; of the record with its head */
};

/* Does not validate the head. */
static struct record at(const char *bytes, size_t offset)
{
    struct record r = { .type = (uint8_t)bytes[offset + 4],
                        .body = bytes + offset + RECORD_HEAD,
                        .n = record_read_number(bytes + offset, 4) };

    r.size = r.n + RECORD_HEAD;
    return r;
}

static bool is_good(const char *bytes, size_t n, uint64_t id, size_t offset)
{
    struct record r;

    if (n - offset < RECORD_HEAD)
        return false;
    r = at(bytes, offset);
    return r.n <= RECORD_BODY_MAX && r.size <= n - offset &&
           record_read_number(bytes + offset + CHECKED_BYTES, 4) ==
               head_crc(id, offset, bytes + offset) &&
           record_read_number(bytes + offset + 5, 4) == crc32c(0, r.body, r.n);
}

/* Number of bytes covered by the mark at this offset; 0: not a mark. */
static size_t vouched_at(const char *bytes, size_t n, uint64_t id, size_t offset)
{
    struct record r;
    uint64_t synced;

    if (n - offset < RECORD_HEAD)
        return 0;
    r = at(bytes, offset);
    if (r.type != RECORD_MARK || r.n != MARK_BYTES || !is_good(bytes, n, id, offset))
        return 0;
    synced = record_read_number(r.body, MARK_BYTES);
    return synced < offset ? (size_t)synced : offset;
}

static int scan_head(const char *bytes, size_t n, struct record_file *ret, struct err *err)
{
    if (n < RECORD_FILE_HEAD || memcmp(bytes, magic, MAGIC_BYTES) != 0 ||
        record_read_number(bytes + MAGIC_BYTES + 8, 4) != crc32c(0, bytes, MAGIC_BYTES + 8))
        return err_set(err, ERR_MALFORMED,
                       "damaged at byte 0: it does not begin as a journal does");
    *ret = (struct record_file){ .id = record_read_number(bytes + MAGIC_BYTES, 8),
                                 .end = RECORD_FILE_HEAD };
    return 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

int record_scan(const char *bytes, size_t n, struct record_file *ret, struct err *err)
{
    struct record_file f;

    if (scan_head(bytes, n, &f, err))
        return -1;
    while (is_good(bytes, n, f.id, f.end)) {
        f.synced = larger(f.synced, vouched_at(bytes, n, f.id, f.end));
        f.count += at(bytes, f.end).type != RECORD_MARK;
        f.end += at(bytes, f.end).size;
    }
    for (size_t i = f.end + 1; i < n; i++)
        f.synced = larger(f.synced, vouched_at(bytes, n, f.id, i));
    if (f.synced > f.end)
        return err_set(err, ERR_MALFORMED,
                       "damaged at byte %zu of %zu: that record was safely written once, as all up "
                       "to byte %zu was",
                       f.end, n, f.synced);
    *ret = f;
    return 0;
}

int record_each(const char *bytes, const struct record_file *file, record_fn *fn, void *arg,
                struct err *err)
{
    struct record r;

    for (size_t offset = RECORD_FILE_HEAD; offset < file->end; offset += r.size) {
        r = at(bytes, offset);
        if (r.type != RECORD_MARK && fn(arg, r.type, r.body, r.n, err))
            return -1;
    }
    return 0;
}
