/* SPDX-License-Identifier: MIT */
/* hist.c - see hist.h. */
#include "base/mem/hist.h"

#include <stddef.h>

/* From an answer out of memory up to an operation that runs into its deadline. */
const int64_t hist_bounds_us[HIST_BOUNDS] = {
    25,      50,      100,     250,      500,      1000,     2500,
    5000,    10000,   25000,   50000,    100000,   250000,   500000,
    1000000, 2500000, 5000000, 10000000, 30000000, 60000000, 300000000,
};

void hist_add(struct hist *h, int64_t took_us)
{
    size_t from = 0, to = HIST_BOUNDS;

    if (took_us < 0)
        took_us = 0;
    while (from < to) {
        size_t middle = (from + to) / 2;

        if (took_us <= hist_bounds_us[middle])
            to = middle;
        else
            from = middle + 1;
    }
    h->counts[from]++;
    h->sum_us += (uint64_t)took_us;
}
