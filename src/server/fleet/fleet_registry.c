/* SPDX-License-Identifier: MIT */
/* fleet_registry.c - see fleet_registry.h.
 *
 * A registration goes to the store first, which decides whether it is new; calls return in the
 * order they were submitted.  Later consequences (a push was acknowledged, an operation had a newer
 * spec) are written like reports of agents: a moment later, and again if the store fails. */
#include "server/fleet/fleet_registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/code.h"
#include "server/fleet/fleet_procs.h"
#include "server/fleet/fleet_registrations.h"
#include "server/fleet/fleet_store.h"

/* ---- pushes */

void fleet_on_needs_push(struct fleet *f, fleet_needs_push_fn *fn, void *arg)
{
    f->on_needs_push = fn;
    f->needs_push_arg = arg;
}

void fleet_settle(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t spec_seq, const char *trouble)
{
    struct host *h = host_find(f, agent);
    const struct proc *p = h ? procs_find(h, space, name) : NULL;
    struct fleet_proc facts;

    if (!p || !p->pub.needs_push || p->pub.spec_seq != spec_seq)
        return;
    facts = p->pub;
    facts.needs_push = false;
    facts.trouble = trouble;
    registry_put_facts(h, space, name, &facts)->is_registry_dirty = true;
}

void fleet_forget(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t spec_seq)
{
    struct host *h = host_find(f, agent);
    const struct proc *p = h ? procs_find(h, space, name) : NULL;
    struct removal removal = { 0 };

    if (!p || p->pub.registry != FLEET_UNREGISTERED || p->pub.spec_seq != spec_seq)
        return;
    removal_add(&removal, 1, &(struct proc_ref_row){ agent, space, name });
    procs_del(h, space, name);
    h->is_replaced = true;
    host_mark_dirty(h);
    removal_submit(&removal, f);
}

/* ---- specs of operations */

/* NULL: no labels. */
static const char *write_labels(const struct list *labels, struct buf *to)
{
    if (!labels->n)
        return NULL;
    proc_labels_write(labels, to);
    return buf_text(to);
}

/* The agent carried out an older request and does not have the newer registration. */
static void mark_needs_push(struct host *h, const struct proc *old)
{
    struct fleet_proc facts = old->pub;
    struct proc *p;

    facts.needs_push = true;
    p = registry_put_facts(h, old->pub.space, old->pub.name, &facts);
    p->is_registry_dirty = p->pub.registry != FLEET_KNOWN;
    registry_report_proc(h, p);
}

void fleet_took_older(struct fleet *f, const char *agent, const char *space, const char *name,
                      int64_t spec_seq)
{
    struct host *h = host_find(f, agent);
    const struct proc *p = h ? procs_find(h, space, name) : NULL;

    if (p && p->pub.spec && !p->pub.needs_push && p->pub.spec_seq > spec_seq)
        mark_needs_push(h, p);
}

void fleet_put_spec(struct fleet *f, const char *agent_id, const struct proc_meta *meta,
                    const struct proc_spec *spec, int64_t spec_seq)
{
    struct host *h = host_find(f, agent_id);
    const struct proc *old = h ? procs_find(h, meta->space, meta->name) : NULL;
    struct fleet_proc facts = { .registry = FLEET_KNOWN };
    struct buf labels = { 0 }, json = { 0 };
    bool has_registration = old && old->pub.registry != FLEET_KNOWN;
    struct proc *p;

    if (!h)
        return;
    if (has_registration && spec_seq < old->pub.spec_seq) {
        mark_needs_push(h, old);
        return;
    }
    shape_write(&proc_spec_shape, spec, &json);
    if (old && old->pub.registry == FLEET_REGISTERED) {
        facts.registry = FLEET_REGISTERED;
        facts.registered_ms = old->pub.registered_ms;
    }
    facts.labels = write_labels(&meta->labels, &labels);
    facts.spec = buf_text(&json);
    facts.spec_seq = spec_seq;
    p = registry_put_facts(h, meta->space, meta->name, &facts);
    p->is_reported = true;
    p->is_registry_dirty = has_registration;
    buf_free(&labels);
    buf_free(&json);
}

/* ---- registering: before the store */

struct registration_call {
    struct fleet *fleet;
    struct registering *what;
    fleet_registered_fn *fn;
    void *arg;
    struct registering_target **taken; /* targets that are not refused, sorted by agent, */
    struct registry_row *rows;         /* and their rows */
    size_t n;
    int64_t registry_writes; /* fleet.registry_writes when it was submitted */
};

static const char host_is_gone[] = MSG("no such host, or it has not joined"),
                  is_registered[] = MSG("Fail to register, for the process info already exists.");

static void fleet_registry_refuse(struct registering_target *t, int64_t code, const char *text)
{
    t->code = code;
    t->text = text;
}

/* Whether the process is known only from its agent, for instance after a failed start.  Not one
 * whose removal is being pushed. */
static bool is_leftover(const struct proc *p)
{
    return p && !p->pub.view.hosted && p->pub.view.status != PROC_RUNNING &&
           !(p->pub.registry == FLEET_UNREGISTERED && p->pub.needs_push);
}

/* Sets the target's code if it cannot be registered. */
static void check_target(const struct registering *r, const struct host *h,
                         struct registering_target *t)
{
    const struct proc *p = h ? procs_find(h, r->meta.space, r->meta.name) : NULL;
    bool is_known = p && p->pub.spec;

    if (!h)
        fleet_registry_refuse(t, CODE_OFFLINE, host_is_gone);
    else if (r->kind == REGISTERING_END && !is_known && !is_leftover(p))
        fleet_registry_refuse(t, CODE_NOT_RUNNING, MSG("process info not registered"));
    else if (r->kind == REGISTERING_NEW && is_known)
        fleet_registry_refuse(t, CODE_REGISTERED, is_registered);
    else if (!p && h->pub.n_procs >= FLEET_PROCS_MAX)
        fleet_registry_refuse(t, CODE_PARAM, MSG("the host has as many processes as it may have"));
    else if (r->kind == REGISTERING_UPDATE && p && p->pub.view.hosted &&
             !*r->spec->control.start_cmd)
        fleet_registry_refuse(t, CODE_NO_COMMAND,
                              MSG("spec.control.start_cmd: required, the process is hosted"));
}

/* At least the wall time: previous versions of the server stored times as sequence numbers. */
int64_t fleet_draw_seq(struct fleet *f)
{
    int64_t wall_ms = clock_wall_ms(loop_clock(f->loop));

    f->last_spec_seq = wall_ms > f->last_spec_seq ? wall_ms : f->last_spec_seq + 1;
    return f->last_spec_seq;
}

void fleet_note_seq(struct fleet *f, int64_t spec_seq)
{
    if (spec_seq > f->last_spec_seq)
        f->last_spec_seq = spec_seq;
}

static void fleet_registry_fill_row(const struct registration_call *e, const char *agent,
                                    struct arena *a, struct registry_row *ret)
{
    const struct registering *r = e->what;
    int64_t spec_seq = e->fleet->last_spec_seq;

    *ret = (struct registry_row){
        .agent_id = arena_strdup(a, agent),
        .space = r->meta.space,
        .name = r->meta.name,
        .state = r->kind == REGISTERING_END ? STORE_UNREGISTERED : STORE_REGISTERED,
        .registered_ms = clock_wall_ms(loop_clock(e->fleet->loop)),
        .said_ms = spec_seq,
        .is_behind = true,
        .trouble = "",
    };
}

/* All rows share the texts, which live as long as the call. */
static void fill_spec(struct registration_call *e, struct arena *a)
{
    const struct registering *r = e->what;
    struct buf json = { 0 }, labels = { 0 };
    const char *spec, *map;

    if (r->kind == REGISTERING_END)
        return;
    shape_write(&proc_spec_shape, r->spec, &json);
    spec = arena_strdup(a, buf_text(&json));
    map = write_labels(&r->meta.labels, &labels);
    map = map ? arena_strdup(a, map) : NULL;
    for (size_t i = 0; i < e->n; i++) {
        e->rows[i].spec = spec;
        e->rows[i].labels = map;
    }
    buf_free(&json);
    buf_free(&labels);
}

/* ---- registering: after it */

/* `added` are the rows that are new in the store, in order; NULL: all of them.  Rows of hosts that
 * were removed meanwhile are not stored. */
static void apply_one(struct registration_call *e, size_t i, const struct list *added, size_t *at,
                      struct removal *removal)
{
    const struct registry_row *row = &e->rows[i];
    const struct agent_row *agents = added ? added->items : NULL;
    struct host *h = host_find(e->fleet, row->agent_id);
    bool is_taken = !added || (*at < added->n && !strcmp(agents[*at].agent_id, row->agent_id));

    *at += is_taken;
    if (!h)
        fleet_registry_refuse(e->taken[i], CODE_OFFLINE, host_is_gone);
    else if (!is_taken)
        fleet_registry_refuse(e->taken[i], CODE_REGISTERED, is_registered);
    else if (!registry_apply(h, row, e->registry_writes))
        removal_add(removal, e->n, &(struct proc_ref_row){ row->agent_id, row->space, row->name });
}

/* Removes from the end, so that a long sorted list need not be moved. */
static void apply_all(struct registration_call *e, const struct list *added)
{
    bool is_end = e->what->kind == REGISTERING_END;
    struct removal removal = { 0 };
    size_t at = 0;

    for (size_t i = 0; i < e->n; i++)
        apply_one(e, is_end ? e->n - 1 - i : i, added, &at, &removal);
    removal_submit(&removal, e->fleet);
}

static void fleet_registry_on_stored(void *arg, struct store_call *c)
{
    struct registration_call *e = arg;

    if (c->failed) {
        e->fn(e->arg, &c->err);
        store_call_free(c);
        return;
    }
    apply_all(e, e->what->kind == REGISTERING_NEW ? c->out : NULL);
    e->fn(e->arg, NULL);
    store_call_free(c);
}

static int by_agent(const void *left, const void *right)
{
    const struct registering_target *const *l = left, *const *r = right;

    return strcmp((*l)->agent, (*r)->agent);
}

/* The lists of fleet and store are sorted by agent; processing in that order is faster. */
static void fleet_registry_check_all(struct registration_call *e, struct arena *a)
{
    struct registering *r = e->what;

    e->taken = arena_alloc(a, r->n * sizeof(struct registering_target *));
    for (size_t i = 0; i < r->n; i++) {
        struct registering_target *t = &r->targets[i];

        if (!t->code)
            check_target(r, host_find(e->fleet, t->agent), t);
        if (!t->code)
            e->taken[e->n++] = t;
    }
    qsort(e->taken, e->n, sizeof(struct registering_target *), by_agent);
    e->rows = arena_alloc(a, e->n * sizeof(*e->rows));
    fleet_draw_seq(e->fleet);
    for (size_t i = 0; i < e->n; i++)
        fleet_registry_fill_row(e, e->taken[i]->agent, a, &e->rows[i]);
    fill_spec(e, a);
}

void fleet_register(struct fleet *f, struct registering *r, fleet_registered_fn *fn, void *arg)
{
    const struct store_verb *verb =
        r->kind == REGISTERING_NEW ? &store_registry_add : &store_registry_put;
    struct store_call *c = store_call_new(verb, fleet_registry_on_stored, NULL);
    struct registration_call *e = arena_alloc(&c->arena, sizeof(*e));
    struct registry_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err;

    *e = (struct registration_call){
        .fleet = f, .what = r, .fn = fn, .arg = arg, .registry_writes = f->registry_writes
    };
    fleet_registry_check_all(e, &c->arena);
    ask->rows = (struct list){ e->rows, e->n };
    c->in = ask;
    c->arg = e;
    if (e->n && pending_calls_submit(f->pending_calls, c, &err) == 0)
        return;
    fn(arg, e->n ? &err : NULL);
    store_call_free(c);
}
