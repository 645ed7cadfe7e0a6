/* SPDX-License-Identifier: MIT */
/* hex.h - bytes as hexadecimal text.  Small letters only, both ways: so equal
 * bytes are equal text. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>

#define HEX_SIZE(n) (2 * (n) + 1) /* of the text for n bytes, NUL included */

void hex_write(const void *bytes, size_t n, char *to);
bool hex_read(const char *text, void *to, size_t n); /* whether it is exactly n bytes */

#endif
