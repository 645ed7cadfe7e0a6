/* SPDX-License-Identifier: MIT */
/* fleet_procs.c - see fleet_procs.h. */
#include "server/fleet/fleet_procs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/host.h"
#include "model/why_judge.h"
#include "server/fleet/fleet_shares.h"

/* ---- Shared texts. */

static const char *text_ref(struct fleet *f, const char *text)
{
    struct shared_text *s;
    size_t size;

    if (!text)
        return NULL;
    s = map_find_str(&f->texts, text);
    if (!s) {
        size = strlen(text) + 1;
        s = xalloc(sizeof(*s) + size);
        memcpy(s->text, text, size);
        map_put_str(&f->texts, s->text, s);
    }
    s->refs++;
    return s->text;
}

static void text_unref(struct fleet *f, const char *text)
{
    struct shared_text *s = text ? map_find_str(&f->texts, text) : NULL;

    if (!s || --s->refs)
        return;
    map_del_str(&f->texts, text);
    free(s);
}

/* ---- One process. */

/* Visits the texts of a view and of nested objects. */
static void each_list(const struct shape *shape, void *object,
                      void (*fn)(void *arg, struct list *list, size_t item_size), void *arg)
{
    for (const struct field *f = shape->fields; f->name; f++) {
        void *at = (char *)object + f->offset;

        if (f->type == FIELD_LIST)
            fn(arg, at, f->sub->size);
        else if (f->type == FIELD_OBJ)
            each_list(f->sub, at, fn, arg);
    }
}

static void measure_list(void *arg, struct list *list, size_t item_size)
{
    *(size_t *)arg += list->n * item_size;
}

static void move_list(void *arg, struct list *list, size_t item_size)
{
    char **to = arg;

    if (list->n)
        memcpy(*to, list->items, list->n * item_size);
    list->items = *to;
    *to += list->n * item_size;
}

static void each_text(const struct shape *shape, void *object,
                      void (*fn)(void *arg, const char **text), void *arg);

static void each_item_text(const struct shape *item, const struct list *list,
                           void (*fn)(void *arg, const char **text), void *arg)
{
    for (size_t i = 0; i < list->n; i++)
        each_text(item, (char *)list->items + i * item->size, fn, arg);
}

/* The same including items of lists. */
static void each_text(const struct shape *shape, void *object,
                      void (*fn)(void *arg, const char **text), void *arg)
{
    for (const struct field *f = shape->fields; f->name; f++) {
        void *at = (char *)object + f->offset;

        if (f->flags & FIELD_MSG)
            continue; /* the member of the field before */
        if (f->type == FIELD_STR)
            fn(arg, at);
        else if (f->type == FIELD_OBJ)
            each_text(f->sub, at, fn, arg);
        else if (f->type == FIELD_LIST)
            each_item_text(f->sub, at, fn, arg);
    }
}

static void measure_text(void *arg, const char **text)
{
    size_t *size = arg;

    if (*text && **text)
        *size += strlen(*text) + 1;
}

static void move_text(void *arg, const char **text)
{
    char **to = arg;
    size_t size;

    if (!*text || !**text) {
        *text = "";
        return;
    }
    size = strlen(*text) + 1;
    memcpy(*to, *text, size);
    *text = *to;
    *to += size;
}

void proc_overlay(const struct fleet_proc *facts, struct proc_view *view)
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

struct proc *proc_new(struct fleet *f, const struct proc_view *view, const struct fleet_proc *facts)
{
    static const struct fleet_proc none;
    struct proc_view copy = *view;
    struct proc *p;
    size_t size = 0;
    char *to;

    if (!facts)
        facts = &none;
    proc_overlay(facts, &copy);
    each_list(&proc_view_shape, &copy, measure_list, &size);
    each_text(&proc_view_shape, &copy, measure_text, &size);
    p = xalloc(sizeof(*p) + size);
    to = (char *)(p + 1);
    each_list(&proc_view_shape, &copy, move_list, &to); /* lists first: texts need no alignment */
    each_text(&proc_view_shape, &copy, move_text, &to);
    p->reported_wanted = view->wanted;
    p->pub = *facts;
    p->pub.view = copy;
    p->pub.space = copy.space;
    p->pub.name = copy.name;
    p->pub.labels = text_ref(f, facts->labels);
    p->pub.spec = text_ref(f, facts->spec);
    p->pub.trouble = text_ref(f, facts->trouble);
    return p;
}

struct proc *proc_remake(struct fleet *f, const struct proc *old, const struct proc_view *view)
{
    struct proc *p = proc_new(f, view, old ? &old->pub : NULL);

    p->is_registry_dirty = old && old->is_registry_dirty;
    p->registry_write_no = old ? old->registry_write_no : 0;
    return p;
}

void proc_free(struct fleet *f, struct proc *p)
{
    if (!p)
        return;
    text_unref(f, p->pub.labels);
    text_unref(f, p->pub.spec);
    text_unref(f, p->pub.trouble);
    free(p);
}

/* ---- Processes of a host. */

static bool is_running(const struct host *h, const struct proc *p)
{
    return h->pub.epoch && process_state_of(&p->pub.view, false) == PROCESS_RUNNING;
}

/* Its agent says when it is over. */
static bool is_flapping(const struct host *h, const struct proc *p)
{
    return h->pub.epoch && p->pub.view.cause.recent_restarts >= WHY_FLAPPING;
}

/* Of a process of a connected host; `by` is 1 or -1. */
static void count_checks(struct fleet_totals *t, const struct proc *p, int64_t by)
{
    const struct list *list = &p->pub.view.checks;
    const struct proc_check_view *checks = list->items;

    t->unhealthy += p->pub.view.cause.unhealthy_s > 0 ? by : 0;
    for (size_t i = 0; i < list->n; i++) {
        t->checks_passing += checks[i].state == CHECK_PASSING ? by : 0;
        t->checks_failing += checks[i].state == CHECK_FAILING ? by : 0;
        t->checks_us += by * (int64_t)(checks[i].latency_ms * 1000);
    }
}

/* On a host that is not connected the state is unknown.  A periodic process counts as running
 * during a run, as in lists. */
static void proc_count(struct host *h, const struct proc *p, int64_t by)
{
    struct fleet_totals *const all[] = { &h->fleet->totals, &h->business->totals, &p->share->totals,
                                         &p->share->key.space->totals };
    int64_t running = is_running(h, p) ? by : 0;
    int64_t flapping = is_flapping(h, p) ? by : 0;
    int64_t hosted = p->pub.view.hosted ? by : 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        all[i]->procs += by;
        all[i]->running += running;
        all[i]->flapping += flapping;
        all[i]->hosted += hosted;
        if (running)
            count_checks(all[i], p, by);
    }
}

static void proc_enter(struct host *h, struct proc *p)
{
    p->share = share_enter(h, p->pub.space);
    proc_count(h, p, 1);
}

static void proc_leave(struct host *h, struct proc *p)
{
    proc_count(h, p, -1);
    share_leave(h, p->share);
    p->share = NULL;
}

void procs_enter(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        proc_enter(h, h->procs[i]);
}

void procs_leave(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        proc_leave(h, h->procs[i]);
}

void procs_count(struct host *h, int64_t by)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        proc_count(h, h->procs[i], by);
}

static int fleet_procs_compare(const struct proc *p, const char *space, const char *name)
{
    int spaces = strcmp(p->pub.space, space);

    return spaces ? spaces : strcmp(p->pub.name, name);
}

/* The index of the first process that is not less. */
static size_t fleet_procs_place_of(const struct host *h, const char *space, const char *name)
{
    size_t low = 0, high = h->pub.n_procs;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (fleet_procs_compare(h->procs[middle], space, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct host *h, size_t at, const char *space, const char *name)
{
    return at < h->pub.n_procs && !fleet_procs_compare(h->procs[at], space, name);
}

struct proc *procs_find(const struct host *h, const char *space, const char *name)
{
    size_t at = fleet_procs_place_of(h, space, name);

    return is_at(h, at, space, name) ? h->procs[at] : NULL;
}

static void grow(struct proc ***list, size_t n, size_t *cap)
{
    if (n < *cap)
        return;
    *cap = *cap ? 2 * *cap : 4;
    *list = xresize(*list, *cap * sizeof(**list));
}

void procs_put(struct host *h, struct proc *p)
{
    size_t at = fleet_procs_place_of(h, p->pub.space, p->pub.name);

    if (is_at(h, at, p->pub.space, p->pub.name)) {
        p->share = h->procs[at]->share;
        proc_count(h, h->procs[at], -1);
        proc_count(h, p, 1);
        proc_free(h->fleet, h->procs[at]);
        h->procs[at] = p;
        return;
    }
    proc_enter(h, p);
    grow(&h->procs, h->pub.n_procs, &h->cap);
    memmove(&h->procs[at + 1], &h->procs[at], (h->pub.n_procs - at) * sizeof(struct proc *));
    h->procs[at] = p;
    h->pub.n_procs++;
    h->pub.procs = (const struct fleet_proc *const *)h->procs;
}

void procs_del(struct host *h, const char *space, const char *name)
{
    size_t at = fleet_procs_place_of(h, space, name);

    if (!is_at(h, at, space, name))
        return;
    proc_leave(h, h->procs[at]);
    proc_free(h->fleet, h->procs[at]);
    h->pub.n_procs--;
    memmove(&h->procs[at], &h->procs[at + 1], (h->pub.n_procs - at) * sizeof(struct proc *));
}

void procs_clear(struct host *h)
{
    procs_leave(h);
    for (size_t i = 0; i < h->pub.n_procs; i++)
        proc_free(h->fleet, h->procs[i]);
    free(h->procs);
    h->procs = NULL;
    h->pub.procs = NULL;
    h->pub.n_procs = h->cap = 0;
}

/* ---- Snapshots, page by page. */

void procs_add_page(struct host *h, struct proc *p)
{
    grow(&h->pages, h->n_pages, &h->pages_cap);
    h->pages[h->n_pages++] = p;
}

static void forget_pages(struct host *h)
{
    free(h->pages);
    h->pages = NULL;
    h->n_pages = h->pages_cap = 0;
}

void procs_drop_pages(struct host *h)
{
    for (size_t i = 0; i < h->n_pages; i++)
        proc_free(h->fleet, h->pages[i]);
    forget_pages(h);
}

/* Agents do not report labels and specs: the known ones stay. */
static void take_facts(struct host *h, struct proc **page)
{
    struct proc *old = procs_find(h, (*page)->pub.space, (*page)->pub.name);
    struct proc *p;

    if (!old)
        return;
    old->is_seen = true;
    p = proc_remake(h->fleet, old, &(*page)->pub.view);
    p->is_reported = true;
    proc_free(h->fleet, *page);
    *page = p;
}

static void drop_unseen(struct host *h)
{
    size_t kept = 0;

    for (size_t i = 0; i < h->pub.n_procs; i++) {
        struct proc *p = h->procs[i];

        if (p->is_seen) {
            p->is_seen = false;
            h->procs[kept++] = p;
            continue;
        }
        proc_leave(h, p);
        proc_free(h->fleet, p);
    }
    h->pub.n_procs = kept;
}

void procs_match_pages(struct host *h)
{
    for (size_t i = 0; i < h->n_pages; i++)
        take_facts(h, &h->pages[i]);
}

/* The last report of a process counts.  Most are unchanged and stay in their places. */
void procs_take_pages(struct host *h)
{
    struct proc **pages = h->pages;
    size_t n = h->n_pages;

    h->pages = NULL;
    forget_pages(h);
    for (size_t i = 0; i < n; i++) {
        pages[i]->is_seen = true;
        procs_put(h, pages[i]);
    }
    drop_unseen(h);
    free(pages);
}
