/* SPDX-License-Identifier: MIT */
/* core_use.h - what processes may use of the machine: what the core is told of it, and the
 * groups that have a limit, for who writes them down elsewhere. */
#ifndef AGENT_CORE_USE_H
#define AGENT_CORE_USE_H

#include <stdint.h>

#include "base/arena.h"
#include "wire/shape.h"

struct core;

/* Before core_start(); memory of 0: it is not known, and nothing is over a share of it. */
void core_set_machine(struct core *c, int64_t cores, int64_t mem_bytes);

/* How often a process with a limit is sampled, and how long after its start it is never
 * stopped for what it uses.  5 and 60 s unless told. */
void core_set_limits(struct core *c, int64_t interval_ms, int64_t grace_ms);

uint64_t core_group_changes(const struct core *c); /* so far: another number, other groups */
struct list core_groups(const struct core *c, struct arena *a); /* struct proc_group */

#endif
