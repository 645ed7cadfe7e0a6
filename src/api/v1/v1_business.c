/* SPDX-License-Identifier: MIT */
/* v1_business.c - businesses and business sets in /v1.  They are read from memory (scopes.h);
 * changes are written to the store first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "model/host.h"
#include "model/inventory.h"
#include "store/store_business.h"
#include "store/store_inventory.h"

/* ---- numbers in texts */

static bool v1_business_read_id(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

/* 0 if there is none; false: the call was ended. */
static bool read_after(struct call *c, int64_t *ret)
{
    const struct page_ask *ask = c->ask;
    struct err err;

    *ret = 0;
    if (!*ask->after || v1_business_read_id(ask->after, ret))
        return true;
    err_set(&err, ERR_INVALID, "after: must be what `next` of the page before was");
    call_fail(c, &err);
    return false;
}

static const char *id_text(struct arena *a, int64_t id)
{
    return arena_printf(a, "%lld", (long long)id);
}

/* ---- the lists */

/* The smaller of two ids, where 0 is none. */
static int64_t v1_business_first_of(int64_t a, int64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* Takes the first remaining row if it has this id; rows are sorted by id. n 0: it has another. */
static struct expected_business_row v1_business_take_expected(struct list *rows, int64_t id)
{
    struct expected_business_row *row = rows->items;

    if (!rows->n || row->biz_id != id)
        return (struct expected_business_row){ id, 0 };
    rows->items = row + 1;
    rows->n--;
    return *row;
}

/* The next business that is listed, has hosts, or has expected hosts; 0: none. */
static int64_t next_business(const struct api_parts *p, const struct list *expected, int64_t after)
{
    const struct scope *listed = scopes_next(p->scopes, SCOPE_BIZ, after);
    const struct expected_business_row *row = expected->items;

    return v1_business_first_of(
        v1_business_first_of(listed ? listed->id : 0, fleet_next_business(p->fleet, after)),
        expected->n ? row->biz_id : 0);
}

static struct business_view view_business(const struct api_parts *p, int64_t id, int64_t expected,
                                          struct arena *a)
{
    const struct scope *listed = scopes_find(p->scopes, SCOPE_BIZ, id);

    return (struct business_view){ id, listed ? arena_strdup(a, listed->name) : "",
                                   (int64_t)fleet_in_business(p->fleet, id), expected };
}

static void list_businesses(struct call *c, int64_t after, struct list expected)
{
    const struct page_ask *ask = c->ask;
    const struct api_parts *p = &c->api->parts;
    struct business_view *views = arena_alloc(c->arena, (size_t)ask->limit * sizeof(*views));
    struct business_page_view page = { { views, 0 }, "" };

    for (int64_t id = after; (id = next_business(p, &expected, id));) {
        int64_t n = v1_business_take_expected(&expected, id).n;

        if (!call_may_business(c, id))
            continue;
        if (page.businesses.n == (size_t)ask->limit) {
            page.next = id_text(c->arena, views[page.businesses.n - 1].id);
            break;
        }
        views[page.businesses.n++] = view_business(p, id, n, c->arena);
    }
    call_finish(c, &business_page_view_shape, &page);
}

static void on_expected(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct expected_business_ask *from = s->in;

    if (s->failed)
        call_fail(c, &s->err);
    else if (c->api->is_stopping)
        call_fail(c, &call_stopping);
    else
        list_businesses(c, from->after, *(struct list *)s->out);
    store_call_free(s);
}

void v1_businesses(struct call *c)
{
    struct store_call *s;
    struct expected_business_ask *from;
    struct err err;
    int64_t after;

    if (!read_after(c, &after))
        return;
    s = store_call_new(&store_expected_businesses, on_expected, c);
    from = arena_alloc(&s->arena, sizeof(*from));
    from->after = after;
    s->in = from;
    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(c, &err);
}

static struct business_set_view view_set(const struct scope *set, struct arena *a)
{
    struct business_id *ids = arena_alloc(a, set->n_businesses * sizeof(*ids));

    for (size_t i = 0; i < set->n_businesses; i++)
        ids[i].id = set->businesses[i];
    return (struct business_set_view){ set->id,
                                       arena_strdup(a, set->name),
                                       { ids, set->n_businesses } };
}

/* An app with limits sees the sets it was given, and sets of which it may see every business. */
static bool may_see_set(const struct call *c, const struct scope *set)
{
    const struct app_number *given = c->app->permissions.business_sets.items;
    size_t n = 0;

    for (size_t i = 0; i < c->app->permissions.business_sets.n; i++) {
        if (given[i].number == set->id)
            return true;
    }
    while (n < set->n_businesses && call_may_business(c, set->businesses[n]))
        n++;
    return n == set->n_businesses && (n || call_may_business(c, 0));
}

void v1_business_sets(struct call *c)
{
    const struct page_ask *ask = c->ask;
    struct business_set_view *views = arena_alloc(c->arena, (size_t)ask->limit * sizeof(*views));
    struct business_set_page page = { { views, 0 }, "" };
    const struct scopes *scopes = c->api->parts.scopes;
    const struct scope *set;
    int64_t after;

    if (!read_after(c, &after))
        return;
    for (set = scopes_next(scopes, SCOPE_BIZ_SET, after); set;
         set = scopes_next(scopes, SCOPE_BIZ_SET, set->id)) {
        if (!may_see_set(c, set))
            continue;
        if (page.sets.n == (size_t)ask->limit) {
            page.next = id_text(c->arena, views[page.sets.n - 1].id);
            break;
        }
        views[page.sets.n++] = view_set(set, c->arena);
    }
    call_finish(c, &business_set_page_shape, &page);
}

/* ---- changes */

struct change {
    struct call *call;
    enum scope_kind kind;
    struct scope scope;
    struct business_row row;
};

static void submit_change(struct change *m, const struct store_verb *verb, store_done_fn *done,
                          const void *in)
{
    struct store_call *s = store_call_new(verb, done, m);
    struct err err;

    s->in = in; /* in the call's arena, which outlives the store's call */
    if (!store_submit(m->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(m->call, &err);
}

static void finish_change(struct change *m)
{
    struct call *c = m->call;

    if (m->kind == SCOPE_BIZ) {
        const struct fleet *fleet = c->api->is_stopping ? NULL : c->api->parts.fleet;
        size_t hosts = fleet ? fleet_in_business(fleet, m->scope.id) : 0;
        struct business_view view = { m->scope.id, m->scope.name, (int64_t)hosts, 0 };

        call_finish(c, &business_view_shape, &view);
    } else {
        struct business_set_view view = view_set(&m->scope, c->arena);

        call_finish(c, &business_set_view_shape, &view);
    }
}

static void log_change(const struct change *m, const char *text)
{
    const struct call *c = m->call;

    LOG(c->api->parts.log, LOG_INFO, text, log_int("id", m->scope.id),
        log_str("name", m->scope.name), log_str("by", c->app->code), log_str("user", c->user),
        log_str("request_id", c->request_id));
}

static void on_put(void *arg, struct store_call *s)
{
    struct change *m = arg;
    struct call *c = m->call;

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        scopes_put(c->api->parts.scopes, m->kind, &m->scope);
        log_change(m, m->kind == SCOPE_BIZ ? "a business was set" : "a business set was set");
        finish_change(m);
    }
    store_call_free(s);
}

void v1_business_put(struct call *c)
{
    const struct business_put_ask *ask = c->ask;
    struct change *m = arena_alloc(c->arena, sizeof(*m));
    struct err err;

    if (ask->id >= BIZ_SET_FIRST && ask->id <= BIZ_SET_LAST) {
        err_set(&err, ERR_INVALID, "id: %d to %d are numbers of business sets", BIZ_SET_FIRST,
                BIZ_SET_LAST);
        call_fail(c, &err);
        return;
    }
    *m = (struct change){ c, SCOPE_BIZ, { .id = ask->id, .name = ask->name }, { 0 } };
    m->row = (struct business_row){ ask->id, ask->name, "" };
    submit_change(m, &store_business_put, on_put, &m->row);
}

/* "1 2 3" */
static const char *ids_text(const int64_t *ids, size_t n, struct arena *a)
{
    struct buf b = { 0 };
    const char *text;

    for (size_t i = 0; i < n; i++) {
        buf_puts(&b, i ? " " : "");
        buf_put_int(&b, ids[i]);
    }
    text = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return text;
}

static int v1_business_compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static size_t sort_ids(const struct list *from, int64_t *to)
{
    const struct business_id *ids = from->items;
    size_t n = 0;

    for (size_t i = 0; i < from->n; i++)
        to[i] = ids[i].id;
    qsort(to, from->n, sizeof(*to), v1_business_compare_ids);
    for (size_t i = 0; i < from->n; i++) {
        if (!n || to[n - 1] != to[i])
            to[n++] = to[i];
    }
    return n;
}

void v1_business_set_put(struct call *c)
{
    const struct business_set_view *ask = c->ask;
    struct change *m = arena_alloc(c->arena, sizeof(*m));
    int64_t *ids = arena_alloc(c->arena, (ask->businesses.n + 1) * sizeof(*ids));
    size_t n = sort_ids(&ask->businesses, ids);

    *m = (struct change){ c, SCOPE_BIZ_SET, { ask->id, ask->name, ids, n }, { 0 } };
    m->row = (struct business_row){ ask->id, ask->name, ids_text(ids, n, c->arena) };
    submit_change(m, &store_business_set_put, on_put, &m->row);
}

/* ---- removal */

static void on_deleted(void *arg, struct store_call *s)
{
    struct change *m = arg;
    struct call *c = m->call;

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        scopes_del(c->api->parts.scopes, m->kind, m->scope.id);
        log_change(m,
                   m->kind == SCOPE_BIZ ? "a business was removed" : "a business set was removed");
        finish_change(m);
    }
    store_call_free(s);
}

static int check_unused(const struct change *m, struct err *err)
{
    const struct api_parts *p = &m->call->api->parts;
    size_t hosts = fleet_in_business(p->fleet, m->scope.id);
    const struct scope *set = scopes_set_with(p->scopes, m->scope.id);

    if (m->kind == SCOPE_BIZ_SET)
        return 0;
    if (hosts)
        return err_set(err, ERR_CONFLICT, "business %lld: %zu hosts are in it; move them first",
                       (long long)m->scope.id, hosts);
    if (set)
        return err_set(err, ERR_CONFLICT,
                       "business %lld: business set %lld has it; take it out there first",
                       (long long)m->scope.id, (long long)set->id);
    return 0;
}

static void scope_del(struct call *c, enum scope_kind kind, const struct store_verb *verb)
{
    struct change *m = arena_alloc(c->arena, sizeof(*m));
    struct business_ask *ask = arena_alloc(c->arena, sizeof(*ask));
    const struct scope *found = NULL;
    struct err err;

    if (v1_business_read_id(c->rest, &ask->id))
        found = scopes_find(c->api->parts.scopes, kind, ask->id);
    if (!found) {
        err_set(&err, ERR_NOT_FOUND,
                kind == SCOPE_BIZ ? "business %s: there is none" : "business set %s: there is none",
                c->rest);
        call_fail(c, &err);
        return;
    }
    *m = (struct change){ c, kind, *found, { 0 } };
    m->scope.name = arena_strdup(c->arena, found->name);
    m->scope.businesses = NULL;
    m->scope.n_businesses = 0;
    if (check_unused(m, &err)) {
        call_fail(c, &err);
        return;
    }
    submit_change(m, verb, on_deleted, ask);
}

void v1_business_del(struct call *c)
{
    scope_del(c, SCOPE_BIZ, &store_business_del);
}

void v1_business_set_del(struct call *c)
{
    scope_del(c, SCOPE_BIZ_SET, &store_business_set_del);
}
