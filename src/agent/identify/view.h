/* SPDX-License-Identifier: MIT */
/* view.h - kernel state of a process in the form shown to clients. */
#ifndef AGENT_IDENTIFY_VIEW_H
#define AGENT_IDENTIFY_VIEW_H

#include "base/mem/arena.h"
#include "model/view.h"

/* Fills in command line, state, times, CPU and memory; texts live in the arena. If the process has
 * ended, nothing is changed. */
void view_read(int64_t pid, struct arena *a, struct proc_view *v);

#endif
