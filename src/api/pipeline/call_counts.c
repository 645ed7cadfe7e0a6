/* SPDX-License-Identifier: MIT */
/* call_counts.c - see call_counts.h. */
#include "api/pipeline/call_counts.h"

#include <stdlib.h>

#include "api/pipeline/routes.h"
#include "base/mem/mem.h"

const char *call_outcome_name(enum call_outcome outcome)
{
    static const char *const names[CALL_OUTCOMES] = {
        [CALL_OK] = "ok",           [CALL_FAILED] = "failed", [CALL_REFUSED] = "refused",
        [CALL_LIMITED] = "limited", [CALL_ERROR] = "error",   [CALL_GONE] = "gone",
    };

    return names[outcome];
}

size_t call_counts_rows(void)
{
    size_t n = 0;

    while (routes[n].path)
        n++;
    return n + 1;
}

struct call_counts *call_counts_new(void)
{
    struct call_counts *n = xalloc(sizeof(*n));

    n->rows = xalloc(call_counts_rows() * sizeof(*n->rows));
    return n;
}

void call_counts_free(struct call_counts *n)
{
    if (!n)
        return;
    free(n->rows);
    free(n);
}

void call_counts_add(struct call_counts *n, const struct route *route, enum dialect_kind kind,
                     enum call_outcome outcome, int64_t took_us)
{
    size_t row = route ? (size_t)(route - routes) : call_counts_rows() - 1;

    n->rows[row][kind][outcome]++;
    if (took_us >= 0)
        hist_add(&n->took[kind], took_us);
}
