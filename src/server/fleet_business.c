/* SPDX-License-Identifier: MIT */
/* fleet_business.c - which hosts are in each business.  See fleet_index.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "server/fleet_in.h"

struct business *business_find(const struct fleet *f, int64_t biz_id)
{
    return by_id_find(&f->businesses, biz_id);
}

size_t fleet_in_business(const struct fleet *f, int64_t biz_id)
{
    const struct business *b = business_find(f, biz_id);

    return b ? b->roll.total : 0;
}

int64_t fleet_next_business(const struct fleet *f, int64_t after)
{
    const struct business *b = by_id_next(&f->businesses, after);

    return b ? b->id : 0;
}

static struct business *business_get(struct fleet *f, int64_t biz_id)
{
    struct business *b = business_find(f, biz_id);

    if (b)
        return b;
    b = xalloc(sizeof(*b));
    b->id = biz_id;
    (void)by_id_put(&f->businesses, b); /* there was none */
    return b;
}

void business_enter(struct host *h)
{
    h->business = business_get(h->fleet, h->pub.biz_id);
    roll_add(&h->business->roll, &h->pub, 1);
    h->business->totals.hosts++;
    h->business->totals.online += h->pub.epoch != 0;
    h->business->totals.silent += h->pub.silent_ms != 0;
}

void business_leave(struct host *h)
{
    struct business *b = h->business;

    h->business = NULL;
    roll_sub(&b->roll, &h->pub, 1);
    b->totals.hosts--;
    b->totals.online -= h->pub.epoch != 0;
    b->totals.silent -= h->pub.silent_ms != 0;
    if (b->roll.total)
        return;
    (void)by_id_del(&h->fleet->businesses, b->id);
    roll_free(&b->roll);
    free(b);
}

void businesses_free(struct fleet *f)
{
    by_id_done(&f->businesses);
}
