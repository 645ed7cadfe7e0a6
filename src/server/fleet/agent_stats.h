/* SPDX-License-Identifier: MIT */
/* agent_stats.h - resource usage of agents (link/message.h), summed over the fleet: one time series
 * per agent would be too many for a monitoring system. */
#ifndef SERVER_FLEET_AGENT_STATS_H
#define SERVER_FLEET_AGENT_STATS_H

#include <stdint.h>

#include "link/message.h"

/* Of one session. */
struct agent_stats {
    struct message_agent_stats last; /* the last report */
    int64_t at_ms;                   /* time of it; 0: none yet */
    int64_t cpu_thousandths;         /* of a core, between the last two reports */
};

/* Monotonic counters: increments while agents were connected. */
struct agent_stats_grown {
    uint64_t cpu_ms, restarts, unexpected;
};

/* Sums and maxima over all connected agents that report. */
struct agent_stats_now {
    int64_t agents;
    struct message_agent_stats sum, max;
    int64_t cpu_max_thousandths;
};

void agent_stats_take(struct agent_stats *f, const struct message_agent_stats *report,
                      int64_t now_ms, struct agent_stats_grown *grown);
void agent_stats_add(const struct agent_stats *f, struct agent_stats_now *to);

#endif
