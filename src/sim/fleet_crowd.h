/* SPDX-License-Identifier: MIT */
/* fleet_crowd.h - the simulated agents of one process, and what they are told to do.
 *
 * Of K processes the w-th has the agents w, w+K, w+2K ...  They begin a few at a time, then
 * live by themselves; changes of processes come at the rate that was asked for. */
#ifndef SIM_FLEET_CROWD_H
#define SIM_FLEET_CROWD_H

#include "sim/fleet_agent.h"

struct fleet_crowd;

/* `s`, `plan` and the token stay the caller's, and must outlive it. */
struct fleet_crowd *fleet_crowd_new(struct loop *loop, const struct fleet_settings *s,
                                    const struct fleet_plan *plan, const char *token,
                                    int64_t worker);
void fleet_crowd_free(struct fleet_crowd *c); /* agents say goodbye; NULL is fine */

void fleet_crowd_counts(struct fleet_crowd *c, struct fleet_counts *ret);
const struct err *fleet_crowd_error(const struct fleet_crowd *c); /* the last; code 0: none */

/* What came of a command; of several processes' answers those of all are one. */
struct fleet_answer {
    int64_t done;      /* to so many */
    int64_t at_ns;     /* CLOCK_MONOTONIC, when */
    const char *error; /* "": none; one that never goes away */
};
extern const struct shape fleet_answer_shape;

/* A command, without the end of its line; other processes' agents are passed over:
 *
 *     die AGENT PROC [BACK_MS]   a process dies; it is back after that time, -1: never
 *     drop AGENT|all             a session ends, and comes again as a real one would
 *     rate N                     changes a second from now on, of this process's agents */
void fleet_crowd_do(struct fleet_crowd *c, const char *line, struct fleet_answer *ret);

#endif
