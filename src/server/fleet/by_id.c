/* SPDX-License-Identifier: MIT */
/* by_id.c - see by_id.h. */
#include "server/fleet/by_id.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

static int64_t id_at(const struct by_id *l, size_t at)
{
    return *(const int64_t *)l->items[at];
}

/* The index of the first item whose id is not less. */
static size_t by_id_place_of(const struct by_id *l, int64_t id)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (id_at(l, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct by_id *l, size_t at, int64_t id)
{
    return at < l->n && id_at(l, at) == id;
}

void *by_id_find(const struct by_id *l, int64_t id)
{
    size_t at = by_id_place_of(l, id);

    return is_at(l, at, id) ? l->items[at] : NULL;
}

void *by_id_next(const struct by_id *l, int64_t after)
{
    size_t at = by_id_place_of(l, after);

    at += is_at(l, at, after);
    return at < l->n ? l->items[at] : NULL;
}

void *by_id_put(struct by_id *l, void *item)
{
    int64_t id = *(const int64_t *)item;
    size_t at = by_id_place_of(l, id);

    if (is_at(l, at, id)) {
        void *before = l->items[at];

        l->items[at] = item;
        return before;
    }
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->items = xresize(l->items, l->cap * sizeof(*l->items));
    }
    memmove(&l->items[at + 1], &l->items[at], (l->n - at) * sizeof(*l->items));
    l->items[at] = item;
    l->n++;
    return NULL;
}

void *by_id_del(struct by_id *l, int64_t id)
{
    size_t at = by_id_place_of(l, id);
    void *item;

    if (!is_at(l, at, id))
        return NULL;
    item = l->items[at];
    l->n--;
    memmove(&l->items[at], &l->items[at + 1], (l->n - at) * sizeof(*l->items));
    return item;
}

void by_id_done(struct by_id *l)
{
    free(l->items);
}
