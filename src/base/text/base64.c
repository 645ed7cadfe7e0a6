/* SPDX-License-Identifier: MIT */
/* base64.c - see base64.h. */
#include "base/text/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64_write(const void *bytes, size_t n, char *to)
{
    const unsigned char *p = bytes;
    unsigned held = 0, bits = 0;

    for (size_t i = 0; i < n; i++) {
        held = (held << 8 | p[i]) & 0xffff;
        for (bits += 8; bits >= 6; bits -= 6)
            *to++ = digits[held >> (bits - 6) & 63];
    }
    if (bits > 0)
        *to++ = digits[held << (6 - bits) & 63];
    *to = '\0';
}

bool base64_read(const char *text, void *to, size_t n)
{
    unsigned char *p = to;
    unsigned held = 0, bits = 0;

    if (strlen(text) != BASE64_SIZE(n) - 1)
        return false;
    for (; *text; text++) {
        const char *at = strchr(digits, *text);

        if (!at)
            return false;
        held = (held << 6 | (unsigned)(at - digits)) & 0xffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            *p++ = (unsigned char)(held >> bits);
        }
    }
    return (held & ((1u << bits) - 1)) == 0; /* each byte string has one encoding */
}
