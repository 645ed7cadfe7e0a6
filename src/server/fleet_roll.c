/* SPDX-License-Identifier: MIT */
/* fleet_roll.c - see fleet_roll.h. */
#include "server/fleet_roll.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- finding */

static const char *first_id(const struct roll_slot *s)
{
    return s->block->entries[0].host->agent_id;
}

/* The last block that does not begin behind this id; the first one, if all do. */
static size_t slot_of(const struct roll *r, const char *agent_id)
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

/* The place of the first that is not before this id. */
static size_t entry_of(const struct roll_block *b, const char *agent_id)
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

/* Where it stands, or would.  A store is read in order: so the last one is looked at first. */
static struct roll_place place_of(const struct roll *r, const char *agent_id)
{
    struct roll_place p = { 0 };
    const struct roll_block *last;
    int order;

    if (!r->n)
        return p;
    last = r->slots[r->n - 1].block;
    order = strcmp(last->entries[last->n - 1].host->agent_id, agent_id);
    if (order <= 0)
        return (struct roll_place){ r->n - 1, last->n - (order == 0) };
    p.slot = slot_of(r, agent_id);
    p.entry = entry_of(r->slots[p.slot].block, agent_id);
    return p;
}

const struct roll_entry *roll_at(const struct roll *r, struct roll_place p)
{
    return p.slot < r->n ? &r->slots[p.slot].block->entries[p.entry] : NULL;
}

/* Behind the last of a block is the first of the next one. */
static struct roll_place settle(const struct roll *r, struct roll_place p)
{
    if (p.slot < r->n && p.entry == r->slots[p.slot].block->n)
        return (struct roll_place){ p.slot + 1, 0 };
    return p;
}

struct roll_place roll_next(const struct roll *r, struct roll_place p)
{
    p.entry++;
    return settle(r, p);
}

struct roll_place roll_after(const struct roll *r, const char *agent_id)
{
    struct roll_place p = settle(r, place_of(r, agent_id));
    const struct roll_entry *e = roll_at(r, p);

    return e && !strcmp(e->host->agent_id, agent_id) ? roll_next(r, p) : p;
}

struct roll_place roll_find(const struct roll *r, size_t n, size_t *ret_skip)
{
    struct roll_place p = { 0 };

    assert(n < r->total);
    for (; n >= r->slots[p.slot].sum; p.slot++)
        n -= r->slots[p.slot].sum;
    for (; n >= roll_at(r, p)->count; p.entry++)
        n -= roll_at(r, p)->count;
    *ret_skip = n;
    return p;
}

/* ---- changes */

static void add_slot(struct roll *r, size_t at)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1; /* most rolls are of one block */
        r->slots = xresize(r->slots, r->cap * sizeof(*r->slots));
    }
    memmove(&r->slots[at + 1], &r->slots[at], (r->n - at) * sizeof(*r->slots));
    r->slots[at] = (struct roll_slot){ 0 };
    r->n++;
}

static void grow_block(struct roll_slot *s)
{
    struct roll_block *b = s->block;
    size_t cap = b ? 2 * b->cap : 4;

    if (b && b->n < b->cap)
        return;
    b = xresize(b, sizeof(*b) + cap * sizeof(*b->entries));
    b->n = s->block ? b->n : 0;
    b->cap = cap;
    s->block = b;
}

/* The second half goes to a block of its own. */
static void split(struct roll *r, size_t at)
{
    struct roll_block *from = r->slots[at].block;
    struct roll_block *to = xalloc(sizeof(*to) + ROLL_BLOCK * sizeof(*to->entries));
    size_t keep = from->n / 2;

    add_slot(r, at + 1);
    to->cap = ROLL_BLOCK;
    to->n = from->n - keep;
    from->n = keep;
    memcpy(to->entries, &from->entries[keep], to->n * sizeof(*to->entries));
    r->slots[at + 1].block = to;
    for (size_t i = 0; i < to->n; i++)
        r->slots[at + 1].sum += to->entries[i].count;
    r->slots[at].sum -= r->slots[at + 1].sum;
}

/* A place in a block that has room.  Behind all others a new block begins: so those that come
 * in their order fill their blocks. */
static struct roll_place make_room(struct roll *r, struct roll_place p)
{
    if (!r->n) {
        add_slot(r, 0);
    } else if (r->slots[p.slot].block->n == ROLL_BLOCK) {
        if (p.slot == r->n - 1 && p.entry == ROLL_BLOCK) {
            add_slot(r, r->n);
            p = (struct roll_place){ r->n - 1, 0 };
        } else {
            size_t keep = ROLL_BLOCK / 2;

            split(r, p.slot);
            if (p.entry > keep)
                p = (struct roll_place){ p.slot + 1, p.entry - keep };
        }
    }
    grow_block(&r->slots[p.slot]);
    return p;
}

static struct roll_place insert(struct roll *r, struct roll_place p, const struct fleet_host *h)
{
    struct roll_block *b;

    p = make_room(r, p);
    b = r->slots[p.slot].block;
    memmove(&b->entries[p.entry + 1], &b->entries[p.entry], (b->n - p.entry) * sizeof(*b->entries));
    b->entries[p.entry] = (struct roll_entry){ .host = h };
    b->n++;
    return p;
}

static bool has(const struct roll *r, struct roll_place p, const struct fleet_host *h)
{
    return p.slot < r->n && p.entry < r->slots[p.slot].block->n && roll_at(r, p)->host == h;
}

void roll_add(struct roll *r, const struct fleet_host *h, size_t n)
{
    struct roll_place p = place_of(r, h->agent_id);

    if (!has(r, p, h))
        p = insert(r, p, h);
    r->slots[p.slot].block->entries[p.entry].count += n;
    r->slots[p.slot].sum += n;
    r->total += n;
}

static void drop_slot(struct roll *r, size_t at)
{
    free(r->slots[at].block);
    r->n--;
    memmove(&r->slots[at], &r->slots[at + 1], (r->n - at) * sizeof(*r->slots));
}

static void drop(struct roll *r, struct roll_place p)
{
    struct roll_block *b = r->slots[p.slot].block;

    b->n--;
    memmove(&b->entries[p.entry], &b->entries[p.entry + 1], (b->n - p.entry) * sizeof(*b->entries));
    if (!b->n)
        drop_slot(r, p.slot);
}

void roll_sub(struct roll *r, const struct fleet_host *h, size_t n)
{
    struct roll_place p = place_of(r, h->agent_id);
    struct roll_entry *e;

    assert(has(r, p, h));
    e = &r->slots[p.slot].block->entries[p.entry];
    assert(e->count >= n);
    e->count -= n;
    r->slots[p.slot].sum -= n;
    r->total -= n;
    if (!e->count)
        drop(r, p);
}

void roll_free(struct roll *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->slots[i].block);
    free(r->slots);
    *r = (struct roll){ 0 };
}
