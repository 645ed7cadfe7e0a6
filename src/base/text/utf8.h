/* SPDX-License-Identifier: MIT */
/* utf8.h - checks and cuts UTF-8.  Well-formed is defined as in Unicode: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at p (1 to 4); 0 if no well-formed character starts there within n
 * bytes. */
size_t utf8_char(const char *p, size_t n);

/* Length of the well-formed prefix of the n bytes; n if all are well formed. */
size_t utf8_valid(const char *p, size_t n);

/* n without the bytes of a character that is cut off at the end. */
size_t utf8_whole(const char *p, size_t n);

/* How many bytes to keep of a text that may have at most `max`: all, or the whole characters
 * that fit. */
size_t utf8_cut(const char *text, size_t max);

/* As snprintf(), but cuts between two characters if the text does not fit.  Returns the number
 * of bytes written, without the NUL. */
size_t utf8_printf(char *to, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
size_t utf8_vprintf(char *to, size_t size, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* Writes code point c (not a surrogate) to `to`, which has at least 4 bytes; returns the number
 * of bytes written. */
size_t utf8_put(char *to, uint32_t c);

#endif
