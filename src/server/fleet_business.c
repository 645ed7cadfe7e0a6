/* SPDX-License-Identifier: MIT */
/* fleet_business.c - which hosts are in each business.  See fleet_index.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/fleet_in.h"

/* The place of the first whose id is not less. */
static size_t place_of(const struct fleet *f, int64_t id)
{
    size_t low = 0, high = f->n_businesses;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->businesses[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct fleet *f, size_t at, int64_t id)
{
    return at < f->n_businesses && f->businesses[at]->id == id;
}

struct business *business_find(const struct fleet *f, int64_t biz_id)
{
    size_t at = place_of(f, biz_id);

    return is_at(f, at, biz_id) ? f->businesses[at] : NULL;
}

size_t fleet_in_business(const struct fleet *f, int64_t biz_id)
{
    const struct business *b = business_find(f, biz_id);

    return b ? b->roll.total : 0;
}

int64_t fleet_next_business(const struct fleet *f, int64_t after)
{
    size_t at = place_of(f, after);

    at += is_at(f, at, after);
    return at < f->n_businesses ? f->businesses[at]->id : 0;
}

static struct business *business_get(struct fleet *f, int64_t biz_id)
{
    size_t at = place_of(f, biz_id);

    if (is_at(f, at, biz_id))
        return f->businesses[at];
    if (f->n_businesses == f->businesses_cap) {
        f->businesses_cap = f->businesses_cap ? 2 * f->businesses_cap : 16;
        f->businesses = xresize(f->businesses, f->businesses_cap * sizeof(struct business *));
    }
    memmove(&f->businesses[at + 1], &f->businesses[at],
            (f->n_businesses - at) * sizeof(struct business *));
    f->businesses[at] = xalloc(sizeof(struct business));
    f->businesses[at]->id = biz_id;
    f->n_businesses++;
    return f->businesses[at];
}

void business_enter(struct host *h)
{
    h->business = business_get(h->fleet, h->pub.biz_id);
    roll_add(&h->business->roll, &h->pub, 1);
    h->business->totals.hosts++;
    h->business->totals.online += h->pub.epoch != 0;
}

void business_leave(struct host *h)
{
    struct fleet *f = h->fleet;
    struct business *b = h->business;
    size_t at = place_of(f, b->id);

    h->business = NULL;
    roll_sub(&b->roll, &h->pub, 1);
    b->totals.hosts--;
    b->totals.online -= h->pub.epoch != 0;
    if (b->roll.total)
        return;
    f->n_businesses--;
    memmove(&f->businesses[at], &f->businesses[at + 1],
            (f->n_businesses - at) * sizeof(struct business *));
    roll_free(&b->roll);
    free(b);
}

void businesses_free(struct fleet *f)
{
    free(f->businesses);
}
