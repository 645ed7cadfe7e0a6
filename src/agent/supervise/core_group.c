/* SPDX-License-Identifier: MIT */
/* core_group.c - see core_group.h. */
#include "agent/supervise/core_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_use.h"
#include "base/mem/mem.h"

enum { UNTOLD_MAX = 1000 };

/* A group is acknowledged to the server once its record is durable. */
struct group_untold {
    uint64_t mark;
    int64_t id;
};

struct group_proc *group_of(const struct proc *k)
{
    return k->core->limits->groups.n ? map_find_str(&k->core->limits->groups, k->meta.space) : NULL;
}

/* ---- limits */

static void group_drop(struct core *c, struct group_proc *g)
{
    map_del_str(&c->limits->groups, g->id);
    free(g->id);
    free(g);
}

static void set(struct core *c, const struct proc_group *from)
{
    struct map *groups = &c->limits->groups;
    struct group_proc *g = map_find_str(groups, from->id);
    bool has_limit = from->resource.cpu_percent > 0 || from->resource.mem_percent > 0;

    c->limits->group_changes++;
    if (!g && has_limit) {
        g = xalloc(sizeof(*g));
        g->id = xstrdup(from->id);
        map_put_str(groups, g->id, g);
    }
    if (!g)
        return;
    g->may = from->resource;
    g->cpu.n = g->mem.n = 0;
    if (!has_limit)
        group_drop(c, g);
}

static void look_at_all(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->proc, &at));)
        limit_look(e->value);
}

void group_end(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->limits->groups, &at));)
        group_drop(c, e->value);
    map_free(&c->limits->groups);
    buf_free(&c->limits->untold);
}

/* ---- journal and server */

static uint64_t group_journal(struct core *c, const struct proc_group *g, bool durable)
{
    return c->effects->journal(c->arg, RECORD_GROUP, &proc_group_shape, g, durable);
}

void group_on_message(struct core *c, const struct message_group *m)
{
    struct group_untold u = { .id = m->id };

    if (c->limits->untold.len >= UNTOLD_MAX * sizeof(u))
        return; /* the server sends it again */
    u.mark = group_journal(c, &m->group, true);
    buf_add(&c->limits->untold, &u, sizeof(u));
    set(c, &m->group);
    look_at_all(c);
}

void group_on_durable(struct core *c, uint64_t mark)
{
    struct buf *untold = &c->limits->untold;
    struct group_untold u;
    size_t done = 0;

    for (; done + sizeof(u) <= untold->len; done += sizeof(u)) {
        struct message_group_ref ref;

        memcpy(&u, buf_data(untold) + done, sizeof(u));
        if (u.mark > mark)
            break;
        ref.id = u.id;
        c->effects->send(c->arg, MESSAGE_GROUP_TAKEN, &message_group_ref_shape, &ref);
    }
    if (done)
        buf_drop(untold, done);
}

void group_replay(struct core *c, const struct proc_group *g)
{
    set(c, g);
}

static struct proc_group as_told(const struct group_proc *g)
{
    return (struct proc_group){ g->id, g->may };
}

void group_compact(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->limits->groups, &at));) {
        const struct proc_group g = as_told(e->value);

        group_journal(c, &g, false);
    }
}

uint64_t core_group_changes(const struct core *c)
{
    return c->limits->group_changes;
}

struct list core_groups(const struct core *c, struct arena *a)
{
    const struct map *groups = &c->limits->groups;
    struct proc_group *list = arena_alloc(a, (groups->n + 1) * sizeof(*list));
    struct map_entry *e;
    size_t n = 0;

    for (size_t at = 0; (e = map_next(groups, &at));)
        list[n++] = as_told(e->value);
    return (struct list){ list, n };
}

/* ---- usage */

/* 0 if the usage is unknown now: neither an old sample nor that of another process counts. */
static double usage(const struct proc *k, bool is_cpu)
{
    const struct limits *l = k->core->limits;

    if (k->limit->start_ticks != k->ident.start_ticks ||
        k->core->now_ms - k->limit->at_ms > 2 * l->interval_ms)
        return 0;
    if (is_cpu)
        return k->limit->has_cpu ? (double)k->limit->cpu_percent : 0;
    return limit_mem_percent(k);
}

/* A process without a limit of its own counts as if its limit were the whole machine. */
static double score(const struct group_proc *g, const struct proc *k, bool is_cpu)
{
    const struct proc_resource *may = &k->spec.resource;
    double limit = is_cpu ? may->cpu_percent : may->mem_percent;
    int64_t weight = is_cpu ? g->may.cpu_weight : g->may.mem_weight;

    return usage(k, is_cpu) / (weight == WEIGHT_SHARE ? (limit > 0 ? limit : 100) : 1);
}

/* NULL: no process may be stopped now. */
static struct proc *find_worst(struct core *c, const struct group_proc *g, bool is_cpu)
{
    const struct limit_watch *w;
    struct proc *worst = NULL;

    TAILQ_FOREACH(w, &c->limits->watched, link) {
        if (w->group != g || usage(w->proc, is_cpu) <= 0 || !limit_may_stop(w->proc))
            continue;
        if (!worst || score(g, w->proc, is_cpu) > score(g, worst, is_cpu))
            worst = w->proc;
    }
    return worst;
}

/* If there is no process to stop, the next round tries again. */
static void stop_worst(struct core *c, struct group_proc *g, bool is_cpu)
{
    struct proc *k = find_worst(c, g, is_cpu);
    char values[64], text[400];

    if (!k)
        return;
    msg_printf(text, sizeof(text),
               is_cpu ? "its group uses cpu %s %% of the machine, the group's limit is %g %%, and "
                        "of that it uses %.1f %%"
                      : "its group uses mem %s %% of the machine, the group's limit is %g %%, and "
                        "of that it uses %.1f %%",
               limit_values(is_cpu ? &g->cpu : &g->mem, values, sizeof(values)),
               is_cpu ? g->may.cpu_percent : g->may.mem_percent, usage(k, is_cpu));
    g->cpu.n = g->mem.n = 0;
    limit_stop(k, "process_group_resource_limit_exceed", text);
}

static void sum_up(struct core *c)
{
    const struct limit_watch *w;
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->limits->groups, &at));) {
        struct group_proc *g = e->value;

        g->cpu_sum = g->mem_sum = 0;
    }
    TAILQ_FOREACH(w, &c->limits->watched, link) {
        if (!w->group)
            continue;
        w->group->cpu_sum += usage(w->proc, true);
        w->group->mem_sum += usage(w->proc, false);
    }
}

void group_judge(struct core *c)
{
    struct map_entry *e;

    if (!c->limits->groups.n)
        return;
    sum_up(c);
    for (size_t at = 0; (e = map_next(&c->limits->groups, &at));) {
        struct group_proc *g = e->value;
        bool is_cpu = limit_strike(&g->cpu, g->cpu_sum, g->may.cpu_percent);
        bool is_mem = limit_strike(&g->mem, g->mem_sum, g->may.mem_percent);

        if (is_cpu || is_mem)
            stop_worst(c, g, is_cpu);
    }
}
