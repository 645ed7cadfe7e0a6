/* SPDX-License-Identifier: MIT */
/* body_quota.c - see body_quota.h. */
#include "api/pipeline/body_quota.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

struct body_address {
    size_t bytes;
    TAILQ_HEAD(, body_holder) holders; /* oldest first */
    char name[];
};

void body_quota_done(struct body_quota *q)
{
    assert(q->addresses.n == 0);
    map_free(&q->addresses);
}

static struct body_address *address_get(struct body_quota *q, const char *name)
{
    struct body_address *a = map_find_str(&q->addresses, name);
    size_t n = strlen(name) + 1;

    if (a)
        return a;
    a = xalloc(sizeof(*a) + n);
    memcpy(a->name, name, n);
    TAILQ_INIT(&a->holders);
    map_put_str(&q->addresses, a->name, a);
    return a;
}

void body_quota_enter(struct body_quota *q, struct body_holder *h, const char *address)
{
    h->address = address_get(q, address);
    h->bytes = 0;
    TAILQ_INSERT_TAIL(&h->address->holders, h, link);
}

void body_quota_leave(struct body_quota *q, struct body_holder *h)
{
    struct body_address *a = h->address;

    if (!a)
        return;
    TAILQ_REMOVE(&a->holders, h, link);
    a->bytes -= h->bytes;
    q->bytes -= h->bytes;
    h->address = NULL;
    h->bytes = 0;
    if (!TAILQ_EMPTY(&a->holders))
        return;
    map_del_str(&q->addresses, a->name);
    free(a);
}

/* A body that needs n more bytes. */
struct need {
    const struct body_holder *self;
    size_t n;
};

static size_t bytes_with(const struct body_holder *h, const struct need *need)
{
    return h->bytes + (h == need->self ? need->n : 0);
}

/* Whether the small bodies of the address are so many that they are not spared: otherwise an
 * attacker could fill the quota with small bodies, and no larger one would be accepted. */
static bool is_crowd(const struct body_quota *q, const struct body_address *a)
{
    const struct body_holder *h;
    size_t bytes = 0;

    TAILQ_FOREACH(h, &a->holders, link) {
        if (!h->is_read && h->bytes <= q->small)
            bytes += h->bytes;
    }
    return bytes > q->max / BODY_QUOTA_CROWD;
}

/* The largest body of the address that can be evicted.  Bodies smaller than `min` stay, and so does
 * `self` if it is small. */
static struct body_holder *largest_of(const struct body_quota *q, struct body_address *a,
                                      const struct need *need, size_t min)
{
    struct body_holder *h, *found = NULL;
    size_t most = 0;

    TAILQ_FOREACH(h, &a->holders, link) {
        size_t bytes = bytes_with(h, need);

        if (h->is_read || bytes <= most || bytes < min || (h == need->self && bytes <= q->small))
            continue;
        most = bytes;
        found = h;
    }
    return found;
}

/* The body to evict; NULL: none. */
static struct body_holder *find_among(const struct body_quota *q, const struct need *need,
                                      bool spares_small)
{
    struct body_holder *found = NULL;
    struct map_entry *e;
    size_t most = 0;

    for (size_t at = 0; (e = map_next(&q->addresses, &at));) {
        struct body_address *a = e->value;
        size_t bytes = a->bytes + (a == need->self->address ? need->n : 0);
        size_t min = spares_small && !is_crowd(q, a) ? q->small + 1 : 0;
        struct body_holder *h = bytes > most ? largest_of(q, a, need, min) : NULL;

        if (!h)
            continue;
        most = bytes;
        found = h;
    }
    return found;
}

static struct body_holder *find_victim(const struct body_quota *q, const struct need *need)
{
    struct body_holder *h = find_among(q, need, true);

    return h ? h : find_among(q, need, false);
}

bool body_quota_add(struct body_quota *q, struct body_holder *h, size_t n)
{
    while (n > q->max - q->bytes) {
        struct body_holder *victim = find_victim(q, &(struct need){ h, n });

        if (!victim || victim == h)
            return false;
        q->evict(victim); /* frees the victim */
    }
    h->bytes += n;
    h->address->bytes += n;
    q->bytes += n;
    return true;
}
