/* SPDX-License-Identifier: MIT */
/* core_use.h - resources of the machine and limits for their use; the groups that have a limit,
 * for a copy outside the journal. */
#ifndef AGENT_SUPERVISE_CORE_USE_H
#define AGENT_SUPERVISE_CORE_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/arena.h"
#include "wire/json/shape.h"

struct core;

/* Before core_start().  mem_bytes 0: unknown, and memory limits are not enforced. */
void core_set_machine(struct core *c, int64_t cores, int64_t mem_bytes);

/* The sampling interval of processes with a limit, and the grace period after a start in which a
 * process is never stopped for its usage.  Defaults: 5 s and 60 s. */
void core_set_limits(struct core *c, int64_t interval_ms, int64_t grace_ms);

/* Requests a sample of each process whose last one is older than the interval, for display; false:
 * there is none.  A process with a limit is left out: its samples are counted against the limit. */
bool core_sample_old(struct core *c, int64_t now_ms);

uint64_t core_group_changes(const struct core *c); /* a counter: it changes whenever a group does */
struct list core_groups(const struct core *c, struct arena *a); /* struct proc_group */

#endif
