/* SPDX-License-Identifier: MIT */
/* http_chars.h - classes of bytes in HTTP/1.1 (RFC 9110, 9112, 3986).
 *
 * There is one table, so that the head, the chunks, the trailers and our own answers follow the
 * same rules. */
#ifndef WIRE_HTTP_HTTP_CHARS_H
#define WIRE_HTTP_HTTP_CHARS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_TOKEN = 1 << 0,  /* methods, header names */
    HTTP_VALUE = 1 << 1,  /* header values: all except control characters other than HTAB */
    HTTP_TARGET = 1 << 2, /* request targets: visible ASCII without '#' */
    HTTP_HOST = 1 << 3,   /* host and port */
    HTTP_HEX = 1 << 4,
    HTTP_DIGIT = 1 << 5,
};

extern const unsigned char http_chars[256];

static inline bool http_char_is(char c, unsigned kind)
{
    return http_chars[(unsigned char)c] & kind;
}

/* Length of the longest prefix of the n bytes that has only bytes of this kind. */
static inline size_t http_run(const char *p, size_t n, unsigned kind)
{
    size_t i = 0;

    while (i < n && http_char_is(p[i], kind))
        i++;
    return i;
}

/* The value of a byte that is HTTP_HEX. */
static inline unsigned http_hex(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

#endif
