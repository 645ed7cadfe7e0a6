/* SPDX-License-Identifier: MIT */
/* core_errand.c - see core_errand.h. */
#include "agent/core_errand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* How long one may take to die of SIGKILL before another has its place. */
enum { KILL_MS = 5000 };

struct errand {
    struct core *core;
    struct kept *kept; /* NULL: it is known no more */
    char *key;         /* whose it is, be it known or not */
    uint64_t id;       /* 0: it waits for its turn, */
    TAILQ_ENTRY(errand) waiting;
    struct arena arena; /* with copies of what it is made of */
    struct proc_spec spec;
    const char *what, *line;
    errand_fn *fn; /* NULL: nobody waits for it */
    void *arg;
    int64_t timeout_ms;
    struct timer timer;
    bool has_place, has_begun;
};

struct errands {
    struct map by_id; /* those that run */
    TAILQ_HEAD(, errand) waiting;
    size_t places; /* taken */
    bool is_closing;
};

static void begin(struct errand *e, const struct proc_spec *spec, const char *line)
{
    struct core *c = e->core;
    const struct core_run run = { .id = e->id = ++c->next_id,
                                  .task = "",
                                  .space = e->kept->meta.space,
                                  .name = e->kept->meta.name,
                                  .what = e->what,
                                  .line = line,
                                  .spec = spec,
                                  .wants_output = true };

    e->has_place = true;
    c->errands->places++;
    map_put(&c->errands->by_id, (const char *)&e->id, sizeof(e->id), e);
    timers_set(&c->timers, &e->timer, c->now_ms + e->timeout_ms);
    c->hands->run(c->arg, &run);
}

static void begin_next(struct core *c)
{
    struct errands *all = c->errands;
    struct errand *e;

    while (!all->is_closing && all->places < ERRANDS_AT_ONCE && (e = TAILQ_FIRST(&all->waiting))) {
        TAILQ_REMOVE(&all->waiting, e, waiting);
        begin(e, &e->spec, e->line);
        arena_free(&e->arena);
    }
}

static void leave_place(struct errand *e)
{
    if (!e->has_place)
        return;
    e->has_place = false;
    e->core->errands->places--;
    begin_next(e->core);
}

static void free_errand(struct errand *e)
{
    struct errands *all = e->core->errands;

    if (e->id)
        map_del(&all->by_id, (const char *)&e->id, sizeof(e->id));
    else
        TAILQ_REMOVE(&all->waiting, e, waiting);
    timers_stop(&e->core->timers, &e->timer);
    arena_free(&e->arena);
    leave_place(e);
    free(e->key);
    free(e);
}

/* It is being ended: who asked need not wait until it is gone. */
static void on_late(void *errand)
{
    struct errand *e = errand;
    struct core *c = e->core;
    errand_fn *fn = e->fn;
    char failure[80];

    if (!fn) {
        leave_place(e); /* not even SIGKILL does: others need not wait for it */
        return;
    }
    e->fn = NULL;
    timers_set(&c->timers, &e->timer, c->now_ms + KILL_MS);
    c->hands->end_run(c->arg, e->id);
    snprintf(failure, sizeof(failure), "%s %lld s%s",
             e->has_begun ? "took longer than" : "could not be begun within",
             (long long)e->timeout_ms / 1000, e->has_begun ? " and was ended" : "");
    fn(e->kept, e->arg, e->has_begun ? CORE_STATUS_UNKNOWN : ERRAND_NOT_BEGUN, "", failure);
}

/* A thousand may wait when all are asked at once, so texts are only compared with those of
 * one that is known no more. */
static bool is_kind(const struct errand *e, const struct kept *k, const char *what)
{
    return (e->kept ? e->kept == k : !strcmp(e->key, k->key)) && !strcmp(e->what, what);
}

/* NULL: none of this kind is there. */
static const struct errand *find_kind(const struct kept *k, const char *what)
{
    const struct errands *all = k->core->errands;
    const struct errand *e;
    struct map_entry *entry;

    for (size_t at = 0; (entry = map_next(&all->by_id, &at));) {
        e = entry->value;
        if (is_kind(e, k, what))
            return e;
    }
    TAILQ_FOREACH(e, &all->waiting, waiting)
    {
        if (is_kind(e, k, what))
            return e;
    }
    return NULL;
}

bool errand_has_begun(const struct kept *k, const char *what)
{
    const struct errand *e = find_kind(k, what);

    return e && e->has_begun;
}

struct errand *errand_run(struct kept *k, const struct proc_spec *spec, const char *what,
                          const char *line, int64_t timeout_ms, errand_fn *fn, void *arg)
{
    struct core *c = k->core;
    struct errand *e;

    if (find_kind(k, what))
        return NULL;
    e = xalloc(sizeof(*e));
    e->core = c;
    e->kept = k;
    e->key = xstrdup(k->key);
    e->what = what;
    e->fn = fn;
    e->arg = arg;
    e->timeout_ms = timeout_ms;
    timer_init(&e->timer, on_late, e);
    if (c->errands->places < ERRANDS_AT_ONCE) {
        begin(e, spec, line);
        return e;
    }
    proc_spec_copy(spec, &e->arena, &e->spec);
    e->line = arena_strdup(&e->arena, line);
    TAILQ_INSERT_TAIL(&c->errands->waiting, e, waiting);
    return e;
}

void errand_drop(struct errand *e)
{
    struct core *c;

    if (!e)
        return;
    c = e->core;
    e->fn = NULL;
    if (!e->id) {
        free_errand(e);
        return;
    }
    timers_set(&c->timers, &e->timer, c->now_ms + KILL_MS);
    if (!c->errands->is_closing)
        c->hands->end_run(c->arg, e->id);
}

/* ---- what becomes of it */

static struct errand *find(const struct core *c, uint64_t id)
{
    return map_find(&c->errands->by_id, (const char *)&id, sizeof(id));
}

static void end(struct errand *e, int status, const char *output, const char *failure)
{
    errand_fn *fn = e->fn;
    struct kept *k = e->kept;
    void *arg = e->arg;

    free_errand(e);
    if (fn)
        fn(k, arg, status, output, failure);
}

bool errand_on_run(struct core *c, uint64_t id, const struct err *failure)
{
    struct errand *e = find(c, id);

    if (e)
        e->has_begun = !failure;
    if (e && failure)
        end(e, ERRAND_NOT_BEGUN, "", failure->text);
    return e != NULL;
}

bool errand_on_run_end(struct core *c, uint64_t id, int status, const char *output)
{
    struct errand *e = find(c, id);

    if (e)
        end(e, status, output, NULL);
    return e != NULL;
}

bool errand_has(const struct core *c, uint64_t id)
{
    const struct errand *e = find(c, id);

    return e && e->fn;
}

/* ---- the core's life */

void errands_begin(struct core *c)
{
    c->errands = xalloc(sizeof(*c->errands));
    TAILQ_INIT(&c->errands->waiting);
}

void errands_close(struct core *c)
{
    c->errands->is_closing = true;
}

void errands_forget(struct kept *k)
{
    struct errands *all = k->core->errands;
    struct errand *e, *next;
    struct map_entry *entry;

    for (size_t at = 0; (entry = map_next(&all->by_id, &at));) {
        e = entry->value;
        if (e->kept != k)
            continue;
        if (e->fn)
            errand_drop(e);
        e->kept = NULL;
    }
    for (e = TAILQ_FIRST(&all->waiting); e; e = next) {
        next = TAILQ_NEXT(e, waiting);
        if (e->kept == k)
            free_errand(e);
    }
}

void errands_end(struct core *c)
{
    struct map_entry *entry;

    while (!TAILQ_EMPTY(&c->errands->waiting))
        free_errand(TAILQ_FIRST(&c->errands->waiting));
    for (size_t at = 0; (entry = map_next(&c->errands->by_id, &at)); at = 0)
        free_errand(entry->value);
    map_free(&c->errands->by_id);
    free(c->errands);
}
