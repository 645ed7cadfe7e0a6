/* SPDX-License-Identifier: MIT */
/* fleet_crowd.h - the simulated agents of one process, and the commands for them.
 *
 * Process w of K has the agents w, w+K, w+2K ...  They start a few at a time and then run by
 * themselves; processes change at the requested rate. */
#ifndef FLEETSIM_FLEET_CROWD_H
#define FLEETSIM_FLEET_CROWD_H

#include "fleetsim/fleet_agent.h"

struct fleet_crowd;

/* `s`, `plan` and the token belong to the caller and must outlive it. */
struct fleet_crowd *fleet_crowd_new(struct loop *loop, const struct fleet_settings *s,
                                    const struct fleet_plan *plan, const char *token,
                                    int64_t worker);
void fleet_crowd_free(struct fleet_crowd *c); /* sends goodbyes; NULL is fine */

void fleet_crowd_counts(struct fleet_crowd *c, struct fleet_counts *ret);
const struct err *fleet_crowd_error(const struct fleet_crowd *c); /* the last; code 0: none */

/* The result of a command; the front sums those of all processes. */
struct fleet_answer {
    int64_t done;      /* number of agents affected */
    int64_t at_ns;     /* CLOCK_MONOTONIC */
    const char *error; /* "": none; a constant text */
};
extern const struct shape fleet_answer_shape;

/* Runs a command, without its line end; agents of other processes are ignored:
 *
 *     die AGENT PROC [BACK_MS]   kills a process; it is back after that time, -1: never
 *     drop AGENT|all             ends a session; the agent reconnects like a real one
 *     rate N                     changes per second from now on, of this process's agents */
void fleet_crowd_do(struct fleet_crowd *c, const char *line, struct fleet_answer *ret);

#endif
