/* SPDX-License-Identifier: MIT */
/* fleet_walk.c - the hosts of a part of the fleet, out of several rolls at once.  See
 * fleet_spaces.h. */
#include <string.h>

#include "server/fleet_in.h"
#include "server/fleet_spaces.h"

struct fleet_step {
    const struct roll *roll;
    struct roll_place at;
    const struct fleet_host *host; /* that is there */
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

/* The steps are a heap: each is before the two that hang from it. */
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

static void add(struct fleet_walk *w, const struct roll *roll, const char *after)
{
    struct roll_place at = roll_after(roll, after);
    const struct roll_entry *e = roll_at(roll, at);

    if (e)
        w->steps[w->n++] = (struct fleet_step){ roll, at, e->host };
}

static void add_space(struct fleet_walk *w, const struct fleet *f, const struct fleet_part *part,
                      const char *name, const char *after)
{
    struct space *s = space_find(f, name);

    if (s && !part->has_businesses)
        add(w, &s->roll, after);
    for (size_t i = 0; s && part->has_businesses && i < part->n_businesses; i++) {
        const struct share *share = share_find(f, s, part->businesses[i]);

        if (share)
            add(w, &share->roll, after);
    }
}

static void add_businesses(struct fleet_walk *w, const struct fleet *f,
                           const struct fleet_part *part, const char *after)
{
    for (size_t i = 0; i < part->n_businesses; i++) {
        const struct business *b = business_find(f, part->businesses[i]);

        if (b)
            add(w, &b->roll, after);
    }
}

/* No more steps than there are rolls. */
static size_t count_rolls(const struct fleet *f, const struct fleet_part *part)
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
        .steps = arena_alloc(a, count_rolls(f, part) * sizeof(*w->steps)),
    };
    if (!part->has_spaces && !part->has_businesses)
        add(w, &f->all, after);
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
    const struct roll_entry *e;

    s->at = roll_next(s->roll, s->at);
    e = roll_at(s->roll, s->at);
    if (e)
        s->host = e->host;
    else
        *s = w->steps[--w->n];
    sink(w, 0);
    return h;
}

/* A host that has processes of several namespaces comes once for each. */
const struct fleet_host *fleet_walk_next(struct fleet_walk *w)
{
    while (w->n) {
        const struct fleet_host *h = step(w);

        if (h != w->last)
            return w->last = h;
    }
    return NULL;
}
