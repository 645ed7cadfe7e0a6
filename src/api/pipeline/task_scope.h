/* SPDX-License-Identifier: MIT */
/* task_scope.h - reads a task if the caller may see it.
 *
 * An app that is limited to some namespaces or businesses sees only its own tasks; others are "not
 * found". */
#ifndef API_PIPELINE_TASK_SCOPE_H
#define API_PIPELINE_TASK_SCOPE_H

#include "api/pipeline/call.h"
#include "server/dispatch/tasks.h"

/* Calls `fn` with the task, at once or later, and `fn` ends the call; or ends the call with the
 * failure. */
typedef void task_scope_fn(struct call *c, const struct task_info *task);
void task_scope_read(struct call *c, const char *id, task_scope_fn *fn);

#endif
