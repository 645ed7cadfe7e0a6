/* SPDX-License-Identifier: MIT */
/* task_counts.h - results and duration of operations, for metrics. */
#ifndef SERVER_DISPATCH_TASK_COUNTS_H
#define SERVER_DISPATCH_TASK_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem/hist.h"
#include "model/operation.h"
#include "server/dispatch/hub.h"

/* Upper bounds.  A code that is not in code_table counts as CODE_SYSTEM. */
enum { TASK_OPS = PROC_OP_END, TASK_CODES = 40 };

struct tasks;

struct task_counts {
    int64_t open, in_memory;                /* tasks: unfinished; all in memory */
    int64_t items;                          /* targets that have not ended */
    uint64_t accepted;                      /* tasks, since the start */
    struct hist took[TASK_OPS];             /* by enum proc_op: time from accepted to stored */
    uint64_t results[TASK_OPS][TASK_CODES]; /* by index in code_table */
};

/* Call when the result of a target is stored. */
void task_counts_end(struct task_counts *n, const struct hub_item *item, int64_t took_ms);

const struct task_counts *tasks_counts(struct tasks *t); /* as of now */

#endif
