/* SPDX-License-Identifier: MIT */
/* task_counts.h - what came of operations and how long they took, for who watches us. */
#ifndef SERVER_TASK_COUNTS_H
#define SERVER_TASK_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "server/hub.h"

/* More than there are; a code that is not in code_table is CODE_SYSTEM's there, too. */
enum { TASK_OPS = 10, TASK_CODES = 40 };

struct tasks;

struct task_counts {
    int64_t open, in_memory;                /* tasks: not ended; all that are not forgotten */
    int64_t items;                          /* targets that have not ended */
    uint64_t accepted;                      /* tasks, since the start */
    struct hist took[TASK_OPS];             /* by enum proc_op: from accepted to stored */
    uint64_t results[TASK_OPS][TASK_CODES]; /* by its place in code_table */
};

/* That a target has ended is stored. */
void task_counts_end(struct task_counts *n, const struct hub_item *item, int64_t took_ms);

const struct task_counts *tasks_counts(struct tasks *t); /* as of now */

#endif
