/* SPDX-License-Identifier: MIT */
/* task_rows.h - conversion of a request to rows of the store and items of the hub, and back; time
 * limits of items.  Private to the sources of tasks.h. */
#ifndef SERVER_DISPATCH_TASK_ROWS_H
#define SERVER_DISPATCH_TASK_ROWS_H

#include "server/dispatch/hub.h"
#include "server/dispatch/tasks.h"
#include "store/store_tasks.h"

/* A task is read with one call, so that it is shown in one consistent state; its size is limited
 * when it is created. */
enum { TASK_ITEMS_MAX = 1 << 20 };

/* The rows are copies in the arena, except the task's id; each item is queued.  There is an item
 * per target; items point to the data of the request. */
void task_rows_of(const struct task_ask *ask, int64_t wall_ms, int64_t now_ms, struct arena *a,
                  struct task_create_ask *ret_rows, struct hub_item *ret_items);

/* The row of an item that ended before it was stored. */
void task_rows_end(struct task_item_row *row, const struct hub_item *item, int64_t wall_ms,
                   struct arena *a);

/* A stored spec, shared by targets.  It also has the labels of the process, whether targets are
 * named by agent id, how a query looks, and the signal to send, because no other row of the task
 * has them. */
struct task_stored_spec {
    struct list labels; /* struct proc_label */
    struct proc_spec spec;
    bool by_agent_id;
    int64_t look; /* enum command_look */
    const char *signal;
};

int task_rows_spec(const struct task_spec_row *row, struct arena *a, struct task_stored_spec *ret,
                   struct err *err);
/* Writes specs, perhaps stored by an older version, as this version does; list of struct
 * task_spec_row. */
struct list task_rows_renew(const struct task_stored_spec *specs, size_t n, struct arena *a);

/* The length of the part of such a row that describes the operation.  It excludes by_agent_id: keys
 * contain it, and older versions did not store it. */
size_t task_rows_digest_len(const char *spec);

struct list *task_rows_labels(const struct list *specs, struct arena *a); /* proc_label of each */

/* Checks that specs and items are complete, and numbered by their position. */
int task_rows_check(const struct task_read_got *got, struct err *err);

/* The `content` of an item; one that can not be read counts as empty. */
const char *task_view_json(const struct proc_view *view, struct arena *a);
void task_view_read(const struct task_item_row *row, struct arena *a, struct proc_view *ret);

/* Time from the request to the deadline. */
int64_t task_budget_ms(const struct proc_spec *spec, int64_t op);

#endif
