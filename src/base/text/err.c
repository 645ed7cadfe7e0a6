/* SPDX-License-Identifier: MIT */
/* err.c - see err.h. */
#include "base/text/err.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text/msg.h"

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

/* The arguments may point into *err, so it is assigned last.  A message that is cut is no message:
 * then only the English text is left. */
static void set(struct err *err, int code, int sys, const char *fmt, va_list ap)
{
    struct err new = { .code = code, .sys = sys };

    msg_vprintf(new.msg, sizeof(new.msg), fmt, ap);
    if (msg_is(new.msg)) {
        msg_put(new.text, sizeof(new.text), new.msg, NULL, 0);
    } else {
        msg_vprintf_english(new.text, sizeof(new.text), fmt, ap);
        *new.msg = '\0';
    }
    *err = new;
}

static void set_args(struct err *err, int code, int sys, const char *fmt, ...) MSG_FORMAT(4, 5);

static void set_args(struct err *err, int code, int sys, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set(err, code, sys, fmt, ap);
    va_end(ap);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set(err, code, 0, fmt, ap);
    va_end(ap);
    return -1;
}

/* What was being done must leave room for the reason. */
static const char *doing_text(const struct err *doing, char room[ERR_TEXT_BYTES / 2])
{
    if (*doing->msg && strlen(doing->text) < ERR_TEXT_BYTES / 2)
        return doing->msg;
    msg_copy(room, ERR_TEXT_BYTES / 2, doing->text);
    return room;
}

int err_sys(struct err *err, const char *fmt, ...)
{
    int saved = errno;
    char reason[128], room[ERR_TEXT_BYTES / 2];
    struct err doing;
    va_list ap;

    va_start(ap, fmt);
    set(&doing, ERR_SYSTEM, saved, fmt, ap);
    va_end(ap);
    msg_constant(reason, sizeof(reason), strerror(saved));
    set_args(err, ERR_SYSTEM, saved, "%s: %s", doing_text(&doing, room), reason);
    return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    char room[ERR_TEXT_BYTES / 2];
    struct err doing;
    va_list ap;

    va_start(ap, fmt);
    set(&doing, err->code, err->sys, fmt, ap);
    va_end(ap);
    set_args(err, err->code, err->sys, "%s: %s", doing_text(&doing, room), err_msg(err));
    return -1;
}

const char *err_name(int code)
{
    return code >= 0 && code < ERR_BASE_CODES ? names[code] : NULL;
}
