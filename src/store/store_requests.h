/* SPDX-License-Identifier: MIT */
/* store_requests.h - requests that carry a key of their own, so that asking again does
 * nothing again: verbs of store.h.
 *
 * A key belongs to an app.  It is taken before anything is done, and has the answer from
 * when that was done well; one that went wrong is let go.  A key older than the limit is as
 * good as none. */
#ifndef STORE_STORE_REQUESTS_H
#define STORE_STORE_REQUESTS_H

#include "store/store.h"

struct request_row {
    const char *app, *key;
    const char *digest; /* of what is asked */
    int64_t created_ms;
    int64_t status; /* of the answer; 0: there is none */
    const char *answer;
};

/* request_begin_ask; request_begin_got. */
struct request_begin_ask {
    struct request_row row; /* without an answer */
    int64_t oldest_ms;      /* what is older is forgotten */
};

struct request_begin_got {
    bool is_new;         /* it was nobody's, and is the caller's now */
    struct list rows;    /* of request_row: else the one that has it */
    const char *task_id; /* of the task that was made by it since; "": none */
    int64_t task_items;
};

extern const struct store_verb store_request_begin;

extern const struct store_verb store_request_end;  /* request_row: its answer; nothing */
extern const struct store_verb store_request_drop; /* request_row: its app and key; nothing */

#endif
