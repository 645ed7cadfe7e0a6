/* SPDX-License-Identifier: MIT */
/* fleet_store.c - see fleet_store.h. */
#include "server/fleet/fleet_store.h"

#include "server/fleet/fleet_procs.h"
#include "store/store_procs.h"
#include "store/store_registry.h"

enum { FLUSH_MS = 100, RETRY_MS = 1000, CALLS_MAX = 512 };

void host_mark_dirty(struct host *h)
{
    struct fleet *f = h->fleet;

    if (!h->is_dirty) {
        h->is_dirty = true;
        TAILQ_INSERT_TAIL(&f->dirty, h, link);
    }
    if (!f->flush.place)
        timer_set(f->loop, &f->flush, FLUSH_MS);
}

/* ---- Rows. */

static const char *cause_text(const struct proc_cause *cause, struct arena *a)
{
    struct buf b = { 0 };
    const char *text;

    shape_write(&proc_cause_shape, cause, &b);
    text = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return text;
}

static void fleet_store_fill_row(const char *agent, const struct proc *p, struct arena *a,
                                 struct proc_row *ret)
{
    const struct proc_view *v = &p->pub.view;

    *ret = (struct proc_row){
        .agent_id = agent,
        .space = arena_strdup(a, v->space),
        .name = arena_strdup(a, v->name),
        .labels = p->pub.labels ? arena_strdup(a, p->pub.labels) : NULL,
        .spec = p->pub.spec ? arena_strdup(a, p->pub.spec) : NULL,
        .wanted = p->reported_wanted,
        .status = v->status,
        .hosted = v->hosted,
        .pid = v->pid,
        .start_ms = v->elapsed_s ? (v->report_s - v->elapsed_s) * 1000 : 0,
        .version = arena_strdup(a, v->version),
        .message = arena_strdup(a, v->why),
        .register_ms = v->register_s * 1000,
        .last_start_ms = v->last_start_s * 1000,
        .report_ms = v->report_s * 1000,
        .restarts = v->restarts,
        .cause = cause_text(&v->cause, a),
    };
}

/* ---- Writing. */

/* A write at the store; the host may be removed before it returns. */
struct written {
    struct fleet *fleet;
    const char *agent, *space, *name; /* no name: the whole host */
    bool is_registry;                 /* writes the registration */
};

static void mark_dirty_again(const struct written *w)
{
    struct host *h = host_find(w->fleet, w->agent);
    struct proc *p;

    if (!h)
        return;
    p = w->name ? procs_find(h, w->space, w->name) : NULL;
    if (!w->name)
        h->is_replaced = true;
    else if (p && w->is_registry)
        p->is_registry_dirty = true;
    else if (p)
        p->is_dirty = true;
    host_mark_dirty(h);
}

static void on_write_failed(const struct written *w, const struct err *err)
{
    struct fleet *f = w->fleet;

    mark_dirty_again(w);
    if (!f->is_failing)
        LOG(f->log, LOG_ERROR, "the store fails, what is known of hosts waits",
            log_str("agent", w->agent), log_err(err), log_int("again_in_ms", RETRY_MS));
    f->is_failing = true;
    timer_set(f->loop, &f->flush, RETRY_MS);
}

static void written_done(void *arg, struct store_call *c)
{
    struct written *w = arg;
    struct fleet *f = w->fleet;

    if (c->failed) {
        on_write_failed(w, &c->err);
    } else {
        f->is_failing = false;
        if (!TAILQ_EMPTY(&f->dirty) && !f->flush.place)
            timer_set(f->loop, &f->flush, 0);
    }
    store_call_free(c);
}

static struct written *written_new(const struct host *h, const struct proc *p, struct arena *a)
{
    struct written *w = arena_alloc(a, sizeof(*w));

    *w = (struct written){
        .fleet = h->fleet,
        .agent = arena_strdup(a, h->pub.agent_id),
        .space = p ? arena_strdup(a, p->pub.space) : NULL,
        .name = p ? arena_strdup(a, p->pub.name) : NULL,
    };
    return w;
}

static int written_submit(struct written *w, struct store_call *c)
{
    struct err err;

    c->arg = w;
    if (pending_calls_submit(w->fleet->pending_calls, c, &err) == 0)
        return 0;
    on_write_failed(w, &err);
    store_call_free(c);
    return -1;
}

static int fleet_store_write_all(struct host *h)
{
    struct store_call *c = store_call_new(&store_proc_replace, written_done, NULL);
    struct proc_replace_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct written *w = written_new(h, NULL, &c->arena);
    struct proc_row *rows = arena_alloc(&c->arena, h->pub.n_procs * sizeof(*rows));
    size_t n = 0;

    for (size_t i = 0; i < h->pub.n_procs; i++) {
        if (h->procs[i]->is_reported)
            fleet_store_fill_row(w->agent, h->procs[i], &c->arena, &rows[n++]);
        h->procs[i]->is_dirty = false;
    }
    *ask = (struct proc_replace_ask){ w->agent, { rows, n } };
    c->in = ask;
    h->is_replaced = false;
    return written_submit(w, c);
}

static int write_one(struct host *h, struct proc *p)
{
    struct store_call *c = store_call_new(&store_proc_put, written_done, NULL);
    struct proc_row *row = arena_alloc(&c->arena, sizeof(*row));
    struct written *w = written_new(h, p, &c->arena);

    fleet_store_fill_row(w->agent, p, &c->arena, row);
    c->in = row;
    p->is_dirty = false;
    return written_submit(w, c);
}

static bool fleet_is_full(const struct fleet *f)
{
    return pending_calls_out(f->pending_calls) >= CALLS_MAX;
}

/* ---- Registrations. */

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
        .said_ms = from->spec_seq,
        .is_behind = from->needs_push,
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

static int write_registration(const struct host *h, struct proc *p)
{
    bool is_unregistered = p->pub.registry == FLEET_KNOWN;
    struct store_call *c = store_call_new(
        is_unregistered ? &store_registry_del : &store_registry_put, written_done, NULL);
    struct written *w = written_new(h, p, &c->arena);

    w->is_registry = true;
    c->in = is_unregistered ? ref_of(w, &c->arena) : row_of(p, w, &c->arena);
    p->is_registry_dirty = false;
    p->registry_write_no = ++h->fleet->registry_writes;
    return written_submit(w, c);
}

/* Returns as write_host(). */
static int registry_write(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++) {
        if (!h->procs[i]->is_registry_dirty)
            continue;
        if (fleet_is_full(h->fleet) || write_registration(h, h->procs[i]))
            return -1;
    }
    return 0;
}

/* ---- Dirty hosts. */

/* -1: not everything could be submitted. */
static int write_host(struct host *h)
{
    if (registry_write(h))
        return -1;
    if (h->is_replaced)
        return fleet_store_write_all(h);
    for (size_t i = 0; i < h->pub.n_procs; i++) {
        if (!h->procs[i]->is_dirty || !h->procs[i]->is_reported)
            continue;
        if (fleet_is_full(h->fleet) || write_one(h, h->procs[i]))
            return -1;
    }
    return 0;
}

/* The rest is written when other calls have returned. */
void fleet_flush(void *arg)
{
    struct fleet *f = arg;
    struct host *h;

    while (!fleet_is_full(f) && (h = TAILQ_FIRST(&f->dirty))) {
        TAILQ_REMOVE(&f->dirty, h, link);
        h->is_dirty = false;
        if (write_host(h) == 0)
            continue;
        if (!h->is_dirty) {
            h->is_dirty = true;
            TAILQ_INSERT_HEAD(&f->dirty, h, link);
        }
        break;
    }
}
