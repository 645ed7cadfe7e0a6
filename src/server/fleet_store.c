/* SPDX-License-Identifier: MIT */
/* fleet_store.c - what has changed, on its way to the store; and loading.
 *
 * A host with changes is in the list of dirty ones.  A while later, so that what comes
 * together goes together, it is written: as a whole after a snapshot, else process by
 * process.  What fails is dirty again, and written as it is by then. */
#include <string.h>

#include "base/mem.h"
#include "server/fleet_in.h"

enum { FLUSH_MS = 100, RETRY_MS = 1000, CALLS_MAX = 512, PAGE = 1000 };

void host_is_dirty(struct host *h)
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

static void fill_row(const char *agent, const struct proc *p, struct arena *a, struct proc_row *ret)
{
    const struct proc_view *v = &p->pub.view;

    *ret = (struct proc_row){
        .agent_id = agent,
        .space = arena_strdup(a, v->space),
        .name = arena_strdup(a, v->name),
        .labels = p->pub.labels ? arena_strdup(a, p->pub.labels) : NULL,
        .spec = p->pub.spec ? arena_strdup(a, p->pub.spec) : NULL,
        .wanted = p->told_wanted,
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

/* Why it is so can be left out, where an older program did not store it, or a newer one
 * something else: its agent says it anew. */
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

/* ---- Writing. */

static void mark_again(const struct written *w)
{
    struct host *h = host_find(w->fleet, w->agent);
    struct proc *p;

    if (!h)
        return;
    p = w->name ? procs_find(h, w->space, w->name) : NULL;
    if (!w->name)
        h->is_replaced = true;
    else if (p && w->is_registry)
        p->is_unbooked = true;
    else if (p)
        p->is_dirty = true;
    host_is_dirty(h);
}

static void failed(const struct written *w, const struct err *err)
{
    struct fleet *f = w->fleet;

    mark_again(w);
    if (!f->is_failing)
        LOG(f->log, LOG_ERROR, "the store fails, what is known of hosts waits",
            log_str("agent", w->agent), log_err(err), log_int("again_in_ms", RETRY_MS));
    f->is_failing = true;
    timer_set(f->loop, &f->flush, RETRY_MS);
}

void written_done(void *arg, struct store_call *c)
{
    struct written *w = arg;
    struct fleet *f = w->fleet;

    if (c->failed) {
        failed(w, &c->err);
    } else {
        f->is_failing = false;
        if (!TAILQ_EMPTY(&f->dirty) && !f->flush.place)
            timer_set(f->loop, &f->flush, 0);
    }
    store_call_free(c);
}

struct written *written_new(const struct host *h, const struct proc *p, struct arena *a)
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

int written_submit(struct written *w, struct store_call *c)
{
    struct err err;

    c->arg = w;
    if (errands_submit(w->fleet->errands, c, &err) == 0)
        return 0;
    failed(w, &err);
    store_call_free(c);
    return -1;
}

static int write_all(struct host *h)
{
    struct store_call *c = store_call_new(&store_proc_replace, written_done, NULL);
    struct proc_replace_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct written *w = written_new(h, NULL, &c->arena);
    struct proc_row *rows = arena_alloc(&c->arena, h->pub.n_procs * sizeof(*rows));
    size_t n = 0;

    for (size_t i = 0; i < h->pub.n_procs; i++) {
        if (h->procs[i]->is_told)
            fill_row(w->agent, h->procs[i], &c->arena, &rows[n++]);
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

    fill_row(w->agent, p, &c->arena, row);
    c->in = row;
    p->is_dirty = false;
    return written_submit(w, c);
}

bool fleet_is_full(const struct fleet *f)
{
    return errands_out(f->errands) >= CALLS_MAX;
}

/* -1: it is not all on its way. */
static int write_host(struct host *h)
{
    if (registry_write(h))
        return -1;
    if (h->is_replaced)
        return write_all(h);
    for (size_t i = 0; i < h->pub.n_procs; i++) {
        if (!h->procs[i]->is_dirty || !h->procs[i]->is_told)
            continue;
        if (fleet_is_full(h->fleet) || write_one(h, h->procs[i]))
            return -1;
    }
    return 0;
}

/* What does not fit goes when others have come back. */
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

/* ---- Loading. */

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

static void load_proc(struct host *h, const struct proc_row *row, struct arena *a)
{
    struct proc_view view;
    struct proc *p;

    fill_view(row, a, &view);
    p = proc_new(h->fleet, &view, &(struct fleet_proc){ .labels = row->labels, .spec = row->spec });
    p->is_told = true;
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

/* Nobody is connected when we start.  A session that is open was so when we died. */
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
    static load_fn *const loads[] = { load_hosts, load_procs, registry_load, load_sessions };

    for (size_t i = 0; i < ARRAY_LEN(loads); i++) {
        if (load_pages(f, loads[i], err))
            return err_wrap(err, "load the fleet");
    }
    return 0;
}
