/* SPDX-License-Identifier: MIT */
/* hosts.c - see hosts.h. */
#include "api/pipeline/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "base/mem/mem.h"
#include "model/ip.h"
#include "model/translate.h"

const struct fleet_host *hosts_find(const struct call *c, const char *text)
{
    const struct fleet *f = c->api->parts.fleet;
    const struct fleet_host *h = fleet_find(f, text);

    return h ? h : fleet_find_at(f, 0, text);
}

/* ---- what the caller may see */

static int hosts_compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static size_t order_ids(int64_t *ids, size_t n)
{
    size_t kept = 0;

    qsort(ids, n, sizeof(*ids), hosts_compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (!kept || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    }
    return kept;
}

static const struct scope *find_set(const struct call *c, size_t i)
{
    const struct app_number *sets = c->app->permissions.business_sets.items;
    const struct scopes *scopes = c->api->parts.scopes;

    return scopes ? scopes_find(scopes, SCOPE_BIZ_SET, sets[i].number) : NULL;
}

/* The app's own businesses and those of its sets, each once. */
static void list_businesses(const struct call *c, struct fleet_part *part)
{
    const struct app_permissions *may = &c->app->permissions;
    const struct app_number *own = may->businesses.items;
    size_t n = 0, most = may->businesses.n;
    int64_t *ids;

    for (size_t i = 0; i < may->business_sets.n; i++)
        most += find_set(c, i) ? find_set(c, i)->n_businesses : 0;
    ids = arena_alloc(c->arena, most * sizeof(*ids));
    for (size_t i = 0; i < may->businesses.n; i++)
        ids[n++] = own[i].number;
    for (size_t i = 0; i < may->business_sets.n; i++) {
        const struct scope *set = find_set(c, i);

        for (size_t k = 0; set && k < set->n_businesses; k++)
            ids[n++] = set->businesses[k];
    }
    part->businesses = ids;
    part->n_businesses = n ? order_ids(ids, n) : 0;
}

static void list_spaces(const struct call *c, struct fleet_part *part)
{
    const struct list *list = &c->app->permissions.spaces;
    const struct app_text *texts = list->items;
    const char **spaces = arena_alloc(c->arena, list->n * sizeof(*spaces));
    struct map seen = { 0 };

    part->spaces = spaces;
    for (size_t i = 0; i < list->n; i++) {
        if (!map_put_str(&seen, texts[i].text, &seen))
            spaces[part->n_spaces++] = texts[i].text;
    }
    map_free(&seen);
}

struct fleet_part hosts_part(const struct call *c)
{
    const struct app_permissions *may = &c->app->permissions;
    struct fleet_part part = {
        .has_businesses = may->businesses.n || may->business_sets.n,
        .has_spaces = may->spaces.n,
    };

    if (part.has_businesses)
        list_businesses(c, &part);
    if (part.has_spaces)
        list_spaces(c, &part);
    return part;
}

struct fleet_part hosts_part_in(const struct call *c, const char *const *space)
{
    struct fleet_part part = hosts_part(c);

    if (!**space)
        return part;
    part.has_spaces = true;
    part.spaces = space;
    part.n_spaces = app_may_space(&c->app->permissions, *space);
    return part;
}

void hosts_keep_business(const struct call *c, const int64_t *biz_id, struct fleet_part *part)
{
    part->has_businesses = true;
    part->businesses = biz_id;
    part->n_businesses = call_may_business(c, *biz_id);
}

void hosts_walk_in(const struct call *c, const char *const *space, const char *after,
                   struct fleet_walk *ret)
{
    const struct fleet_part part = hosts_part_in(c, space);

    fleet_walk(ret, c->api->parts.fleet, &part, after, c->arena);
}

/* ---- one host */

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
        t->running += h->epoch && process_state_of(v, false) == PROCESS_RUNNING;
        t->hosted += v->hosted;
    }
}

/* Its own address first, then the others as reported by its agent. */
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

enum host_state hosts_state(const struct fleet_host *h)
{
    return h->silent_ms ? HOST_SILENT : h->epoch ? HOST_ONLINE : HOST_OFFLINE;
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
        .state = hosts_state(h),
        .online = h->epoch != 0,
        .silent_since_s = h->silent_ms / 1000,
        .since_s = h->since_ms / 1000,
        .joined_s = h->joined_ms / 1000,
        .processes = t.procs,
        .running = t.running,
    };
}

bool hosts_has_text(const struct fleet_host *h, const char *text)
{
    const char *const texts[] = { h->ip, h->addresses, h->hostname, h->agent_id, h->note };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i] && strcasestr(texts[i], text))
            return true;
    }
    return false;
}

int64_t hosts_unknown_since_s(const struct fleet_host *h)
{
    if (h->epoch)
        return 0;
    return h->since_ms >= 1000 ? h->since_ms / 1000 : 1;
}

struct proc_view hosts_translated(const struct call *c, const struct proc_view *from)
{
    enum lang lang = call_lang(c);
    struct proc_view v = *from;
    const char **texts[] = { &v.why, &v.cause.failed_text, &v.cause.limit_text, &v.cause.instead };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (*texts[i])
            *texts[i] = translate(*texts[i], lang, c->arena);
    }
    if (v.checks.n)
        v.checks = proc_view_checks_in(from, lang, c->arena, translate);
    return v;
}

struct process_view hosts_process(const struct call *c, const struct fleet_host *h,
                                  const struct fleet_proc *p)
{
    return (struct process_view){
        .agent_id = h->agent_id,
        .ip = h->ip,
        .cloud_id = h->cloud_id,
        .online = h->epoch != 0,
        .view = hosts_translated(c, &p->view),
        .biz_id = h->biz_id,
        .unknown_since_s = hosts_unknown_since_s(h),
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
