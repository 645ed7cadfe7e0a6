/* SPDX-License-Identifier: MIT */
/* dialect.h - how an answer is wrapped: BlueKing's ESB and API gateway, its Job, and our
 * /v1.
 *
 * A failure is either a struct err, from reading the parameters or doing what was asked, or
 * a refusal (refusal.h), before anything was read. */
#ifndef API_DIALECT_H
#define API_DIALECT_H

#include <stdbool.h>

#include "api/refusal.h"
#include "base/buf.h"
#include "base/err.h"

enum { METHOD_GET = 1 << 0, METHOD_POST = 1 << 1, METHOD_PUT = 1 << 2, METHOD_DELETE = 1 << 3 };
enum { METHODS = 4 };

/* By the number of the bit. */
extern const struct method {
    const char *name, *lower;
} methods_known[METHODS];

const char *method_name(unsigned methods); /* of one of them: POST if it is there */

/* Who is told, and about which request. */
struct teller {
    const char *request_id;
    enum lang lang;
    const char *action; /* what it was that the app may not do, in a word; NULL: not told */
};

/* What a failure is called by. */
struct dialect_code {
    int number;
    const char *name; /* "": it has none there */
};

struct dialect {
    enum dialect_kind kind;
    unsigned methods; /* that it knows at all */

    /* A success is what open() writes, the data, and what close() writes. */
    void (*open)(struct buf *out);
    void (*close)(const char *request_id, struct buf *out);

    /* Writes a failure; returns the HTTP status. */
    int (*put_err)(const struct err *err, const struct teller *t, struct buf *out);
    int (*put_refusal)(enum refusal why, const char *about, const struct teller *t,
                       struct buf *out);
    struct dialect_code (*code)(const struct err *err); /* that put_err() writes */
};

extern const struct dialect dialects[DIALECTS];

/* Whether a failure is ours, so that its text is for the log and not for the caller. */
bool dialect_is_ours(const struct err *err);

#endif
