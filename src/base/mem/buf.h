/* SPDX-License-Identifier: MIT */
/* buf.h - a byte buffer that grows at the end and shrinks from the front.
 *
 * A buf of all zeroes is empty and ready.  The pointer of buf_data() is valid until the next
 * call that adds bytes.  Text is built here too: buf_text() appends a NUL that does not count. */
#ifndef BASE_MEM_BUF_H
#define BASE_MEM_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/msg.h"

struct buf {
    char *block;
    size_t start, len, cap; /* the bytes are block[start .. start+len) */
};

static inline char *buf_data(const struct buf *b)
{
    return b->block ? b->block + b->start : NULL;
}

/* Makes room for n bytes at the end and returns it; len does not change. */
char *buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_addc(struct buf *b, char c);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_put_msg(struct buf *b, const char *text, msg_row_of *row_of, int lang); /* as msg_put() */
void buf_put_int(struct buf *b, int64_t n);

/* Adds n bytes as a JSON string in quotes.  Bytes that are not UTF-8 become U+FFFD, so the
 * result is always a valid string. */
void buf_quote(struct buf *b, const char *s, size_t n);

/* How many of the first n bytes need no escape in a JSON string: printable ASCII except quote
 * and backslash. */
size_t buf_plain(const char *s, size_t n);

void buf_drop(struct buf *b, size_t n);     /* removes the first n bytes */
void buf_truncate(struct buf *b, size_t n); /* keeps the first n bytes */
const char *buf_text(struct buf *b);        /* NUL-terminated; "" if empty */
void buf_free(struct buf *b);               /* empty again and usable */

#endif
