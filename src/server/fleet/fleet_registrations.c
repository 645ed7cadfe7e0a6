/* SPDX-License-Identifier: MIT */
/* fleet_registrations.c - see fleet_registrations.h. */
#include "server/fleet/fleet_registrations.h"

#include "server/fleet/fleet_procs.h"
#include "server/fleet/fleet_store.h"

/* ---- facts of a process */

static const char never_started[] = MSG("registered, and not started yet");

static void fill_view(const char *space, const char *name, struct proc_view *ret)
{
    shape_defaults(&proc_view_shape, ret);
    ret->space = space;
    ret->name = name;
    ret->why = never_started;
}

struct proc *registry_put_facts(struct host *h, const char *space, const char *name,
                                const struct fleet_proc *facts)
{
    const struct proc *old = procs_find(h, space, name);
    struct proc_view view;
    struct proc *p;

    fill_view(space, name, &view);
    if (old) {
        view = old->pub.view;
        view.wanted = old->reported_wanted;
    }
    if (old && old->pub.trouble && !facts->trouble)
        view.why = ""; /* its agent reports it again */
    p = proc_new(h->fleet, &view, facts);
    p->is_dirty = true;
    p->is_reported = old && old->is_reported;
    p->registry_write_no = old ? old->registry_write_no : 0;
    procs_put(h, p);
    host_mark_dirty(h);
    return p;
}

bool registry_apply(struct host *h, const struct registry_row *row, int64_t registry_writes)
{
    const struct proc *old = procs_find(h, row->space, row->name);
    struct fleet_proc facts = {
        .labels = row->labels,
        .spec = row->spec,
        .registry = row->state == STORE_REGISTERED ? FLEET_REGISTERED : FLEET_UNREGISTERED,
        .registered_ms = row->registered_ms,
        .spec_seq = row->said_ms,
        .needs_push = row->is_behind,
        .trouble = *row->trouble ? row->trouble : NULL,
    };
    bool is_registry_dirty = old && old->registry_write_no > registry_writes;
    struct proc *p;

    if (row->state == STORE_UNREGISTERED && (!old || !old->is_reported)) {
        procs_del(h, row->space, row->name);
        return false;
    }
    if (old && old->pub.registry == FLEET_REGISTERED && row->state == STORE_REGISTERED)
        facts.registered_ms = old->pub.registered_ms;
    p = registry_put_facts(h, row->space, row->name, &facts);
    p->is_registry_dirty = is_registry_dirty;
    registry_report_proc(h, p);
    return true;
}

/* ---- removal of rows */

static void on_removed(void *arg, struct store_call *c)
{
    (void)arg;
    store_call_free(c);
}

void removal_add(struct removal *l, size_t most, const struct proc_ref_row *ref)
{
    struct proc_ref_row *refs;
    struct arena *a;

    if (!l->call)
        l->call = store_call_new(&store_registry_del, on_removed, NULL);
    a = &l->call->arena;
    if (!l->refs.items)
        l->refs.items = arena_alloc(a, most * sizeof(*refs));
    refs = l->refs.items;
    refs[l->refs.n++] =
        (struct proc_ref_row){ arena_strdup(a, ref->agent_id), arena_strdup(a, ref->space),
                               arena_strdup(a, ref->name) };
}

void removal_submit(struct removal *l, struct fleet *f)
{
    struct registry_del_ask *ask;
    struct err ignored;

    if (!l->call)
        return;
    ask = arena_alloc(&l->call->arena, sizeof(*ask));
    ask->refs = l->refs;
    l->call->in = ask;
    if (pending_calls_submit(f->pending_calls, l->call, &ignored))
        store_call_free(l->call);
}

/* ---- registered processes that a snapshot lacks */

static bool is_missing(const struct proc *p, enum fleet_registry state)
{
    return !p->is_seen && p->pub.registry == (int64_t)state;
}

void registry_add_missing(struct host *h)
{
    struct removal removal = { 0 };

    for (size_t i = 0; i < h->pub.n_procs; i++) {
        const struct proc *old = h->procs[i];
        const struct proc_ref_row ref = { h->pub.agent_id, old->pub.space, old->pub.name };
        struct proc_view view;

        if (is_missing(old, FLEET_UNREGISTERED))
            removal_add(&removal, h->pub.n_procs, &ref);
        if (!is_missing(old, FLEET_REGISTERED))
            continue;
        fill_view(old->pub.space, old->pub.name, &view);
        procs_add_page(h, proc_remake(h->fleet, old, &view)); /* its agent does not report it */
    }
    removal_submit(&removal, h->fleet);
}

/* ---- pushes */

/* A spec is pushed only to an agent that hosts the process; otherwise it comes with the operation
 * that hosts it.  The end of hosting is always pushed, because our knowledge may be outdated. */
void registry_report_proc(const struct host *h, const struct proc *p)
{
    const struct fleet *f = h->fleet;

    if (f->on_needs_push && h->pub.epoch && p->pub.needs_push &&
        (p->pub.view.hosted || p->pub.registry == FLEET_UNREGISTERED))
        f->on_needs_push(f->needs_push_arg, &h->pub, &p->pub);
}

void registry_report_needs_push(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        registry_report_proc(h, h->procs[i]);
}
