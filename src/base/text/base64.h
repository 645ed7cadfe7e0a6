/* SPDX-License-Identifier: MIT */
/* base64.h - base64 that is safe in URLs, shell lines and file names: A-Z a-z 0-9 - _ without
 * padding (RFC 4648, section 5).  Decoding is strict: each byte string has exactly one text. */
#ifndef BASE_TEXT_BASE64_H
#define BASE_TEXT_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#define BASE64_SIZE(n) (((n)*4 + 2) / 3 + 1) /* size of the text for n bytes, including NUL */

void base64_write(const void *bytes, size_t n, char *to);
/* True if the text decodes to exactly n bytes. */
bool base64_read(const char *text, void *to, size_t n);

#endif
