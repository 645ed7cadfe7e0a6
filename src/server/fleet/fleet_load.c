/* SPDX-License-Identifier: MIT */
/* fleet_load.c - loading of the fleet at start.  See fleet.h. */
#include <string.h>

#include "base/mem/mem.h"
#include "server/fleet/fleet.h"
#include "server/fleet/fleet_procs.h"
#include "server/fleet/fleet_registrations.h"
#include "server/fleet/fleet_registry.h"
#include "store/store_procs.h"

enum { PAGE = 1000 };

/* State of loading, page by page. */
struct loading {
    struct proc_all_ask from; /* for hosts only the agent is set */
    struct arena *arena;      /* of this page; `from` points into the previous one */
    struct list rows;
};

static int load_hosts(struct fleet *f, struct loading *l, struct err *err)
{
    const struct store_page page = { l->from.after.agent_id, l->from.limit };
    const struct host_row *row;

    if (store_sync(f->store, &store_host_list, &page, l->arena, &l->rows, err))
        return err_wrap(err, "hosts");
    row = l->rows.items;
    for (size_t i = 0; i < l->rows.n; i++) {
        fleet_put_host(f, &row[i]);
        l->from.after.agent_id = row[i].agent_id;
    }
    return 0;
}

/* The cause may be missing or unreadable in rows of another version; the agent reports it again. */
static void fill_cause(const char *text, struct arena *a, struct proc_cause *ret)
{
    struct err ignored;

    if (!text || shape_read(&proc_cause_shape, text, strlen(text), 0, a, ret, &ignored))
        shape_defaults(&proc_cause_shape, ret);
}

static void fill_view(const struct proc_row *row, struct arena *a, struct proc_view *ret)
{
    shape_defaults(&proc_view_shape, ret);
    ret->space = row->space;
    ret->name = row->name;
    ret->wanted = row->wanted;
    ret->status = row->status;
    ret->hosted = row->hosted;
    ret->pid = row->pid;
    ret->version = row->version;
    ret->why = row->message;
    ret->register_s = row->register_ms / 1000;
    ret->last_start_s = row->last_start_ms / 1000;
    ret->report_s = row->report_ms / 1000;
    ret->restarts = row->restarts;
    fill_cause(row->cause, a, &ret->cause);
}

static void load_proc(struct host *h, const struct proc_row *row, struct arena *a)
{
    struct proc_view view;
    struct proc *p;

    fill_view(row, a, &view);
    p = proc_new(
        h->fleet, &view,
        &(struct fleet_proc){ .labels = proc_labels_renew(row->labels, a), .spec = row->spec });
    p->is_reported = true;
    procs_put(h, p);
}

static int load_procs(struct fleet *f, struct loading *l, struct err *err)
{
    const struct proc_row *row;

    if (store_sync(f->store, &store_proc_all, &l->from, l->arena, &l->rows, err))
        return err_wrap(err, "processes");
    row = l->rows.items;
    for (size_t i = 0; i < l->rows.n; i++) {
        struct host *h = host_find(f, row[i].agent_id);

        if (h)
            load_proc(h, &row[i], l->arena);
        l->from.after = (struct proc_ref_row){ row[i].agent_id, row[i].space, row[i].name };
    }
    return 0;
}

/* An unregistered process that the agent does not have can be removed. */
static int load_registry(struct fleet *f, struct loading *l, struct err *err)
{
    struct registry_row *row;
    struct registry_del_ask removed;
    struct proc_ref_row *refs;

    if (store_sync(f->store, &store_registry_all, &l->from, l->arena, &l->rows, err))
        return err_wrap(err, "registry");
    row = l->rows.items;
    refs = arena_alloc(l->arena, l->rows.n * sizeof(*refs));
    removed.refs = (struct list){ refs, 0 };
    for (size_t i = 0; i < l->rows.n; i++) {
        struct host *h = host_find(f, row[i].agent_id);

        fleet_note_seq(f, row[i].said_ms);
        l->from.after = (struct proc_ref_row){ row[i].agent_id, row[i].space, row[i].name };
        row[i].labels = proc_labels_renew(row[i].labels, l->arena);
        if (h && !registry_apply(h, &row[i], 0))
            refs[removed.refs.n++] = l->from.after;
    }
    if (removed.refs.n && store_sync(f->store, &store_registry_del, &removed, l->arena, NULL, err))
        return err_wrap(err, "registry");
    return 0;
}

/* No agent is connected when we start.  A session that is open in the store ended with us. */
static int load_sessions(struct fleet *f, struct loading *l, struct err *err)
{
    const struct store_page page = { l->from.after.agent_id, l->from.limit };
    const struct session_row *row;

    if (store_sync(f->store, &store_session_list, &page, l->arena, &l->rows, err))
        return err_wrap(err, "sessions");
    row = l->rows.items;
    for (size_t i = 0; i < l->rows.n; i++) {
        struct host *h = host_find(f, row[i].agent_id);

        if (h)
            h->pub.since_ms = row[i].is_open ? clock_wall_ms(loop_clock(f->loop)) : row[i].since_ms;
        l->from.after.agent_id = row[i].agent_id;
    }
    return 0;
}

typedef int load_fn(struct fleet *f, struct loading *l, struct err *err);

static int load_pages(struct fleet *f, load_fn *load, struct err *err)
{
    struct loading l = { .from = { { "", "", "" }, PAGE }, .rows = { NULL, PAGE } };
    struct arena arenas[2] = { { 0 }, { 0 } };
    int result = 0;

    for (int i = 0; result == 0 && l.rows.n == PAGE; i = !i) {
        arena_free(&arenas[i]);
        l.arena = &arenas[i];
        result = load(f, &l, err);
    }
    arena_free(&arenas[0]);
    arena_free(&arenas[1]);
    return result;
}

int fleet_load(struct fleet *f, struct err *err)
{
    static load_fn *const loads[] = { load_hosts, load_procs, load_registry, load_sessions };

    for (size_t i = 0; i < ARRAY_LEN(loads); i++) {
        if (load_pages(f, loads[i], err))
            return err_wrap(err, "load the fleet");
    }
    return 0;
}
