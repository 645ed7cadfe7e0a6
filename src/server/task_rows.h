/* SPDX-License-Identifier: MIT */
/* task_rows.h - an ask as rows of the store and as items of the hub, and back; how long
 * an item may take.  Not for others than the sources of tasks.h. */
#ifndef SERVER_TASK_ROWS_H
#define SERVER_TASK_ROWS_H

#include "server/hub.h"
#include "server/tasks.h"
#include "store/store_tasks.h"

/* A task is read in one piece, so that what is shown of it is one state; its size has a limit
 * where it is made. */
enum { TASK_ITEMS_MAX = 1 << 20 };

/* The rows are copies in the arena, all but the task's id, and each item is queued; the
 * items, as many as there are targets, point to what the ask points to. */
void task_rows_of(const struct task_ask *ask, int64_t wall_ms, int64_t now_ms, struct arena *a,
                  struct task_create_ask *ret_rows, struct hub_item *ret_items);

/* The row of an item that has ended before it was stored. */
void task_rows_end(struct task_item_row *row, const struct hub_item *item, int64_t wall_ms,
                   struct arena *a);

/* A spec is stored with the labels that came with it. */
int task_rows_spec(const struct task_spec_row *row, struct arena *a, struct proc_spec *ret,
                   struct err *err);
struct list *task_rows_labels(const struct list *specs, struct arena *a); /* of each, proc_label */

/* What was read has all that it names: specs and items have the numbers of their places. */
int task_rows_check(const struct task_read_got *got, struct err *err);

/* What an item's `content` is; one that can not be read is as good as none. */
const char *task_view_json(const struct proc_view *view, struct arena *a);
void task_view_read(const struct task_item_row *row, struct arena *a, struct proc_view *ret);

/* From when it was asked for to its deadline. */
int64_t task_budget_ms(const struct proc_spec *spec, int64_t op);

#endif
