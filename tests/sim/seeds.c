/* SPDX-License-Identifier: MIT */
/* seeds.c - runs worlds of src/sim, one a seed.
 *
 *     seeds FIRST COUNT           each must hold its promises
 *     seeds SEED 1 trace          one of them, told step by step
 *
 * The first seed is run twice: the same seed is the same world. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { AGENTS = 3, MINUTES = 4 };

static int run(uint64_t seed, FILE *trace, struct sim_report *ret)
{
    const struct sim_options o = {
        .seed = seed, .agents = AGENTS, .minutes = MINUTES, .trace = trace
    };
    struct err err = { 0 };

    if (!sim_run(&o, ret, &err))
        return 0;
    printf("%s\nthe same again: build/gcc/tests/seeds %" PRIu64 " 1 trace\n", err.text, seed);
    return -1;
}

static void add(struct sim_report *to, const struct sim_report *r)
{
    to->steps += r->steps;
    to->tasks += r->tasks;
    to->items += r->items;
    to->runs += r->runs;
    to->agent_kills += r->agent_kills;
    to->power_losses += r->power_losses;
    to->server_kills += r->server_kills;
    to->upgrades += r->upgrades;
    to->events += r->events;
    to->event_gaps += r->event_gaps;
    to->cancels += r->cancels;
    to->cancelled += r->cancelled;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    FILE *trace = argc > 3 && !strcmp(argv[3], "trace") ? stdout : NULL;
    struct sim_report r, again, all = { 0 };

    for (uint64_t seed = first; seed < first + count; seed++) {
        if (run(seed, trace, &r))
            return 1;
        add(&all, &r);
        if (seed == first && !trace && (run(seed, NULL, &again) || again.digest != r.digest)) {
            printf("seed %" PRIu64 " was another world the second time\n", seed);
            return 1;
        }
    }
    printf(
        "%" PRIu64 " seeds: %ld steps, %ld tasks, %ld items, %ld commands run, %ld agents killed, "
        "%ld replaced, %ld hosts without power, %ld servers killed, %ld events, %ld gaps, "
        "%ld tasks cancelled and %ld items by that\n",
        count, all.steps, all.tasks, all.items, all.runs, all.agent_kills, all.upgrades,
        all.power_losses, all.server_kills, all.events, all.event_gaps, all.cancels, all.cancelled);
    return 0;
}
