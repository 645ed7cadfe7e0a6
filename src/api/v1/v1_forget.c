/* SPDX-License-Identifier: MIT */
/* v1_forget.c - POST /v1/processes/forget: unregisters a process, as GSE's unregister_proc_info
 * (register.c), with a result per host. */
#include "api/gse/keyed_results.h"
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "api/pipeline/targets.h"
#include "model/task.h"
#include "model/translate.h"
#include "server/fleet/fleet_registry.h"

struct forgetting {
    struct keyed_results *map;
    struct registering what;
};

static struct operation_target view_target(const struct call *c, const char *key,
                                           const struct registering_target *t)
{
    const struct fleet_host *h = *t->agent ? fleet_find(c->api->parts.fleet, t->agent) : NULL;

    return (struct operation_target){
        .key = key,
        .agent_id = t->agent,
        .ip = h ? h->ip : "",
        .cloud_id = h ? h->cloud_id : 0,
        .online = h && h->epoch,
        .code = t->code,
        .text = t->code ? translate(t->text, call_lang(c), c->arena) : "",
    };
}

static void on_forgotten(void *arg, const struct err *failure)
{
    struct forgetting *f = arg;
    const struct keyed_results *m = f->map;
    struct call *c = m->call;
    struct operation_target *targets = arena_alloc(c->arena, m->n_keys * sizeof(*targets));
    const struct forget_view view = { { targets, m->n_keys } };

    if (failure) {
        call_fail(c, failure);
        return;
    }
    LOG(c->api->parts.log, LOG_INFO, "process forgotten", log_str("app", c->app->code),
        log_str("user", c->user), log_str("namespace", f->what.meta.space),
        log_str("name", f->what.meta.name), log_int("hosts", (int64_t)m->n),
        log_str("peer", c->req->peer), log_str("request_id", c->request_id));
    for (size_t i = 0; i < m->n_keys; i++)
        targets[i] = view_target(c, m->keys[i].text, &m->targets[m->keys[i].target]);
    call_finish(c, &forget_view_shape, &view);
}

/* A host that the app may not see counts as unknown. */
static const struct fleet_host *v1_forget_find_host(const struct call *c, const char *id)
{
    const struct fleet_host *h = hosts_find(c, id);

    return h && call_may_see(c, h) ? h : NULL;
}

/* This ends hosting, so it requires the permission to unhost. */
void v1_forget(struct call *c)
{
    const struct forget_ask *ask = c->ask;
    const struct agent_ref *hosts = ask->hosts.items;
    struct forgetting *f = arena_alloc(c->arena, sizeof(*f));
    struct err err;

    if (targets_check(c, "", "namespace", PROC_OP_UNHOST, ask->space, NULL, &err)) {
        call_fail(c, &err);
        return;
    }
    f->map = keyed_results_new(c, ask->hosts.n);
    for (size_t i = 0; i < ask->hosts.n; i++)
        keyed_results_add(f->map, v1_forget_find_host(c, hosts[i].id), hosts[i].id);
    keyed_results_ready(f->map);
    f->what = (struct registering){
        .kind = REGISTERING_END,
        .meta = { .space = ask->space, .name = ask->name },
        .targets = f->map->targets,
        .n = f->map->n,
    };
    fleet_register(c->api->parts.fleet, &f->what, on_forgotten, f);
}
