/* SPDX-License-Identifier: MIT */
/* english.h - whether a Chinese text has English left in it: two words beside each other that
 * are in no quotes.  Names of fields, values and programs are single words. */
#ifndef TESTS_LIB_ENGLISH_H
#define TESTS_LIB_ENGLISH_H

#include <stddef.h>
#include <string.h>

static inline size_t english_word(const char *p)
{
    return strspn(p, "abcdefghijklmnopqrstuvwxyz");
}

/* Where it begins; NULL: nowhere. */
static inline const char *english_left(const char *text)
{
    for (const char *p = text; *p;) {
        size_t n = english_word(p);
        const char *end = strchr("\"'`", *p) ? strchr(p + 1, *p) : NULL;

        if (end)
            p = end + 1;
        else if (n > 1 && p[n] == ' ' && english_word(p + n + 1) > 1)
            return p;
        else
            p += n ? n : 1;
    }
    return NULL;
}

#endif
