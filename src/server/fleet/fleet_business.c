/* SPDX-License-Identifier: MIT */
/* fleet_business.c - see fleet_business.h. */
#include "server/fleet/fleet_business.h"

#include <stdlib.h>

#include "base/mem/mem.h"

struct business *business_find(const struct fleet *f, int64_t biz_id)
{
    return by_id_find(&f->businesses, biz_id);
}

static struct business *business_get(struct fleet *f, int64_t biz_id)
{
    struct business *b = business_find(f, biz_id);

    if (b)
        return b;
    b = xalloc(sizeof(*b));
    b->id = biz_id;
    (void)by_id_put(&f->businesses, b); /* NULL: checked above */
    return b;
}

void business_enter(struct host *h)
{
    h->business = business_get(h->fleet, h->pub.biz_id);
    host_index_add(&h->business->host_index, &h->pub, 1);
    h->business->totals.hosts++;
    h->business->totals.online += h->pub.epoch != 0;
    h->business->totals.silent += h->pub.silent_ms != 0;
}

void business_leave(struct host *h)
{
    struct business *b = h->business;

    h->business = NULL;
    host_index_sub(&b->host_index, &h->pub, 1);
    b->totals.hosts--;
    b->totals.online -= h->pub.epoch != 0;
    b->totals.silent -= h->pub.silent_ms != 0;
    if (b->host_index.total)
        return;
    (void)by_id_del(&h->fleet->businesses, b->id);
    host_index_free(&b->host_index);
    free(b);
}

void businesses_free(struct fleet *f)
{
    by_id_done(&f->businesses);
}
