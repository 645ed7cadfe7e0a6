/* SPDX-License-Identifier: MIT */
/* hex.c - see hex.h. */
#include "base/text/hex.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

void hex_write(const void *bytes, size_t n, char *to)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++) {
        *to++ = digits[p[i] >> 4];
        *to++ = digits[p[i] & 15];
    }
    *to = '\0';
}

/* Returns -1 if c is not a digit. */
static int digit_value(char c)
{
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

bool hex_read(const char *text, void *to, size_t n)
{
    unsigned char *p = to;

    if (strlen(text) != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        p[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
