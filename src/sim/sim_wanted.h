/* SPDX-License-Identifier: MIT */
/* sim_wanted.h - the simulator's book of what clients want of a host's processes, kept from
 * the results that its agent writes down.
 *
 * What was stopped, killed or given back is never started by the agent itself; what is
 * hosted runs, when there has been time enough. */
#ifndef SIM_SIM_WANTED_H
#define SIM_SIM_WANTED_H

#include "agent/core_hands.h"

struct host;

void sim_wanted_result(struct host *h, const struct message_result *m);
void sim_wanted_run(struct host *h, const struct core_run *run);
void sim_wanted_unknown(struct host *h); /* results may be lost: nothing is known */
void sim_wanted_check(struct host *h);   /* at the end */

#endif
