/* SPDX-License-Identifier: MIT */
/* fleet.c - see fleet.h: hosts and their processes in memory. */
#include "server/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/fleet_in.h"

enum { AT_SIZE = 128 }; /* "cloud:ip", where nobody has a longer one */

struct fleet *fleet_new(struct loop *loop, struct log *log, struct store *store)
{
    struct fleet *f = xalloc(sizeof(*f));

    f->loop = loop;
    f->log = log;
    f->store = store;
    f->errands = errands_new(store);
    TAILQ_INIT(&f->dirty);
    timer_init(&f->flush, fleet_flush, f);
    return f;
}

static void free_host(struct host *h)
{
    procs_drop_pages(h);
    procs_clear(h);
    arena_free(&h->texts);
    free(h->digest);
    free(h->at);
    free(h);
}

void fleet_free(struct fleet *f)
{
    if (!f)
        return;
    timer_stop(f->loop, &f->flush);
    fleet_flush(f); /* as far as it goes; what is left the agents tell again */
    timer_stop(f->loop, &f->flush);
    for (size_t i = 0; i < f->n; i++)
        free_host(f->hosts[i]);
    errands_free(f->errands);
    map_free(&f->by_id);
    map_free(&f->by_at);
    map_free(&f->by_number);
    map_free(&f->spaces);
    map_free(&f->texts);
    businesses_free(f);
    free(f->hosts);
    free(f);
}

/* ---- Finding. */

struct host *host_find(const struct fleet *f, const char *agent_id)
{
    return map_find_str(&f->by_id, agent_id);
}

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

/* The place of the first host that is not before this id. */
static size_t place_of(const struct fleet *f, const char *agent_id)
{
    size_t low = 0, high = f->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(f->hosts[middle]->pub.agent_id, agent_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct fleet_host *fleet_next(const struct fleet *f, const char *after)
{
    size_t at = place_of(f, after);

    if (at < f->n && !strcmp(f->hosts[at]->pub.agent_id, after))
        at++;
    return at < f->n ? &f->hosts[at]->pub : NULL;
}

const struct fleet_totals *fleet_totals(const struct fleet *f)
{
    return &f->totals;
}

/* ---- Hosts. */

static struct host *add_host(struct fleet *f, const char *agent_id)
{
    struct host *h = xalloc(sizeof(*h));
    size_t at = place_of(f, agent_id);

    h->fleet = f;
    h->digest = xstrdup("");
    h->pub.digest = h->digest;
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 16;
        f->hosts = xresize(f->hosts, f->cap * sizeof(struct host *));
    }
    memmove(&f->hosts[at + 1], &f->hosts[at], (f->n - at) * sizeof(struct host *));
    f->hosts[at] = h;
    f->n++;
    f->totals.hosts++;
    return h;
}

static const char *keep(struct arena *a, const char *text)
{
    return arena_strdup(a, text ? text : "");
}

static void drop_names(struct fleet *f, struct host *h)
{
    if (!h->at)
        return;
    business_leave(f, h->pub.biz_id);
    map_del_str(&f->by_id, h->pub.agent_id);
    if (map_find_str(&f->by_at, h->at) == h)
        map_del_str(&f->by_at, h->at);
    free(h->at);
    h->at = NULL;
    if (fleet_find_number(f, h->pub.host_id) == &h->pub)
        map_del(&f->by_number, (const char *)&h->pub.host_id, sizeof(h->pub.host_id));
}

/* The row may be of texts that are the host's own. */
void fleet_put_host(struct fleet *f, const struct host_row *row)
{
    struct host *h = host_find(f, row->agent_id);
    struct arena old;

    if (!h)
        h = add_host(f, row->agent_id);
    drop_names(f, h);
    old = h->texts;
    h->texts = (struct arena){ 0 };
    h->pub.agent_id = keep(&h->texts, row->agent_id);
    h->pub.ip = keep(&h->texts, row->ip);
    h->pub.hostname = keep(&h->texts, row->hostname);
    h->pub.version = keep(&h->texts, row->version);
    h->pub.cert_fingerprint = keep(&h->texts, row->cert_fingerprint);
    h->pub.note = keep(&h->texts, row->note);
    h->pub.addresses = keep(&h->texts, row->addresses);
    h->pub.cloud_id = row->cloud_id;
    h->pub.host_id = row->host_id;
    if (row->host_id)
        map_put(&f->by_number, (const char *)&h->pub.host_id, sizeof(h->pub.host_id), h);
    h->pub.biz_id = row->biz_id;
    business_enter(f, row->biz_id);
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
    size_t at;

    if (!h)
        return;
    at = place_of(f, agent_id);
    memmove(&f->hosts[at], &f->hosts[at + 1], (f->n - at - 1) * sizeof(struct host *));
    f->n--;
    f->totals.hosts--;
    f->totals.online -= h->pub.epoch != 0;
    if (h->is_dirty)
        TAILQ_REMOVE(&f->dirty, h, link);
    drop_names(f, h);
    free_host(h);
}

void fleet_set_facts(struct fleet *f, const char *agent_id, const struct fleet_facts *facts)
{
    struct host *h = host_find(f, agent_id);

    if (h)
        h->pub.facts = *facts;
}

/* Half a snapshot is of no use to another session. */
void fleet_set_session(struct fleet *f, const char *agent_id, int64_t epoch, int64_t wall_ms)
{
    struct host *h = host_find(f, agent_id);

    if (!h)
        return;
    f->totals.online += (epoch != 0) - (h->pub.epoch != 0);
    procs_count(h, -1);
    h->pub.epoch = epoch;
    procs_count(h, 1);
    h->pub.since_ms = wall_ms;
    procs_drop_pages(h);
    registry_look(h);
}

/* ---- What agents say. */

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
    p->is_told = true;
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

/* Whether the store has it so already.  What a process uses, and when its agent last spoke of
 * it, is in memory alone: every agent says it every minute. */
static bool is_stored(const struct proc *old, const struct proc_view *view)
{
    const struct proc_view *o = &old->pub.view;
    struct proc_view v = *view;

    registry_lay_over(&old->pub, &v); /* as the old one is */
    return old->is_told && !old->is_dirty && old->told_wanted == view->wanted &&
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
    p->is_told = true;
    procs_put(h, p);
    return h->n_pages ? add_page(h, view, err) : 0; /* newer than its page */
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
    if (m->is_snapshot) {
        procs_take_pages(h);
        h->is_replaced = true;
        registry_look(h);
    }
    if (!bad)
        set_digest(h, m->digest);
    host_is_dirty(h);
    return bad;
}
