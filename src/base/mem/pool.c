/* SPDX-License-Identifier: MIT */
/* pool.c - see pool.h.  A slab is freed together with its last object, unless it is the only one
 * with room: otherwise a pool that gets and puts one object again and again would allocate a
 * slab each time. */
#include "base/mem/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

enum { SLAB_BYTES = 64 * 1024, ALIGN = 16 };

/* Header in front of each object. */
struct place {
    struct slab *slab;
    struct place *next; /* next free one in its slab */
};
_Static_assert(sizeof(struct place) % ALIGN == 0, "things are aligned for anything");

struct slab {
    LIST_ENTRY(slab) link; /* in the list of slabs with room */
    struct place *free;
    size_t in_use;
    _Alignas(ALIGN) char bytes[];
};

/* A sanitized build puts each object into a slab of its own, so that an access beyond its end is
 * reported. */
#if defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif
#else
enum { IS_SANITIZED = 0 };
#endif

void pool_init(struct pool *p, size_t size)
{
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    *p = (struct pool){ .size = size, .per_slab = SLAB_BYTES / (size + sizeof(struct place)) };
    if (IS_SANITIZED || !p->per_slab)
        p->per_slab = 1;
    LIST_INIT(&p->roomy);
}

static struct slab *new_slab(struct pool *p)
{
    size_t step = sizeof(struct place) + p->size;
    struct slab *s = xresize(NULL, sizeof(*s) + p->per_slab * step);

    s->free = NULL;
    s->in_use = 0;
    for (size_t i = p->per_slab; i-- > 0;) {
        struct place *place = (struct place *)(void *)(s->bytes + i * step);

        *place = (struct place){ s, s->free };
        s->free = place;
    }
    LIST_INSERT_HEAD(&p->roomy, s, link);
    return s;
}

void *pool_get(struct pool *p)
{
    struct slab *s = LIST_FIRST(&p->roomy) ? LIST_FIRST(&p->roomy) : new_slab(p);
    struct place *place = s->free;

    s->free = place->next;
    s->in_use++;
    p->in_use++;
    if (!s->free)
        LIST_REMOVE(s, link);
    return memset(place + 1, 0, p->size);
}

void pool_put(struct pool *p, void *thing)
{
    struct place *place = (struct place *)thing - 1;
    struct slab *s = place->slab;

    if (!s->free)
        LIST_INSERT_HEAD(&p->roomy, s, link);
    place->next = s->free;
    s->free = place;
    p->in_use--;
    if (--s->in_use > 0)
        return;
    if (!IS_SANITIZED && LIST_FIRST(&p->roomy) == s && !LIST_NEXT(s, link))
        return;
    LIST_REMOVE(s, link);
    free(s);
}

void pool_done(struct pool *p)
{
    struct slab *s = LIST_FIRST(&p->roomy);

    assert(!p->in_use);
    if (!s)
        return;
    LIST_REMOVE(s, link);
    free(s);
}
