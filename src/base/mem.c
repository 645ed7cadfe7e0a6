/* SPDX-License-Identifier: MIT */
/* mem.c - see mem.h. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

void *xalloc(size_t size)
{
    return must(calloc(1, size ? size : 1));
}

void *xresize(void *p, size_t size)
{
    return must(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
    return must(strdup(s));
}

char *xmemdup(const char *s, size_t n)
{
    char *copy = must(n < SIZE_MAX ? malloc(n + 1) : NULL);

    if (n > 0)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *xprintf(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&s, fmt, ap);
    va_end(ap);
    return must(n < 0 ? NULL : s);
}
