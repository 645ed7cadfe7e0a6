/* SPDX-License-Identifier: MIT */
/* task_join.h - joining a repeated request to its task.  A client that got no answer sends the same
 * request again; it gets the task that exists already, as long as that has not ended and no later
 * request concerns one of its processes.  A request with a request key never joins.  Private to the
 * sources of tasks.h. */
#ifndef SERVER_DISPATCH_TASK_JOIN_H
#define SERVER_DISPATCH_TASK_JOIN_H

#include "store/store_tasks.h"
#include "wire/tls/digest.h"

struct active_task;
struct tasks;

/* A digest of the request, without results: so it is the same for a task that was loaded, if its
 * specs are as this version writes them (task_rows_renew()). */
void join_digest(const struct task_create_ask *rows, char to[DIGEST_TEXT_SIZE]);
struct active_task *join_find(struct tasks *t, const char *digest); /* NULL: none */

/* A task can be joined from join_add() to join_drop().  `rows`: its items, struct task_item_row.
 * Processes that they make known are found by task_coming.h. */
void join_add(struct active_task *active_task, const struct list *rows);
void join_drop(struct active_task *active_task); /* repeating it is allowed */

#endif
