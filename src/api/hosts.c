/* SPDX-License-Identifier: MIT */
/* hosts.c - see hosts.h. */
#include "api/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_in.h"
#include "api/away.h"
#include "model/ip.h"
#include "server/fleet_spaces.h"

const struct fleet_host *hosts_find(const struct call *c, const char *text)
{
    const struct fleet *f = c->api->parts.fleet;
    const struct fleet_host *h = fleet_find(f, text);

    return h ? h : fleet_find_at(f, 0, text);
}

const struct fleet_host *hosts_next(const struct call *c, const char *after)
{
    const struct fleet_host *h = fleet_next(c->api->parts.fleet, after);

    while (h && !call_may_see(c, h))
        h = fleet_next(c->api->parts.fleet, h->agent_id);
    return h;
}

const struct fleet_host *hosts_next_in(const struct call *c, const char *space, const char *after)
{
    const struct fleet_host *h = fleet_next_in(c->api->parts.fleet, space, after);

    while (h && !call_may_see(c, h))
        h = fleet_next_in(c->api->parts.fleet, space, h->agent_id);
    return h;
}

void hosts_fail(struct call *c, const char *field, const char *text)
{
    struct err err;

    err_set(&err, ERR_NOT_FOUND,
            "%s: %s is no host that we know: an agent id, CLOUD:IP, or an address of cloud area 0",
            field, text);
    call_fail(c, &err);
}

void hosts_count(const struct call *c, const struct fleet_host *h, struct fleet_totals *t)
{
    t->hosts++;
    t->online += h->epoch != 0;
    for (size_t i = 0; i < h->n_procs; i++) {
        const struct proc_view *v = &h->procs[i]->view;

        if (!app_may_space(&c->app->permissions, h->procs[i]->space))
            continue;
        t->procs++;
        t->running += h->epoch && v->status == PROC_RUNNING;
        t->hosted += v->hosted;
    }
}

/* The one it is known by, then the others as its agent tells them. */
static struct list list_addresses(const struct fleet_host *h, struct arena *a)
{
    char *rest = arena_strdup(a, h->addresses ? h->addresses : ""), *at;
    struct host_address *items = arena_alloc(a, (strlen(rest) / 2 + 2) * sizeof(*items));
    struct list list = { items, 1 };

    items[0].text = h->ip;
    while ((at = strsep(&rest, " "))) {
        if (*at && strcmp(at, h->ip) != 0)
            items[list.n++].text = at;
    }
    return list;
}

struct host_view hosts_view(const struct call *c, const struct fleet_host *h)
{
    struct fleet_totals t = { 0 };

    hosts_count(c, h, &t);
    return (struct host_view){
        .agent_id = h->agent_id,
        .ip = h->ip,
        .addresses = list_addresses(h, c->arena),
        .hostname = h->hostname,
        .version = h->version,
        .cloud_id = h->cloud_id,
        .biz_id = h->biz_id,
        .host_id = h->host_id,
        .note = h->note ? h->note : "",
        .state = h->epoch ? HOST_ONLINE : HOST_OFFLINE,
        .online = h->epoch != 0,
        .since_s = h->since_ms / 1000,
        .joined_s = h->joined_ms / 1000,
        .processes = t.procs,
        .running = t.running,
    };
}

struct process_view hosts_process(const struct fleet_host *h, const struct fleet_proc *p,
                                  int64_t wall_ms)
{
    return (struct process_view){
        .agent_id = h->agent_id,
        .ip = h->ip,
        .cloud_id = h->cloud_id,
        .online = h->epoch != 0,
        .view = p->view,
        .biz_id = h->biz_id,
        .unknown_since_s = away_since_s(h, wall_ms),
    };
}

bool hosts_read_place(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip)
{
    size_t digits = strspn(text, "0123456789");
    char ip[IP_TEXT_SIZE];

    if (!digits || digits > 10 || text[digits] != ':' || !ip_read(text + digits + 1, ip))
        return false;
    *cloud_id = strtoll(text, NULL, 10);
    *ret_ip = arena_strdup(a, ip);
    return true;
}

bool hosts_read_address(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip)
{
    char ip[IP_TEXT_SIZE];

    if (!ip_read(text, ip))
        return hosts_read_place(text, cloud_id, a, ret_ip);
    *ret_ip = arena_strdup(a, ip);
    return true;
}
