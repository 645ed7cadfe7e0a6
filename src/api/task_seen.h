/* SPDX-License-Identifier: MIT */
/* task_seen.h - a task, for those who may see it.
 *
 * An app that is held to some namespaces or businesses sees its own tasks alone; of others
 * it is not told that they are there. */
#ifndef API_TASK_SEEN_H
#define API_TASK_SEEN_H

#include "api/call.h"
#include "server/tasks.h"

/* `fn` ends the call; it is called with the task, now or later, or the call was ended with
 * what is wrong. */
typedef void task_seen_fn(struct call *c, const struct task_info *task);
void task_seen(struct call *c, const char *id, task_seen_fn *fn);

#endif
