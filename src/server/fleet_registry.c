/* SPDX-License-Identifier: MIT */
/* fleet_registry.c - see fleet_registry.h.
 *
 * A registration goes to the store first, which has the last word on whether it is a new
 * one, and comes back in the order it was asked for.  What follows from it later (an agent
 * was told, an operation brought a newer spec) is written like what agents tell: a while
 * later, and again if the store fails. */
#include "server/fleet_registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/code.h"
#include "server/fleet_in.h"
#include "store/store_registry.h"

enum { SAID_AHEAD_MS = 1000 }; /* of the time of day; more, and that was set back */

/* ---- what is shown of it */

static const char never_started[] = "registered, and not started yet";

void registry_lay_over(const struct fleet_proc *facts, struct proc_view *view)
{
    if (facts->registry == FLEET_UNREGISTERED)
        view->wanted = PROC_UNREGISTERED;
    if (facts->registry == FLEET_REGISTERED) {
        if (view->status == PROC_UNREGISTERED)
            view->status = PROC_STOPPED;
        if (view->wanted == PROC_UNREGISTERED)
            view->wanted = view->status;
        view->register_s = facts->registered_ms / 1000;
    }
    if (facts->trouble)
        view->why = facts->trouble;
}

static void fill_view(const char *space, const char *name, struct proc_view *ret)
{
    shape_defaults(&proc_view_shape, ret);
    ret->space = space;
    ret->name = name;
    ret->why = never_started;
}

/* The process with other facts; the view is what it was. */
static struct proc *put_facts(struct host *h, const char *space, const char *name,
                              const struct fleet_proc *facts)
{
    const struct proc *old = procs_find(h, space, name);
    struct proc_view view;
    struct proc *p;

    fill_view(space, name, &view);
    if (old) {
        view = old->pub.view;
        view.wanted = old->told_wanted;
    }
    if (old && old->pub.trouble && !facts->trouble)
        view.why = ""; /* its agent says it anew */
    p = proc_new(h->fleet, &view, facts);
    p->is_dirty = true;
    p->is_told = old && old->is_told;
    p->booked_no = old ? old->booked_no : 0;
    procs_put(h, p);
    host_is_dirty(h);
    return p;
}

/* ---- what nobody has any more, on its way out of the store; what fails goes at our next
 * start */

struct leaving {
    struct store_call *call; /* NULL: none leaves */
    struct list refs;
};

static void on_left(void *arg, struct store_call *c)
{
    (void)arg;
    store_call_free(c);
}

static void leaving_add(struct leaving *l, size_t most, const struct proc_ref_row *ref)
{
    struct proc_ref_row *refs;
    struct arena *a;

    if (!l->call)
        l->call = store_call_new(&store_registry_del, on_left, NULL);
    a = &l->call->arena;
    if (!l->refs.items)
        l->refs.items = arena_alloc(a, most * sizeof(*refs));
    refs = l->refs.items;
    refs[l->refs.n++] =
        (struct proc_ref_row){ arena_strdup(a, ref->agent_id), arena_strdup(a, ref->space),
                               arena_strdup(a, ref->name) };
}

static void leaving_go(struct leaving *l, struct fleet *f)
{
    struct registry_del_ask *ask;
    struct err ignored;

    if (!l->call)
        return;
    ask = arena_alloc(&l->call->arena, sizeof(*ask));
    ask->refs = l->refs;
    l->call->in = ask;
    if (errands_submit(f->errands, l->call, &ignored))
        store_call_free(l->call);
}

/* ---- what an agent's snapshot lacks */

static bool is_lacking(const struct proc *p, enum fleet_registry state)
{
    return !p->is_seen && p->pub.registry == (int64_t)state;
}

void registry_keep(struct host *h)
{
    struct leaving leaving = { 0 };

    for (size_t i = 0; i < h->pub.n_procs; i++) {
        const struct proc *old = h->procs[i];
        const struct proc_ref_row ref = { h->pub.agent_id, old->pub.space, old->pub.name };
        struct proc_view view;

        if (is_lacking(old, FLEET_UNREGISTERED))
            leaving_add(&leaving, h->pub.n_procs, &ref);
        if (!is_lacking(old, FLEET_REGISTERED))
            continue;
        fill_view(old->pub.space, old->pub.name, &view);
        procs_add_page(h, proc_remake(h->fleet, old, &view)); /* its agent does not tell of it */
    }
    leaving_go(&leaving, h->fleet);
}

/* ---- what agents have to be told */

void fleet_on_behind(struct fleet *f, fleet_behind_fn *fn, void *arg)
{
    f->on_behind = fn;
    f->behind_arg = arg;
}

/* A spec matters to an agent that hosts the process, and comes with what makes it hosted;
 * that one is hosted no more is said in any case, as what we know may be old. */
static void look_at(const struct host *h, const struct proc *p)
{
    const struct fleet *f = h->fleet;

    if (f->on_behind && h->pub.epoch && p->pub.is_behind &&
        (p->pub.view.hosted || p->pub.registry == FLEET_UNREGISTERED))
        f->on_behind(f->behind_arg, &h->pub, &p->pub);
}

void registry_look(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        look_at(h, h->procs[i]);
}

void fleet_settle(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t said_ms, const char *trouble)
{
    struct host *h = host_find(f, agent);
    const struct proc *p = h ? procs_find(h, space, name) : NULL;
    struct fleet_proc facts;

    if (!p || !p->pub.is_behind || p->pub.said_ms != said_ms)
        return;
    facts = p->pub;
    facts.is_behind = false;
    facts.trouble = trouble;
    put_facts(h, space, name, &facts)->is_unbooked = true;
}

void fleet_forget(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t said_ms)
{
    struct host *h = host_find(f, agent);
    const struct proc *p = h ? procs_find(h, space, name) : NULL;
    struct leaving leaving = { 0 };

    if (!p || p->pub.registry != FLEET_UNREGISTERED || p->pub.said_ms != said_ms)
        return;
    leaving_add(&leaving, 1, &(struct proc_ref_row){ agent, space, name });
    procs_del(h, space, name);
    h->is_replaced = true;
    host_is_dirty(h);
    leaving_go(&leaving, f);
}

/* ---- specs of operations */

struct labels {
    struct list list;
};
static const struct field labels_fields[] = {
    { "labels", .type = FIELD_MAP, .max = 64, .sub = &proc_label_shape },
    { 0 },
};
static const struct shape labels_shape = { "labels", sizeof(struct labels), labels_fields };

/* The map alone, out of an object with this one member; NULL: there are none. */
static const char *write_labels(const struct list *labels, struct buf *to)
{
    const struct labels all = { *labels };

    if (!labels->n)
        return NULL;
    shape_write(&labels_shape, &all, to);
    buf_truncate(to, to->len - 1);
    buf_drop(to, strlen("{\"labels\":"));
    return buf_text(to);
}

/* The agent did what was asked before, and does not know what was registered since. */
static void fall_behind(struct host *h, const struct proc *old)
{
    struct fleet_proc facts = old->pub;
    struct proc *p;

    facts.is_behind = true;
    p = put_facts(h, old->pub.space, old->pub.name, &facts);
    p->is_unbooked = true;
    look_at(h, p);
}

void fleet_put_spec(struct fleet *f, const char *agent_id, const struct proc_meta *meta,
                    const struct proc_spec *spec, int64_t asked_ms)
{
    struct host *h = host_find(f, agent_id);
    const struct proc *old = h ? procs_find(h, meta->space, meta->name) : NULL;
    struct fleet_proc facts = { .registry = FLEET_KNOWN };
    struct buf labels = { 0 }, json = { 0 };
    bool is_booked = old && old->pub.registry != FLEET_KNOWN;
    struct proc *p;

    if (!h)
        return;
    if (is_booked && asked_ms < old->pub.said_ms) {
        fall_behind(h, old);
        return;
    }
    shape_write(&proc_spec_shape, spec, &json);
    if (old && old->pub.registry == FLEET_REGISTERED) {
        facts.registry = FLEET_REGISTERED;
        facts.registered_ms = old->pub.registered_ms;
    }
    facts.labels = write_labels(&meta->labels, &labels);
    facts.spec = buf_text(&json);
    facts.said_ms = asked_ms;
    p = put_facts(h, meta->space, meta->name, &facts);
    p->is_told = true;
    p->is_unbooked = is_booked;
    buf_free(&labels);
    buf_free(&json);
}

/* ---- registering: before the store */

struct errand {
    struct fleet *fleet;
    struct registering *what;
    fleet_registered_fn *fn;
    void *arg;
    struct registering_target **taken; /* those that are not refused, by agent, */
    struct registry_row *rows;         /* and their rows */
    size_t n;
    int64_t bookings; /* of the fleet, before it */
};

static const char host_is_gone[] = "no such host, or it has not joined",
                  is_registered[] = "Fail to register, for the process info already exists.";

static void refuse(struct registering_target *t, int64_t code, const char *text)
{
    t->code = code;
    t->text = text;
}

/* Known by what an agent tells, as of a start that failed, and no more than that; one whose end
 * is on its way to the agent is not any more. */
static bool is_leftover(const struct proc *p)
{
    return p && !p->pub.view.hosted && p->pub.view.status != PROC_RUNNING &&
           !(p->pub.registry == FLEET_UNREGISTERED && p->pub.is_behind);
}

/* Sets the target's code where it can not be. */
static void judge(const struct registering *r, const struct host *h, struct registering_target *t)
{
    const struct proc *p = h ? procs_find(h, r->meta.space, r->meta.name) : NULL;
    bool is_known = p && p->pub.spec;

    if (!h)
        refuse(t, CODE_OFFLINE, host_is_gone);
    else if (r->kind == REGISTERING_END && !is_known && !is_leftover(p))
        refuse(t, CODE_NOT_RUNNING, "process info not registered");
    else if (r->kind == REGISTERING_NEW && is_known)
        refuse(t, CODE_REGISTERED, is_registered);
    else if (!p && h->pub.n_procs >= FLEET_PROCS_MAX)
        refuse(t, CODE_PARAM, "the host has as many processes as it may have");
    else if (r->kind == REGISTERING_UPDATE && p && p->pub.view.hosted &&
             !*r->spec->control.start_cmd)
        refuse(t, CODE_NO_COMMAND, "spec.control.start_cmd: required, the process is hosted");
}

/* The time of day, but no two have the same: whoever was told of the one has not got the
 * other. */
static void draw_said(struct fleet *f)
{
    int64_t wall_ms = clock_wall_ms(loop_clock(f->loop));
    bool is_near = wall_ms <= f->last_said_ms && wall_ms > f->last_said_ms - SAID_AHEAD_MS;

    f->last_said_ms = is_near ? f->last_said_ms + 1 : wall_ms;
}

static void fill_row(const struct errand *e, const char *agent, struct arena *a,
                     struct registry_row *ret)
{
    const struct registering *r = e->what;
    int64_t said_ms = e->fleet->last_said_ms;

    *ret = (struct registry_row){
        .agent_id = arena_strdup(a, agent),
        .space = r->meta.space,
        .name = r->meta.name,
        .state = r->kind == REGISTERING_END ? STORE_UNREGISTERED : STORE_REGISTERED,
        .registered_ms = said_ms,
        .said_ms = said_ms,
        .is_behind = true,
        .trouble = "",
    };
}

/* The texts of all rows are one, and live as long as the call. */
static void fill_spec(struct errand *e, struct arena *a)
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

/* What we have written of it meanwhile, the store has after this, and so once more.  False:
 * nobody has it any more. */
static bool apply(struct host *h, const struct registry_row *row, int64_t bookings)
{
    const struct proc *old = procs_find(h, row->space, row->name);
    struct fleet_proc facts = {
        .labels = row->labels,
        .spec = row->spec,
        .registry = row->state == STORE_REGISTERED ? FLEET_REGISTERED : FLEET_UNREGISTERED,
        .registered_ms = row->registered_ms,
        .said_ms = row->said_ms,
        .is_behind = row->is_behind,
        .trouble = *row->trouble ? row->trouble : NULL,
    };
    bool is_unbooked = old && old->booked_no > bookings;
    struct proc *p;

    if (row->state == STORE_UNREGISTERED && (!old || !old->is_told)) {
        procs_del(h, row->space, row->name);
        return false;
    }
    if (old && old->pub.registry == FLEET_REGISTERED && row->state == STORE_REGISTERED)
        facts.registered_ms = old->pub.registered_ms;
    p = put_facts(h, row->space, row->name, &facts);
    p->is_unbooked = is_unbooked;
    look_at(h, p);
    return true;
}

/* `added` are those rows that the store did not have, in their order; NULL: it has taken all.
 * Of a host that was removed meanwhile it has taken none. */
static void apply_one(struct errand *e, size_t i, const struct list *added, size_t *at,
                      struct leaving *leaving)
{
    const struct registry_row *row = &e->rows[i];
    const struct agent_row *agents = added ? added->items : NULL;
    struct host *h = host_find(e->fleet, row->agent_id);
    bool is_taken = !added || (*at < added->n && !strcmp(agents[*at].agent_id, row->agent_id));

    *at += is_taken;
    if (!h)
        refuse(e->taken[i], CODE_OFFLINE, host_is_gone);
    else if (!is_taken)
        refuse(e->taken[i], CODE_REGISTERED, is_registered);
    else if (!apply(h, row, e->bookings))
        leaving_add(leaving, e->n, &(struct proc_ref_row){ row->agent_id, row->space, row->name });
}

/* What goes, goes from the end: of a long list in order nothing has to move. */
static void apply_all(struct errand *e, const struct list *added)
{
    bool is_end = e->what->kind == REGISTERING_END;
    struct leaving leaving = { 0 };
    size_t at = 0;

    for (size_t i = 0; i < e->n; i++)
        apply_one(e, is_end ? e->n - 1 - i : i, added, &at, &leaving);
    leaving_go(&leaving, e->fleet);
}

static void on_stored(void *arg, struct store_call *c)
{
    struct errand *e = arg;

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

/* The fleet's lists, and the store's, are in the order of agents: it is quicker to go with
 * it. */
static void judge_all(struct errand *e, struct arena *a)
{
    struct registering *r = e->what;

    e->taken = arena_alloc(a, r->n * sizeof(struct registering_target *));
    for (size_t i = 0; i < r->n; i++) {
        struct registering_target *t = &r->targets[i];

        if (!t->code)
            judge(r, host_find(e->fleet, t->agent), t);
        if (!t->code)
            e->taken[e->n++] = t;
    }
    qsort(e->taken, e->n, sizeof(struct registering_target *), by_agent);
    e->rows = arena_alloc(a, e->n * sizeof(*e->rows));
    draw_said(e->fleet);
    for (size_t i = 0; i < e->n; i++)
        fill_row(e, e->taken[i]->agent, a, &e->rows[i]);
    fill_spec(e, a);
}

void fleet_register(struct fleet *f, struct registering *r, fleet_registered_fn *fn, void *arg)
{
    const struct store_verb *verb =
        r->kind == REGISTERING_NEW ? &store_registry_add : &store_registry_put;
    struct store_call *c = store_call_new(verb, on_stored, NULL);
    struct errand *e = arena_alloc(&c->arena, sizeof(*e));
    struct registry_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err;

    *e = (struct errand){ .fleet = f, .what = r, .fn = fn, .arg = arg, .bookings = f->bookings };
    judge_all(e, &c->arena);
    ask->rows = (struct list){ e->rows, e->n };
    c->in = ask;
    c->arg = e;
    if (e->n && errands_submit(f->errands, c, &err) == 0)
        return;
    fn(arg, e->n ? &err : NULL);
    store_call_free(c);
}

/* ---- what follows from it, on its way to the store */

static const void *row_of(const struct proc *p, const struct written *w, struct arena *a)
{
    const struct fleet_proc *from = &p->pub;
    struct registry_ask *ask = arena_alloc(a, sizeof(*ask));
    struct registry_row *row = arena_alloc(a, sizeof(*row));

    *row = (struct registry_row){
        .agent_id = w->agent,
        .space = w->space,
        .name = w->name,
        .state = from->registry == FLEET_REGISTERED ? STORE_REGISTERED : STORE_UNREGISTERED,
        .labels = from->labels ? arena_strdup(a, from->labels) : NULL,
        .spec = from->spec ? arena_strdup(a, from->spec) : NULL,
        .registered_ms = from->registered_ms,
        .said_ms = from->said_ms,
        .is_behind = from->is_behind,
        .trouble = from->trouble ? arena_strdup(a, from->trouble) : "",
    };
    ask->rows = (struct list){ row, 1 };
    return ask;
}

static const void *ref_of(const struct written *w, struct arena *a)
{
    struct registry_del_ask *ask = arena_alloc(a, sizeof(*ask));
    struct proc_ref_row *ref = arena_alloc(a, sizeof(*ref));

    *ref = (struct proc_ref_row){ w->agent, w->space, w->name };
    ask->refs = (struct list){ ref, 1 };
    return ask;
}

static int book(const struct host *h, struct proc *p)
{
    bool is_over = p->pub.registry == FLEET_KNOWN;
    struct store_call *c =
        store_call_new(is_over ? &store_registry_del : &store_registry_put, written_done, NULL);
    struct written *w = written_new(h, p, &c->arena);

    w->is_registry = true;
    c->in = is_over ? ref_of(w, &c->arena) : row_of(p, w, &c->arena);
    p->is_unbooked = false;
    p->booked_no = ++h->fleet->bookings;
    return written_submit(w, c);
}

int registry_write(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++) {
        if (!h->procs[i]->is_unbooked)
            continue;
        if (fleet_is_full(h->fleet) || book(h, h->procs[i]))
            return -1;
    }
    return 0;
}

/* One that was unregistered, and that the agent has not got, is past. */
int registry_load(struct fleet *f, struct loading *l, struct err *err)
{
    const struct registry_row *row;
    struct registry_del_ask past;
    struct proc_ref_row *refs;

    if (store_sync(f->store, &store_registry_all, &l->from, l->arena, &l->rows, err))
        return err_wrap(err, "registry");
    row = l->rows.items;
    refs = arena_alloc(l->arena, l->rows.n * sizeof(*refs));
    past.refs = (struct list){ refs, 0 };
    for (size_t i = 0; i < l->rows.n; i++) {
        struct host *h = host_find(f, row[i].agent_id);

        l->from.after = (struct proc_ref_row){ row[i].agent_id, row[i].space, row[i].name };
        if (h && !apply(h, &row[i], 0))
            refs[past.refs.n++] = l->from.after;
    }
    if (past.refs.n && store_sync(f->store, &store_registry_del, &past, l->arena, NULL, err))
        return err_wrap(err, "registry");
    return 0;
}
