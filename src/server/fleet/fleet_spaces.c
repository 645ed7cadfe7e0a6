/* SPDX-License-Identifier: MIT */
/* fleet_spaces.c - see fleet_spaces.h: totals and pages. */
#include "server/fleet/fleet_spaces.h"

#include <string.h>

#include "server/fleet/fleet_business.h"
#include "server/fleet/fleet_shares.h"

/* ---- sums */

static void add_procs(struct fleet_totals *t, const struct fleet_totals *more)
{
    t->procs += more->procs;
    t->running += more->running;
    t->flapping += more->flapping;
    t->hosted += more->hosted;
}

static void fleet_spaces_add_hosts(struct fleet_totals *t, const struct fleet_totals *more)
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
        fleet_spaces_add_hosts(t, &b->totals);
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
        fleet_spaces_add_hosts(&t, &f->totals);
    for (size_t i = 0; part->has_spaces && i < part->n_spaces; i++)
        count_space(f, part, part->spaces[i], &t);
    return t;
}

/* ---- pages */

/* The index of the host's first process of a namespace. */
static size_t fleet_spaces_first_of(const struct fleet_host *h, const char *space)
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
    size_t n, total; /* total: of the indexes visited so far */
};

static void take_host(struct filling *f, const struct host_index_entry *e, size_t skip)
{
    size_t first = fleet_spaces_first_of(e->host, f->ask->space);

    for (size_t i = skip; i < e->count && f->n < f->ask->most; i++)
        f->hits[f->n++] = (struct fleet_hit){ e->host, e->host->procs[first + i] };
}

/* Skips the indexes that were visited before. */
static void take_host_index(struct filling *f, const struct host_index *r)
{
    size_t before = f->total, start = f->ask->start > before ? f->ask->start - before : 0, skip;
    struct host_index_place p;

    f->total += r->total;
    if (start >= r->total || f->n == f->ask->most)
        return;
    p = host_index_find(r, start, &skip);
    for (const struct host_index_entry *e; f->n < f->ask->most && (e = host_index_at(r, p));
         p = host_index_next(r, p), skip = 0)
        take_host(f, e, skip);
}

size_t fleet_page(const struct fleet *f, const struct fleet_page *ask, struct fleet_hit *hits,
                  size_t *ret_n)
{
    struct filling filling = { .ask = ask, .hits = hits };
    struct space *s = space_find(f, ask->space);
    const struct fleet_part *part = ask->part;

    if (s && !(part && part->has_businesses))
        take_host_index(&filling, &s->host_index);
    for (size_t i = 0; s && part && part->has_businesses && i < part->n_businesses; i++) {
        const struct share *share = share_find(f, s, part->businesses[i]);

        if (share)
            take_host_index(&filling, &share->host_index);
    }
    *ret_n = filling.n;
    return filling.total;
}
