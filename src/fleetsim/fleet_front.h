/* SPDX-License-Identifier: MIT */
/* fleet_front.h - the front process of holdfast-sim: it sends commands to its workers
 * (fleetsim/fleet_worker.h), shows their progress, and sums up at the end.
 *
 * A client of the control socket sends one command per line and gets one JSON object per line: the
 * commands of fleet_crowd_do(), `report` (fleet_counts_json()), `plan` (fleet_plan_json()) and
 * `stop`, which has no answer.  Commands are run and answered in order. */
#ifndef FLEETSIM_FLEET_FRONT_H
#define FLEETSIM_FLEET_FRONT_H

#include <sys/types.h>

#include "fleetsim/fleet_plan.h"

struct fleet_child {
    pid_t pid;
    int fd; /* socket to the worker */
};

/* Runs until the time is over or SIGINT, SIGTERM or `stop` comes, and until the workers have ended.
 * Returns the exit status: 0 if all agents have connected, or have joined if they are to be
 * offline, and nothing failed. */
int fleet_front_run(const struct fleet_settings *s, const struct fleet_plan *plan,
                    const struct fleet_child *children);

#endif
