/* SPDX-License-Identifier: MIT */
/* call_counts.c - see call_counts.h. */
#include "api/call_counts.h"

#include <stdlib.h>

#include "api/api_in.h"
#include "api/call.h"
#include "api/routes.h"
#include "base/mem.h"

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

void call_counts_add(struct call_counts *n, const struct call *c, enum call_outcome outcome)
{
    size_t row = c->route ? (size_t)(c->route - routes) : call_counts_rows() - 1;

    n->rows[row][c->dialect->kind][outcome]++;
    if (c->begun_us >= 0 && outcome != CALL_GONE)
        hist_add(&n->took[c->dialect->kind],
                 clock_mono_us(loop_clock(c->api->parts.loop)) - c->begun_us);
}
