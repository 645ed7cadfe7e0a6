/* SPDX-License-Identifier: MIT */
/* store_retention.h - by which time old things are removed, and the small ones of them:
 * verbs of store.h.
 *
 * Tasks, events, the audit log and keys of requests each have a verb of their own for that. */
#ifndef STORE_STORE_RETENTION_H
#define STORE_STORE_RETENTION_H

#include "store/store.h"

/* What is known of the clock; see server/retention.h. */
struct retention_row {
    int64_t believed_ms; /* wall time that was believed last */
    int64_t waited_ms;   /* so long another one has been seen that is not believed yet */
};

extern const struct store_verb store_retention_find; /* nothing; list of retention_row, at most 1 */
extern const struct store_verb store_retention_put;  /* retention_row; nothing */

/* Removes join tokens that expired or were revoked before then, and what is left of sessions that
 * ended before then of hosts that are no more; at most `limit` of each. */
struct retention_tidy_ask {
    int64_t before_ms, limit;
};

struct retention_tidy_got {
    int64_t tokens, sessions;
};

extern const struct store_verb store_retention_tidy; /* retention_tidy_ask; retention_tidy_got */

#endif
