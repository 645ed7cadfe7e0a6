/* SPDX-License-Identifier: MIT */
/* targets.c - see targets.h. */
#include "api/pipeline/targets.h"

#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/routes.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/operation.h"
#include "model/task.h"
#include "server/dispatch/task_coming.h"
#include "server/dispatch/task_key.h"

/* The buffer of a key, with room to append. */
struct targets_room {
    size_t len, size; /* size 0: the key is the caller's text */
};

void targets_init(struct targets *t, struct call *c, size_t most)
{
    *t = (struct targets){ .call = c };
    t->items = arena_alloc(c->arena, most * sizeof(*t->items));
    t->rooms = arena_alloc(c->arena, most * sizeof(*t->rooms));
    spec_cache_init(&t->spec_cache, c->arena);
}

void targets_next(struct targets *t)
{
    map_free(&t->by_key);
    map_free(&t->by_agent);
}

void targets_done(struct targets *t)
{
    targets_next(t);
    spec_cache_done(&t->spec_cache);
}

/* ---- checks of an operation */

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

/* BlueKing's calls have only BlueKing's operations. */
static const struct operation *find_op(const struct call *c, int64_t op)
{
    return c->route->form == TASK_FORM_NATIVE ? operation_find(op) : operation_find_gse(op);
}

/* Without identity no process is found or started.  A missing command is reported by the agent, per
 * target. */
static bool needs_identity(int64_t op)
{
    const struct operation *o = operation_find(op);

    return o && o->needs == NEEDS_PID_PATH;
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

/* `at` is "" or ends with a dot. */
static int deny_op(const struct call *c, const char *at, int64_t op, struct err *err)
{
    const struct list *may = &c->app->permissions.operations;
    const struct app_number *ops = may->items;
    struct buf names = { 0 };

    for (size_t i = 0; i < may->n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", operation_name(ops[i].number));
    if (*at)
        err_set(err, CODE_DENIED, "%.*s: app %s may not %s; it may: %s", (int)strlen(at) - 1, at,
                c->app->code, operation_name(op), buf_text(&names));
    else
        err_set(err, CODE_DENIED, "app %s may not %s; it may: %s", c->app->code, operation_name(op),
                buf_text(&names));
    buf_free(&names);
    return -1;
}

int targets_check(const struct call *c, const char *at, const char *space_field, int64_t op,
                  const char *space, const struct proc_spec *spec, struct err *err)
{
    if (!app_may_space(&c->app->permissions, space))
        return err_set(err, CODE_DENIED, "%s%s: the app may not use namespace %s", at, space_field,
                       space);
    if (find_op(c, op) && !app_may_op(&c->app->permissions, op))
        return deny_op(c, at, op, err);
    if (!spec || !needs_identity(op) || !app_may_bring_spec(&c->app->permissions))
        return 0;
    return check_identity(at, &spec->identity, err);
}

/* ---- one target */

static void refuse_target(struct task_target *t, int64_t code, const char *text)
{
    if (t->code)
        return; /* a failure found by the caller takes precedence */
    t->code = code;
    t->text = text;
}

/* Nothing is done to the process, so its hosting is reported unchanged. */
static void refuse_op(const struct targets *t, const struct fleet_host *h,
                      struct task_target *target)
{
    const struct fleet_proc *p =
        target->agent ? fleet_proc(h, target->meta.space, target->meta.name) : NULL;

    target->hosted = p && p->view.hosted;
    refuse_target(
        target, CODE_UNKNOWN_OP,
        arena_msg(t->call->arena, "op_type %lld: no such operation", (long long)target->op));
}

static void check_host(const struct targets *t, const struct fleet_host *h,
                       struct task_target *target)
{
    if (!h)
        refuse_target(target, CODE_OFFLINE, MSG("no such host, or it has not joined"));
    else
        target->agent = h->agent_id;
    if (!find_op(t->call, target->op))
        refuse_op(t, h, target);
}

/* ---- registered specs, for apps that may bring none */

static const struct proc_spec *empty_spec(struct targets *t)
{
    struct proc_spec *none;

    if (!t->none) {
        none = arena_alloc(t->call->arena, sizeof(*none));
        shape_defaults(&proc_spec_shape, none);
        t->none = none;
    }
    return t->none;
}

/* Enough to find the process, without commands. */
static const struct proc_spec *identity_alone(struct targets *t, const struct proc_spec *from)
{
    struct proc_spec *spec;

    if (t->unchecked_of == from)
        return t->unchecked;
    spec = arena_alloc(t->call->arena, sizeof(*spec));
    *spec = *empty_spec(t);
    spec->identity = from->identity;
    spec->has_identity = from->has_identity;
    t->unchecked_of = from;
    t->unchecked = spec;
    return spec;
}

static bool agent_may_know(const struct targets *t, const struct fleet_proc *p,
                           const struct task_target *target)
{
    return p || tasks_is_coming(t->call->api->parts.tasks, target->agent, target->meta.space,
                                target->meta.name);
}

/* The server has no spec: the agent uses its own, and answers 801 if it has none. */
static void use_agents_own(struct targets *t, const struct fleet_proc *p,
                           struct task_target *target)
{
    const struct operation *o = operation_find(target->op);

    if (o && o->kind == ONLY_LOOKS) {
        target->spec = identity_alone(t, target->spec);
        target->look = LOOK_UNCHECKED;
        return;
    }
    target->spec = empty_spec(t);
    if (!(o && o->needs == NEEDS_NOTHING) && !agent_may_know(t, p, target))
        refuse_target(target, CODE_NOT_REGISTERED, MSG("process info not registered"));
}

static void use_registered(struct targets *t, const struct fleet_host *h,
                           struct task_target *target)
{
    const struct fleet_proc *p = fleet_proc(h, target->meta.space, target->meta.name);
    const struct cached_spec *known;
    struct err err;

    target->meta.labels = (struct list){ 0 };
    if (!p || !p->spec) {
        use_agents_own(t, p, target);
        return;
    }
    known = spec_cache_of(&t->spec_cache, p, &err);
    if (!known) {
        refuse_target(target, err.code, arena_strdup(t->call->arena, err_msg(&err)));
        return;
    }
    target->spec = &known->spec;
    target->meta.labels = known->labels;
    target->look = operation_has_kind(target->op, ONLY_LOOKS) ? LOOK_ONLY : LOOK_FULL;
}

/* In GSE's v1 a host can have as many names as there are targets: appending a name must not copy
 * all previous ones. */
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
    h = h && call_may_see(t->call, h) ? h : NULL; /* not visible to the app: unknown */
    same = h ? map_find_str(&t->by_agent, h->agent_id) : NULL;
    if (same) {
        add_name(t, same, task_key_line(key, t->call->arena));
    } else {
        same = &t->items[t->n++];
        *same = *like;
        same->key = task_key_line(key, t->call->arena);
        check_host(t, h, same);
        if (!same->code && !app_may_bring_spec(&t->call->app->permissions))
            use_registered(t, h, same);
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

/* ---- submitting */

struct pending {
    struct call *call;
    targets_accepted_fn *accepted;
    size_t n;
};

static void targets_on_accepted(void *arg, const char *id, const struct err *failure)
{
    const struct pending *p = arg;
    struct call *c = p->call;

    if (failure && c->joins_only && failure->code == ERR_CONFLICT) {
        call_refuse(c, REFUSAL_SIGNATURE, "");
        return;
    }
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
        .joins_only = c->joins_only,
        .may_host = app_may_host(&c->app->permissions),
    };

    *p = (struct pending){ c, accepted, t->n };
    targets_done(t);
    tasks_operate(c->api->parts.tasks, &ask, targets_on_accepted, p);
}
