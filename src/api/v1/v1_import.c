/* SPDX-License-Identifier: MIT */
/* v1_import.c - changes of hosts in /v1: one host, or many, all or none. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "model/inventory.h"
#include "model/ip.h"
#include "model/translate.h"
#include "store/store_inventory.h"

struct import {
    struct call *call;
    bool is_dry;
    void (*finish)(struct import *m, const struct host_wishes_done *done);
};

/* ---- the request */

/* Exactly one way to name the host, except an agent id with an address, which must match. */
static int v1_import_read_host(const struct host_set_ask *ask, struct arena *a,
                               struct host_wish *ret, struct err *err)
{
    int64_t cloud_id = ask->cloud_id;
    char ip[IP_TEXT_SIZE];

    *ret = (struct host_wish){ .agent_id = ask->agent_id, .ip = "" };
    if (*ask->host && (*ask->agent_id || *ask->ip))
        return err_set(err, ERR_INVALID, "host: goes without agent_id and ip");
    if (!*ask->host && !*ask->agent_id && !*ask->ip)
        return err_set(err, ERR_INVALID, "host: required, or agent_id, or ip");
    if (*ask->host && ip_read(ask->host, ip) && hosts_read_place(ask->host, &cloud_id, a, &ret->ip))
        return err_set(err, ERR_INVALID, "host: %s can be read in two ways: use ip and cloud_id",
                       ask->host);
    if (*ask->host && !hosts_read_address(ask->host, &cloud_id, a, &ret->ip))
        ret->agent_id = ask->host;
    if (*ask->ip && !hosts_read_address(ask->ip, &cloud_id, a, &ret->ip))
        return err_set(err, ERR_INVALID, "ip: must be a numeric address");
    ret->cloud_id = cloud_id;
    return 0;
}

static int read_wish(const struct host_set_ask *ask, struct arena *a, struct host_wish *ret,
                     struct err *err)
{
    if (v1_import_read_host(ask, a, ret, err))
        return -1;
    ret->has_biz_id = ask->has_biz_id == PRESENCE_GIVEN;
    ret->has_host_id = ask->has_host_id == PRESENCE_GIVEN;
    ret->has_note = ask->has_note == PRESENCE_GIVEN;
    ret->biz_id = ask->biz_id;
    ret->host_id = ask->host_id;
    ret->note = ask->note;
    if (ret->biz_id >= BIZ_SET_FIRST && ret->biz_id <= BIZ_SET_LAST)
        return err_set(err, ERR_INVALID, "biz_id: %lld is a number of a business set",
                       (long long)ret->biz_id);
    return 0;
}

/* ---- the answer */

static struct host_facts facts_of(const struct host_row *row)
{
    return (struct host_facts){ row->biz_id, row->host_id, row->note };
}

static struct host_set_view view_one(const struct call *c, const struct host_wished *h)
{
    return (struct host_set_view){
        .result = (int64_t)h->change,
        .error = translate(h->error, call_lang(c), c->arena),
        .agent_id = h->after.agent_id,
        .cloud_id = h->after.cloud_id,
        .ip = h->after.ip,
        .hostname = h->after.hostname,
        .before = facts_of(&h->before),
        .after = facts_of(&h->after),
    };
}

/* Applies to the fleet what was changed in the store. */
static void tell_fleet(struct import *m, const struct host_wishes_done *done)
{
    const struct host_wished *h = done->hosts.items;
    struct fleet *fleet = m->call->api->parts.fleet;

    for (size_t i = 0; i < done->hosts.n; i++) {
        if (h[i].change == HOST_CHANGED && fleet_find(fleet, h[i].after.agent_id))
            fleet_put_host(fleet, &h[i].after);
    }
}

static void v1_import_on_set(void *arg, struct store_call *s)
{
    struct import *m = arg;
    const struct host_wishes_done *done = s->out;

    if (s->failed) {
        call_fail(m->call, &s->err);
    } else {
        if (!m->is_dry && !done->is_bad && !m->call->api->is_stopping)
            tell_fleet(m, done);
        m->finish(m, done);
    }
    store_call_free(s);
}

static void submit_wishes(struct import *m, const struct host_wish *wishes, size_t n)
{
    struct store_call *s =
        store_call_new(m->is_dry ? &store_hosts_plan : &store_hosts_set, v1_import_on_set, m);
    struct host_wishes *ask = arena_alloc(&s->arena, sizeof(*ask));
    struct err err;

    ask->wishes = (struct list){ (void *)wishes, n };
    s->in = ask;
    if (!store_submit(m->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(m->call, &err);
}

static void log_import(const struct import *m, const struct host_import_view *v)
{
    const struct call *c = m->call;

    LOG(c->api->parts.log, LOG_INFO, "hosts were told of", log_int("changed", v->changed),
        log_int("expected", v->expected), log_str("by", c->app->code), log_str("user", c->user),
        log_str("request_id", c->request_id));
}

/* ---- many hosts */

static void count_change(struct host_import_view *v, enum host_change change)
{
    switch (change) {
    case HOST_UNCHANGED: v->unchanged++; return;
    case HOST_CHANGED: v->changed++; return;
    case HOST_EXPECTED: v->expected++; return;
    case HOST_BAD: v->bad++; return;
    }
}

static void finish_import(struct import *m, const struct host_wishes_done *done)
{
    struct call *c = m->call;
    const struct host_wished *h = done->hosts.items;
    struct host_set_view *views = arena_alloc(c->arena, done->hosts.n * sizeof(*views));
    struct host_import_view v = { .applied = !m->is_dry && !done->is_bad,
                                  .hosts = { views, done->hosts.n } };

    for (size_t i = 0; i < done->hosts.n; i++) {
        views[i] = view_one(c, &h[i]);
        count_change(&v, h[i].change);
    }
    if (v.applied)
        log_import(m, &v);
    if (v.bad) {
        c->result.code = ERR_INVALID;
        c->result.message = MSG("one of the hosts is bad, so nothing was changed");
    }
    call_finish(c, &host_import_view_shape, &v);
}

void v1_hosts_import(struct call *c)
{
    const struct host_import_ask *ask = c->ask;
    const struct host_set_ask *hosts = ask->hosts.items;
    struct host_wish *wishes = arena_alloc(c->arena, ask->hosts.n * sizeof(*wishes));
    struct import *m = arena_alloc(c->arena, sizeof(*m));
    struct err err;

    for (size_t i = 0; i < ask->hosts.n; i++) {
        if (read_wish(&hosts[i], c->arena, &wishes[i], &err))
            wishes[i].error = arena_strdup(c->arena, err_msg(&err));
    }
    *m = (struct import){ c, ask->dry_run, finish_import };
    submit_wishes(m, wishes, ask->hosts.n);
}

/* ---- one host */

static void finish_one(struct import *m, const struct host_wishes_done *done)
{
    const struct host_wished *h = done->hosts.items;
    const struct host_set_view view = view_one(m->call, h);
    struct err err;

    if (h->change == HOST_BAD) {
        err_set(&err, ERR_CONFLICT, "%s", h->error);
        call_fail(m->call, &err);
        return;
    }
    log_import(m, &(struct host_import_view){ .changed = h->change == HOST_CHANGED,
                                              .expected = h->change == HOST_EXPECTED });
    call_finish(m->call, &host_set_view_shape, &view);
}

void v1_host_set(struct call *c)
{
    struct host_wish *wish = arena_alloc(c->arena, sizeof(*wish));
    struct import *m = arena_alloc(c->arena, sizeof(*m));
    struct err err;

    if (read_wish(c->ask, c->arena, wish, &err)) {
        call_fail(c, &err);
        return;
    }
    *m = (struct import){ c, false, finish_one };
    submit_wishes(m, wish, 1);
}
