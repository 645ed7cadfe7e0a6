/* SPDX-License-Identifier: MIT */
/* register.c - GSE's register_proc_info, update_proc_info and unregister_proc_info.
 *
 * What a process is run by is the server's to remember: a host that is away is no obstacle.
 * The answer is written when it is on the disk. */
#include "model/register.h"

#include "api/api_in.h"
#include "api/handlers.h"
#include "api/mapped.h"
#include "api/targets.h"
#include "server/fleet_registry.h"

struct request {
    struct mapped *map;
    struct registering what;
};

static const char *const done_words[] = {
    [REGISTERING_NEW] = "process registered",
    [REGISTERING_UPDATE] = "process updated",
    [REGISTERING_END] = "process unregistered",
};

/* ---- checks */

/* To register is to host later, and to end that is to host no more. */
static int64_t op_of(enum registering_kind kind)
{
    return kind == REGISTERING_END ? PROC_OP_UNHOST : PROC_OP_HOST;
}

/* Under either of its names; an update may leave it out, and the default is then resident. */
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

static int check(const struct call *c, enum registering_kind kind, struct err *err)
{
    const struct proc_register *ask = c->ask;

    if (!ask->hosts.n && !ask->agents.n)
        return err_set(err, ERR_INVALID, "hosts: required, or agent_id_list");
    if (kind == REGISTERING_NEW && check_policy(&ask->spec, err))
        return -1;
    return targets_check(c, "", "meta.namespace", op_of(kind), ask->meta.space, NULL, err);
}

/* ---- targets */

static struct mapped *map_targets(struct call *c)
{
    const struct proc_register *ask = c->ask;
    const struct host_ref *hosts = ask->hosts.items;
    const struct agent_ref *agents = ask->agents.items;
    const struct fleet *fleet = c->api->parts.fleet;
    struct mapped *m = mapped_new(c, ask->agents.n ? ask->agents.n : ask->hosts.n);

    for (size_t i = 0; i < ask->agents.n; i++)
        mapped_add(
            m, fleet_find(fleet, agents[i].id),
            arena_printf(c->arena, "%s:%s:%s", agents[i].id, ask->meta.space, ask->meta.name));
    for (size_t i = 0; i < ask->hosts.n && !ask->agents.n; i++)
        mapped_add(m, fleet_find_at(fleet, hosts[i].cloud_id, hosts[i].ip),
                   targets_v1_key(c, &hosts[i], &ask->meta));
    mapped_ready(m);
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
    mapped_end(r->map, failure);
}

static void begin(struct call *c, enum registering_kind kind)
{
    const struct proc_register *ask = c->ask;
    struct request *r = arena_alloc(c->arena, sizeof(*r));
    struct err err;

    if (check(c, kind, &err)) {
        call_fail(c, &err);
        return;
    }
    r->map = map_targets(c);
    r->what = (struct registering){ kind, ask->meta, &ask->spec, r->map->targets, r->map->n };
    fleet_register(c->api->parts.fleet, &r->what, on_registered, r);
}

void register_new(struct call *c)
{
    begin(c, REGISTERING_NEW);
}

void register_update(struct call *c)
{
    begin(c, REGISTERING_UPDATE);
}

void register_end(struct call *c)
{
    begin(c, REGISTERING_END);
}
