/* SPDX-License-Identifier: MIT */
/* hex.h - bytes as hexadecimal text.  Writes and accepts lower case only, so that equal bytes
 * have equal texts. */
#ifndef BASE_TEXT_HEX_H
#define BASE_TEXT_HEX_H

#include <stdbool.h>
#include <stddef.h>

#define HEX_SIZE(n) (2 * (n) + 1) /* size of the text for n bytes, including NUL */

void hex_write(const void *bytes, size_t n, char *to);
bool hex_read(const char *text, void *to, size_t n); /* true if the text is exactly n bytes */

#endif
