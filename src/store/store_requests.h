/* SPDX-License-Identifier: MIT */
/* store_requests.h - idempotency keys of requests: verbs of store.h.
 *
 * A key belongs to an app.  It is stored before the request is carried out, and gets the answer
 * when the request succeeds; after a failure it is deleted.  A key older than the limit is
 * ignored. */
#ifndef STORE_STORE_REQUESTS_H
#define STORE_STORE_REQUESTS_H

#include "store/store.h"

struct request_row {
    const char *app, *key;
    const char *digest; /* of the request */
    int64_t created_ms;
    int64_t status; /* HTTP status of the answer; 0: none yet */
    const char *answer;
};

/* request_begin_ask; request_begin_got. */
struct request_begin_ask {
    struct request_row row; /* without an answer */
    int64_t oldest_ms;      /* older keys are deleted */
};

struct request_begin_got {
    bool is_new;         /* the key was free, and belongs to the caller now */
    struct list rows;    /* of request_row: the existing row if not is_new */
    const char *task_id; /* of a task that the key has created; "": none */
    int64_t task_items;
};

extern const struct store_verb store_request_begin;

extern const struct store_verb store_request_end; /* request_row with the answer; nothing */
extern const struct store_verb
    store_request_drop; /* request_row, of which app and key are used; nothing */

#endif
