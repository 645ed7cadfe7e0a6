/* SPDX-License-Identifier: MIT */
/* utf8.h - is this text?  Well-formed UTF-8 as Unicode defines it: no
 * overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at p (1 to 4), or 0 if none that is well formed
 * starts there within n bytes. */
size_t utf8_char(const char *p, size_t n);

/* How many of the first n bytes are well formed; n if all are. */
size_t utf8_valid(const char *p, size_t n);

/* n, less a character that is cut off at the end. */
size_t utf8_whole(const char *p, size_t n);

/* Writes code point c (which must not be a surrogate) to at least 4 bytes;
 * returns how many it took. */
size_t utf8_put(char *to, uint32_t c);

#endif
