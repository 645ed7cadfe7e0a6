/* SPDX-License-Identifier: MIT */
/* core_own.h - operations of our own making, for the core's own sources.
 *
 * They go through the same phases as those that were asked for, but nobody waits for them:
 * they have no task, no deadline and no result, and end_ours() in core_end.c hands how they
 * ended to whoever made them. */
#ifndef AGENT_CORE_OWN_H
#define AGENT_CORE_OWN_H

#include <stdint.h>

struct kept;
struct op;

/* What one is for. */
enum op_aim {
    AIM_KEEP,   /* it is down, and pulled up again */
    AIM_LIMIT,  /* it uses too much, and is stopped; hosted as before, it is pulled up then */
    AIM_CYCLE,  /* a run of a periodic process */
    AIM_HEALTH, /* it is unhealthy, and restarted */
};

/* With the spec that is known, before all that wait; op_begin_next() begins it. */
struct op *op_new_ours(struct kept *k, int64_t number, enum op_aim aim);

#endif
