/* SPDX-License-Identifier: MIT */
/* register.c - GSE's register_proc_info, update_proc_info and unregister_proc_info.
 *
 * The server stores the spec, so a host may be offline.  The answer is sent once it is stored. */
#include "model/proc.h"

#include "api/gse/keyed_results.h"
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/targets.h"
#include "server/fleet/fleet_registry.h"

struct request {
    struct keyed_results *map;
    struct registering what;
};

static const char *const done_words[] = {
    [REGISTERING_NEW] = "process registered",
    [REGISTERING_UPDATE] = "process updated",
    [REGISTERING_END] = "process unregistered",
};

/* ---- checks */

/* A registration requires the permission to host, its end the permission to unhost. */
static int64_t op_of(enum registering_kind kind)
{
    return kind == REGISTERING_END ? PROC_OP_UNHOST : PROC_OP_HOST;
}

/* Under either name.  An update may omit it; the default is "resident" then. */
static int check_policy(const struct proc_spec *spec, struct err *err)
{
    bool is_here = spec->has_policy == PRESENCE_GIVEN;

    if (!is_here && spec->has_alive_policy != PRESENCE_GIVEN)
        return err_set(err, ERR_INVALID, "spec.monitor_policy: required");
    if (spec->policy.has_kind != PRESENCE_GIVEN && spec->alive_policy.has_kind != PRESENCE_GIVEN)
        return err_set(err, ERR_INVALID, "spec.%s.auto_type: required",
                       is_here ? "monitor_policy" : "alive_monitor_policy");
    return 0;
}

static int check_register(const struct call *c, enum registering_kind kind, struct err *err)
{
    const struct proc_register *ask = c->ask;

    if (!ask->hosts.n && !ask->agents.n)
        return err_set(err, ERR_INVALID, "hosts: required, or agent_id_list");
    if (kind == REGISTERING_NEW && check_policy(&ask->spec, err))
        return -1;
    return targets_check(c, "", "meta.namespace", op_of(kind), ask->meta.space, NULL, err);
}

/* ---- targets */

static struct keyed_results *map_targets(struct call *c)
{
    const struct proc_register *ask = c->ask;
    const struct host_ref *hosts = ask->hosts.items;
    const struct agent_ref *agents = ask->agents.items;
    const struct fleet *fleet = c->api->parts.fleet;
    struct keyed_results *m = keyed_results_new(c, ask->agents.n ? ask->agents.n : ask->hosts.n);

    for (size_t i = 0; i < ask->agents.n; i++)
        keyed_results_add(
            m, fleet_find(fleet, agents[i].id),
            arena_printf(c->arena, "%s:%s:%s", agents[i].id, ask->meta.space, ask->meta.name));
    for (size_t i = 0; i < ask->hosts.n && !ask->agents.n; i++)
        keyed_results_add(m, fleet_find_at(fleet, hosts[i].cloud_id, hosts[i].ip),
                          targets_v1_key(c, &hosts[i], &ask->meta));
    keyed_results_ready(m);
    return m;
}

static void on_registered(void *arg, const struct err *failure)
{
    struct request *r = arg;
    struct call *c = r->map->call;

    if (!failure)
        LOG(c->api->parts.log, LOG_INFO, done_words[r->what.kind], log_str("app", c->app->code),
            log_str("user", c->user), log_str("namespace", r->what.meta.space),
            log_str("name", r->what.meta.name), log_int("hosts", (int64_t)r->map->n),
            log_str("peer", c->req->peer), log_str("request_id", c->request_id));
    keyed_results_end(r->map, failure);
}

static void register_targets(struct call *c, enum registering_kind kind)
{
    const struct proc_register *ask = c->ask;
    struct request *r = arena_alloc(c->arena, sizeof(*r));
    struct err err;

    if (check_register(c, kind, &err)) {
        call_fail(c, &err);
        return;
    }
    r->map = map_targets(c);
    r->what = (struct registering){ kind, ask->meta, &ask->spec, r->map->targets, r->map->n };
    fleet_register(c->api->parts.fleet, &r->what, on_registered, r);
}

void register_new(struct call *c)
{
    register_targets(c, REGISTERING_NEW);
}

void register_update(struct call *c)
{
    register_targets(c, REGISTERING_UPDATE);
}

void register_end(struct call *c)
{
    register_targets(c, REGISTERING_END);
}
