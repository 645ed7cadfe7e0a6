/* SPDX-License-Identifier: MIT */
/* buf.c - see buf.h. */
#include "base/mem/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"

enum { CAP_MIN = 256 };

/* Moves the bytes to the front of the block before it grows the block, but only if at least half
 * of it is free: otherwise each small buf_drop() could cost a move of all bytes. */
char *buf_reserve(struct buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : CAP_MIN;

    if (n > SIZE_MAX / 4 - b->len)
        abort();
    if (b->cap - b->start - b->len >= n && b->block)
        return b->block + b->start + b->len;
    if (b->start >= b->cap / 2 && b->cap - b->len >= n && b->block) {
        memmove(b->block, b->block + b->start, b->len);
        b->start = 0;
        return b->block + b->len;
    }
    while (cap - b->start < b->len + n)
        cap *= 2;
    b->block = xresize(b->block, cap);
    b->cap = cap;
    return b->block + b->start + b->len;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    memcpy(buf_reserve(b, n), bytes, n);
    b->len += n;
}

void buf_addc(struct buf *b, char c)
{
    *buf_reserve(b, 1) = c;
    b->len++;
}

void buf_puts(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap); /* only measures */
    va_end(ap);
    if (n < 0)
        abort();
    va_start(ap, fmt);
    vsnprintf(buf_reserve(b, (size_t)n + 1), (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

void buf_put_msg(struct buf *b, const char *text, msg_row_of *row_of, int lang)
{
    size_t n;

    if (!msg_is(text)) {
        buf_puts(b, text);
        return;
    }
    n = msg_put(NULL, 0, text, row_of, lang);
    msg_put(buf_reserve(b, n + 1), n + 1, text, row_of, lang);
    b->len += n;
}

void buf_put_int(struct buf *b, int64_t n)
{
    char digits[24], *p = digits + sizeof(digits);
    uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;

    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (n < 0)
        *--p = '-';
    buf_add(b, p, (size_t)(digits + sizeof(digits) - p));
}

/* The letter after the backslash, for bytes with a short escape. */
static const char escapes[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
    ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
};

/* Compares eight bytes at a time.  A byte is below 32, or equals quote or backslash, exactly if
 * the subtraction below borrows out of it.  A borrow may also flag the byte above; then the
 * byte-wise loop checks again.  127 is found by adding 1, which sets the top bit. */
size_t buf_plain(const char *s, size_t n)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        uint64_t w, quote, slash;

        memcpy(&w, s + i, 8);
        quote = w ^ (ones * '"');
        slash = w ^ (ones * '\\');
        if ((w | (w - ones * 32) | (w + ones) | (quote - ones) | (slash - ones)) & high)
            break;
    }
    while (i < n && (unsigned char)s[i] >= 32 && (unsigned char)s[i] < 0x7F &&
           !escapes[(unsigned char)s[i]])
        i++;
    return i;
}

/* Escapes the character at s, which cannot be copied as it is; returns how many bytes it has. */
static size_t quote_one(struct buf *b, const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    size_t len;

    if (escapes[c]) {
        buf_addc(b, '\\');
        buf_addc(b, escapes[c]);
        return 1;
    }
    if (c < 32 || c == 0x7F) {
        buf_printf(b, "\\u%04x", c);
        return 1;
    }
    len = utf8_char(s, n);
    buf_add(b, len ? s : "\xEF\xBF\xBD", len ? len : 3);
    return len ? len : 1;
}

void buf_quote(struct buf *b, const char *s, size_t n)
{
    size_t i = 0;

    buf_reserve(b, n + 2);
    buf_addc(b, '"');
    while (i < n) {
        size_t run = buf_plain(s + i, n - i);

        buf_add(b, s + i, run);
        i += run;
        if (i < n)
            i += quote_one(b, s + i, n - i);
    }
    buf_addc(b, '"');
}

void buf_drop(struct buf *b, size_t n)
{
    if (n >= b->len) {
        b->start = b->len = 0;
        return;
    }
    b->start += n;
    b->len -= n;
}

void buf_truncate(struct buf *b, size_t n)
{
    if (n < b->len)
        b->len = n;
}

const char *buf_text(struct buf *b)
{
    *buf_reserve(b, 1) = '\0';
    return buf_data(b);
}

void buf_free(struct buf *b)
{
    free(b->block);
    *b = (struct buf){ 0 };
}
