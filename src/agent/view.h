/* SPDX-License-Identifier: MIT */
/* view.h - what the kernel says of a process, as clients see it. */
#ifndef AGENT_VIEW_H
#define AGENT_VIEW_H

#include "base/arena.h"
#include "model/view.h"

/* Fills command line, state, times, processor and memory; texts live in the arena.  A
 * process that has gone meanwhile leaves them as they were. */
void view_read(int64_t pid, struct arena *a, struct proc_view *v);

#endif
