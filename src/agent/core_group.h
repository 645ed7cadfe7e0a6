/* SPDX-License-Identifier: MIT */
/* core_group.h - groups of processes with a limit for all of them together, for the core's
 * own sources.
 *
 * A group is a namespace on this host (model/group.h).  When its processes together use
 * more than they may in three rounds of samples in a row, the hosted one with the highest
 * score is stopped as core_limit.h says.  Groups are in the journal; the server hears that
 * one is when it is there durably. */
#ifndef AGENT_CORE_GROUP_H
#define AGENT_CORE_GROUP_H

#include "agent/core_limit.h"
#include "link/group.h"

/* One that has a limit. */
struct group_kept {
    char *id;
    struct group_resource may;
    struct strikes cpu, mem;
    double cpu_sum, mem_sum; /* in this round */
};

struct group_kept *group_of(const struct kept *k); /* NULL: in none */

/* All samples of a round are there, or as good as. */
void group_judge(struct core *c);

void group_on_message(struct core *c, const struct message_group *m);
void group_on_durable(struct core *c, uint64_t mark);
void group_replay(struct core *c, const struct proc_group *g);
void group_compact(struct core *c);
void group_end(struct core *c);

#endif
