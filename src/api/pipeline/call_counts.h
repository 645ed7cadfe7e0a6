/* SPDX-License-Identifier: MIT */
/* call_counts.h - calls counted by route, dialect and outcome, and a histogram of their duration.
 *
 * Counting is one or two additions; all text is made when metrics are requested (metrics.h). */
#ifndef API_PIPELINE_CALL_COUNTS_H
#define API_PIPELINE_CALL_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "api/auth/refusal.h"
#include "base/mem/hist.h"

struct route;

enum call_outcome {
    CALL_OK,
    CALL_FAILED,  /* the request can not be fulfilled: an error of the caller */
    CALL_REFUSED, /* by the gate, or no such path */
    CALL_LIMITED, /* rate limit */
    CALL_ERROR,   /* an error of the server */
    CALL_GONE,    /* the client disconnected before its request was complete */
    CALL_OUTCOMES
};
const char *call_outcome_name(enum call_outcome outcome); /* "ok" */

typedef uint64_t call_row_counts[DIALECTS][CALL_OUTCOMES];

struct call_counts {
    call_row_counts *rows;      /* by row of `routes`; the last counts calls without a route */
    struct hist took[DIALECTS]; /* microseconds from the complete body to the answer */
};

struct call_counts *call_counts_new(void);
void call_counts_free(struct call_counts *n); /* NULL is allowed */
size_t call_counts_rows(void);                /* length of `rows` */

/* Counts a call that ends.  route NULL: none was found; took_us -1: not measured. */
void call_counts_add(struct call_counts *n, const struct route *route, enum dialect_kind kind,
                     enum call_outcome outcome, int64_t took_us);

#endif
