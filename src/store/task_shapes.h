/* SPDX-License-Identifier: MIT */
/* task_shapes.h - the columns of the tables of tasks, for the two files that use
 * them. */
#ifndef STORE_TASK_SHAPES_H
#define STORE_TASK_SHAPES_H

#include "wire/shape.h"

#define TASK_COLUMNS                                                                               \
    "task_no, id, app, user_name, form, created_ms, deadline_ms, n_items, n_left, finished_ms,"    \
    " n_failed, cancelled_ms, idempotent, request_key"
#define ITEM_COLUMNS                                                                               \
    "task_no, n, agent_id, item_key, space, name, op, spec_n, state, epoch, code, message,"        \
    " content, done_ms"

extern const struct shape task_shape;          /* struct task_row: TASK_COLUMNS */
extern const struct shape task_spec_shape;     /* struct task_spec_row: n, spec */
extern const struct shape task_item_shape;     /* struct task_item_row: ITEM_COLUMNS */
extern const struct shape task_new_item_shape; /* the same but for the first column */

/* The lowest number of a task that is made then. */
int64_t task_number_at(int64_t created_ms);

#endif
