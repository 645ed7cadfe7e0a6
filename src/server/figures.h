/* SPDX-License-Identifier: MIT */
/* figures.h - what agents say of themselves (link/pong.h), added up over the fleet: a series
 * for each of many thousand agents would be more than who watches them can use. */
#ifndef SERVER_FIGURES_H
#define SERVER_FIGURES_H

#include <stdint.h>

#include "link/pong.h"

/* Of one session. */
struct figures {
    struct message_figures said; /* last */
    int64_t at_ms;               /* when; 0: nothing yet */
    int64_t cpu_thousandths;     /* of a processor, between the last two times */
};

/* What only grows: what was added while agents were connected. */
struct figures_grown {
    uint64_t cpu_ms, restarts;
};

/* Of all agents that are connected and have said any: sums, and the largest. */
struct figures_now {
    int64_t agents;
    struct message_figures sum, max;
    int64_t cpu_max_thousandths;
};

void figures_take(struct figures *f, const struct message_figures *said, int64_t now_ms,
                  struct figures_grown *grown);
void figures_add(const struct figures *f, struct figures_now *to);

#endif
