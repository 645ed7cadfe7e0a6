/* SPDX-License-Identifier: MIT */
/* v1_tasks.c - /v1 of operations: asking for one, and what became of it. */
#include <string.h>

#include "api/api_in.h"
#include "api/content.h"
#include "api/handlers.h"
#include "api/hosts.h"
#include "api/targets.h"
#include "api/task_seen.h"
#include "base/mem.h"
#include "model/code.h"
#include "model/task.h"

/* ---- a task */

/* Of a host that was named in several ways the first is enough here. */
static struct task_item_view view_item(const struct call *c, const struct task_item *i)
{
    const struct fleet_host *h =
        i->agent && *i->agent ? fleet_find(c->api->parts.fleet, i->agent) : NULL;

    return (struct task_item_view){
        .key = arena_memdup(c->arena, i->key, strcspn(i->key, "\n")),
        .agent_id = i->agent ? i->agent : "",
        .cloud_id = h ? h->cloud_id : 0,
        .ip = h ? h->ip : "",
        .space = i->space,
        .name = i->name,
        .op = i->op,
        .done = i->code != CODE_WAITING,
        .code = i->code,
        .text = result_text(i),
        .view = i->view,
    };
}

static void on_task(struct call *c, const struct task_info *task)
{
    struct task_item_view *items = arena_alloc(c->arena, task->n * sizeof(*items));
    struct task_view view = {
        .task_id = task->id,
        .app = task->app,
        .user = task->user,
        .created_ms = task->created_ms,
        .deadline_ms = task->deadline_ms,
        .total = (int64_t)task->n,
        .left = (int64_t)task->n_left,
        .items = { items, task->n },
    };

    for (size_t i = 0; i < task->n; i++) {
        const struct task_item item = result_share(&task->items[i], task->n, c->arena);

        items[i] = view_item(c, &item);
        view.failed += items[i].done && items[i].code != CODE_OK;
    }
    call_finish(c, &task_view_shape, &view);
}

void v1_task(struct call *c)
{
    task_seen(c, arena_memdup(c->arena, c->rest, strcspn(c->rest, "/")), on_task);
}

/* ---- an operation */

/* How a host runs the process.  Hosts that say the same share one: labels go with the spec,
 * because the store keeps them together. */
struct known {
    struct proc_spec spec;
    struct list labels;
};

struct operation {
    struct call *call;
    const struct operation_ask *ask;
    struct targets targets;
    struct map known; /* by labels and spec, as JSON */
};

static bool has_spec(const struct operation *o)
{
    return o->ask->has_spec == PRESENCE_GIVEN;
}

/* An operation that makes a process known sets its labels, so those of the host go along. */
static int read_labels(struct operation *o, const char *labels, struct list *ret, struct err *err)
{
    struct proc_meta meta;
    struct buf json = { 0 };
    int failed;

    buf_printf(&json, "{\"namespace\":\"n\",\"name\":\"n\",\"labels\":%s}", labels);
    failed = shape_read(&proc_meta_shape, buf_data(&json), json.len, 0, o->call->arena, &meta, err);
    buf_free(&json);
    if (!failed)
        *ret = meta.labels;
    return failed;
}

static const struct known *read_known(struct operation *o, const char *labels, const char *spec,
                                      struct err *err)
{
    struct arena *a = o->call->arena;
    const char *key = arena_printf(a, "%s\n%s", labels, spec);
    struct known *k = map_find_str(&o->known, key);

    if (k)
        return k;
    k = arena_alloc(a, sizeof(*k));
    k->spec = o->ask->spec;
    if (read_labels(o, labels, &k->labels, err))
        return NULL;
    if (!has_spec(o) && shape_read(&proc_spec_shape, spec, strlen(spec), 0, a, &k->spec, err))
        return NULL;
    map_put_str(&o->known, key, k);
    return k;
}

/* What a host that the caller may see knows of the process stands in for what was not sent:
 * results show some of it.  Where we do not have that (it is the agent's to know), the agent uses
 * its own. */
static void fill_from_host(struct operation *o, const struct fleet_host *h,
                           struct task_target *like)
{
    bool may_see = h && call_may_see(o->call, h);
    const struct fleet_proc *p = may_see ? fleet_proc(h, o->ask->space, o->ask->name) : NULL;
    const char *labels = p && p->labels ? p->labels : "{}", *spec = p && p->spec ? p->spec : "{}";
    const struct known *k;
    struct err err;

    k = read_known(o, labels, spec, &err);
    if (k) {
        like->spec = &k->spec;
        like->meta.labels = k->labels;
    }
    if (!may_see)
        return;
    if (!k) {
        like->code = CODE_SYSTEM;
        like->text = arena_printf(o->call->arena, "what the host runs it by: %s", err.text);
    } else if (!has_spec(o) && !p) {
        like->code = CODE_NOT_REGISTERED;
        like->text = "the host does not know how to run this process: send a spec";
    }
}

static void add(struct operation *o, const struct fleet_host *h, const char *name)
{
    struct task_target like = {
        .op = o->ask->op,
        .meta = { .space = o->ask->space, .name = o->ask->name },
        .spec = &o->ask->spec,
        .text = "",
    };

    fill_from_host(o, h, &like);
    targets_add(&o->targets, h,
                arena_printf(o->call->arena, "%s:%s:%s", name, o->ask->space, o->ask->name), &like);
}

static void add_named(struct operation *o)
{
    const struct agent_ref *hosts = o->ask->hosts.items;

    targets_init(&o->targets, o->call, o->ask->hosts.n);
    for (size_t i = 0; i < o->ask->hosts.n; i++)
        add(o, hosts_find(o->call, hosts[i].id), hosts[i].id);
}

/* All hosts that know the process and that the caller may see. */
static void add_all(struct operation *o)
{
    size_t n = (size_t)fleet_totals(o->call->api->parts.fleet)->hosts;
    const struct fleet_host *h = hosts_next(o->call, "");

    targets_init(&o->targets, o->call, n);
    for (; h; h = hosts_next(o->call, h->agent_id)) {
        if (fleet_proc(h, o->ask->space, o->ask->name))
            add(o, h, h->agent_id);
    }
}

static void on_accepted(struct call *c, const char *task_id, size_t n)
{
    const struct operation_view view = { task_id, (int64_t)n };

    call_finish(c, &operation_view_shape, &view);
}

void v1_operate(struct call *c)
{
    struct operation o = { .call = c, .ask = c->ask };
    const struct proc_spec *spec = has_spec(&o) ? &o.ask->spec : NULL;
    struct err err;

    if (targets_check(c, "", "namespace", o.ask->op, o.ask->space, spec, &err)) {
        call_fail(c, &err);
        return;
    }
    if (o.ask->hosts.n)
        add_named(&o);
    else
        add_all(&o);
    map_free(&o.known);
    if (o.targets.n) {
        targets_operate(&o.targets, on_accepted);
        return;
    }
    targets_done(&o.targets);
    err_set(&err, ERR_NOT_FOUND,
            "process %s/%s: no host knows it; name the hosts (--host) and send a spec (--spec)",
            o.ask->space, o.ask->name);
    call_fail(c, &err);
}
