/* SPDX-License-Identifier: MIT */
/* fleet_spaces.c - see fleet_spaces.h. */
#include "server/fleet_spaces.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/fleet_in.h"

/* A host that has processes of the namespace. */
struct place {
    struct host *host;
    size_t n;
    size_t before; /* processes of the places before it, if it is among the reckoned */
};

/* Hosts come and go rarely, pages are asked for often: so the sums are made when they are
 * needed, and hold until something before them changes. */
struct space {
    struct place *places; /* by agent id */
    size_t n, cap;
    size_t reckoned; /* places whose sum is right: the first ones */
    size_t total;
    char name[];
};

/* ---- counting */

static size_t place_of(const struct space *s, const char *agent_id)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(s->places[middle].host->pub.agent_id, agent_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void doubt_from(struct space *s, size_t at)
{
    if (s->reckoned > at)
        s->reckoned = at;
}

static struct space *space_get(struct fleet *f, const char *name)
{
    struct space *s = map_find_str(&f->spaces, name);
    size_t size = strlen(name) + 1;

    if (s)
        return s;
    s = xalloc(sizeof(*s) + size);
    memcpy(s->name, name, size);
    map_put_str(&f->spaces, s->name, s);
    return s;
}

static void add_place(struct space *s, size_t at, struct host *h)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 4;
        s->places = xresize(s->places, s->cap * sizeof(*s->places));
    }
    memmove(&s->places[at + 1], &s->places[at], (s->n - at) * sizeof(*s->places));
    s->places[at] = (struct place){ .host = h };
    s->n++;
    doubt_from(s, at);
}

static void drop_place(struct space *s, size_t at)
{
    memmove(&s->places[at], &s->places[at + 1], (s->n - at - 1) * sizeof(*s->places));
    s->n--;
    doubt_from(s, at);
}

void spaces_add(struct host *h, const char *name)
{
    struct space *s = space_get(h->fleet, name);
    size_t at = place_of(s, h->pub.agent_id);

    if (at == s->n || s->places[at].host != h)
        add_place(s, at, h);
    s->places[at].n++;
    s->total++;
    doubt_from(s, at + 1);
}

void spaces_del(struct host *h, const char *name)
{
    struct space *s = map_find_str(&h->fleet->spaces, name);
    size_t at = s ? place_of(s, h->pub.agent_id) : 0;

    assert(s && at < s->n && s->places[at].host == h);
    s->total--;
    doubt_from(s, at + 1);
    if (--s->places[at].n == 0)
        drop_place(s, at);
    if (s->total)
        return;
    map_del_str(&h->fleet->spaces, s->name);
    free(s->places);
    free(s);
}

/* ---- pages */

/* The sums of all places up to the one that has the start-th process. */
static void reckon(struct space *s, size_t start)
{
    struct place *p = s->places;

    for (size_t i = s->reckoned; i < s->n; i++) {
        p[i].before = i ? p[i - 1].before + p[i - 1].n : 0;
        s->reckoned = i + 1;
        if (p[i].before > start)
            return;
    }
}

/* The place that has the start-th process, of which there is one. */
static size_t find_start(struct space *s, size_t start)
{
    size_t low = 0, high;

    reckon(s, start);
    high = s->reckoned;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (s->places[middle].before <= start)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where a host's processes of a namespace begin. */
static size_t first_of(const struct host *h, const char *space)
{
    size_t low = 0, high = h->pub.n_procs;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(h->procs[middle]->pub.space, space) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take(const struct space *s, const struct place *p, size_t skip, size_t most,
                 struct fleet_hit *hits, size_t *n)
{
    size_t first = first_of(p->host, s->name);

    for (size_t i = skip; i < p->n && *n < most; i++)
        hits[(*n)++] = (struct fleet_hit){ &p->host->pub, &p->host->procs[first + i]->pub };
}

static size_t page_of_all(struct space *s, const struct fleet_page *ask, struct fleet_hit *hits,
                          size_t *n)
{
    size_t at, skip;

    if (ask->start >= s->total)
        return s->total;
    at = find_start(s, ask->start);
    skip = ask->start - s->places[at].before;
    for (; at < s->n && *n < ask->most; at++, skip = 0)
        take(s, &s->places[at], skip, ask->most, hits, n);
    return s->total;
}

static size_t page_of_some(const struct space *s, const struct fleet_page *ask,
                           struct fleet_hit *hits, size_t *n)
{
    size_t total = 0;

    for (size_t at = 0; at < s->n; at++) {
        const struct place *p = &s->places[at];

        if (!ask->counts(ask->arg, &p->host->pub))
            continue;
        if (total + p->n > ask->start && *n < ask->most)
            take(s, p, ask->start > total ? ask->start - total : 0, ask->most, hits, n);
        total += p->n;
    }
    return total;
}

size_t fleet_page(const struct fleet *f, const struct fleet_page *ask, struct fleet_hit *hits,
                  size_t *ret_n)
{
    struct space *s = map_find_str(&f->spaces, ask->space);

    *ret_n = 0;
    if (!s)
        return 0;
    return ask->counts ? page_of_some(s, ask, hits, ret_n) : page_of_all(s, ask, hits, ret_n);
}

const struct fleet_host *fleet_next_in(const struct fleet *f, const char *space, const char *after)
{
    const struct space *s = map_find_str(&f->spaces, space);
    size_t at = s ? place_of(s, after) : 0;

    if (s && at < s->n && !strcmp(s->places[at].host->pub.agent_id, after))
        at++;
    return s && at < s->n ? &s->places[at].host->pub : NULL;
}
