/* SPDX-License-Identifier: MIT */
/* others.c - see others.h. */
#include "agent/shell/others.h"

#include <stdlib.h>

#include "agent/identify/procfs.h"
#include "base/mem/mem.h"

enum { ANCESTORS_MAX = 32 };

struct entry {
    struct core_ident ident;
    uint64_t name; /* hash_name() */
};

struct others {
    int refs;
    size_t n, cap;
    struct entry *list; /* sorted by pid */
};

/* FNV-1a.  Two names with one hash would make a search find a process of the other name, which
 * the check on the loop refuses. */
static uint64_t hash_name(const char *space, const char *name)
{
    uint64_t hash = 0xCBF29CE484222325U;

    for (const char *p = space; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001B3U;
    hash = (hash ^ ':') * 0x100000001B3U;
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001B3U;
    return hash;
}

static void others_on_process(void *others, const char *space, const char *name,
                              struct core_ident ident)
{
    struct others *o = others;

    if (o->n == o->cap) {
        o->cap = o->cap ? 2 * o->cap : 64;
        o->list = xresize(o->list, o->cap * sizeof(*o->list));
    }
    o->list[o->n++] = (struct entry){ ident, hash_name(space, name) };
}

static int others_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->ident.pid > y->ident.pid) - (x->ident.pid < y->ident.pid);
}

struct others *others_new(const struct core *c)
{
    struct others *o = xalloc(sizeof(*o));

    o->refs = 1;
    core_each_running(c, others_on_process, o);
    if (o->n)
        qsort(o->list, o->n, sizeof(*o->list), others_compare);
    return o;
}

struct others *others_ref(struct others *o)
{
    o->refs++;
    return o;
}

void others_unref(struct others *o)
{
    if (!o || --o->refs)
        return;
    free(o->list);
    free(o);
}

static size_t first_of_pid(const struct others *o, int64_t pid)
{
    size_t from = 0, to = o->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (o->list[middle].ident.pid < pid)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Two names may share one process: it does not count as another's if one of them is space:name. */
static bool others_has(const struct others *o, struct core_ident ident, uint64_t name)
{
    bool is_known = false;

    for (size_t i = first_of_pid(o, ident.pid); i < o->n && o->list[i].ident.pid == ident.pid;
         i++) {
        if (!core_is_same(o->list[i].ident, ident))
            continue;
        if (o->list[i].name == name)
            return false;
        is_known = true;
    }
    return is_known;
}

bool others_know(const struct others *o, struct core_ident ident)
{
    for (size_t i = first_of_pid(o, ident.pid); i < o->n && o->list[i].ident.pid == ident.pid;
         i++) {
        if (core_is_same(o->list[i].ident, ident))
            return true;
    }
    return false;
}

bool others_have(const struct others *o, struct core_ident ident, const char *space,
                 const char *name)
{
    uint64_t hash = hash_name(space, name);
    int64_t pid = ident.pid;
    struct procfs_stat st;
    struct err why;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1 && !procfs_stat((pid_t)pid, &st, &why); i++) {
        if (others_has(o, (struct core_ident){ pid, st.start_ticks }, hash))
            return true;
        pid = st.ppid;
    }
    return false;
}

bool others_have_now(const struct core *c, struct core_ident ident, const char *space,
                     const char *name)
{
    int64_t pid = ident.pid;
    struct procfs_stat st;
    struct err why;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1 && !procfs_stat((pid_t)pid, &st, &why); i++) {
        if (core_is_others(c, (struct core_ident){ pid, st.start_ticks }, space, name))
            return true;
        pid = st.ppid;
    }
    return false;
}
