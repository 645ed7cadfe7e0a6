/* SPDX-License-Identifier: MIT */
/* fleet_walk.c - merges several host indexes into one iteration.  See fleet_spaces.h. */
#include <string.h>

#include "server/fleet/fleet_business.h"
#include "server/fleet/fleet_shares.h"
#include "server/fleet/fleet_spaces.h"

struct fleet_step {
    const struct host_index *host_index;
    struct host_index_place at;
    const struct fleet_host *host; /* the current host */
};

static void swap(struct fleet_step *a, struct fleet_step *b)
{
    struct fleet_step was = *a;

    *a = *b;
    *b = was;
}

static bool is_before(const struct fleet_step *a, const struct fleet_step *b)
{
    return strcmp(a->host->agent_id, b->host->agent_id) < 0;
}

/* The steps form a binary heap, smallest host first. */
static void sink(struct fleet_walk *w, size_t i)
{
    for (;;) {
        size_t least = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < w->n; child++) {
            if (is_before(&w->steps[child], &w->steps[least]))
                least = child;
        }
        if (least == i)
            return;
        swap(&w->steps[i], &w->steps[least]);
        i = least;
    }
}

static void fleet_walk_add(struct fleet_walk *w, const struct host_index *host_index,
                           const char *after)
{
    struct host_index_place at = host_index_after(host_index, after);
    const struct host_index_entry *e = host_index_at(host_index, at);

    if (e)
        w->steps[w->n++] = (struct fleet_step){ host_index, at, e->host };
}

static void add_space(struct fleet_walk *w, const struct fleet *f, const struct fleet_part *part,
                      const char *name, const char *after)
{
    struct space *s = space_find(f, name);

    if (s && !part->has_businesses)
        fleet_walk_add(w, &s->host_index, after);
    for (size_t i = 0; s && part->has_businesses && i < part->n_businesses; i++) {
        const struct share *share = share_find(f, s, part->businesses[i]);

        if (share)
            fleet_walk_add(w, &share->host_index, after);
    }
}

static void add_businesses(struct fleet_walk *w, const struct fleet *f,
                           const struct fleet_part *part, const char *after)
{
    for (size_t i = 0; i < part->n_businesses; i++) {
        const struct business *b = business_find(f, part->businesses[i]);

        if (b)
            fleet_walk_add(w, &b->host_index, after);
    }
}

/* At most as many steps as there are indexes. */
static size_t count_host_indexs(const struct fleet *f, const struct fleet_part *part)
{
    size_t businesses = part->has_businesses ? part->n_businesses : 1;
    size_t all = businesses * (part->has_spaces ? part->n_spaces : 1);

    return all < f->shares.n + f->spaces.n + f->businesses.n + 1
               ? all
               : f->shares.n + f->spaces.n + f->businesses.n + 1;
}

void fleet_walk(struct fleet_walk *w, const struct fleet *f, const struct fleet_part *part,
                const char *after, struct arena *a)
{
    *w = (struct fleet_walk){
        .steps = arena_alloc(a, count_host_indexs(f, part) * sizeof(*w->steps)),
    };
    if (!part->has_spaces && !part->has_businesses)
        fleet_walk_add(w, &f->all, after);
    else if (!part->has_spaces)
        add_businesses(w, f, part, after);
    for (size_t i = 0; part->has_spaces && i < part->n_spaces; i++)
        add_space(w, f, part, part->spaces[i], after);
    for (size_t i = w->n / 2; i-- > 0;)
        sink(w, i);
}

static const struct fleet_host *step(struct fleet_walk *w)
{
    struct fleet_step *s = w->steps;
    const struct fleet_host *h = s->host;
    const struct host_index_entry *e;

    s->at = host_index_next(s->host_index, s->at);
    e = host_index_at(s->host_index, s->at);
    if (e)
        s->host = e->host;
    else
        *s = w->steps[--w->n];
    sink(w, 0);
    return h;
}

/* A host with processes of several namespaces occurs once per namespace: skip repetitions. */
const struct fleet_host *fleet_walk_next(struct fleet_walk *w)
{
    while (w->n) {
        const struct fleet_host *h = step(w);

        if (h != w->last)
            return w->last = h;
    }
    return NULL;
}
