/* SPDX-License-Identifier: MIT */
/* audit_fold.h - folds repeated refusals: a client that is refused again and again adds at most one
 * row per minute and kind of request to the audit log.
 *
 * The first refusal of a kind is written at once.  Refusals of the same kind in the following
 * minute are counted, and at its end one row stands for all of them (audit_row.repeats). */
#ifndef API_PIPELINE_AUDIT_FOLD_H
#define API_PIPELINE_AUDIT_FOLD_H

#include "base/io/loop.h"
#include "store/store_audit.h"

enum { AUDIT_FOLD_MS = 60 * 1000, AUDIT_FOLDS_MAX = 4096 };

struct audit_folds;

/* Writes the row that stands for `row->repeats` refusals; it is valid until this returns. */
typedef void audit_fold_fn(void *arg, const struct audit_row *row);

struct audit_folds *audit_folds_new(struct loop *loop, audit_fold_fn *fn, void *arg);
void audit_folds_flush(struct audit_folds *f); /* writes all pending counts now */
void audit_folds_free(struct audit_folds *f);  /* NULL is allowed */

/* Returns whether the refusal was counted.  If not, it is the first of its kind (app, user,
 * address, route, code and request), and the caller must write it. */
bool audit_folds_take(struct audit_folds *f, const struct audit_row *row);

#endif
