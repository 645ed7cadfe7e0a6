/* SPDX-License-Identifier: MIT */
/* v1_operate.c - POST /v1/operations: one operation on one process on several hosts. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "api/pipeline/spec_cache.h"
#include "api/pipeline/targets.h"
#include "model/code.h"
#include "model/operation.h"
#include "model/rules.h"
#include "model/task.h"
#include "model/translate.h"
#include "server/dispatch/task_coming.h"
#include "server/dispatch/task_key.h"

struct operate_call {
    struct call *call;
    const struct operation_ask *ask;
    struct targets targets;
    struct spec_cache spec_cache;
};

static bool has_spec(const struct operate_call *o)
{
    return o->ask->has_spec == PRESENCE_GIVEN;
}

/* Whether an unfinished task will create the process there: the agent carries out operations in
 * order, so it will have a spec by then. */
static bool is_coming(const struct operate_call *o, const struct fleet_host *h)
{
    return tasks_is_coming(o->call->api->parts.tasks, h->agent_id, o->ask->space, o->ask->name);
}

/* Fills in what the request omits from the registered process, if the caller may see the host:
 * results show some of it, and the operation sets labels together with the spec.  Without a
 * registered spec the agent uses its own. */
static void fill_from_host(struct operate_call *o, const struct fleet_host *h,
                           struct task_target *like)
{
    bool may_see = h && call_may_see(o->call, h);
    const struct fleet_proc *p = may_see ? fleet_proc(h, o->ask->space, o->ask->name) : NULL;
    const struct cached_spec *known;
    struct err err;

    if (p) {
        known = spec_cache_read(&o->spec_cache, p->labels, has_spec(o) ? NULL : p->spec, &err);
        if (!known) {
            like->code = err.code;
            like->text = arena_strdup(o->call->arena, err_msg(&err));
            return;
        }
        like->meta.labels = known->labels;
        if (!has_spec(o))
            like->spec = &known->spec;
    } else if (may_see && !has_spec(o) && !is_coming(o, h)) {
        like->code = CODE_NOT_REGISTERED;
        like->text = MSG("the host does not know how to run this process: send a spec");
    }
}

static void add_target(struct operate_call *o, const struct fleet_host *h, const char *name)
{
    struct task_target like = {
        .op = o->ask->op,
        .meta = { .space = o->ask->space, .name = o->ask->name },
        .spec = &o->ask->spec,
        .signal = o->ask->signal,
        .text = "",
    };

    fill_from_host(o, h, &like);
    targets_add(&o->targets, h,
                arena_printf(o->call->arena, "%s:%s:%s", name, o->ask->space, o->ask->name), &like);
}

static void add_named(struct operate_call *o)
{
    const struct agent_ref *hosts = o->ask->hosts.items;

    targets_init(&o->targets, o->call, o->ask->hosts.n);
    for (size_t i = 0; i < o->ask->hosts.n; i++)
        add_target(o, hosts_find(o->call, hosts[i].id), hosts[i].id);
}

/* At most one target per host that has processes in the namespace. */
static size_t most_targets(const struct operate_call *o, const struct fleet_part *part)
{
    const struct fleet_totals t = fleet_count(o->call->api->parts.fleet, part);

    return (size_t)(t.procs < t.hosts ? t.procs : t.hosts);
}

/* All visible hosts that have the process, or will have it: a host that is starting it for the
 * first time does not have it yet. */
static void add_all_hosts(struct operate_call *o)
{
    const struct api_parts *parts = &o->call->api->parts;
    const struct fleet_part part = hosts_part_in(o->call, &o->ask->space);
    const struct fleet_host *h;
    struct fleet_walk walk;
    const char **coming;
    size_t n = tasks_coming(parts->tasks, o->ask->space, o->ask->name, o->call->arena, &coming);

    targets_init(&o->targets, o->call, most_targets(o, &part) + n);
    fleet_walk(&walk, parts->fleet, &part, "", o->call->arena);
    while ((h = fleet_walk_next(&walk))) {
        if (fleet_proc(h, o->ask->space, o->ask->name))
            add_target(o, h, h->agent_id);
    }
    for (size_t i = 0; i < n; i++) {
        h = fleet_find(parts->fleet, coming[i]);
        if (h && call_may_see(o->call, h) && !fleet_proc(h, o->ask->space, o->ask->name))
            add_target(o, h, h->agent_id);
    }
}

static void v1_operate_on_accepted(struct call *c, const char *task_id, size_t n)
{
    const struct operation_view view = {
        .task_id = task_id,
        .items = (int64_t)n,
        .deadline_ms = tasks_deadline_ms(c->api->parts.tasks, task_id),
    };

    call_finish(c, &operation_view_shape, &view);
}

/* ---- dry run */

/* `online` shows whether the operation would have to wait for the host. */
static struct operation_target view_target(const struct call *c, const struct task_target *t)
{
    const struct fleet_host *h = t->agent ? fleet_find(c->api->parts.fleet, t->agent) : NULL;

    return (struct operation_target){
        .key = task_key_first(t->key, c->arena),
        .agent_id = h ? h->agent_id : "",
        .ip = h ? h->ip : "",
        .cloud_id = h ? h->cloud_id : 0,
        .online = h && h->epoch,
        .code = t->code,
        .text = t->code ? translate(t->text, call_lang(c), c->arena) : "",
    };
}

static void show_targets(struct operate_call *o)
{
    struct call *c = o->call;
    size_t n = o->targets.n;
    struct operation_target *targets = arena_alloc(c->arena, n * sizeof(*targets));
    const struct operation_view view = {
        .task_id = "", .items = (int64_t)n, .dry_run = true, .targets = { targets, n }
    };

    for (size_t i = 0; i < n; i++)
        targets[i] = view_target(c, &o->targets.items[i]);
    targets_done(&o->targets);
    call_finish(c, &operation_view_shape, &view);
}

/* ---- the request */

static int check_targets(const struct operate_call *o, struct err *err)
{
    const struct operation_ask *ask = o->ask;
    int64_t n = (int64_t)o->targets.n;

    if (ask->has_expect == PRESENCE_GIVEN && n != ask->expect)
        return err_set(err, ERR_CONFLICT,
                       "expect: it is for %lld targets, and %lld were expected; nothing was done",
                       (long long)n, (long long)ask->expect);
    if (n > TARGETS_MAX)
        return err_set(err, ERR_INVALID, "hosts: %lld know the process, %d at most; name them",
                       (long long)n, TARGETS_MAX);
    if (!n)
        return err_set(err, ERR_NOT_FOUND,
                       "process %s/%s: no host knows it; name the hosts and send a spec",
                       ask->space, ask->name);
    return 0;
}

static void submit_operation(struct operate_call *o)
{
    struct err err;

    if (check_targets(o, &err)) {
        targets_done(&o->targets);
        call_fail(o->call, &err);
    } else if (o->ask->dry_run) {
        show_targets(o);
    } else {
        o->targets.idempotent = o->ask->idempotent;
        targets_operate(&o->targets, v1_operate_on_accepted);
    }
}

/* A short spec becomes a long one. */
static int expand_spec(struct call *c, struct operation_short_ask *asked, struct err *err)
{
    struct operation_ask *ask = &asked->ask;
    const struct short_context context = { ask->space, ask->name, "", SHORT_PID_DIR };
    struct proc_meta meta; /* that of the request; labels come with a registration */
    struct err why;

    shape_defaults(&proc_spec_shape, &ask->spec);
    if (ask->has_spec != PRESENCE_GIVEN ||
        !short_spec_expand(&asked->spec, &context, c->arena, &meta, &ask->spec, &why))
        return 0;
    return err_set(err, why.code, "%s.%s", "spec", err_msg(&why));
}

static int check_signal(const struct operation_ask *ask, struct err *err)
{
    bool takes_it = operation_find(ask->op)->takes_signal; /* the shape has checked `op` */

    if (takes_it && !*ask->signal)
        return err_set(err, ERR_INVALID, "signal: required for this operation");
    if (!takes_it && *ask->signal)
        return err_set(err, ERR_INVALID, "signal: only for the operation \"signal\"");
    return 0;
}

void v1_operate(struct call *c)
{
    struct operation_short_ask *asked = c->ask;
    struct operate_call o = { .call = c, .ask = &asked->ask };
    const struct proc_spec *spec = has_spec(&o) ? &o.ask->spec : NULL;
    struct err err;

    if (check_signal(o.ask, &err) || expand_spec(c, asked, &err) ||
        targets_check(c, "", "namespace", o.ask->op, o.ask->space, spec, &err)) {
        call_fail(c, &err);
        return;
    }
    spec_cache_init(&o.spec_cache, c->arena);
    if (o.ask->hosts.n)
        add_named(&o);
    else
        add_all_hosts(&o);
    spec_cache_done(&o.spec_cache);
    submit_operation(&o);
}
