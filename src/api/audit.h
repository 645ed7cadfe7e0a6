/* SPDX-License-Identifier: MIT */
/* audit.h - every change that somebody has asked for is written down, with what came of it.
 *
 * A change is a call of a route that asks for more than the right to read, and is not only
 * for GET.  Its row is in the
 * store before the answer goes out, so whoever has an answer can be found.  A store that does
 * not take the row does not undo the change: the answer goes out then, and the log has what
 * the store has not.
 *
 * Attempts of apps that we know and that are refused are written down too, but for those that
 * come too often; strangers can only fill the log.
 *
 * What was asked for is told by the fields of audit_told: ids, names and numbers of targets,
 * never secrets and never commands, which often have some in them. */
#ifndef API_AUDIT_H
#define API_AUDIT_H

#include "api/call.h"
#include "server/retention.h"

struct audit;

/* Rows older than `days` go, once a day; 0: none ever. */
struct audit *audit_new(struct loop *loop, struct log *log, struct store *store, int64_t days,
                        const struct retention *retention);
void audit_stop(struct audit *a); /* asks the store for nothing any more; NULL is fine */
void audit_free(struct audit *a); /* after the store is closed; NULL is fine */

/* Whether this call is to be written down. */
bool audit_is_due(const struct call *c);

/* Writes it down by c->result; `then` is called once, perhaps before this returns. */
void audit_put(struct audit *a, struct call *c, void (*then)(struct call *c));

bool audit_tells(const struct field *f); /* whether it may be said what is in it */

/* What was asked for, as JSON in the arena; NULL: nothing. */
const char *audit_what(const struct shape *s, const void *ask, const char *rest, struct arena *a);

#endif
