/* SPDX-License-Identifier: MIT */
/* refusal.h - what /v1 says when it does not do something, and how that is told. */
#ifndef CLI_REFUSAL_H
#define CLI_REFUSAL_H

#include "cli/client.h"
#include "wire/shape.h"

struct refusal_error {
    const char *code, *message, *request_id;
    int64_t number; /* of model/code */
};

struct refusal {
    struct refusal_error error;
};

extern const struct shape refusal_shape;

/* An err for an answer that is no success; returns -1.  Fills *ret, the texts in the
 * arena, whatever the answer was.  `app` is who asked, "" if nobody did. */
int refusal_read(const struct client_answer *answer, const char *address, const char *app,
                 enum lang lang, struct arena *a, struct refusal *ret, struct err *err);

/* Whether the server told it in another language than English. */
bool refusal_is_translated(const char *text);

/* The same of a failure of our own, for --json. */
struct refusal refusal_of(const struct err *err);

#endif
