/* SPDX-License-Identifier: MIT */
/* core_group.h - resource limits for groups of processes.  For the core's own sources.
 *
 * A group is a namespace on this host (model/group.h).  If its processes together exceed the
 * limit in three rounds of samples in a row, the hosted process with the highest score is
 * stopped as described in core_limit.h.  Groups are in the journal; a group is acknowledged to
 * the server once its record is durable. */
#ifndef AGENT_SUPERVISE_CORE_GROUP_H
#define AGENT_SUPERVISE_CORE_GROUP_H

#include "agent/supervise/core_limit.h"
#include "link/group.h"

/* A group with a limit. */
struct group_proc {
    char *id;
    struct group_resource may;
    struct strikes cpu, mem;
    double cpu_sum, mem_sum; /* sums of the current round */
};

struct group_proc *group_of(const struct proc *k); /* NULL: k is in no group with a limit */

/* Call when all samples of a round have arrived, or would have. */
void group_judge(struct core *c);

void group_on_message(struct core *c, const struct message_group *m);
void group_on_durable(struct core *c, uint64_t mark);
void group_replay(struct core *c, const struct proc_group *g);
void group_compact(struct core *c);
void group_end(struct core *c);

#endif
