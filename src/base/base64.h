/* SPDX-License-Identifier: MIT */
/* base64.h - bytes as text that may stand in a URL, a shell line or a file name:
 * A-Z a-z 0-9 - _ without padding (RFC 4648, section 5).  Reading is strict, so
 * bytes have one text only. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#define BASE64_SIZE(n) (((n)*4 + 2) / 3 + 1) /* of the text for n bytes, NUL included */

void base64_write(const void *bytes, size_t n, char *to);
bool base64_read(const char *text, void *to, size_t n); /* whether it is exactly n bytes */

#endif
