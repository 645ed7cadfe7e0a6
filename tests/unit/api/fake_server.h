/* SPDX-License-Identifier: MIT */
/* fake_server.h - a scripted fleet and scripted tasks, linked instead of the real ones: a test sees
 * exactly the calls of the API.
 *
 * Everything is in the header, because a unit test is one source file. */
#ifndef TESTS_FAKE_SERVER_H
#define TESTS_FAKE_SERVER_H

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/code.h"
#include "model/translate.h"
#include "server/dispatch/task_coming.h"
#include "server/dispatch/task_counts.h"
#include "server/dispatch/tasks.h"
#include "server/fleet/fleet.h"
#include "server/fleet/fleet_registry.h"
#include "server/fleet/fleet_spaces.h"
#include "server/registry/pushes.h"
#include "server/sessions/agents.h"

enum { FAKE_HOSTS_MAX = 16, FAKE_TASK_WAITERS = 16 };

struct fleet {
    struct fleet_host hosts[FAKE_HOSTS_MAX]; /* sorted by id */
    size_t n;
    struct fleet_totals totals;
    char notes[FAKE_HOSTS_MAX][64];
    struct buf registered; /* the last registration, one line per target */
    struct err failure;    /* of the registration, if it has a code */
};

struct tasks {
    struct buf asked;      /* the last request, one line per target */
    size_t n_asks, n_last; /* number of requests; targets of the last */
    bool holds;            /* tasks_operate() answers later, by fake_tasks_accept() */
    task_accepted_fn *waiter;
    void *waiter_arg;
    struct err failure; /* of tasks_operate() and tasks_read(), if it has a code */
    bool keeps_spec;    /* the spec and look of the first target */
    struct proc_spec spec;
    int64_t look;
    struct arena arena;
    size_t n_cancels;
    struct task_info info;
    struct task_item items[8];
};

const struct fleet_host *fleet_find_at(const struct fleet *f, int64_t cloud_id, const char *ip)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->hosts[i].cloud_id == cloud_id && !strcmp(f->hosts[i].ip, ip))
            return &f->hosts[i];
    }
    return NULL;
}

const struct fleet_host *fleet_find(const struct fleet *f, const char *agent_id)
{
    const char *colon = strchr(agent_id, ':');

    for (size_t i = 0; i < f->n; i++) {
        if (!strcmp(f->hosts[i].agent_id, agent_id))
            return &f->hosts[i];
    }
    return colon ? fleet_find_at(f, strtoll(agent_id, NULL, 10), colon + 1) : NULL;
}

void fleet_del_host(struct fleet *f, const char *agent_id)
{
    for (size_t i = 0; i < f->n; i++) {
        if (!strcmp(f->hosts[i].agent_id, agent_id)) {
            memmove(&f->hosts[i], &f->hosts[i + 1], (f->n - i - 1) * sizeof(*f->hosts));
            f->n--;
            return;
        }
    }
}

/* Only the settings of a known host. */
void fleet_put_host(struct fleet *f, const struct host_row *row)
{
    for (size_t i = 0; i < f->n; i++) {
        if (strcmp(f->hosts[i].agent_id, row->agent_id) != 0)
            continue;
        f->hosts[i].biz_id = row->biz_id;
        f->hosts[i].host_id = row->host_id;
        snprintf(f->notes[i], sizeof(f->notes[i]), "%s", row->note);
        f->hosts[i].note = f->notes[i];
    }
}

size_t fleet_in_business(const struct fleet *f, int64_t biz_id)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += f->hosts[i].biz_id == biz_id;
    return n;
}

int64_t fleet_next_business(const struct fleet *f, int64_t after)
{
    int64_t next = 0;

    for (size_t i = 0; i < f->n; i++) {
        int64_t id = f->hosts[i].biz_id;

        if (id > after && (!next || id < next))
            next = id;
    }
    return next;
}

const struct fleet_proc *fleet_proc(const struct fleet_host *h, const char *space, const char *name)
{
    for (size_t i = 0; i < h->n_procs; i++) {
        if (!strcmp(h->procs[i]->space, space) && !strcmp(h->procs[i]->name, name))
            return h->procs[i];
    }
    return NULL;
}

const struct fleet_host *fleet_next(const struct fleet *f, const char *after)
{
    for (size_t i = 0; i < f->n; i++) {
        if (strcmp(f->hosts[i].agent_id, after) > 0)
            return &f->hosts[i];
    }
    return NULL;
}

static inline bool fake_has(const struct fleet_part *part, const struct fleet_host *h)
{
    bool has_business = !part->has_businesses, has_space = !part->has_spaces;

    for (size_t i = 0; i < part->n_businesses; i++)
        has_business |= part->businesses[i] == h->biz_id;
    for (size_t i = 0; i < part->n_spaces; i++) {
        for (size_t k = 0; k < h->n_procs; k++)
            has_space |= !strcmp(h->procs[k]->space, part->spaces[i]);
    }
    return has_business && has_space;
}

struct fleet_step {
    const struct fleet *fleet;
    struct fleet_part part;
    const char *after;
};

void fleet_walk(struct fleet_walk *w, const struct fleet *f, const struct fleet_part *part,
                const char *after, struct arena *a)
{
    *w = (struct fleet_walk){ .steps = arena_alloc(a, sizeof(*w->steps)), .n = 1 };
    *w->steps = (struct fleet_step){ f, *part, after };
}

const struct fleet_host *fleet_walk_next(struct fleet_walk *w)
{
    struct fleet_step *s = w->steps;
    const struct fleet_host *h = fleet_next(s->fleet, s->after);

    while (h && !fake_has(&s->part, h))
        h = fleet_next(s->fleet, h->agent_id);
    if (h)
        s->after = h->agent_id;
    return h;
}

static inline void fake_count(const struct fleet_part *part, const struct fleet_host *h,
                              struct fleet_totals *t)
{
    bool has_space = !part->has_spaces;

    for (size_t i = 0; i < h->n_procs; i++, has_space = !part->has_spaces) {
        for (size_t k = 0; k < part->n_spaces; k++)
            has_space |= !strcmp(h->procs[i]->space, part->spaces[k]);
        t->procs += has_space;
        t->running += has_space && h->epoch && h->procs[i]->view.status == PROC_RUNNING;
        t->hosted += has_space && h->procs[i]->view.hosted;
    }
}

struct fleet_totals fleet_count(const struct fleet *f, const struct fleet_part *part)
{
    struct fleet_part any = *part;
    struct fleet_totals t = { 0 };

    if (!part->has_businesses && !part->has_spaces)
        return f->totals;
    any.has_spaces = false;
    any.n_spaces = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (!fake_has(&any, &f->hosts[i]))
            continue;
        t.hosts++;
        t.online += f->hosts[i].epoch != 0;
        fake_count(part, &f->hosts[i], &t);
    }
    return t;
}

const struct fleet_host *fleet_find_number(const struct fleet *f, int64_t host_id)
{
    for (size_t i = 0; i < f->n; i++) {
        if (host_id && f->hosts[i].host_id == host_id)
            return &f->hosts[i];
    }
    return NULL;
}

/* Every other target is registered already, the rest succeed. */
void fleet_register(struct fleet *f, struct registering *r, fleet_registered_fn *fn, void *arg)
{
    buf_truncate(&f->registered, 0);
    buf_printf(&f->registered, "%d %s/%s labels %zu start %s\n", (int)r->kind, r->meta.space,
               r->meta.name, r->meta.labels.n,
               r->kind == REGISTERING_END ? "-" : r->spec->control.start_cmd);
    for (size_t i = 0; i < r->n; i++) {
        struct registering_target *t = &r->targets[i];

        buf_printf(&f->registered, "%s %lld\n", *t->agent ? t->agent : "-", (long long)t->code);
        if (!t->code && i % 2)
            *t = (struct registering_target){ t->agent, CODE_REGISTERED, "there" };
    }
    fn(arg, f->failure.code ? &f->failure : NULL);
}

/* Tests of pages use a real fleet. */
size_t fleet_page(const struct fleet *f, const struct fleet_page *ask, struct fleet_hit *hits,
                  size_t *ret_n)
{
    (void)f;
    (void)ask;
    (void)hits;
    *ret_n = 0;
    return 0;
}

const struct fleet_totals *fleet_totals(const struct fleet *f)
{
    return &f->totals;
}

static inline void fake_note_target(struct tasks *t, const struct task_target *g)
{
    struct buf key = { 0 };
    struct arena a = { 0 };

    for (const char *p = g->key; *p; p++)
        buf_addc(&key, *p == '\n' ? '+' : *p);
    buf_printf(&t->asked, "%s op %lld on %s of %s/%s labels %zu user %s code %lld%s%s%s\n",
               buf_text(&key), (long long)g->op, g->agent ? g->agent : "-", g->meta.space,
               g->meta.name, g->meta.labels.n,
               *g->spec->identity.user ? g->spec->identity.user : "-", (long long)g->code,
               g->code ? " " : "", g->code ? translate(g->text, LANG_EN, &a) : "",
               g->hosted ? ", hosted" : "");
    buf_free(&key);
    arena_free(&a);
}

void tasks_operate(struct tasks *t, const struct task_ask *ask, task_accepted_fn *fn, void *arg)
{
    const struct task_target *targets = ask->targets.items;

    t->n_asks++;
    t->n_last = ask->targets.n;
    buf_truncate(&t->asked, 0);
    buf_printf(&t->asked, "app %s user %s form %lld%s%s%s\n", ask->app,
               *ask->user ? ask->user : "-", (long long)ask->form,
               ask->joins_only   ? " joins only"
               : ask->idempotent ? " idempotent"
                                 : "",
               ask->request_key ? " key " : "", ask->request_key ? ask->request_key : "");
    for (size_t i = 0; i < ask->targets.n && i < 100; i++)
        fake_note_target(t, &targets[i]);
    if (t->keeps_spec) {
        arena_free(&t->arena);
        proc_spec_copy(targets[0].spec, &t->arena, &t->spec);
        t->look = targets[0].look;
    }
    if (t->holds) {
        t->waiter = fn;
        t->waiter_arg = arg;
        return;
    }
    fn(arg, t->failure.code ? NULL : "GSETASK:S:1:1", t->failure.code ? &t->failure : NULL);
}

void tasks_read(struct tasks *t, const char *id, task_read_fn *fn, void *arg)
{
    struct err none;

    err_set(&none, CODE_NO_TASK, "no");
    if (t->failure.code)
        fn(arg, NULL, &t->failure);
    else if (!t->info.id || strcmp(t->info.id, id) != 0)
        fn(arg, NULL, &none);
    else
        fn(arg, &t->info, NULL);
}

void tasks_cancel(struct tasks *t, const char *id, task_cancelled_fn *fn, void *arg)
{
    t->n_cancels += t->info.id && !strcmp(t->info.id, id);
    t->info.cancelled_ms = 1000;
    fn(arg, t->failure.code ? &t->failure : NULL);
}

int64_t tasks_open(const struct tasks *t)
{
    return t->info.id ? 1 : 0;
}

int64_t tasks_deadline_ms(const struct tasks *t, const char *id)
{
    return t->info.id && !strcmp(t->info.id, id) ? t->info.deadline_ms : 0;
}

/* Of the only task, if it is unfinished. */
size_t tasks_coming(const struct tasks *t, const char *space, const char *name, struct arena *a,
                    const char ***ret)
{
    size_t n = 0;

    *ret = arena_alloc(a, (t->info.n + 1) * sizeof(**ret));
    for (size_t i = 0; t->info.id && t->info.n_left && i < t->info.n; i++) {
        const struct task_item *item = &t->info.items[i];

        if (!strcmp(item->space, space) && !strcmp(item->name, name))
            (*ret)[n++] = item->agent;
    }
    return n;
}

bool tasks_is_coming(const struct tasks *t, const char *agent, const char *space, const char *name)
{
    struct arena a = { 0 };
    const char **agents;
    size_t n = tasks_coming(t, space, name, &a, &agents);
    bool is_coming = false;

    while (n-- && !is_coming)
        is_coming = !strcmp(agents[n], agent);
    arena_free(&a);
    return is_coming;
}

/* ---- for metrics; nothing is counted here */

const struct task_counts *tasks_counts(struct tasks *t)
{
    static const struct task_counts none;

    (void)t;
    return &none;
}

const struct agents_counters *agents_counters(const struct agents *a)
{
    (void)a;
    return NULL;
}

void agents_stats(const struct agents *a, struct agent_stats_now *ret)
{
    (void)a;
    memset(ret, 0, sizeof(*ret));
}

int64_t pushes_waiting(const struct pushes *p)
{
    (void)p;
    return 0;
}

#endif
