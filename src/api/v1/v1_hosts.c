/* SPDX-License-Identifier: MIT */
/* v1_hosts.c - hosts in /v1: list and remove. (Changes: v1_import.c.)
 *
 * The list has the joined hosts first, from memory, by agent id; then the expected hosts, from the
 * store, by cloud area and address.  The end of a page of expected hosts is written as "+cloud:ip",
 * which is not an agent id.  The number of hosts examined per page is limited. */
#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "server/registry/groups.h"
#include "store/store_inventory.h"

/* ---- the list */

enum { EXPECTED_PAGE = 1000 };

struct listing {
    struct call *call;
    const struct host_list_ask *ask;
    struct host_view *views;
    size_t n, looks;
    const char *at; /* the last host examined, in the form of `after` */
};

static bool has_text(const char *in, const char *text)
{
    return in && strcasestr(in, text);
}

/* A silent host counts as online. */
static bool has_state(const struct host_list_ask *ask, enum host_state state)
{
    return !ask->has_state || ask->state == (int64_t)state ||
           (ask->state == HOST_ONLINE && state == HOST_SILENT);
}

static bool is_listed(const struct host_list_ask *ask, int64_t biz_id, int64_t cloud_id,
                      enum host_state state)
{
    return (!ask->has_biz_id || ask->biz_id == biz_id) &&
           (!ask->has_cloud_id || ask->cloud_id == cloud_id) && has_state(ask, state);
}

static bool is_wanted(const struct host_list_ask *ask, const struct fleet_host *h)
{
    return is_listed(ask, h->biz_id, h->cloud_id, hosts_state(h)) &&
           (!*ask->text || hosts_has_text(h, ask->text));
}

static bool is_awaited(const struct listing *l, const struct expected_row *row)
{
    const char *text = l->ask->text;

    if (!is_listed(l->ask, row->biz_id, row->cloud_id, HOST_AWAITED) ||
        !call_may_business(l->call, row->biz_id))
        return false;
    return !*text || has_text(row->ip, text) || has_text(row->note, text);
}

static struct host_view view_expected(const struct expected_row *row, struct arena *a)
{
    struct host_address *address = arena_alloc(a, sizeof(*address));

    address->text = arena_strdup(a, row->ip);
    return (struct host_view){
        .agent_id = "",
        .ip = address->text,
        .addresses = { address, 1 },
        .hostname = "",
        .version = "",
        .cloud_id = row->cloud_id,
        .biz_id = row->biz_id,
        .host_id = row->host_id,
        .note = arena_strdup(a, row->note),
        .state = HOST_AWAITED,
    };
}

static void finish_page(struct listing *l, bool more)
{
    const struct host_page page = { { l->views, l->n }, more ? l->at : "" };

    call_finish(l->call, &host_page_shape, &page);
}

/* False: the page ends before this host. */
static bool spend_look(struct listing *l, bool is_wanted)
{
    return l->looks++ < HOSTS_LOOKS_MAX && !(is_wanted && l->n == (size_t)l->ask->limit);
}

static void ask_expected(struct listing *l, int64_t cloud_id, const char *ip);

/* One row more than fits shows that there is another page. */
static bool v1_hosts_take_expected(struct listing *l, const struct list *rows)
{
    const struct expected_row *row = rows->items;
    size_t i = 0;

    for (; i < rows->n; i++) {
        bool is_one = is_awaited(l, &row[i]);

        if (!spend_look(l, is_one))
            break;
        if (is_one)
            l->views[l->n++] = view_expected(&row[i], l->call->arena);
    }
    if (i)
        l->at =
            arena_printf(l->call->arena, "+%lld:%s", (long long)row[i - 1].cloud_id, row[i - 1].ip);
    return i < rows->n;
}

static void on_expected(void *arg, struct store_call *s)
{
    struct listing *l = arg;
    const struct list *rows = s->out;
    const struct expected_row *row = rows->items;

    if (s->failed)
        call_fail(l->call, &s->err);
    else if (v1_hosts_take_expected(l, rows))
        finish_page(l, true);
    else if (rows->n < EXPECTED_PAGE)
        finish_page(l, false);
    else
        ask_expected(l, row[rows->n - 1].cloud_id, row[rows->n - 1].ip);
    store_call_free(s);
}

static void ask_expected(struct listing *l, int64_t cloud_id, const char *ip)
{
    struct store_call *s = store_call_new(&store_expected_list, on_expected, l);
    struct expected_page *page = arena_alloc(&s->arena, sizeof(*page));
    struct err err;

    *page = (struct expected_page){ cloud_id, arena_strdup(&s->arena, ip), EXPECTED_PAGE };
    s->in = page;
    if (!store_submit(l->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(l->call, &err);
}

/* True: the page ends, and there are more. */
static bool list_joined(struct listing *l)
{
    struct fleet_part part = hosts_part(l->call);
    const struct fleet_host *h;
    struct fleet_walk walk;

    part.has_spaces = false; /* a host is visible whatever runs on it */
    if (l->ask->has_biz_id)
        hosts_keep_business(l->call, &l->ask->biz_id, &part);
    fleet_walk(&walk, l->call->api->parts.fleet, &part, l->ask->after, l->call->arena);
    while ((h = fleet_walk_next(&walk))) {
        bool is_one = is_wanted(l->ask, h);

        if (!spend_look(l, is_one))
            return true;
        l->at = h->agent_id;
        if (!is_one)
            continue;
        l->views[l->n++] = hosts_view(l->call, h);
        l->looks += h->n_procs;
    }
    return false;
}

static bool v1_hosts_has_joined(const struct host_list_ask *ask)
{
    return !ask->has_state || ask->state != HOST_AWAITED;
}

void v1_hosts(struct call *c)
{
    struct listing *l = arena_alloc(c->arena, sizeof(*l));
    const struct host_list_ask *ask = c->ask;
    int64_t cloud_id = -1;
    const char *ip = "";
    struct err err;

    *l = (struct listing){ .call = c, .ask = ask, .at = ask->after };
    l->views = arena_alloc(c->arena, (size_t)ask->limit * sizeof(*l->views));
    if (*ask->after == '+' && !hosts_read_place(ask->after + 1, &cloud_id, c->arena, &ip)) {
        err_set(&err, ERR_INVALID, "after: must be what `next` of the page before was");
        call_fail(c, &err);
    } else if (*ask->after != '+' && v1_hosts_has_joined(ask) && list_joined(l)) {
        finish_page(l, true);
    } else if (ask->has_state && ask->state != HOST_AWAITED) {
        finish_page(l, false);
    } else {
        /* The fleet may change meanwhile, so texts are copied. */
        l->at = arena_strdup(c->arena, l->at);
        for (size_t i = 0; i < l->n; i++) {
            struct host_view view;

            shape_copy(&host_view_shape, &l->views[i], c->arena, &view);
            l->views[i] = view;
        }
        ask_expected(l, cloud_id, ip);
    }
}

/* ---- removal */

struct removal {
    struct call *call;
    struct host_view view; /* the removed host */
    bool is_reread; /* the name was an IPv6 address of no expected host: read it as "cloud:ip" */
};

static void log_removal(const struct call *c, const struct host_view *v)
{
    LOG(c->api->parts.log, LOG_INFO, "host removed", log_str("agent", v->agent_id),
        log_str("ip", v->ip), log_str("by", c->app->code), log_str("user", c->user),
        log_str("request_id", c->request_id));
}

static void on_removed(void *arg, struct store_call *s)
{
    struct removal *r = arg;
    struct call *c = r->call;

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        if (!c->api->is_stopping) {
            fleet_del_host(c->api->parts.fleet, r->view.agent_id);
            groups_forget(c->api->parts.groups, r->view.agent_id);
        }
        log_removal(c, &r->view);
        call_finish(c, &host_view_shape, &r->view);
    }
    store_call_free(s);
}

static void remove_expected(struct removal *r);

static void on_unexpected(void *arg, struct store_call *s)
{
    struct removal *r = arg;
    struct call *c = r->call;
    const struct host_remove_ask *ask = c->ask;
    const struct list *rows = s->out;

    if (s->failed) {
        call_fail(c, &s->err);
    } else if (!rows->n && !r->is_reread) {
        r->is_reread = true;
        remove_expected(r);
    } else if (!rows->n) {
        hosts_fail(c, "host", ask->host);
    } else {
        r->view = view_expected(rows->items, c->arena);
        log_removal(c, &r->view);
        call_finish(c, &host_view_shape, &r->view);
    }
    store_call_free(s);
}

static void submit_removal(struct removal *r, struct store_call *s)
{
    struct err err;

    if (!store_submit(r->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(r->call, &err);
}

/* Removes a host that is expected and has not joined. */
static void remove_expected(struct removal *r)
{
    const struct host_remove_ask *ask = r->call->ask;
    struct arena *a = r->call->arena;
    struct host_find_at_ask at = { 0 };
    struct host_find_at_ask *in;
    struct store_call *s;

    if (r->is_reread ? !hosts_read_place(ask->host, &at.cloud_id, a, &at.ip)
                     : !hosts_read_address(ask->host, &at.cloud_id, a, &at.ip)) {
        hosts_fail(r->call, "host", ask->host);
        return;
    }
    s = store_call_new(&store_expected_del, on_unexpected, r);
    in = arena_alloc(&s->arena, sizeof(*in));
    *in = at; /* its text is in the call's arena, which outlives the store's call */
    s->in = in;
    submit_removal(r, s);
}

static void remove_joined(struct removal *r, const struct fleet_host *h)
{
    struct store_call *s = store_call_new(&store_host_del, on_removed, r);
    struct host_ask *in = arena_alloc(&s->arena, sizeof(*in));
    struct host_view view = hosts_view(r->call, h);

    view.running = 0;
    shape_copy(&host_view_shape, &view, r->call->arena, &r->view);
    in->agent_id = r->view.agent_id;
    s->in = in;
    submit_removal(r, s);
}

void v1_host_remove(struct call *c)
{
    const struct host_remove_ask *ask = c->ask;
    const struct fleet_host *h = hosts_find(c, ask->host);
    struct removal *r = arena_alloc(c->arena, sizeof(*r));

    r->call = c;
    if (h)
        remove_joined(r, h);
    else
        remove_expected(r);
}
