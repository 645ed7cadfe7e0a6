/* SPDX-License-Identifier: MIT */
/* fleet_business.c - how many hosts are in each business.  See fleet_in.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/fleet_in.h"

struct business {
    int64_t id;
    size_t n;
};

/* The place of the first whose id is not less. */
static size_t place_of(const struct fleet *f, int64_t id)
{
    size_t low = 0, high = f->n_businesses;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->businesses[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct fleet *f, size_t at, int64_t id)
{
    return at < f->n_businesses && f->businesses[at].id == id;
}

size_t fleet_in_business(const struct fleet *f, int64_t biz_id)
{
    size_t at = place_of(f, biz_id);

    return is_at(f, at, biz_id) ? f->businesses[at].n : 0;
}

int64_t fleet_next_business(const struct fleet *f, int64_t after)
{
    size_t at = place_of(f, after);

    at += is_at(f, at, after);
    return at < f->n_businesses ? f->businesses[at].id : 0;
}

void business_enter(struct fleet *f, int64_t biz_id)
{
    size_t at = place_of(f, biz_id);

    if (!is_at(f, at, biz_id)) {
        if (f->n_businesses == f->businesses_cap) {
            f->businesses_cap = f->businesses_cap ? 2 * f->businesses_cap : 16;
            f->businesses = xresize(f->businesses, f->businesses_cap * sizeof(*f->businesses));
        }
        memmove(&f->businesses[at + 1], &f->businesses[at],
                (f->n_businesses - at) * sizeof(*f->businesses));
        f->businesses[at] = (struct business){ .id = biz_id };
        f->n_businesses++;
    }
    f->businesses[at].n++;
}

void business_leave(struct fleet *f, int64_t biz_id)
{
    size_t at = place_of(f, biz_id);

    if (--f->businesses[at].n)
        return;
    f->n_businesses--;
    memmove(&f->businesses[at], &f->businesses[at + 1],
            (f->n_businesses - at) * sizeof(*f->businesses));
}

void businesses_free(struct fleet *f)
{
    free(f->businesses);
}
