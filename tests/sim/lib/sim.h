/* SPDX-License-Identifier: MIT */
/* sim.h - the agent's core and the server's hub together, in a simulated world made from one seed.
 *
 * Hosts have processes that start slowly, fail, hang and die; the network loses, delays, duplicates
 * and reorders; agents and server are killed and restarted, agents are replaced in place, hosts
 * lose power, wall clocks jump.  Some worlds have more faults (sim_world.h): links that swallow
 * everything, full disks, a store that refuses, agents that lie.  Time is simulated, so hours take
 * a moment.  The same seed gives the same run, byte for byte.
 *
 * Checked at every step:
 *   - a command runs at most once, on its own host, after its task is stored, and in the order of
 *     arrival at its process; identical items of a task run once together;
 *   - no process is started while it runs, or restarted by the agent when it is not wanted, or
 *     more often than the restart rule allows;
 *   - an accepted task is never lost, and every poll has all of its items;
 *   - a result is what the agent sent, or what the server may decide; it is shown once it is
 *     stored, and never changes; an item that is reported as offline or cancelled never ran;
 *   - an offline agent is reported as offline in the first poll, and no other agent is;
 *   - an item has ended by its deadline, or as soon as server and store are back;
 *   - a result on the host's disk is sent at once in every new session, until the agent knows that
 *     it is stored;
 *   - events are written in order, and no event counts as written that is not; no slot of
 *     operations leaks.
 * At the end the faults stop; every item must have ended, every hosted process run, every result be
 * acknowledged, and every event be written or reported as lost.  Then processes are killed again
 * and again, and each is begun again soon and every time. */
#ifndef TESTS_SIM_LIB_SIM_H
#define TESTS_SIM_LIB_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text/err.h"

struct sim_options {
    uint64_t seed;
    FILE *trace;       /* NULL: no trace */
    bool wants_digest; /* digest of the full trace, which is slow; else of an outline */
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
    ROW(RESTARTS, "restarts by agents") \
    ROW(STOPS, "stops that left no family") \
    ROW(KILLS, "kills in the calm") \
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
    uint64_t digest; /* equal for equal seeds */
};

int sim_run(const struct sim_options *o, struct sim_report *ret, struct err *err);

#endif
