/* SPDX-License-Identifier: MIT */
/* err.h - one failure: its code, and its story from the outside in.
 *
 * A function that can fail returns 0 or -1 and takes `struct err *err` last.
 * On -1 it has filled *err and touched no result; on 0 it has set every result
 * and not touched *err.  A caller either handles the failure, or adds what it
 * was trying to do with err_wrap() and returns -1 itself.  Only the edge (main,
 * a request, an event) logs it.
 *
 * Codes below ERR_BASE_CODES are general and named here.  Higher ones belong to
 * the layers above, which keep them in one table with their texts. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_code {
    ERR_NONE,
    ERR_INVALID,   /* the input is wrong; sending it again cannot help */
    ERR_MALFORMED, /* the bytes are not of the format at all: no JSON, no frame */
    ERR_NOT_FOUND,
    ERR_CONFLICT, /* valid, but not in the state things are in */
    ERR_DENIED,
    ERR_LIMIT, /* too large, too many, too deep */
    ERR_TIMEOUT,
    ERR_UNAVAILABLE, /* a peer is away; trying again may help */
    ERR_SYSTEM,      /* a system call failed; errno is kept in .sys */
    ERR_BASE_CODES
};

struct err {
    int code;
    int sys;
    char text[512]; /* always valid UTF-8 if what was put in was */
};

/* All three return -1, so that a failure is reported and returned in one
 * statement.  err_wrap() keeps code and sys and puts its text in front.  The
 * old text may be among the arguments. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_sys(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The name of a general code ("invalid"), or NULL for one of a higher layer. */
const char *err_name(int code);

#endif
