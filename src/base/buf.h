/* SPDX-License-Identifier: MIT */
/* buf.h - bytes that grow at the end and are taken from the front.
 *
 * A buf that is all zeroes is empty and ready.  buf_data() is good until the
 * next call that adds.  Text is built here too: buf_text() gives it with a NUL
 * behind. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
    char *block;
    size_t start, len, cap; /* bytes are block[start .. start+len) */
};

static inline char *buf_data(const struct buf *b)
{
    return b->block ? b->block + b->start : NULL;
}

char *buf_reserve(struct buf *b, size_t n); /* room for n more, at the end; not yet counted */
void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_addc(struct buf *b, char c);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_put_int(struct buf *b, int64_t n);

/* Adds n bytes as a JSON string in quotes.  Bytes that are not UTF-8 become
 * U+FFFD, so that what comes out is always a valid string. */
void buf_quote(struct buf *b, const char *s, size_t n);

/* How many of the first n bytes stand in a JSON string as they are: printable
 * ASCII but for quote and backslash. */
size_t buf_plain(const char *s, size_t n);

void buf_drop(struct buf *b, size_t n);     /* the first n bytes are done with */
void buf_truncate(struct buf *b, size_t n); /* keeps the first n bytes */
const char *buf_text(struct buf *b);        /* with a NUL behind; "" when empty */
void buf_free(struct buf *b);               /* empty and usable again */

#endif
