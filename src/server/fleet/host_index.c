/* SPDX-License-Identifier: MIT */
/* host_index.c - see host_index.h. */
#include "server/fleet/host_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

/* ---- finding */

static const char *first_id(const struct host_index_slot *s)
{
    return s->block->entries[0].host->agent_id;
}

/* The last block that does not begin after this id; the first one if all do. */
static size_t host_index_slot_of(const struct host_index *r, const char *agent_id)
{
    size_t low = 0, high = r->n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(first_id(&r->slots[middle]), agent_id) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The place of the first entry that is not less than this id. */
static size_t entry_of(const struct host_index_block *b, const char *agent_id)
{
    size_t low = 0, high = b->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(b->entries[middle].host->agent_id, agent_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the host is or would be.  Rows of the store are sorted, so the last entry is tried first.
 */
static struct host_index_place host_index_place_of(const struct host_index *r, const char *agent_id)
{
    struct host_index_place p = { 0 };
    const struct host_index_block *last;
    int order;

    if (!r->n)
        return p;
    last = r->slots[r->n - 1].block;
    order = strcmp(last->entries[last->n - 1].host->agent_id, agent_id);
    if (order <= 0)
        return (struct host_index_place){ r->n - 1, last->n - (order == 0) };
    p.slot = host_index_slot_of(r, agent_id);
    p.entry = entry_of(r->slots[p.slot].block, agent_id);
    return p;
}

const struct host_index_entry *host_index_at(const struct host_index *r, struct host_index_place p)
{
    return p.slot < r->n ? &r->slots[p.slot].block->entries[p.entry] : NULL;
}

/* After the last entry of a block comes the first of the next. */
static struct host_index_place host_index_settle(const struct host_index *r,
                                                 struct host_index_place p)
{
    if (p.slot < r->n && p.entry == r->slots[p.slot].block->n)
        return (struct host_index_place){ p.slot + 1, 0 };
    return p;
}

struct host_index_place host_index_next(const struct host_index *r, struct host_index_place p)
{
    p.entry++;
    return host_index_settle(r, p);
}

struct host_index_place host_index_after(const struct host_index *r, const char *agent_id)
{
    struct host_index_place p = host_index_settle(r, host_index_place_of(r, agent_id));
    const struct host_index_entry *e = host_index_at(r, p);

    return e && !strcmp(e->host->agent_id, agent_id) ? host_index_next(r, p) : p;
}

struct host_index_place host_index_find(const struct host_index *r, size_t n, size_t *ret_skip)
{
    struct host_index_place p = { 0 };

    assert(n < r->total);
    for (; n >= r->slots[p.slot].sum; p.slot++)
        n -= r->slots[p.slot].sum;
    for (; n >= host_index_at(r, p)->count; p.entry++)
        n -= host_index_at(r, p)->count;
    *ret_skip = n;
    return p;
}

/* ---- changes */

static void add_slot(struct host_index *r, size_t at)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1; /* most indexes have one block */
        r->slots = xresize(r->slots, r->cap * sizeof(*r->slots));
    }
    memmove(&r->slots[at + 1], &r->slots[at], (r->n - at) * sizeof(*r->slots));
    r->slots[at] = (struct host_index_slot){ 0 };
    r->n++;
}

static void grow_block(struct host_index_slot *s)
{
    struct host_index_block *b = s->block;
    size_t cap = b ? 2 * b->cap : 4;

    if (b && b->n < b->cap)
        return;
    b = xresize(b, sizeof(*b) + cap * sizeof(*b->entries));
    b->n = s->block ? b->n : 0;
    b->cap = cap;
    s->block = b;
}

/* Moves the second half to a new block. */
static void host_index_split(struct host_index *r, size_t at)
{
    struct host_index_block *from = r->slots[at].block;
    struct host_index_block *to = xalloc(sizeof(*to) + HOST_INDEX_BLOCK * sizeof(*to->entries));
    size_t keep = from->n / 2;

    add_slot(r, at + 1);
    to->cap = HOST_INDEX_BLOCK;
    to->n = from->n - keep;
    from->n = keep;
    memcpy(to->entries, &from->entries[keep], to->n * sizeof(*to->entries));
    r->slots[at + 1].block = to;
    for (size_t i = 0; i < to->n; i++)
        r->slots[at + 1].sum += to->entries[i].count;
    r->slots[at].sum -= r->slots[at + 1].sum;
}

/* A place in a block with room.  Appending starts a new block, so sorted input fills its blocks. */
static struct host_index_place make_room(struct host_index *r, struct host_index_place p)
{
    if (!r->n) {
        add_slot(r, 0);
    } else if (r->slots[p.slot].block->n == HOST_INDEX_BLOCK) {
        if (p.slot == r->n - 1 && p.entry == HOST_INDEX_BLOCK) {
            add_slot(r, r->n);
            p = (struct host_index_place){ r->n - 1, 0 };
        } else {
            size_t keep = HOST_INDEX_BLOCK / 2;

            host_index_split(r, p.slot);
            if (p.entry > keep)
                p = (struct host_index_place){ p.slot + 1, p.entry - keep };
        }
    }
    grow_block(&r->slots[p.slot]);
    return p;
}

static struct host_index_place insert(struct host_index *r, struct host_index_place p,
                                      const struct fleet_host *h)
{
    struct host_index_block *b;

    p = make_room(r, p);
    b = r->slots[p.slot].block;
    memmove(&b->entries[p.entry + 1], &b->entries[p.entry], (b->n - p.entry) * sizeof(*b->entries));
    b->entries[p.entry] = (struct host_index_entry){ .host = h };
    b->n++;
    return p;
}

static bool host_index_has(const struct host_index *r, struct host_index_place p,
                           const struct fleet_host *h)
{
    return p.slot < r->n && p.entry < r->slots[p.slot].block->n && host_index_at(r, p)->host == h;
}

void host_index_add(struct host_index *r, const struct fleet_host *h, size_t n)
{
    struct host_index_place p = host_index_place_of(r, h->agent_id);

    if (!host_index_has(r, p, h))
        p = insert(r, p, h);
    r->slots[p.slot].block->entries[p.entry].count += n;
    r->slots[p.slot].sum += n;
    r->total += n;
}

static void drop_slot(struct host_index *r, size_t at)
{
    free(r->slots[at].block);
    r->n--;
    memmove(&r->slots[at], &r->slots[at + 1], (r->n - at) * sizeof(*r->slots));
}

static void host_index_drop(struct host_index *r, struct host_index_place p)
{
    struct host_index_block *b = r->slots[p.slot].block;

    b->n--;
    memmove(&b->entries[p.entry], &b->entries[p.entry + 1], (b->n - p.entry) * sizeof(*b->entries));
    if (!b->n)
        drop_slot(r, p.slot);
}

void host_index_sub(struct host_index *r, const struct fleet_host *h, size_t n)
{
    struct host_index_place p = host_index_place_of(r, h->agent_id);
    struct host_index_entry *e;

    assert(host_index_has(r, p, h));
    e = &r->slots[p.slot].block->entries[p.entry];
    assert(e->count >= n);
    e->count -= n;
    r->slots[p.slot].sum -= n;
    r->total -= n;
    if (!e->count)
        host_index_drop(r, p);
}

void host_index_free(struct host_index *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->slots[i].block);
    free(r->slots);
    *r = (struct host_index){ 0 };
}
