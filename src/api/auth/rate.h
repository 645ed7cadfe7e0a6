/* SPDX-License-Identifier: MIT */
/* rate.h - a token bucket: it fills evenly and holds the requests of one second, so a short burst
 * passes and a flood does not.  All zero: full. */
#ifndef API_AUTH_RATE_H
#define API_AUTH_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
    int64_t thousandths; /* available, in thousandths of a request */
    int64_t at_ms;       /* as of this time */
    bool has_begun;
};

/* Takes one request.  Returns 0, or after how many milliseconds one is available. */
int64_t rate_take(struct rate *r, int64_t per_second, int64_t now_ms);

#endif
