/* SPDX-License-Identifier: MIT */
/* readable.h - a text that may be a message (base/text/msg.h), as a reader sees it. */
#ifndef TESTS_LIB_READABLE_H
#define TESTS_LIB_READABLE_H

#include <stddef.h>
#include <stdio.h>

#include "model/translate.h"

static inline void readable(char *to, size_t size, const char *text, enum lang lang)
{
    struct buf b = { 0 };

    translate_put(&b, text, lang);
    snprintf(to, size, "%s", buf_text(&b));
    buf_free(&b);
}

/* In English; good until the next but 7. */
static inline const char *english(const char *text)
{
    static char texts[8][16384];
    static size_t at;

    at = (at + 1) % 8;
    readable(texts[at], sizeof(texts[at]), text, LANG_EN);
    return texts[at];
}

#endif
