/* SPDX-License-Identifier: MIT */
/* operate.c - GSE's operate_proc_v2 and operate_proc_multi; and operate_proc, which brings no
 * spec: each host's is used.
 *
 * The whole request is checked before anything is asked for: one operation in it that can
 * not be means that none is done. */
#include "api/api_in.h"
#include "api/handlers.h"
#include "api/known.h"
#include "api/targets.h"
#include "model/code.h"
#include "model/proc.h"
#include "model/rules.h"

static size_t count(const struct proc_operate *o)
{
    return o->agents.n ? o->agents.n : o->hosts.n;
}

/* ---- checks */

struct batch {
    const struct proc_operate *items;
    size_t n;
    bool is_list; /* paths begin with the item's place */
};

static const char *place(const struct call *c, const struct batch *b, size_t i)
{
    return b->is_list ? arena_printf(c->arena, "proc_operate_req[%zu].", i) : "";
}

static int check_one(const struct call *c, const char *at, const struct proc_operate *o,
                     struct err *err)
{
    if (!count(o))
        return err_set(err, ERR_INVALID, "%shosts: required, or agent_id_list", at);
    return targets_check(c, at, "meta.namespace", o->op, o->meta.space, &o->spec, err);
}

static int check_all(const struct call *c, const struct batch *b, size_t *ret_n, struct err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (check_one(c, place(c, b, i), &b->items[i], err))
            return -1;
        n += count(&b->items[i]);
    }
    if (n > TARGETS_MAX)
        return err_set(err, ERR_INVALID, "proc_operate_req: %zu targets in all, %d at most", n,
                       TARGETS_MAX);
    *ret_n = n;
    return 0;
}

/* ---- targets */

static void add_agents(struct targets *t, const struct proc_operate *o,
                       const struct task_target *like)
{
    const struct agent_ref *agents = o->agents.items;
    struct call *c = t->call;

    for (size_t i = 0; i < o->agents.n; i++)
        targets_add(t, fleet_find(c->api->parts.fleet, agents[i].id),
                    arena_printf(c->arena, "%s:%s:%s", agents[i].id, o->meta.space, o->meta.name),
                    like);
}

static void add_hosts(struct targets *t, const struct proc_operate *o,
                      const struct task_target *like)
{
    const struct host_ref *hosts = o->hosts.items;
    struct call *c = t->call;

    for (size_t i = 0; i < o->hosts.n; i++)
        targets_add(t, fleet_find_at(c->api->parts.fleet, hosts[i].cloud_id, hosts[i].ip),
                    arena_printf(c->arena, "%lld:%s:%s:%s", (long long)hosts[i].cloud_id,
                                 hosts[i].ip, o->meta.space, o->meta.name),
                    like);
}

static void add_one(struct targets *t, const struct proc_operate *o)
{
    const struct task_target like = { .op = o->op, .meta = o->meta, .spec = &o->spec, .text = "" };

    targets_next(t);
    if (o->agents.n)
        add_agents(t, o, &like);
    else
        add_hosts(t, o, &like);
}

static void on_accepted(struct call *c, const char *task_id, size_t n)
{
    const struct task_ref ref = { task_id };

    (void)n;
    call_finish(c, &task_ref_shape, &ref);
}

static void operate(struct call *c, const struct batch *b)
{
    struct targets t;
    struct err err;
    size_t n = 0;

    if (check_all(c, b, &n, &err)) {
        call_fail(c, &err);
        return;
    }
    targets_init(&t, c, n);
    for (size_t i = 0; i < b->n; i++)
        add_one(&t, &b->items[i]);
    targets_operate(&t, on_accepted);
}

void operate_one(struct call *c)
{
    operate(c, &(struct batch){ c->ask, 1, false });
}

void operate_batch(struct call *c)
{
    const struct proc_operate_batch *ask = c->ask;

    operate(c, &(struct batch){ ask->items.items, ask->items.n, true });
}

/* ---- what is registered */

/* Who must not know of the host is told by targets_add(), and no more. */
static void fill_known(const struct call *c, struct knowns *knowns, const struct fleet_host *h,
                       struct task_target *like)
{
    const struct known *known;
    struct err err;

    if (!h || !call_may_see(c, h))
        return;
    known = known_of(knowns, fleet_proc(h, like->meta.space, like->meta.name), &err);
    if (known) {
        like->spec = &known->spec;
        like->meta.labels = known->labels;
        return;
    }
    like->code = err.code;
    like->text = arena_strdup(c->arena, err.text);
}

static void add_known(struct targets *t, const struct proc_operate *ask,
                      const struct proc_spec *none)
{
    const struct host_ref *hosts = ask->hosts.items;
    struct call *c = t->call;
    struct knowns knowns;

    knowns_init(&knowns, c->arena);
    for (size_t i = 0; i < ask->hosts.n; i++) {
        const struct fleet_host *h =
            fleet_find_at(c->api->parts.fleet, hosts[i].cloud_id, hosts[i].ip);
        struct task_target like = { .op = ask->op, .meta = ask->meta, .spec = none, .text = "" };

        like.meta.labels = (struct list){ 0 };
        fill_known(c, &knowns, h, &like);
        targets_add(t, h, targets_v1_key(c, &hosts[i], &ask->meta), &like);
    }
    knowns_done(&knowns);
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
    targets_operate(&t, on_accepted);
}
