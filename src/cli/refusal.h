/* SPDX-License-Identifier: MIT */
/* refusal.h - error answers of /v1, and their presentation. */
#ifndef CLI_REFUSAL_H
#define CLI_REFUSAL_H

#include "cli/client.h"
#include "wire/json/shape.h"

struct refusal_error {
    const char *code, *message, *request_id;
    int64_t number; /* a code of model/code */
};

struct refusal {
    struct refusal_error error;
};

extern const struct shape refusal_shape;

/* Sets err from an error answer; returns -1.  Fills *ret in any case, with its texts in the
 * arena.  `app` is the app that the request was sent as, "" for none. */
int refusal_read(const struct client_answer *answer, const char *address, const char *app,
                 enum lang lang, struct arena *a, struct refusal *ret, struct err *err);

/* Whether the server's text is in another language than English. */
bool refusal_is_translated(const char *text);

/* The same for an error of our own, for --json.  Its text is in the arena or in *err. */
struct refusal refusal_of(const struct err *err, enum lang lang, struct arena *a);

#endif
