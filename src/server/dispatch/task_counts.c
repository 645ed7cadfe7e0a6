/* SPDX-License-Identifier: MIT */
/* task_counts.c - see task_counts.h. */
#include "server/dispatch/task_counts.h"

#include "model/code.h"

void task_counts_end(struct task_counts *n, const struct hub_item *item, int64_t took_ms)
{
    size_t code = (size_t)(code_get((int)item->code) - code_table);

    n->items--;
    if (item->op < 0 || item->op >= TASK_OPS || code >= TASK_CODES)
        return; /* an unknown operation, which was refused */
    hist_add(&n->took[item->op], took_ms * 1000);
    n->results[item->op][code]++;
}
