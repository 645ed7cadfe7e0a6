/* SPDX-License-Identifier: MIT */
/* store_check.h - whether the store accepts writes, for callers that ask for the server's health.
 *
 * A check is a commit.  One check serves all callers that ask while it is in progress and for one
 * second after it.  A disk that hangs never answers: after two seconds the check counts as failed,
 * and callers that ask while it still hangs get that answer at once. */
#ifndef API_PIPELINE_STORE_CHECK_H
#define API_PIPELINE_STORE_CHECK_H

#include "base/io/loop.h"
#include "store/store.h"

enum { STORE_CHECK_FRESH_MS = 1000, STORE_CHECK_LIMIT_MS = 2000 };

struct store_check;

struct store_check *store_check_new(struct loop *loop, struct store *store);

/* After the store is closed; waiting callers get no answer.  NULL is allowed. */
void store_check_free(struct store_check *s);

/* `trouble`: the failure, NULL: none.  Called once, perhaps before store_check_ask() returns. */
typedef void store_checked_fn(void *arg, const struct err *trouble);
void store_check_ask(struct store_check *s, store_checked_fn *fn, void *arg);

#endif
