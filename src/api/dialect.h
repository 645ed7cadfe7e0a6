/* SPDX-License-Identifier: MIT */
/* dialect.h - how an answer is wrapped: BlueKing's ESB and API gateway, and our /v1.
 *
 * A failure is either a struct err, from reading the parameters or doing what was asked, or
 * a refusal, before anything was read.  Both are tables here: what each dialect says. */
#ifndef API_DIALECT_H
#define API_DIALECT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum dialect_kind { DIALECT_ESB, DIALECT_GATEWAY, DIALECT_V1, DIALECTS };

enum { METHOD_GET = 1 << 0, METHOD_POST = 1 << 1 };

/* Why a request is not looked at.  What `about` is stands beside it. */
enum refusal {
    REFUSAL_PATH,           /* method="POST" path="/x" */
    REFUSAL_METHOD,         /* the same */
    REFUSAL_TOO_LARGE,      /* the limit in bytes */
    REFUSAL_STRANGE_LARGE,  /* the same; with credentials in the header it would be higher */
    REFUSAL_BUSY,           /* - */
    REFUSAL_HEADER,         /* X-Bkapi-Authorization is no JSON object, or there are two */
    REFUSAL_BASIC,          /* Authorization is not Basic, or nothing that can be read */
    REFUSAL_NO_CREDENTIALS, /* neither secret nor signature */
    REFUSAL_NO_CODE,
    REFUSAL_NO_SECRET,
    REFUSAL_UNKNOWN_APP,  /* its code */
    REFUSAL_WRONG_SECRET, /* the app's code */
    REFUSAL_SIGNATURE,
    REFUSAL_NONCE_NONE,
    REFUSAL_NONCE_ILLEGAL,
    REFUSAL_NONCE_NEGATIVE,
    REFUSAL_TIME_NONE,
    REFUSAL_TIME_ILLEGAL,
    REFUSAL_TIME_EXPIRED,
    REFUSAL_RIGHT, /* the component */
    REFUSALS
};

struct dialect {
    enum dialect_kind kind;
    unsigned methods; /* that it knows at all */

    /* A success is what open() writes, the data, and what close() writes. */
    void (*open)(struct buf *out);
    void (*close)(const char *request_id, struct buf *out);

    /* Writes a failure; returns the HTTP status. */
    int (*put_err)(const struct err *err, const char *request_id, struct buf *out);
    int (*put_refusal)(enum refusal why, const char *about, const char *request_id,
                       struct buf *out);
};

extern const struct dialect dialects[DIALECTS];

/* Whether a failure is ours, so that its text is for the log and not for the caller. */
bool dialect_is_ours(const struct err *err);

#endif
