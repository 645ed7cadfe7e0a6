/* SPDX-License-Identifier: MIT */
/* agent_slot.h - what a process of bench/agent tells of itself: a place in a file that
 * all of them share with the benchmark. */
#ifndef BENCH_AGENT_SLOT_H
#define BENCH_AGENT_SLOT_H

#include <stdint.h>

struct agent_slot {
    uint64_t began_ns; /* CLOCK_MONOTONIC */
    uint64_t pid;      /* written last */
};

#endif
