/* SPDX-License-Identifier: MIT */
/* hist.h - a histogram of durations: a count for each range between fixed bounds, and the sum.
 *
 * Plain data for one thread; all zeroes is an empty histogram.  All histograms have the same
 * bounds, so they can be added and compared.  hist_add() takes constant time. */
#ifndef BASE_MEM_HIST_H
#define BASE_MEM_HIST_H

#include <stdint.h>

enum { HIST_BOUNDS = 21 };

struct hist {
    uint64_t counts[HIST_BOUNDS +
                    1]; /* not cumulative; the last one counts durations above all bounds */
    uint64_t sum_us;
};

extern const int64_t hist_bounds_us[HIST_BOUNDS];

/* A negative duration (the clock was set back) counts as 0. */
void hist_add(struct hist *h, int64_t took_us);

#endif
