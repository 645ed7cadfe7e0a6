/* SPDX-License-Identifier: MIT */
/* fleet_worker.h - a worker process of holdfast-sim, with its share of the agents; it runs the
 * commands of the front (fleetsim/fleet_front.h), line by line.
 *
 * Every line is answered by one line: `report` and `stop` by counts (fleetsim/fleet_counts.h), all
 * others by an answer (fleetsim/fleet_crowd.h).  After `stop`, or when the front has ended, the
 * agents send goodbyes and the process ends. */
#ifndef FLEETSIM_FLEET_WORKER_H
#define FLEETSIM_FLEET_WORKER_H

#include "fleetsim/fleet_plan.h"

/* Runs in the child; returns the exit status. */
int fleet_worker_run(const struct fleet_settings *s, const struct fleet_plan *plan,
                     const char *token, int64_t worker, int fd);

#endif
