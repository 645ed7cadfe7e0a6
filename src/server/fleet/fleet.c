/* SPDX-License-Identifier: MIT */
/* fleet.c - see fleet.h: hosts and their processes in memory. */
#include "server/fleet/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "server/fleet/fleet_business.h"
#include "server/fleet/fleet_procs.h"
#include "server/fleet/fleet_registrations.h"
#include "server/fleet/fleet_store.h"

enum { AT_SIZE = 128 }; /* "cloud:ip"; longer ones do not exist */

struct fleet *fleet_new(struct loop *loop, struct log *log, struct store *store)
{
    struct fleet *f = xalloc(sizeof(*f));

    f->loop = loop;
    f->log = log;
    f->store = store;
    f->pending_calls = pending_calls_new(store);
    TAILQ_INIT(&f->dirty);
    timer_init(&f->flush, fleet_flush, f);
    return f;
}

static void drop_names(struct fleet *f, struct host *h);

static void del_host(struct host *h)
{
    struct fleet *f = h->fleet;

    if (h->is_dirty)
        TAILQ_REMOVE(&f->dirty, h, link);
    procs_drop_pages(h);
    procs_clear(h);
    business_leave(h);
    host_index_sub(&f->all, &h->pub, 1);
    f->totals.hosts--;
    f->totals.online -= h->pub.epoch != 0;
    f->totals.silent -= h->pub.silent_ms != 0;
    drop_names(f, h);
    arena_free(&h->texts);
    free(h->digest);
    free(h);
}

void fleet_free(struct fleet *f)
{
    if (!f)
        return;
    timer_stop(f->loop, &f->flush);
    fleet_flush(f); /* as far as possible; agents report the rest again */
    timer_stop(f->loop, &f->flush);
    while (f->all.n)
        del_host((struct host *)host_index_at(&f->all, (struct host_index_place){ 0 })->host);
    pending_calls_free(f->pending_calls);
    map_free(&f->by_id);
    map_free(&f->by_at);
    map_free(&f->by_number);
    map_free(&f->spaces);
    map_free(&f->shares);
    map_free(&f->texts);
    businesses_free(f);
    host_index_free(&f->all);
    free(f);
}

/* ---- Look-up. */

const struct fleet_host *fleet_find(const struct fleet *f, const char *agent_id)
{
    struct host *h = host_find(f, agent_id);

    if (!h)
        h = map_find_str(&f->by_at, agent_id);
    return h ? &h->pub : NULL;
}

const struct fleet_host *fleet_find_at(const struct fleet *f, int64_t cloud_id, const char *ip)
{
    char at[AT_SIZE];
    int n = snprintf(at, sizeof(at), "%lld:%s", (long long)cloud_id, ip);
    const struct host *h = n < AT_SIZE ? map_find(&f->by_at, at, (size_t)n) : NULL;

    return h ? &h->pub : NULL;
}

const struct fleet_host *fleet_find_number(const struct fleet *f, int64_t host_id)
{
    const struct host *h = map_find(&f->by_number, (const char *)&host_id, sizeof(host_id));

    return h ? &h->pub : NULL;
}

const struct fleet_proc *fleet_proc(const struct fleet_host *h, const char *space, const char *name)
{
    struct proc *p = procs_find((const struct host *)h, space, name);

    return p ? &p->pub : NULL;
}

const struct fleet_host *fleet_next(const struct fleet *f, const char *after)
{
    const struct host_index_entry *e = host_index_at(&f->all, host_index_after(&f->all, after));

    return e ? e->host : NULL;
}

const struct fleet_totals *fleet_totals(const struct fleet *f)
{
    return &f->totals;
}

size_t fleet_in_business(const struct fleet *f, int64_t biz_id)
{
    const struct business *b = business_find(f, biz_id);

    return b ? b->host_index.total : 0;
}

int64_t fleet_next_business(const struct fleet *f, int64_t after)
{
    const struct business *b = by_id_next(&f->businesses, after);

    return b ? b->id : 0;
}

/* ---- Hosts. */

static struct host *new_host(struct fleet *f)
{
    struct host *h = xalloc(sizeof(*h));

    h->fleet = f;
    h->digest = xstrdup("");
    h->pub.digest = h->digest;
    return h;
}

static const char *fleet_copy_text(struct arena *a, const char *text)
{
    return arena_strdup(a, text ? text : "");
}

static size_t size_of(const char *text)
{
    return text ? strlen(text) + 1 : 1;
}

/* Exactly as many bytes as the texts need: there are many hosts, and they live long. */
static void begin_texts(struct arena *a, const struct host_row *row)
{
    arena_init(a, size_of(row->agent_id) + size_of(row->ip) + size_of(row->hostname) +
                      size_of(row->version) + size_of(row->cert_fingerprint) + size_of(row->note) +
                      size_of(row->addresses));
}

static void drop_names(struct fleet *f, struct host *h)
{
    if (!h->at)
        return;
    map_del_str(&f->by_id, h->pub.agent_id);
    if (map_find_str(&f->by_at, h->at) == h)
        map_del_str(&f->by_at, h->at);
    free(h->at);
    h->at = NULL;
    if (fleet_find_number(f, h->pub.host_id) == &h->pub)
        map_del(&f->by_number, (const char *)&h->pub.host_id, sizeof(h->pub.host_id));
}

/* A new host enters its business and the index; its id is set by now. */
static void set_business(struct host *h, int64_t biz_id)
{
    if (h->business && h->pub.biz_id == biz_id)
        return;
    if (h->business) {
        procs_leave(h);
        business_leave(h);
    } else {
        host_index_add(&h->fleet->all, &h->pub, 1);
        h->fleet->totals.hosts++;
    }
    h->pub.biz_id = biz_id;
    business_enter(h);
    procs_enter(h);
}

/* The row may point to texts of this host. */
void fleet_put_host(struct fleet *f, const struct host_row *row)
{
    struct host *h = host_find(f, row->agent_id);
    struct arena old;

    if (!h)
        h = new_host(f);
    drop_names(f, h);
    old = h->texts;
    begin_texts(&h->texts, row);
    h->pub.agent_id = fleet_copy_text(&h->texts, row->agent_id);
    h->pub.ip = fleet_copy_text(&h->texts, row->ip);
    h->pub.hostname = fleet_copy_text(&h->texts, row->hostname);
    h->pub.version = fleet_copy_text(&h->texts, row->version);
    h->pub.cert_fingerprint = fleet_copy_text(&h->texts, row->cert_fingerprint);
    h->pub.note = fleet_copy_text(&h->texts, row->note);
    h->pub.addresses = fleet_copy_text(&h->texts, row->addresses);
    h->pub.cloud_id = row->cloud_id;
    h->pub.host_id = row->host_id;
    if (row->host_id)
        map_put(&f->by_number, (const char *)&h->pub.host_id, sizeof(h->pub.host_id), h);
    set_business(h, row->biz_id);
    h->pub.joined_ms = row->joined_ms;
    if (!h->pub.since_ms)
        h->pub.since_ms = row->joined_ms;
    h->at = xprintf("%lld:%s", (long long)row->cloud_id, h->pub.ip);
    map_put_str(&f->by_id, h->pub.agent_id, h);
    map_put_str(&f->by_at, h->at, h);
    arena_free(&old);
}

void fleet_del_host(struct fleet *f, const char *agent_id)
{
    struct host *h = host_find(f, agent_id);

    if (h)
        del_host(h);
}

void fleet_set_facts(struct fleet *f, const char *agent_id, const struct fleet_facts *facts)
{
    struct host *h = host_find(f, agent_id);

    if (h)
        h->pub.facts = *facts;
}

static void set_silent(struct host *h, int64_t since_ms)
{
    int64_t more = (since_ms != 0) - (h->pub.silent_ms != 0);

    h->fleet->totals.silent += more;
    h->business->totals.silent += more;
    h->pub.silent_ms = since_ms;
}

void fleet_set_silent(struct fleet *f, const char *agent_id, int64_t since_ms)
{
    struct host *h = host_find(f, agent_id);

    if (h)
        set_silent(h, since_ms);
}

/* A partial snapshot is useless for the next session. */
void fleet_set_session(struct fleet *f, const char *agent_id, int64_t epoch, int64_t wall_ms)
{
    struct host *h = host_find(f, agent_id);

    if (!h)
        return;
    f->totals.online += (epoch != 0) - (h->pub.epoch != 0);
    h->business->totals.online += (epoch != 0) - (h->pub.epoch != 0);
    procs_count(h, -1);
    h->pub.epoch = epoch;
    procs_count(h, 1);
    h->pub.since_ms = wall_ms;
    set_silent(h, 0);
    procs_drop_pages(h);
    registry_report_needs_push(h);
}

/* ---- Reports of agents. */

static int too_many(const struct host *h, struct err *err)
{
    return err_set(err, ERR_LIMIT, "agent %s has more than %d processes", h->pub.agent_id,
                   FLEET_PROCS_MAX);
}

static int add_page(struct host *h, const struct proc_view *view, struct err *err)
{
    struct proc *p;

    if (h->n_pages >= FLEET_PROCS_MAX)
        return too_many(h, err);
    p = proc_new(h->fleet, view, NULL);
    p->is_reported = true;
    procs_add_page(h, p);
    return 0;
}

static bool is_same_cause(const struct proc_cause *a, const struct proc_cause *b)
{
    struct buf texts[2] = { { 0 }, { 0 } };
    bool is_same;

    shape_write(&proc_cause_shape, a, &texts[0]);
    shape_write(&proc_cause_shape, b, &texts[1]);
    is_same = !strcmp(buf_text(&texts[0]), buf_text(&texts[1]));
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return is_same;
}

/* Whether the store already has this view.  Usage and the time of the last report are kept in
 * memory only: every agent reports them every minute. */
static bool is_stored(const struct proc *old, const struct proc_view *view)
{
    const struct proc_view *o = &old->pub.view;
    struct proc_view v = *view;

    proc_overlay(&old->pub, &v); /* compare like with like */
    return old->is_reported && !old->is_dirty && old->reported_wanted == view->wanted &&
           o->status == v.status && o->hosted == v.hosted && o->pid == v.pid &&
           o->restarts == v.restarts && o->register_s == v.register_s &&
           o->last_start_s == v.last_start_s && !strcmp(o->version, v.version ? v.version : "") &&
           !strcmp(o->why, v.why ? v.why : "") && is_same_cause(&o->cause, &v.cause);
}

static int on_change(struct host *h, const struct proc_view *view, struct err *err)
{
    const struct proc *old = procs_find(h, view->space, view->name);
    struct proc *p;

    if (!old && h->pub.n_procs >= FLEET_PROCS_MAX)
        return too_many(h, err);
    p = proc_remake(h->fleet, old, view);
    p->is_dirty = !old || !is_stored(old, view);
    p->is_reported = true;
    procs_put(h, p);
    return h->n_pages ? add_page(h, view, err) : 0; /* newer than its page of the snapshot */
}

static bool are_pages_stored(const struct host *h)
{
    for (size_t i = 0; i < h->n_pages; i++) {
        const struct proc *page = h->pages[i];
        const struct proc *old = procs_find(h, page->pub.space, page->pub.name);

        if (!old || !is_stored(old, &page->pub.view))
            return false;
    }
    return true;
}

static size_t count_reported(const struct host *h)
{
    size_t n = 0;

    for (size_t i = 0; i < h->pub.n_procs; i++)
        n += h->procs[i]->is_reported;
    return n;
}

/* When a fleet reconnects after our start, most reports equal what the store has; rewriting them
 * would be a large part of the work. */
static void take_snapshot(struct host *h)
{
    bool is_known = are_pages_stored(h);
    size_t n = count_reported(h);

    procs_match_pages(h);
    registry_add_missing(h);
    procs_take_pages(h);
    if (!is_known || count_reported(h) != n)
        h->is_replaced = true;
    registry_report_needs_push(h);
}

static void set_digest(struct host *h, const char *digest)
{
    free(h->digest);
    h->digest = xstrdup(digest ? digest : "");
    h->pub.digest = h->digest;
}

int fleet_on_processes(struct fleet *f, const char *agent_id, const struct message_processes *m,
                       struct err *err)
{
    struct host *h = host_find(f, agent_id);
    const struct proc_view *views = m->list.items;
    int bad = 0;

    if (!h)
        return 0;
    for (size_t i = 0; i < m->list.n && !bad; i++)
        bad = m->is_snapshot ? add_page(h, &views[i], err) : on_change(h, &views[i], err);
    if (m->is_snapshot && (bad || !m->is_last))
        return bad;
    if (m->is_snapshot)
        take_snapshot(h);
    if (!bad)
        set_digest(h, m->digest);
    host_mark_dirty(h);
    return bad;
}
