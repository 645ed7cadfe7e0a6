/* SPDX-License-Identifier: MIT */
/* err.c - see err.h. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const char *const names[ERR_BASE_CODES] = {
    [ERR_NONE] = "ok",
    [ERR_INVALID] = "invalid",
    [ERR_MALFORMED] = "malformed",
    [ERR_NOT_FOUND] = "not_found",
    [ERR_CONFLICT] = "conflict",
    [ERR_DENIED] = "denied",
    [ERR_LIMIT] = "limit",
    [ERR_TIMEOUT] = "timeout",
    [ERR_UNAVAILABLE] = "unavailable",
    [ERR_SYSTEM] = "system",
};

/* A text that was cut may end inside a character; such an end is taken off.
 * What cannot be printed at all leaves an empty text, never an undefined one. */
static void print(char *to, size_t size, const char *fmt, va_list ap)
{
    int n = vsnprintf(to, size, fmt, ap);

    if (n < 0)
        to[0] = '\0';
    if (n >= (int)size)
        to[utf8_whole(to, size - 1)] = '\0';
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    struct err new = { .code = code };
    va_list ap;

    va_start(ap, fmt);
    print(new.text, sizeof(new.text), fmt, ap);
    va_end(ap);
    *err = new; /* only now: the arguments may point into the old one */
    return -1;
}

int err_sys(struct err *err, const char *fmt, ...)
{
    int saved = errno;
    char what[sizeof(err->text) - 64];
    va_list ap;

    va_start(ap, fmt);
    print(what, sizeof(what), fmt, ap);
    va_end(ap);
    err_set(err, ERR_SYSTEM, "%s: %s", what, strerror(saved));
    err->sys = saved;
    return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    struct err cause = *err;
    char doing[sizeof(err->text) / 2];
    va_list ap;

    va_start(ap, fmt);
    print(doing, sizeof(doing), fmt, ap);
    va_end(ap);
    err_set(err, cause.code, "%s: %s", doing, cause.text);
    err->sys = cause.sys;
    return -1;
}

const char *err_name(int code)
{
    return code >= 0 && code < ERR_BASE_CODES ? names[code] : NULL;
}
