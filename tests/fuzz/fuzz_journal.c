/* SPDX-License-Identifier: MIT */
/* fuzz_journal.c - a journal built from the input, then hurt as it says: only records
 * that were put come back, in order and from the first on, and none that a mark vouches
 * for is ever missing without an error.  Any bytes at all as a journal do no harm. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/persist/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 64, ID = 99 };

struct built {
    struct buf bytes;
    struct {
        uint8_t type;
        const uint8_t *body;
        size_t n, end;
    } records[RECORDS_MAX];
    size_t count, vouched; /* by a mark: so many records */
    size_t next;           /* while they are read back */
};

static int on_record(void *arg, uint8_t type, const char *body, size_t n, struct err *err)
{
    struct built *b = arg;

    (void)err;
    if (b->next >= b->count || b->records[b->next].type != type || b->records[b->next].n != n ||
        (n && memcmp(b->records[b->next].body, body, n) != 0))
        abort();
    b->next++;
    return 0;
}

static int ignore(void *arg, uint8_t type, const char *body, size_t n, struct err *err)
{
    (void)arg, (void)err;
    if (type == RECORD_MARK || (n && body[n - 1] == body[0] + 1000))
        abort();
    return 0;
}

/* Each step: a type (0: a mark), a length, so many bytes. */
static size_t build(struct built *b, const uint8_t *data, size_t size)
{
    size_t at = 0;

    record_put_head(&b->bytes, ID);
    while (at + 2 <= size && b->count < RECORDS_MAX && data[at] != 255) {
        uint8_t type = data[at];
        size_t n = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;

        at += 2;
        if (type == RECORD_MARK) {
            record_put_mark(&b->bytes, ID, b->bytes.len, b->bytes.len);
            b->vouched = b->count;
            continue;
        }
        record_put(&b->bytes, ID, b->bytes.len, type, data + at, n);
        b->records[b->count].type = type;
        b->records[b->count].body = data + at;
        b->records[b->count].n = n;
        b->records[b->count++].end = b->bytes.len;
        at += n;
    }
    return at;
}

/* One byte changed and the end cut off, by the last four bytes of the input.  What is
 * cut off takes its marks with it, so then only what is whole is asked for. */
static void hurt(struct built *b, const uint8_t *data, size_t size)
{
    size_t place = (size_t)(data[size - 4] << 8 | data[size - 3]) % b->bytes.len;
    size_t cut = data[size - 2] % b->bytes.len;

    if (cut)
        b->vouched = 0;
    b->bytes.len -= cut;
    if (place < b->bytes.len)
        buf_data(&b->bytes)[place] ^= (char)data[size - 1];
}

static void check_built(const uint8_t *data, size_t size)
{
    struct built b = { 0 };
    struct record_file f;
    struct err err;

    build(&b, data, size);
    if (size >= 4)
        hurt(&b, data, size);
    if (!record_scan(buf_data(&b.bytes), b.bytes.len, &f, &err)) {
        if (record_each(buf_data(&b.bytes), &f, on_record, &b, &err) || b.next != f.count ||
            f.end > b.bytes.len || (b.next < b.vouched))
            abort();
    }
    buf_free(&b.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_file f;
    struct err err;

    check_built(data, size);
    if (!record_scan((const char *)data, size, &f, &err) &&
        record_each((const char *)data, &f, ignore, NULL, &err))
        abort();
    return 0;
}
