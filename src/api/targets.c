/* SPDX-License-Identifier: MIT */
/* targets.c - see targets.h. */
#include "api/targets.h"

#include <string.h>

#include "api/api_in.h"
#include "api/routes.h"
#include "base/mem.h"
#include "model/code.h"
#include "model/task.h"

/* Where a key is, and more can be put behind it. */
struct targets_room {
    size_t len, size; /* size 0: it is the caller's own text */
};

void targets_init(struct targets *t, struct call *c, size_t most)
{
    *t = (struct targets){ .call = c };
    t->items = arena_alloc(c->arena, most * sizeof(*t->items));
    t->rooms = arena_alloc(c->arena, most * sizeof(*t->rooms));
}

void targets_next(struct targets *t)
{
    map_free(&t->by_key);
    map_free(&t->by_agent);
}

void targets_done(struct targets *t)
{
    targets_next(t);
}

/* ---- checks of a whole operation */

/* clang-format off */
static const struct {
    const char *name;
    size_t offset;
} identity_fields[] = {
    { "proc_name", offsetof(struct proc_identity, proc_name) },
    { "setup_path", offsetof(struct proc_identity, setup_path) },
    { "pid_path", offsetof(struct proc_identity, pid_path) },
    { "user", offsetof(struct proc_identity, user) },
};
/* clang-format on */

/* Without these no process is found or started.  Commands that are missing are the agent's
 * to tell of, target by target. */
static bool needs_identity(int64_t op)
{
    return op == PROC_OP_START || op == PROC_OP_STOP || op == PROC_OP_HOST || op == PROC_OP_KILL;
}

static int check_identity(const char *at, const struct proc_identity *id, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(identity_fields); i++) {
        const char *const *text = (const void *)((const char *)id + identity_fields[i].offset);

        if (!**text)
            return err_set(err, ERR_INVALID, "%sspec.identity.%s: required", at,
                           identity_fields[i].name);
    }
    return 0;
}

/* `at` ends with a dot where there is one. */
static int deny_op(const struct call *c, const char *at, int64_t op, struct err *err)
{
    const struct list *may = &c->app->permissions.operations;
    const struct app_number *ops = may->items;
    struct buf names = { 0 };

    for (size_t i = 0; i < may->n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", proc_op_name(ops[i].number));
    err_set(err, CODE_DENIED, "%.*s%sapp %s may not %s; it may: %s", *at ? (int)strlen(at) - 1 : 0,
            at, *at ? ": " : "", c->app->code, proc_op_name(op), buf_text(&names));
    buf_free(&names);
    return -1;
}

int targets_check(const struct call *c, const char *at, const char *space_field, int64_t op,
                  const char *space, const struct proc_spec *spec, struct err *err)
{
    if (!app_may_space(&c->app->permissions, space))
        return err_set(err, CODE_DENIED, "%s%s: the app may not use namespace %s", at, space_field,
                       space);
    if (proc_is_op(op) && !app_may_op(&c->app->permissions, op))
        return deny_op(c, at, op, err);
    return spec && needs_identity(op) ? check_identity(at, &spec->identity, err) : 0;
}

/* ---- one target */

static void refuse(struct task_target *t, int64_t code, const char *text)
{
    if (t->code)
        return; /* what the caller found is said first */
    t->code = code;
    t->text = text;
}

/* Nothing is done to it, so it is hosted or not as before. */
static void refuse_op(const struct targets *t, const struct fleet_host *h,
                      struct task_target *target)
{
    const struct fleet_proc *p =
        target->agent ? fleet_proc(h, target->meta.space, target->meta.name) : NULL;

    target->hosted = p && p->view.hosted;
    refuse(target, CODE_UNKNOWN_OP,
           arena_printf(t->call->arena, "op_type %lld: no such operation", (long long)target->op));
}

static void judge(const struct targets *t, const struct fleet_host *h, struct task_target *target)
{
    if (!h)
        refuse(target, CODE_OFFLINE, "no such host, or it has not joined");
    else if (!call_may_see(t->call, h))
        refuse(target, CODE_DENIED, "the host is in a business that the app may not use");
    else
        target->agent = h->agent_id;
    if (!proc_is_op(target->op))
        refuse_op(t, h, target);
}

/* In GSE's v1 one host can be named in as many ways as there are targets: each further name
 * must not cost a copy of all before it. */
static void add_name(const struct targets *t, struct task_target *target, const char *name)
{
    struct targets_room *room = &t->rooms[target - t->items];
    size_t n = strlen(name), len = room->size ? room->len : strlen(target->key);
    char *to = (char *)target->key;

    if (len + n + 2 > room->size) {
        room->size = 2 * (len + n + 2);
        to = arena_bytes(t->call->arena, room->size);
        memcpy(to, target->key, len);
    }
    to[len] = '\n';
    memcpy(to + len + 1, name, n + 1);
    room->len = len + 1 + n;
    target->key = to;
}

void targets_add(struct targets *t, const struct fleet_host *h, const char *key,
                 const struct task_target *like)
{
    struct task_target *same;

    if (map_find_str(&t->by_key, key))
        return;
    same = h ? map_find_str(&t->by_agent, h->agent_id) : NULL;
    if (same) {
        add_name(t, same, key);
    } else {
        same = &t->items[t->n++];
        *same = *like;
        same->key = key;
        judge(t, h, same);
    }
    map_put_str(&t->by_key, key, same);
    if (h)
        map_put_str(&t->by_agent, h->agent_id, same);
}

const char *targets_v1_key(const struct call *c, const struct host_ref *host,
                           const struct proc_meta *meta)
{
    return arena_printf(c->arena, "%lld:%lld:%s:%s:%s", (long long)host->cloud_id,
                        (long long)host->supplier_id, host->ip, meta->space, meta->name);
}

/* ---- all of them */

struct pending {
    struct call *call;
    targets_accepted_fn *accepted;
    size_t n;
};

static void on_accepted(void *arg, const char *id, const struct err *failure)
{
    const struct pending *p = arg;
    struct call *c = p->call;

    if (failure) {
        call_fail(c, failure);
        return;
    }
    LOG(c->api->parts.log, LOG_INFO, "operation accepted", log_str("task", id),
        log_str("app", c->app->code), log_str("user", c->user), log_int("targets", (int64_t)p->n),
        log_str("peer", c->req->peer), log_str("request_id", c->request_id));
    p->accepted(c, id, p->n);
}

void targets_operate(struct targets *t, targets_accepted_fn *accepted)
{
    struct call *c = t->call;
    struct pending *p = arena_alloc(c->arena, sizeof(*p));
    const struct task_ask ask = {
        .app = c->app->code,
        .user = c->user,
        .form = c->route->form,
        .targets = { t->items, t->n },
        .idempotent = t->idempotent,
        .request_key = c->request_key,
    };

    *p = (struct pending){ c, accepted, t->n };
    targets_done(t);
    tasks_operate(c->api->parts.tasks, &ask, on_accepted, p);
}
