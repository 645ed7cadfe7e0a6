/* SPDX-License-Identifier: MIT */
/* sim.h - the agent's core and the server's hub together, in a world made up from
 * one number.
 *
 * Hosts with processes that start slowly, fail, hang and die; a network that
 * loses, delays, doubles and reorders; a store that commits late; agents and
 * server that are killed and come back, agents that are replaced in place, hosts
 * that lose power, wall clocks that jump.  Time is made up too, so hours
 * take a moment.  The same seed gives the same run, byte for byte.
 *
 * Checked at every step: a command is run at most once, no process is started
 * while it runs, or by the agent itself when nobody wants it, a task that was
 * accepted is never lost, a result never changes, what was cancelled was never run, events are
 * written in order, no slot of operations is lost.  At the end the faults stop, every item must
 * have ended, every hosted process run, and every event be written or said to be lost. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct sim_options {
    uint64_t seed;
    int agents;
    int64_t minutes; /* with faults, on the world's clock */
    FILE *trace;     /* NULL: none */
};

struct sim_report {
    long steps, tasks, items, runs, agent_kills, power_losses, server_kills, upgrades;
    long events, event_gaps;
    long cancels, cancelled; /* tasks that somebody cancelled; items that were not run for it */
    uint64_t digest;         /* of the trace: the same seed, the same number */
};

int sim_run(const struct sim_options *o, struct sim_report *ret, struct err *err);

#endif
