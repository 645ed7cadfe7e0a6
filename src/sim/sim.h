/* SPDX-License-Identifier: MIT */
/* sim.h - the agent's core and the server's hub together, in a world made up from
 * one number.
 *
 * Hosts with processes that start slowly, fail, hang and die; a network that
 * loses, delays, doubles and reorders; agents and server that are killed and come
 * back, agents that are replaced in place, hosts that lose power, wall clocks that
 * jump; and in some worlds more of it (sim_world.h): links that swallow everything,
 * disks that are full, a store that refuses, agents that lie.  Time is made up too, so
 * hours take a moment.  The same seed gives the same run, byte for byte.
 *
 * Checked at every step:
 *   - a command is run at most once, by the host it is for, after its task is stored, and in
 *     the order in which it came to its process; what is the same in one task, once in all;
 *   - no process is started while it runs, or by the agent itself when nobody wants it;
 *   - a task that was accepted is never lost, and every poll has all of its items;
 *   - a result is what its agent said, or what we may say; it is shown when it is stored,
 *     and never changes; what is called offline or cancelled was never run;
 *   - an agent that is offline is so in the first poll, and none is called so that is not;
 *   - an item has ended by its deadline, or as soon as server and store are there again;
 *   - a result that is on its host's disk is told at once in every new session, until its
 *     agent hears that it is stored;
 *   - events are written in order, and none is taken for written that is not; no slot of
 *     operations is lost.
 * At the end the faults stop, every item must have ended, every hosted process run, every
 * result be known to be stored, and every event be written or said to be lost. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct sim_options {
    uint64_t seed;
    FILE *trace;       /* NULL: none */
    bool wants_digest; /* of all that a trace would say, which costs; else of its outline */
};

/* clang-format off */
#define SIM_COUNT_ROWS(ROW) \
    ROW(STEPS, "steps") \
    ROW(TASKS, "tasks") \
    ROW(ITEMS, "items") \
    ROW(TWINS, "items that another one runs for") \
    ROW(RUNS, "commands run") \
    ROW(POLLS, "polls") \
    ROW(OFFLINE, "items offline at once") \
    ROW(LATE, "items ended by their deadline") \
    ROW(CANCELS, "tasks cancelled") \
    ROW(CANCELLED, "items not run for that") \
    ROW(FORGOTTEN, "tasks forgotten") \
    ROW(AGENT_KILLS, "agents killed") \
    ROW(UPGRADES, "agents replaced") \
    ROW(POWER_LOSSES, "hosts without power") \
    ROW(SERVER_KILLS, "servers killed") \
    ROW(HOLES, "links that swallow all") \
    ROW(STORMS, "storms of links") \
    ROW(FULL_DISKS, "disks full") \
    ROW(COMPACTIONS, "journals compacted") \
    ROW(REFUSALS, "times the store refused") \
    ROW(LIES, "lies") \
    ROW(EVENTS, "events") \
    ROW(EVENT_GAPS, "gaps in them")
/* clang-format on */

enum sim_count {
#define ROW(name, text) SIM_##name,
    SIM_COUNT_ROWS(ROW)
#undef ROW
        SIM_COUNTS
};
extern const char *const sim_count_texts[SIM_COUNTS];

struct sim_report {
    long counts[SIM_COUNTS];
    uint64_t digest; /* the same seed, the same number */
};

int sim_run(const struct sim_options *o, struct sim_report *ret, struct err *err);

#endif
