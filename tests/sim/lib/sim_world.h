/* SPDX-License-Identifier: MIT */
/* sim_world.h - the kind of world of a seed: its size, and its faults besides the common ones.
 *
 * Most worlds are small and short, because most defects show there, and a few are large or long.
 * Each trait is in about a quarter of the worlds, so that every pair of traits occurs. */
#ifndef TESTS_SIM_LIB_SIM_WORLD_H
#define TESTS_SIM_LIB_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define SIM_TRAIT_ROWS(ROW) \
    ROW(LIMITS, "limits")         /* processes have resource limits */ \
    ROW(READY, "ready")           /* processes are ready by pid file */ \
    ROW(FEW_EVENTS, "few-events") /* so few events may wait that some are lost */ \
    ROW(HOLES, "holes")           /* links that stay up and drop everything */ \
    ROW(SLOW, "slow")             /* hosts with a latency of seconds */ \
    ROW(STORMS, "storms")         /* all links are lost at once */ \
    ROW(FULL_DISKS, "full-disks") /* disks of hosts */ \
    ROW(REFUSALS, "refusals")     /* the store is locked or full */ \
    ROW(FLOODS, "floods")         /* many processes die at once */ \
    ROW(FORGETS, "forgets")       /* ended tasks leave the server's memory */ \
    ROW(ARRIVALS, "arrivals")     /* an agent connects long before its session is ready */ \
    ROW(LIES, "lies")             /* agents send false messages */ \
    ROW(RESTLESS, "restless")     /* the server is killed again before all are back */ \
    ROW(TIGHT, "tight")           /* few items may be in flight to an agent, or in all */ \
    ROW(FAMILIES, "families")     /* workers outlive their main process */ \
    ROW(TWO_STEPS, "two-steps")   /* a helper with the name of the process runs first */ \
    ROW(CRASHES, "crashes")       /* most processes end soon after their start */
/* clang-format on */

enum sim_trait {
#define ROW(name, text) TRAIT_##name,
    SIM_TRAIT_ROWS(ROW)
#undef ROW
        TRAITS
};

struct sim_world {
    int agents;
    int64_t faults_ms;       /* how long there are requests and faults */
    int64_t ask_ms, hurt_ms; /* maximum interval of requests and of faults */
    int items_max;           /* per task */
    size_t compact_over;     /* journal records that trigger a compaction */
    size_t per_agent, total; /* items in flight; TRAIT_TIGHT */
    size_t events_max;       /* waiting events of a host */
    bool has[TRAITS];
};

void sim_world_make(uint64_t seed, struct sim_world *ret);
void sim_world_text(const struct sim_world *w, char *to, size_t size);

#endif
