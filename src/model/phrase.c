/* SPDX-License-Identifier: MIT */
/* phrase.c - see phrase.h. */
#include "model/phrase.h"

#include <ctype.h>

/* The argument for the placeholder at p ("{1}"); NULL if there is none. */
static const char *phrase_place(const char *p, const char *const *args)
{
    if (p[0] != '{' || !isdigit((unsigned char)p[1]) || p[2] != '}')
        return NULL;
    for (int i = 0; args && args[i]; i++) {
        if (i == p[1] - '0')
            return args[i];
    }
    return NULL;
}

void phrase_put(struct buf *b, const char *phrase, const char *const *args)
{
    for (const char *p = phrase; *p; p++) {
        const char *arg = phrase_place(p, args);

        if (!arg) {
            buf_addc(b, *p);
            continue;
        }
        buf_puts(b, arg);
        p += 2;
    }
}
