/* SPDX-License-Identifier: MIT */
/* store_retention.h - the clock for retention, and the deletion of old rows of small tables: verbs
 * of store.h.
 *
 * Tasks, events, the audit log and idempotency keys have verbs of their own for that. */
#ifndef STORE_STORE_RETENTION_H
#define STORE_STORE_RETENTION_H

#include "store/store.h"

/* The trusted time; see server/fleet/retention.h. */
struct retention_row {
    int64_t believed_ms; /* wall time that was trusted last */
    int64_t waited_ms;   /* how long a different time has been seen that is not trusted yet */
};

extern const struct store_verb store_retention_find; /* nothing; list of retention_row, at most 1 */
extern const struct store_verb store_retention_put;  /* retention_row; nothing */

/* Deletes join tokens that expired or were revoked before before_ms, and sessions of removed hosts
 * that ended before it; at most `limit` of each. */
struct retention_tidy_ask {
    int64_t before_ms, limit;
};

struct retention_tidy_got {
    int64_t tokens, sessions;
};

extern const struct store_verb store_retention_tidy; /* retention_tidy_ask; retention_tidy_got */

#endif
