/* SPDX-License-Identifier: MIT */
/* v1_hosts.c - /v1 of what changes hosts.  (Looking at them: v1_fleet.c.) */
#include "api/api_in.h"
#include "api/handlers.h"
#include "api/hosts.h"
#include "model/host.h"
#include "store/store_hosts.h"

struct removal {
    struct call *call;
    struct host_view view; /* of what was there */
};

static void on_removed(void *arg, struct store_call *s)
{
    struct removal *r = arg;
    struct call *c = r->call;

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        if (c->api->parts.fleet)
            fleet_del_host(c->api->parts.fleet, r->view.agent_id);
        LOG(c->api->parts.log, LOG_INFO, "host removed", log_str("agent", r->view.agent_id),
            log_str("ip", r->view.ip), log_str("by", c->app->code), log_str("user", c->user),
            log_str("request_id", c->request_id));
        call_finish(c, &host_view_shape, &r->view);
    }
    store_call_free(s);
}

static void fill_view(const struct fleet_host *h, struct arena *a, struct host_view *ret)
{
    *ret = (struct host_view){
        .agent_id = arena_strdup(a, h->agent_id),
        .ip = arena_strdup(a, h->ip),
        .hostname = arena_strdup(a, h->hostname),
        .version = arena_strdup(a, h->version),
        .cloud_id = h->cloud_id,
        .biz_id = h->biz_id,
        .online = h->epoch != 0,
        .since_s = h->since_ms / 1000,
        .joined_s = h->joined_ms / 1000,
        .processes = (int64_t)h->n_procs,
    };
}

void v1_host_remove(struct call *c)
{
    const struct host_remove_ask *ask = c->ask;
    const struct fleet_host *h = hosts_find(c, ask->host);
    struct removal *r = arena_alloc(c->arena, sizeof(*r));
    struct store_call *s;
    struct host_ask *in;
    struct err err;

    if (!h) {
        hosts_fail(c, "host", ask->host);
        return;
    }
    r->call = c;
    fill_view(h, c->arena, &r->view);
    s = store_call_new(&store_host_del, on_removed, r);
    in = arena_alloc(&s->arena, sizeof(*in));
    in->agent_id = arena_strdup(&s->arena, h->agent_id);
    s->in = in;
    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(c, &err);
}
