/* SPDX-License-Identifier: MIT */
/* fleet_front.h - the process of holdfast-sim that people and programs talk to: it asks its
 * workers (sim/fleet_worker.h), shows how far they are, and sums up at the end.
 *
 * Whoever connects to the control socket says one command a line and gets one JSON object a
 * line: those of fleet_crowd_do(), `report` (fleet_counts_json()), `plan` (fleet_plan_json())
 * and `stop`, which has no answer.  Each is carried out and answered in its turn. */
#ifndef SIM_FLEET_FRONT_H
#define SIM_FLEET_FRONT_H

#include <sys/types.h>

#include "sim/fleet_plan.h"

struct fleet_child {
    pid_t pid;
    int fd; /* of the socket to it */
};

/* Runs until the time is over or SIGINT, SIGTERM or `stop` comes; then the workers have
 * ended too.  The exit status: 0 if all went in order, and all agents have been connected,
 * or have joined if they are to be offline. */
int fleet_front_run(const struct fleet_settings *s, const struct fleet_plan *plan,
                    const struct fleet_child *children);

#endif
