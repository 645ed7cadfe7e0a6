/* SPDX-License-Identifier: MIT */
/* err.h - an error: its code, and a message that reads from the outermost caller inwards.
 *
 * A function that can fail returns 0 or -1 and takes `struct err *err` last.  On -1 it has
 * filled *err and touched no result; on 0 it has set every result and not touched *err.  A
 * caller either handles the failure, or adds what it was trying to do with err_wrap() and
 * returns -1 itself.  Only the edge (main, a request, an event) logs it.
 *
 * Codes below ERR_BASE_CODES are general and named here.  Higher codes belong to the layers
 * above, which keep them in one table with their texts. */
#ifndef BASE_TEXT_ERR_H
#define BASE_TEXT_ERR_H

#include "base/text/msg.h"

enum err_code {
    ERR_NONE,
    ERR_INVALID,   /* the input is wrong; sending it again does not help */
    ERR_MALFORMED, /* the bytes do not have the format at all: no JSON, no frame */
    ERR_NOT_FOUND,
    ERR_CONFLICT, /* valid, but not allowed in the current state */
    ERR_DENIED,
    ERR_LIMIT, /* too large, too many, too deep */
    ERR_TIMEOUT,
    ERR_UNAVAILABLE, /* a peer is unreachable; trying again may help */
    ERR_SYSTEM,      /* a system call failed; .sys is its errno */
    ERR_BASE_CODES
};

enum { ERR_TEXT_BYTES = 512, ERR_MSG_BYTES = 768 };

struct err {
    int code;
    int sys;
    char text[ERR_TEXT_BYTES]; /* in English; valid UTF-8, provided that the arguments were */
    char msg[ERR_MSG_BYTES];   /* the same as a message; "" if it does not fit */
};

/* All three return -1, so that a failure is set and returned in one statement.  err_wrap() keeps
 * code and sys and prepends its text.  The old text or message may be one of the arguments. */
int err_set(struct err *err, int code, const char *fmt, ...) MSG_FORMAT(3, 4);
int err_sys(struct err *err, const char *fmt, ...) MSG_FORMAT(2, 3);
int err_wrap(struct err *err, const char *fmt, ...) MSG_FORMAT(2, 3);

/* The message; the English text if it was too long for one. */
static inline const char *err_msg(const struct err *err)
{
    return *err->msg ? err->msg : err->text;
}

/* The name of a general code ("invalid"); NULL for a code of a higher layer. */
const char *err_name(int code);

#endif
