/* SPDX-License-Identifier: MIT */
/* sim_world.h - what kind of world a seed makes: how large, and what goes wrong in it
 * beside what goes wrong in all.
 *
 * Most are small and short, as most mistakes show there, and a few large or long.  Each
 * trait is in about one world of four, so that every two of them meet. */
#ifndef SIM_SIM_WORLD_H
#define SIM_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define SIM_TRAIT_ROWS(ROW) \
    ROW(LIMITS, "limits")         /* processes may use only so much */ \
    ROW(READY, "ready")           /* they are up when their pid file says so */ \
    ROW(FEW_EVENTS, "few-events") /* so few may wait that some are lost */ \
    ROW(HOLES, "holes")           /* links that are up and let nothing through */ \
    ROW(SLOW, "slow")             /* hosts whose frames take seconds */ \
    ROW(STORMS, "storms")         /* all links go at once */ \
    ROW(FULL_DISKS, "full-disks") /* of hosts */ \
    ROW(REFUSALS, "refusals")     /* the store is locked, or full */ \
    ROW(FLOODS, "floods")         /* many processes die at once */ \
    ROW(FORGETS, "forgets")       /* tasks that ended leave the server's memory */ \
    ROW(ARRIVALS, "arrivals")     /* an agent is here long before its session is ready */ \
    ROW(LIES, "lies")             /* agents say what is not theirs to say */ \
    ROW(RESTLESS, "restless")     /* the server goes again before all are back */ \
    ROW(TIGHT, "tight")           /* few items may be on the way to an agent, or to all */
/* clang-format on */

enum sim_trait {
#define ROW(name, text) TRAIT_##name,
    SIM_TRAIT_ROWS(ROW)
#undef ROW
        TRAITS
};

struct sim_world {
    int agents;
    int64_t faults_ms;       /* for so long there are requests and faults */
    int64_t ask_ms, hurt_ms; /* at most, from one to the next */
    int items_max;           /* of a task */
    size_t compact_over;     /* records of a journal */
    size_t per_agent, total; /* items on the way; TRAIT_TIGHT */
    size_t events_max;       /* that wait on a host */
    bool has[TRAITS];
};

void sim_world_make(uint64_t seed, struct sim_world *ret);
void sim_world_text(const struct sim_world *w, char *to, size_t size);

#endif
