/* SPDX-License-Identifier: MIT */
/* hist.h - how long things take, for who watches: how many took no longer than each of a
 * few bounds, and all of it together.
 *
 * Plain data of one thread; all zeroes is an empty one.  The bounds are the same for all, so
 * that they can be added up and compared.  Taking one down costs a few compares, whatever
 * has been taken down before. */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdint.h>

enum { HIST_BOUNDS = 21 };

struct hist {
    uint64_t counts[HIST_BOUNDS + 1]; /* each of its own; the last is beyond all bounds */
    uint64_t sum_us;
};

extern const int64_t hist_bounds_us[HIST_BOUNDS];

void hist_add(struct hist *h, int64_t took_us); /* less than 0, a clock went back: 0 */

#endif
