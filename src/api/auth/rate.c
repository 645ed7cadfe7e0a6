/* SPDX-License-Identifier: MIT */
/* rate.c - see rate.h. */
#include "api/auth/rate.h"

enum { ONE = 1000 };

int64_t rate_take(struct rate *r, int64_t per_second, int64_t now_ms)
{
    int64_t most = per_second * ONE, passed_ms = now_ms - r->at_ms;

    /* It fills by `per_second` thousandths per millisecond. */
    if (!r->has_begun || passed_ms >= ONE)
        r->thousandths = most;
    else if (passed_ms > 0)
        r->thousandths += passed_ms * per_second;
    if (r->thousandths > most)
        r->thousandths = most;
    r->has_begun = true;
    r->at_ms = now_ms;
    if (r->thousandths < ONE)
        return (ONE - r->thousandths + per_second - 1) / per_second;
    r->thousandths -= ONE;
    return 0;
}
