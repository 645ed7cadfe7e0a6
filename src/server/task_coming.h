/* SPDX-License-Identifier: MIT */
/* task_coming.h - processes that tasks which have not ended are to make known, and to which
 * agents.  It costs what is found, however many tasks are open. */
#ifndef SERVER_TASK_COMING_H
#define SERVER_TASK_COMING_H

#include "base/arena.h"
#include "server/tasks.h"

bool tasks_is_coming(const struct tasks *t, const char *agent, const char *space, const char *name);

/* All agents that it comes to; they are good until something changes. */
size_t tasks_coming(const struct tasks *t, const char *space, const char *name, struct arena *a,
                    const char ***ret);

#endif
