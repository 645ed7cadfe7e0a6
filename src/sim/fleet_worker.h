/* SPDX-License-Identifier: MIT */
/* fleet_worker.h - a process of holdfast-sim that has its share of the agents, and does what
 * the front (sim/fleet_front.h) says, line by line.
 *
 * Every line is answered by one line: `report` and `stop` by counts (sim/fleet_counts.h),
 * all else by an answer (sim/fleet_crowd.h).  After `stop`, or when the front is gone, the
 * agents say goodbye and the process ends. */
#ifndef SIM_FLEET_WORKER_H
#define SIM_FLEET_WORKER_H

#include "sim/fleet_plan.h"

/* In the child; the exit status. */
int fleet_worker_run(const struct fleet_settings *s, const struct fleet_plan *plan,
                     const char *token, int64_t worker, int fd);

#endif
