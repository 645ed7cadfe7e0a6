/* SPDX-License-Identifier: MIT */
/* dialect.h - envelopes of answers: BlueKing's ESB, API gateway and Job, and our /v1.
 *
 * A failure is either a struct err, from reading the parameters or from the handler, or a refusal
 * (refusal.h), before the parameters were read. */
#ifndef API_PIPELINE_DIALECT_H
#define API_PIPELINE_DIALECT_H

#include <stdbool.h>

#include "api/auth/refusal.h"
#include "base/mem/buf.h"
#include "base/text/err.h"

enum { METHOD_GET = 1 << 0, METHOD_POST = 1 << 1, METHOD_PUT = 1 << 2, METHOD_DELETE = 1 << 3 };
enum { METHODS = 4 };

/* By bit number. */
extern const struct method {
    const char *name, *lower;
} methods_known[METHODS];

const char *method_name(unsigned methods); /* of one bit; POST if it is set */

/* What an answer needs to know about its request. */
struct answer_context {
    const char *request_id;
    enum lang lang;
    const char *action; /* the action that was denied, as one word; NULL: not shown */
};

/* Number and name of a failure in a dialect. */
struct dialect_code {
    int number;
    const char *name; /* "": the dialect has no names */
};

struct dialect {
    enum dialect_kind kind;
    unsigned methods; /* methods that the dialect supports */

    /* A success is the output of open(), the data, and the output of close(). */
    void (*open)(struct buf *out);
    void (*close)(const char *request_id, struct buf *out);

    /* Write a failure; return the HTTP status. */
    int (*put_err)(const struct err *err, const struct answer_context *t, struct buf *out);
    int (*put_refusal)(enum refusal why, const char *about, const struct answer_context *t,
                       struct buf *out);
    struct dialect_code (*code)(const struct err *err); /* the one that put_err() writes */
};

extern const struct dialect dialects[DIALECTS];

/* Whether a failure is the server's fault: its text is logged and not sent to the caller. */
bool dialect_is_ours(const struct err *err);

#endif
