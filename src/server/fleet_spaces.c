/* SPDX-License-Identifier: MIT */
/* fleet_spaces.c - see fleet_spaces.h: what is counted of each namespace, and its pages. */
#include "server/fleet_spaces.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/fleet_in.h"

/* ---- namespaces, and the shares that businesses have of them */

struct space *space_find(const struct fleet *f, const char *name)
{
    return map_find_str(&f->spaces, name);
}

static struct space *space_get(struct fleet *f, const char *name)
{
    struct space *s = space_find(f, name);
    size_t size = strlen(name) + 1;

    if (s)
        return s;
    s = xalloc(sizeof(*s) + size);
    memcpy(s->name, name, size);
    map_put_str(&f->spaces, s->name, s);
    return s;
}

struct share *share_find(const struct fleet *f, struct space *s, int64_t biz_id)
{
    const struct share_key key = { s, biz_id };

    return map_find(&f->shares, (const char *)&key, sizeof(key));
}

static struct share *share_get(struct fleet *f, struct space *s, int64_t biz_id)
{
    struct share *share = share_find(f, s, biz_id);

    if (share)
        return share;
    share = xalloc(sizeof(*share));
    share->key = (struct share_key){ s, biz_id };
    map_put(&f->shares, (const char *)&share->key, sizeof(share->key), share);
    return share;
}

struct share *share_enter(struct host *h, const char *space)
{
    struct space *s = space_get(h->fleet, space);
    struct share *share = share_get(h->fleet, s, h->pub.biz_id);

    roll_add(&s->roll, &h->pub, 1);
    roll_add(&share->roll, &h->pub, 1);
    return share;
}

static void share_free(struct fleet *f, struct share *share)
{
    map_del(&f->shares, (const char *)&share->key, sizeof(share->key));
    roll_free(&share->roll);
    free(share);
}

void share_leave(struct host *h, struct share *share)
{
    struct space *s = share->key.space;

    roll_sub(&s->roll, &h->pub, 1);
    roll_sub(&share->roll, &h->pub, 1);
    if (!share->roll.total)
        share_free(h->fleet, share);
    if (s->roll.total)
        return;
    map_del_str(&h->fleet->spaces, s->name);
    roll_free(&s->roll);
    free(s);
}

/* ---- sums */

static void add_procs(struct fleet_totals *t, const struct fleet_totals *more)
{
    t->procs += more->procs;
    t->running += more->running;
    t->hosted += more->hosted;
}

static void add_hosts(struct fleet_totals *t, const struct fleet_totals *more)
{
    t->hosts += more->hosts;
    t->online += more->online;
    t->silent += more->silent;
}

static void count_businesses(const struct fleet *f, const struct fleet_part *part,
                             struct fleet_totals *t)
{
    for (size_t i = 0; i < part->n_businesses; i++) {
        const struct business *b = business_find(f, part->businesses[i]);

        if (!b)
            continue;
        add_hosts(t, &b->totals);
        if (!part->has_spaces)
            add_procs(t, &b->totals);
    }
}

static void count_space(const struct fleet *f, const struct fleet_part *part, const char *name,
                        struct fleet_totals *t)
{
    struct space *s = space_find(f, name);

    if (s && !part->has_businesses)
        add_procs(t, &s->totals);
    for (size_t i = 0; s && part->has_businesses && i < part->n_businesses; i++) {
        const struct share *share = share_find(f, s, part->businesses[i]);

        if (share)
            add_procs(t, &share->totals);
    }
}

struct fleet_totals fleet_count(const struct fleet *f, const struct fleet_part *part)
{
    struct fleet_totals t = { 0 };

    if (!part->has_businesses && !part->has_spaces)
        return f->totals;
    if (part->has_businesses)
        count_businesses(f, part, &t);
    else
        add_hosts(&t, &f->totals);
    for (size_t i = 0; part->has_spaces && i < part->n_spaces; i++)
        count_space(f, part, part->spaces[i], &t);
    return t;
}

/* ---- pages */

/* Where a host's processes of a namespace begin. */
static size_t first_of(const struct fleet_host *h, const char *space)
{
    size_t low = 0, high = h->n_procs;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(h->procs[middle]->space, space) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct filling {
    const struct fleet_page *ask;
    struct fleet_hit *hits;
    size_t n, total; /* total: of the rolls that were taken */
};

static void take_host(struct filling *f, const struct roll_entry *e, size_t skip)
{
    size_t first = first_of(e->host, f->ask->space);

    for (size_t i = skip; i < e->count && f->n < f->ask->most; i++)
        f->hits[f->n++] = (struct fleet_hit){ e->host, e->host->procs[first + i] };
}

/* What is behind those that were taken before. */
static void take_roll(struct filling *f, const struct roll *r)
{
    size_t before = f->total, start = f->ask->start > before ? f->ask->start - before : 0, skip;
    struct roll_place p;

    f->total += r->total;
    if (start >= r->total || f->n == f->ask->most)
        return;
    p = roll_find(r, start, &skip);
    for (const struct roll_entry *e; f->n < f->ask->most && (e = roll_at(r, p));
         p = roll_next(r, p), skip = 0)
        take_host(f, e, skip);
}

size_t fleet_page(const struct fleet *f, const struct fleet_page *ask, struct fleet_hit *hits,
                  size_t *ret_n)
{
    struct filling filling = { .ask = ask, .hits = hits };
    struct space *s = space_find(f, ask->space);
    const struct fleet_part *part = ask->part;

    if (s && !(part && part->has_businesses))
        take_roll(&filling, &s->roll);
    for (size_t i = 0; s && part && part->has_businesses && i < part->n_businesses; i++) {
        const struct share *share = share_find(f, s, part->businesses[i]);

        if (share)
            take_roll(&filling, &share->roll);
    }
    *ret_n = filling.n;
    return filling.total;
}
