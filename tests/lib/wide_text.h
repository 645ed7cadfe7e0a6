/* SPDX-License-Identifier: MIT */
/* wide_text.h - long texts of characters with several bytes, for tests of what is cut: wherever it
 * is cut, no character may be. */
#ifndef TESTS_LIB_WIDE_TEXT_H
#define TESTS_LIB_WIDE_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/text/utf8.h"

enum { WIDE_TEXTS = 12, WIDE_TEXT_BYTES = 12000 };

/* The i-th of WIDE_TEXTS: characters of 2, 3 or 4 bytes, behind 0 to 3 bytes of ASCII, so that a
 * cut at any place falls into each byte of one of them. */
static inline const char *wide_text(size_t i)
{
    static const char *const wide[] = { "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80" };
    static char text[WIDE_TEXT_BYTES + 1];
    const char *c = wide[i % 3];
    size_t n = i / 3;

    memset(text, 'a', n);
    for (; n + strlen(c) <= WIDE_TEXT_BYTES; n += strlen(c))
        memcpy(text + n, c, strlen(c));
    text[n] = '\0';
    return text;
}

static inline void assert_whole_text(const char *text)
{
    if (utf8_valid(text, strlen(text)) != strlen(text))
        fail_msg("cut inside of a character: %s", text);
}

#endif
