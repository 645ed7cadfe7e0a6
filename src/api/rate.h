/* SPDX-License-Identifier: MIT */
/* rate.h - how often somebody may ask: a bucket that fills evenly and holds what comes in one
 * second, so that a burst passes and a flood does not.  One that is all zeroes is full. */
#ifndef API_RATE_H
#define API_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
    int64_t thousandths; /* of a request, that may still be asked */
    int64_t at_ms;       /* as of then */
    bool has_begun;
};

/* Takes one out.  0, or after how many milliseconds there will be one. */
int64_t rate_take(struct rate *r, int64_t per_second, int64_t now_ms);

#endif
