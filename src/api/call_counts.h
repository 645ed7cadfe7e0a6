/* SPDX-License-Identifier: MIT */
/* call_counts.h - what came of calls, by route, dialect and outcome, and how long they took.
 *
 * Counting is an addition or two: nothing is looked up and nothing written out until somebody
 * asks (metrics.h). */
#ifndef API_CALL_COUNTS_H
#define API_CALL_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "api/refusal.h"
#include "base/hist.h"

struct call;

enum call_outcome {
    CALL_OK,
    CALL_FAILED,  /* what was asked for can not be: the caller's to mend */
    CALL_REFUSED, /* the gate, or the path */
    CALL_LIMITED, /* too often */
    CALL_ERROR,   /* ours */
    CALL_GONE,    /* the client, before it had said what it wants */
    CALL_OUTCOMES
};
const char *call_outcome_name(enum call_outcome outcome); /* "ok" */

typedef uint64_t call_row_counts[DIALECTS][CALL_OUTCOMES];

struct call_counts {
    call_row_counts *rows;      /* by the row of `routes`; the last: by none */
    struct hist took[DIALECTS]; /* from the body on, of those that were answered */
};

struct call_counts *call_counts_new(void);
void call_counts_free(struct call_counts *n); /* NULL is fine */
size_t call_counts_rows(void);                /* how many there are */

/* It ends. */
void call_counts_add(struct call_counts *n, const struct call *c, enum call_outcome outcome);

#endif
