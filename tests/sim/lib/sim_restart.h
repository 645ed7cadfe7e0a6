/* SPDX-License-Identifier: MIT */
/* sim_restart.h - the promises of the restart rule.
 *
 * A process is never restarted more often than the rule allows.  In the calm at the end each hosted
 * process is killed again and again, each time after a run that was up: it is begun again soon each
 * time, and is never given up. */
#ifndef TESTS_SIM_LIB_SIM_RESTART_H
#define TESTS_SIM_LIB_SIM_RESTART_H

#include <stdint.h>

#include "agent/supervise/core_effects.h"

struct host;
struct sim;

/* RESTARTS_MAX: in a minute, of one process.  A start comes a second after the one before it at the
 * earliest, unless an operation hosts the process anew; and no start takes less than 0.5 s on the
 * average. */
enum { RESTARTS_MAX = 40, FLAP_MS = 70 * 1000 };

/* The last restarts of a process; fell_ms: when it was killed in the calm, 0: it was not, or has
 * been begun since. */
struct sim_restarts {
    int64_t begun_ms[RESTARTS_MAX], fell_ms;
    uint64_t n;
};

void sim_restart_run(struct host *h, const struct core_run *run);
void sim_restart_forget(struct host *h); /* the host loses power */
void sim_restart_flap(struct sim *s);    /* run_until() FLAP_MS later comes next */

#endif
