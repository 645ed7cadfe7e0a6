/* SPDX-License-Identifier: MIT */
/* fleet_procs.c - one process, and one host's list of them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/fleet_in.h"

/* ---- Texts that are shared. */

static const char *share(struct fleet *f, const char *text)
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

static void unshare(struct fleet *f, const char *text)
{
    struct shared_text *s = text ? map_find_str(&f->texts, text) : NULL;

    if (!s || --s->refs)
        return;
    map_del_str(&f->texts, text);
    free(s);
}

/* ---- One. */

/* Of a view, and of the objects in it. */
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

/* The same, and of the items of its lists. */
static void each_text(const struct shape *shape, void *object,
                      void (*fn)(void *arg, const char **text), void *arg)
{
    for (const struct field *f = shape->fields; f->name; f++) {
        void *at = (char *)object + f->offset;

        if (f->type == FIELD_STR)
            fn(arg, at);
        else if (f->type == FIELD_OBJ)
            each_text(f->sub, at, fn, arg);
        else if (f->type == FIELD_LIST)
            each_item_text(f->sub, at, fn, arg);
    }
}

static void measure(void *arg, const char **text)
{
    size_t *size = arg;

    if (*text && **text)
        *size += strlen(*text) + 1;
}

static void move(void *arg, const char **text)
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

struct proc *proc_new(struct fleet *f, const struct proc_view *view, const struct fleet_proc *facts)
{
    static const struct fleet_proc none;
    struct proc_view copy = *view;
    struct proc *p;
    size_t size = 0;
    char *to;

    if (!facts)
        facts = &none;
    registry_lay_over(facts, &copy);
    each_list(&proc_view_shape, &copy, measure_list, &size);
    each_text(&proc_view_shape, &copy, measure, &size);
    p = xalloc(sizeof(*p) + size);
    to = (char *)(p + 1);
    each_list(&proc_view_shape, &copy, move_list, &to); /* before texts, which need no alignment */
    each_text(&proc_view_shape, &copy, move, &to);
    p->told_wanted = view->wanted;
    p->pub = *facts;
    p->pub.view = copy;
    p->pub.space = copy.space;
    p->pub.name = copy.name;
    p->pub.labels = share(f, facts->labels);
    p->pub.spec = share(f, facts->spec);
    p->pub.trouble = share(f, facts->trouble);
    return p;
}

struct proc *proc_remake(struct fleet *f, const struct proc *old, const struct proc_view *view)
{
    struct proc *p = proc_new(f, view, old ? &old->pub : NULL);

    p->is_unbooked = old && old->is_unbooked;
    p->booked_no = old ? old->booked_no : 0;
    return p;
}

void proc_free(struct fleet *f, struct proc *p)
{
    if (!p)
        return;
    unshare(f, p->pub.labels);
    unshare(f, p->pub.spec);
    unshare(f, p->pub.trouble);
    free(p);
}

/* ---- Those of a host. */

/* Of a host that is not connected nobody knows what runs. */
static void count(struct host *h, const struct proc *p, int64_t by)
{
    struct fleet_totals *const all[] = { &h->fleet->totals, &h->business->totals, &p->share->totals,
                                         &p->share->key.space->totals };
    int64_t running = h->pub.epoch && p->pub.view.status == PROC_RUNNING ? by : 0;
    int64_t hosted = p->pub.view.hosted ? by : 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        all[i]->procs += by;
        all[i]->running += running;
        all[i]->hosted += hosted;
    }
}

static void enter(struct host *h, struct proc *p)
{
    p->share = share_enter(h, p->pub.space);
    count(h, p, 1);
}

static void leave(struct host *h, struct proc *p)
{
    count(h, p, -1);
    share_leave(h, p->share);
    p->share = NULL;
}

void procs_enter(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        enter(h, h->procs[i]);
}

void procs_leave(struct host *h)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        leave(h, h->procs[i]);
}

void procs_count(struct host *h, int64_t by)
{
    for (size_t i = 0; i < h->pub.n_procs; i++)
        count(h, h->procs[i], by);
}

static int compare(const struct proc *p, const char *space, const char *name)
{
    int spaces = strcmp(p->pub.space, space);

    return spaces ? spaces : strcmp(p->pub.name, name);
}

/* The place of the first that is not before it. */
static size_t place_of(const struct host *h, const char *space, const char *name)
{
    size_t low = 0, high = h->pub.n_procs;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(h->procs[middle], space, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct host *h, size_t at, const char *space, const char *name)
{
    return at < h->pub.n_procs && !compare(h->procs[at], space, name);
}

struct proc *procs_find(const struct host *h, const char *space, const char *name)
{
    size_t at = place_of(h, space, name);

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
    size_t at = place_of(h, p->pub.space, p->pub.name);

    if (is_at(h, at, p->pub.space, p->pub.name)) {
        p->share = h->procs[at]->share;
        count(h, h->procs[at], -1);
        count(h, p, 1);
        proc_free(h->fleet, h->procs[at]);
        h->procs[at] = p;
        return;
    }
    enter(h, p);
    grow(&h->procs, h->pub.n_procs, &h->cap);
    memmove(&h->procs[at + 1], &h->procs[at], (h->pub.n_procs - at) * sizeof(struct proc *));
    h->procs[at] = p;
    h->pub.n_procs++;
    h->pub.procs = (const struct fleet_proc *const *)h->procs;
}

void procs_del(struct host *h, const char *space, const char *name)
{
    size_t at = place_of(h, space, name);

    if (!is_at(h, at, space, name))
        return;
    leave(h, h->procs[at]);
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

/* ---- A snapshot, page by page. */

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

/* An agent says nothing of labels and specs: those we know stay. */
static void take_facts(struct host *h, struct proc **page)
{
    struct proc *old = procs_find(h, (*page)->pub.space, (*page)->pub.name);
    struct proc *p;

    if (!old)
        return;
    old->is_seen = true;
    p = proc_remake(h->fleet, old, &(*page)->pub.view);
    p->is_told = true;
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
        leave(h, p);
        proc_free(h->fleet, p);
    }
    h->pub.n_procs = kept;
}

/* What came last of a process counts.  Most are what was there before, and stay in their
 * places. */
void procs_take_pages(struct host *h)
{
    struct proc **pages;
    size_t n;

    for (size_t i = 0; i < h->n_pages; i++)
        take_facts(h, &h->pages[i]);
    registry_keep(h);
    pages = h->pages;
    n = h->n_pages;
    h->pages = NULL;
    forget_pages(h);
    for (size_t i = 0; i < n; i++) {
        pages[i]->is_seen = true;
        procs_put(h, pages[i]);
    }
    drop_unseen(h);
    free(pages);
}
