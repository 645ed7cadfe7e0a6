/* SPDX-License-Identifier: MIT */
/* sim_wanted.h - the simulator's record of the wanted state of a host's processes, derived from the
 * results in the agent's journal.
 *
 * A process that was stopped, killed or unhosted is never restarted by the agent; a hosted process
 * runs, after enough time. */
#ifndef TESTS_SIM_LIB_SIM_WANTED_H
#define TESTS_SIM_LIB_SIM_WANTED_H

#include "agent/supervise/core_effects.h"

struct host;

void sim_wanted_result(struct host *h, const struct message_result *m);
void sim_wanted_run(struct host *h, const struct core_run *run);
void sim_wanted_unknown(struct host *h); /* results may be lost: the wanted state is unknown */
void sim_wanted_check(struct host *h);   /* at the end */

#endif
