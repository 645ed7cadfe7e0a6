/* SPDX-License-Identifier: MIT */
/* core_circle.c - whom a process comes after, and whether that leads back to it: the part of
 * core_order.h that only looks. */
#include <stdlib.h>
#include <string.h>

#include "agent/core_order.h"
#include "base/mem.h"

static struct kept *find_named(const struct kept *k, const char *name)
{
    const struct core *c = k->core;
    char *key;
    struct kept *found;

    if (strchr(name, ':'))
        return map_find_str(&c->kept, name);
    key = xprintf("%s:%s", k->meta.space, name);
    found = map_find_str(&c->kept, key);
    free(key);
    return found;
}

struct kept *order_named(const struct kept *k, const struct proc_extra *extra, size_t i)
{
    return find_named(k, ((const struct proc_word *)extra->after.items)[i].text);
}

/* A step of the search: whom, and by whom it was found. */
struct step {
    const struct kept *kept;
    struct step *from, *next;
};

enum { SHOWN = 20 }; /* names of a circle; more are counted */

/* "a -> b -> a", read from its end. */
static const char *write_circle(const struct kept *k, const struct step *last, struct arena *a)
{
    const char *text = arena_printf(a, "%s is a circle", k->meta.name);
    size_t n = 0;

    for (const struct step *s = last; s; s = s->from, n++) {
        if (n >= SHOWN)
            continue;
        text = arena_printf(
            a, "%s -> %s",
            strcmp(s->kept->meta.space, k->meta.space) ? s->kept->key : s->kept->meta.name, text);
    }
    if (n > SHOWN)
        text = arena_printf(a, "(%zu more) -> %s", n - SHOWN, text);
    return arena_printf(a, "%s -> %s", k->meta.name, text);
}

/* Puts those that `of` names behind the last of the steps; true: k is among them. */
static bool add_named(const struct kept *k, const struct kept *of, const struct proc_extra *extra,
                      struct step *from, struct step **end, struct map *seen, struct arena *a)
{
    for (size_t i = 0; i < extra->after.n; i++) {
        const struct kept *next = order_named(of, extra, i);
        struct step *s;

        if (next == k)
            return true;
        if (!next || !next->hosted || map_find_str(seen, next->key))
            continue;
        s = arena_alloc(a, sizeof(*s));
        *s = (struct step){ next, from, NULL };
        map_put_str(seen, next->key, s);
        (*end)->next = s;
        *end = s;
    }
    return false;
}

const char *order_find_circle(const struct kept *k, const struct proc_spec *spec, struct arena *a)
{
    struct arena steps = { 0 };
    struct step first = { 0 }, *end = &first;
    struct map seen = { 0 };
    const char *circle = NULL;

    if (!spec->extra.after.n)
        return NULL;
    if (add_named(k, k, &spec->extra, NULL, &end, &seen, &steps))
        circle = write_circle(k, NULL, a);
    for (struct step *s = first.next; s && !circle; s = s->next) {
        if (add_named(k, s->kept, &s->kept->spec.extra, s, &end, &seen, &steps))
            circle = write_circle(k, s, a);
    }
    map_free(&seen);
    arena_free(&steps);
    return circle;
}
