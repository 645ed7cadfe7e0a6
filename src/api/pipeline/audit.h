/* SPDX-License-Identifier: MIT */
/* audit.h - the audit log: every requested change, with its result.
 *
 * A change is a call of a route that requires more than the right to read and is not limited to
 * GET.  Its row is in the store before the answer is sent.  If the store does not accept the row,
 * the change is not undone: the answer is sent, and the row is written to the server's log.
 *
 * Refused calls of authenticated apps are recorded too, except those refused by the rate limit.
 * Repeated refusals become one row per minute (audit_fold.h).  Calls that are not authenticated are
 * not recorded: they could fill the store.
 *
 * A row shows of the request only the fields listed in audit_told: ids, names and numbers of
 * targets; never secrets, and never commands, which often contain secrets. */
#ifndef API_PIPELINE_AUDIT_H
#define API_PIPELINE_AUDIT_H

#include "api/pipeline/call.h"
#include "server/fleet/retention.h"

struct audit;

/* Rows older than `days` are deleted, once a day; 0: never. */
struct audit *audit_new(struct loop *loop, struct log *log, struct store *store, int64_t days,
                        const struct retention *retention);
void audit_flush(struct audit *a); /* writes pending folds; the store must be open */
void audit_stop(struct audit *a);  /* no store calls from now on; NULL is allowed */
void audit_free(struct audit *a);  /* after the store is closed; NULL is allowed */

/* Whether this call must be recorded. */
bool audit_is_due(const struct call *c);

/* Records c->result; `then` is called once, perhaps before this returns. */
void audit_put(struct audit *a, struct call *c, void (*then)(struct call *c));

bool audit_tells(const struct field *f); /* whether a row may show its value */

/* The request as JSON in the arena; NULL: there is nothing to show. */
const char *audit_what(const struct shape *s, const void *ask, const char *rest, struct arena *a);

#endif
