/* SPDX-License-Identifier: MIT */
/* core_circle.c - finds dependency cycles in `after`: the read-only part of core_order.h. */
#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_order.h"
#include "base/mem/mem.h"

static struct proc *find_named(const struct proc *k, const char *name)
{
    const struct core *c = k->core;
    char *key;
    struct proc *found;

    if (strchr(name, ':'))
        return map_find_str(&c->proc, name);
    key = xprintf("%s:%s", k->meta.space, name);
    found = map_find_str(&c->proc, key);
    free(key);
    return found;
}

struct proc *order_named(const struct proc *k, const struct proc_extra *extra, size_t i)
{
    return find_named(k, ((const struct proc_word *)extra->after.items)[i].text);
}

/* A step of the search: a process, and the step that led to it. */
struct step {
    const struct proc *proc;
    struct step *from, *next;
};

enum { SHOWN = 20 }; /* maximum number of names shown; further ones are counted */

/* Says that a -> b -> a is a circle, following the steps from the last one. */
static const char *write_circle(const struct proc *k, const struct step *last, struct arena *a)
{
    const char *text = k->meta.name;
    size_t n = 0;

    for (const struct step *s = last; s; s = s->from, n++) {
        if (n >= SHOWN)
            continue;
        text = arena_printf(
            a, "%s -> %s",
            strcmp(s->proc->meta.space, k->meta.space) ? s->proc->key : s->proc->meta.name, text);
    }
    if (n > SHOWN)
        return arena_msg(a, "spec.holdfast.after: %s -> (%zu more) -> %s is a circle", k->meta.name,
                         n - SHOWN, text);
    return arena_msg(a, "spec.holdfast.after: %s -> %s is a circle", k->meta.name, text);
}

/* Appends the processes that `of` names to the steps; true: k is among them. */
static bool add_named(const struct proc *k, const struct proc *of, const struct proc_extra *extra,
                      struct step *from, struct step **end, struct map *seen, struct arena *a)
{
    for (size_t i = 0; i < extra->after.n; i++) {
        const struct proc *next = order_named(of, extra, i);
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

const char *order_find_circle(const struct proc *k, const struct proc_spec *spec, struct arena *a)
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
        if (add_named(k, s->proc, &s->proc->spec.extra, s, &end, &seen, &steps))
            circle = write_circle(k, s, a);
    }
    map_free(&seen);
    arena_free(&steps);
    return circle;
}
