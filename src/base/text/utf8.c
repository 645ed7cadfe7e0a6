/* SPDX-License-Identifier: MIT */
/* utf8.c - see utf8.h. */
#include "base/text/utf8.h"

#include <stdio.h>
#include <string.h>

/* Length of a character by its first byte, and the range of its second byte; all further bytes
 * are 80..BF.  Unicode 15, table 3-7. */
static int char_length(unsigned char c, unsigned char *lo, unsigned char *hi)
{
    *lo = 0x80;
    *hi = 0xBF;
    if (c >= 0xC2 && c <= 0xDF)
        return 2;
    if (c >= 0xE0 && c <= 0xEF) {
        *lo = c == 0xE0 ? 0xA0 : 0x80;
        *hi = c == 0xED ? 0x9F : 0xBF;
        return 3;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        *lo = c == 0xF0 ? 0x90 : 0x80;
        *hi = c == 0xF4 ? 0x8F : 0xBF;
        return 4;
    }
    return 0;
}

size_t utf8_char(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned char lo, hi;
    size_t len;

    if (n == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    len = (size_t)char_length(p[0], &lo, &hi);
    if (len == 0 || len > n || p[1] < lo || p[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    }
    return len;
}

size_t utf8_valid(const char *p, size_t n)
{
    size_t at = 0;

    while (at < n) {
        uint64_t word;
        size_t len;

        if (n - at >= sizeof(word)) {
            memcpy(&word, p + at, sizeof(word));
            if (!(word & 0x8080808080808080u)) {
                at += sizeof(word);
                continue;
            }
        }
        len = utf8_char(p + at, n - at);
        if (len == 0)
            break;
        at += len;
    }
    return at;
}

size_t utf8_whole(const char *p, size_t n)
{
    size_t back = 0;

    while (back < 3 && back < n && ((unsigned char)p[n - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back < n) {
        unsigned char lo, hi, c = (unsigned char)p[n - 1 - back];
        size_t len = (size_t)char_length(c, &lo, &hi);

        if (len > back + 1)
            return n - back - 1;
    }
    return n;
}

size_t utf8_cut(const char *text, size_t max)
{
    size_t n = strnlen(text, max);

    return n == max && text[n] ? utf8_whole(text, n) : n;
}

/* If formatting fails, the text is empty, never undefined. */
size_t utf8_vprintf(char *to, size_t size, const char *fmt, va_list ap)
{
    int n = vsnprintf(to, size, fmt, ap);
    size_t put = n < 0 ? 0 : (size_t)n;

    if (put >= size)
        put = utf8_whole(to, size - 1);
    to[put] = '\0';
    return put;
}

size_t utf8_printf(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;
    size_t n;

    va_start(ap, fmt);
    n = utf8_vprintf(to, size, fmt, ap);
    va_end(ap);
    return n;
}

size_t utf8_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}
