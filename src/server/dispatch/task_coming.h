/* SPDX-License-Identifier: MIT */
/* task_coming.h - processes that unfinished tasks will make known, and their agents.  The cost
 * depends on the number of matches, not on the number of tasks. */
#ifndef SERVER_DISPATCH_TASK_COMING_H
#define SERVER_DISPATCH_TASK_COMING_H

#include "base/mem/arena.h"
#include "server/dispatch/tasks.h"

bool tasks_is_coming(const struct tasks *t, const char *agent, const char *space, const char *name);

/* All agents that such a process is coming to; valid until the next change. */
size_t tasks_coming(const struct tasks *t, const char *space, const char *name, struct arena *a,
                    const char ***ret);

#endif
