/* SPDX-License-Identifier: MIT */
/* groups.c - GSE's set_process_group_info and get_process_group_info. */
#include "server/registry/groups.h"

#include <string.h>

#include "api/gse/keyed_results.h"
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "model/code.h"
#include "model/rules.h"

/* ---- set */

static int check_space(const struct call *c, const char *field, const char *space, struct err *err)
{
    if (app_may_space(&c->app->permissions, space))
        return 0;
    return err_set(err, CODE_DENIED, "%s: the app may not use namespace %s", field, space);
}

static int check_group(const struct call *c, size_t i, struct map *known, struct err *err)
{
    const struct group_set_ask *ask = c->ask;
    const struct proc_group *group = &((const struct proc_group *)ask->spec.groups.items)[i];
    const char *field = arena_printf(c->arena, "spec.process_group[%zu].id", i);

    if (map_put_str(known, group->id, (void *)group))
        return err_set(err, ERR_INVALID, "%s: %s is there twice", field, group->id);
    return check_space(c, field, group->id, err);
}

/* A limit that is too low makes agents kill processes of the group. */
static int check_right(const struct call *c, struct err *err)
{
    if (app_may_bring_spec(&c->app->permissions))
        return 0;
    return err_set(err, CODE_DENIED, "the app may neither start nor host processes");
}

static int check_set(const struct call *c, struct err *err)
{
    const struct group_set_ask *ask = c->ask;
    struct map known = { 0 };
    int failed = check_right(c, err) || check_space(c, "meta.namespace", ask->meta.space, err);

    for (size_t i = 0; i < ask->spec.groups.n && !failed; i++)
        failed = check_group(c, i, &known, err);
    map_free(&known);
    if (failed)
        return -1;
    if (ask->spec.groups.n * ask->hosts.n > TARGETS_MAX)
        return err_set(err, ERR_INVALID,
                       "spec.process_group: %zu groups on %zu hosts, %d pairs at most",
                       ask->spec.groups.n, ask->hosts.n, TARGETS_MAX);
    return 0;
}

static struct keyed_results *map_hosts(struct call *c)
{
    const struct group_set_ask *ask = c->ask;
    const struct host_ref *hosts = ask->hosts.items;
    struct keyed_results *m = keyed_results_new(c, ask->hosts.n);

    for (size_t i = 0; i < ask->hosts.n; i++)
        keyed_results_add(m, fleet_find_at(c->api->parts.fleet, hosts[i].cloud_id, hosts[i].ip),
                          arena_printf(c->arena, "%lld:%lld:%s:%s", (long long)hosts[i].cloud_id,
                                       (long long)hosts[i].supplier_id, hosts[i].ip,
                                       ask->meta.space));
    keyed_results_ready(m);
    return m;
}

static void groups_check_room(const struct call *c, struct registering_target *t)
{
    const struct group_set_ask *ask = c->ask;

    if (t->code || groups_fit(c->api->parts.groups, t->agent, &ask->spec.groups))
        return;
    t->code = CODE_PARAM;
    t->text =
        arena_msg(c->arena, "the host would have more than %d process groups", GROUPS_HOST_MAX);
}

static void on_set(void *arg, const struct err *failure)
{
    keyed_results_end(arg, failure);
}

void groups_put(struct call *c)
{
    const struct group_set_ask *ask = c->ask;
    struct groups_agent *agents = arena_alloc(c->arena, ask->hosts.n * sizeof(*agents));
    struct keyed_results *m;
    struct err err;
    size_t n = 0;

    if (check_set(c, &err)) {
        call_fail(c, &err);
        return;
    }
    m = map_hosts(c);
    for (size_t i = 0; i < m->n; i++) {
        groups_check_room(c, &m->targets[i]);
        if (!m->targets[i].code)
            agents[n++].id = m->targets[i].agent;
    }
    if (!n) {
        keyed_results_end(m, NULL);
        return;
    }
    groups_set(c->api->parts.groups,
               &(struct groups_ask){ ask->meta.space, ask->spec.groups, { agents, n } }, on_set, m);
}

/* ---- get */

/* Empty for hosts that are unknown or not visible to the app, and for the second mention of a
 * host. */
static struct list known_groups(const struct call *c, const struct host_ref *host, struct map *seen)
{
    const struct group_get_ask *ask = c->ask;
    const struct fleet_host *h = fleet_find_at(c->api->parts.fleet, host->cloud_id, host->ip);
    const char *key = arena_printf(c->arena, "%lld:%lld:%s", (long long)host->cloud_id,
                                   (long long)host->supplier_id, host->ip);

    if (!h || !call_may_see(c, h) || map_put_str(seen, key, (void *)host))
        return (struct list){ 0 };
    return groups_of(c->api->parts.groups, h->agent_id, ask->meta.space, c->arena);
}

static void add_infos(const struct call *c, const struct host_ref *host, const struct list *groups,
                      struct buf *to)
{
    const struct group_get_ask *ask = c->ask;
    const struct proc_group *group = groups->items;

    for (size_t i = 0; i < groups->n; i++) {
        const struct group_info info = { ask->meta, *host, group[i].id, group[i].resource };

        buf_add(to, &info, sizeof(info));
    }
}

static bool is_too_much(const struct buf *found)
{
    return found->len > TARGETS_MAX * sizeof(struct group_info);
}

static void answer_groups(struct call *c, const struct buf *found)
{
    struct group_infos infos = { { arena_alloc(c->arena, found->len + 1),
                                   found->len / sizeof(struct group_info) } };

    if (found->len)
        memcpy(infos.infos.items, buf_data(found), found->len);
    call_finish(c, &group_infos_shape, &infos);
}

void groups_get(struct call *c)
{
    const struct group_get_ask *ask = c->ask;
    const struct host_ref *hosts = ask->hosts.items;
    struct buf found = { 0 };
    struct map seen = { 0 };
    struct err err;

    if (check_space(c, "meta.namespace", ask->meta.space, &err)) {
        call_fail(c, &err);
        return;
    }
    for (size_t i = 0; i < ask->hosts.n && !is_too_much(&found); i++) {
        struct list groups = known_groups(c, &hosts[i], &seen);

        add_infos(c, &hosts[i], &groups, &found);
    }
    if (is_too_much(&found)) {
        err_set(&err, ERR_INVALID, "hosts: they have more than %d groups; ask for fewer hosts",
                TARGETS_MAX);
        call_fail(c, &err);
    } else {
        answer_groups(c, &found);
    }
    map_free(&seen);
    buf_free(&found);
}
