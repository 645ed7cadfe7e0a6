/* SPDX-License-Identifier: MIT */
/* operate.c - GSE's operate_proc_v2 and operate_proc_multi, in which the spec is optional, and
 * operate_proc, which has none.  Without a spec the registered one of each host is used.
 *
 * The whole request is checked first: if one operation is invalid, none is carried out. */
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/spec_cache.h"
#include "api/pipeline/targets.h"
#include "model/code.h"
#include "model/proc.h"
#include "model/rules.h"
#include "model/task.h"

static size_t count_targets(const struct proc_operate *o)
{
    return o->agents.n ? o->agents.n : o->hosts.n;
}

static bool has_spec(const struct proc_operate *o)
{
    return o->has_spec == PRESENCE_GIVEN;
}

/* ---- checks */

struct batch {
    const struct proc_operate *items;
    size_t n;
    bool is_list; /* paths of fields begin with the index */
};

static const char *operate_place(const struct call *c, const struct batch *b, size_t i)
{
    return b->is_list ? arena_printf(c->arena, "proc_operate_req[%zu].", i) : "";
}

static int check_one(const struct call *c, const char *at, const struct proc_operate *o,
                     struct err *err)
{
    if (!count_targets(o))
        return err_set(err, ERR_INVALID, "%shosts: required, or agent_id_list", at);
    return targets_check(c, at, "meta.namespace", o->op, o->meta.space,
                         has_spec(o) ? &o->spec : NULL, err);
}

static int operate_check_all(const struct call *c, const struct batch *b, size_t *ret_n,
                             struct err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (check_one(c, operate_place(c, b, i), &b->items[i], err))
            return -1;
        n += count_targets(&b->items[i]);
    }
    if (n > TARGETS_MAX)
        return err_set(err, ERR_INVALID, "proc_operate_req: %zu targets in all, %d at most", n,
                       TARGETS_MAX);
    *ret_n = n;
    return 0;
}

/* ---- targets */

/* Uses the spec that is registered at the server.  If there is none, the target keeps the empty
 * spec, and the agent uses its own.  For a host that the app may not see nothing is read here:
 * targets_add() refuses the target. */
static void fill_registered(const struct call *c, struct spec_cache *spec_cache,
                            const struct fleet_host *h, struct task_target *target)
{
    const struct fleet_proc *p =
        h && call_may_see(c, h) ? fleet_proc(h, target->meta.space, target->meta.name) : NULL;
    const struct cached_spec *known;
    struct err err;

    if (!p || !p->spec)
        return;
    known = spec_cache_of(spec_cache, p, &err);
    if (!known) {
        target->code = err.code;
        target->text = arena_strdup(c->arena, err_msg(&err));
        return;
    }
    target->spec = &known->spec;
    if (!target->meta.labels.n)
        target->meta.labels = known->labels;
}

static void add_target(struct targets *t, struct spec_cache *spec_cache,
                       const struct proc_operate *o, const struct fleet_host *h, const char *key)
{
    struct task_target target = {
        .op = o->op, .meta = o->meta, .spec = &o->spec, .text = "", .by_agent_id = o->agents.n > 0
    };

    if (!has_spec(o))
        fill_registered(t->call, spec_cache, h, &target);
    targets_add(t, h, key, &target);
}

static void add_agents(struct targets *t, struct spec_cache *spec_cache,
                       const struct proc_operate *o)
{
    const struct agent_ref *agents = o->agents.items;
    struct call *c = t->call;

    for (size_t i = 0; i < o->agents.n; i++)
        add_target(t, spec_cache, o, fleet_find(c->api->parts.fleet, agents[i].id),
                   arena_printf(c->arena, "%s:%s:%s", agents[i].id, o->meta.space, o->meta.name));
}

static void operate_add_hosts(struct targets *t, struct spec_cache *spec_cache,
                              const struct proc_operate *o)
{
    const struct host_ref *hosts = o->hosts.items;
    struct call *c = t->call;

    for (size_t i = 0; i < o->hosts.n; i++)
        add_target(t, spec_cache, o,
                   fleet_find_at(c->api->parts.fleet, hosts[i].cloud_id, hosts[i].ip),
                   arena_printf(c->arena, "%lld:%s:%s:%s", (long long)hosts[i].cloud_id,
                                hosts[i].ip, o->meta.space, o->meta.name));
}

static void add_batch(struct targets *t, const struct batch *b)
{
    struct spec_cache spec_cache;

    spec_cache_init(&spec_cache, t->call->arena);
    for (size_t i = 0; i < b->n; i++) {
        targets_next(t);
        if (b->items[i].agents.n)
            add_agents(t, &spec_cache, &b->items[i]);
        else
            operate_add_hosts(t, &spec_cache, &b->items[i]);
    }
    spec_cache_done(&spec_cache);
}

static void operate_on_accepted(struct call *c, const char *task_id, size_t n)
{
    const struct task_ref ref = { task_id };

    (void)n;
    call_finish(c, &task_ref_shape, &ref);
}

static void submit_batch(struct call *c, const struct batch *b)
{
    struct targets t;
    struct err err;
    size_t n = 0;

    if (operate_check_all(c, b, &n, &err)) {
        call_fail(c, &err);
        return;
    }
    targets_init(&t, c, n);
    add_batch(&t, b);
    targets_operate(&t, operate_on_accepted);
}

void operate_one(struct call *c)
{
    submit_batch(c, &(struct batch){ c->ask, 1, false });
}

void operate_batch(struct call *c)
{
    const struct proc_operate_batch *ask = c->ask;

    submit_batch(c, &(struct batch){ ask->items.items, ask->items.n, true });
}

/* ---- registered processes */

/* For a host that the app may not see nothing is read here: targets_add() refuses the target. */
static void fill_known(const struct call *c, struct spec_cache *spec_cache,
                       const struct fleet_host *h, struct task_target *like)
{
    const struct cached_spec *known;
    struct err err;

    if (!h || !call_may_see(c, h))
        return;
    known = spec_cache_of(spec_cache, fleet_proc(h, like->meta.space, like->meta.name), &err);
    if (known) {
        like->spec = &known->spec;
        like->meta.labels = known->labels;
        return;
    }
    like->code = err.code;
    like->text = arena_strdup(c->arena, err_msg(&err));
}

static void add_known(struct targets *t, const struct proc_operate *ask,
                      const struct proc_spec *none)
{
    const struct host_ref *hosts = ask->hosts.items;
    struct call *c = t->call;
    struct spec_cache spec_cache;

    spec_cache_init(&spec_cache, c->arena);
    for (size_t i = 0; i < ask->hosts.n; i++) {
        const struct fleet_host *h =
            fleet_find_at(c->api->parts.fleet, hosts[i].cloud_id, hosts[i].ip);
        struct task_target like = { .op = ask->op, .meta = ask->meta, .spec = none, .text = "" };

        like.meta.labels = (struct list){ 0 };
        fill_known(c, &spec_cache, h, &like);
        targets_add(t, h, targets_v1_key(c, &hosts[i], &ask->meta), &like);
    }
    spec_cache_done(&spec_cache);
}

void operate_known(struct call *c)
{
    const struct proc_operate *ask = c->ask;
    struct proc_spec *none = arena_alloc(c->arena, sizeof(*none));
    struct targets t;
    struct err err;

    if (targets_check(c, "", "meta.namespace", ask->op, ask->meta.space, NULL, &err)) {
        call_fail(c, &err);
        return;
    }
    shape_defaults(&proc_spec_shape, none);
    targets_init(&t, c, ask->hosts.n);
    add_known(&t, ask, none);
    targets_operate(&t, operate_on_accepted);
}
