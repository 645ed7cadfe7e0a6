/* SPDX-License-Identifier: MIT */
/* job.c - Job's manage_proc, operate_process and operate_proc.
 *
 * Three forms of the same request, with different numbers and defaults.  The processes are in the
 * namespace of their scope; names and result keys are defined in model/job.h.  The whole request is
 * checked before anything is done. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/job_scope.h"
#include "api/pipeline/targets.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/job.h"
#include "model/operation.h"
#include "model/rules.h"
#include "model/task.h"

struct work {
    struct call *call;
    struct job_found scope;
    int64_t op;
    const struct job_process *processes;
    size_t n, n_targets;
    bool is_script; /* operate_proc */
    struct targets targets;
    const char *const *refusals; /* one per process: why it is refused; NULL: it is not */
};

/* ---- checks of the whole request */

static bool job_is_blank(const char *text)
{
    return !text[strspn(text, " \t")];
}

/* Leading slashes are part of the path. */
static bool is_nameless(const struct job_process *p)
{
    return !p->proc_name[strspn(p->proc_name, " \t/")];
}

/* Unhosting needs only the name. setup_path and pid_path are optional in the documents of
 * manage_proc and operate_process; the commands of operate_proc are scripts in setup_path. */
static int check_given(const struct work *w, size_t i, struct err *err)
{
    const struct job_process *p = &w->processes[i];

    if (w->op == PROC_OP_UNHOST && is_nameless(p) && job_is_blank(p->value_key))
        return err_set(err, ERR_INVALID, "process_infos[%zu].proc_name: required, or value_key", i);
    if (w->op == PROC_OP_UNHOST)
        return 0;
    if (is_nameless(p))
        return err_set(err, ERR_INVALID, "process_infos[%zu].proc_name: required", i);
    if (w->is_script && job_is_blank(p->setup_path))
        return err_set(err, ERR_INVALID, "process_infos[%zu].setup_path: required", i);
    if (w->is_script && job_is_blank(p->pid_path))
        return err_set(err, ERR_INVALID, "process_infos[%zu].pid_path: required", i);
    return 0;
}

static int check_one(const struct work *w, size_t i, struct err *err)
{
    const struct job_process *p = &w->processes[i];
    size_t length = strlen(job_process_name(p, w->call->arena));

    if (check_given(w, i, err))
        return -1;
    if (length > NAME_MAX_BYTES)
        return err_set(err, ERR_INVALID,
                       "process_infos[%zu].setup_path: with proc_name it makes a name of %zu "
                       "bytes, %d at most; give it a value_key",
                       i, length, NAME_MAX_BYTES);
    return 0;
}

static int job_check_all(struct work *w, const struct job_scope *scope, struct err *err)
{
    if (job_scope_find(w->call, scope, &w->scope, err) ||
        targets_check(w->call, "", w->scope.field, w->op, w->scope.space, NULL, err))
        return -1;
    for (size_t i = 0; i < w->n; i++) {
        if (check_one(w, i, err))
            return -1;
        w->n_targets += w->processes[i].hosts.n;
    }
    if (w->n_targets > TARGETS_MAX)
        return err_set(err, ERR_INVALID, "process_infos: %zu targets in all, %d at most",
                       w->n_targets, TARGETS_MAX);
    return 0;
}

/* ---- targets */

static bool is_called(const struct fleet_proc *p, const char *space, const char *name)
{
    size_t n = strlen(name), length = strlen(p->name);

    return !strcmp(p->space, space) && length > n && p->name[length - n - 1] == '/' &&
           !strcmp(p->name + length - n, name);
}

/* Unhosting by proc_name alone means the process with this name, wherever it is set up; it fails if
 * there are several. */
static void find_by_name(const struct work *w, const struct fleet_host *h, struct task_target *like)
{
    const char *name = like->meta.name + 1; /* after the "/" */
    const struct fleet_proc *found = NULL;

    if (fleet_proc(h, w->scope.space, like->meta.name))
        return;
    if (fleet_proc(h, w->scope.space, name)) { /* a value_key with the same text */
        like->meta.name = name;
        return;
    }
    for (size_t i = 0; i < h->n_procs; i++) {
        if (!is_called(h->procs[i], w->scope.space, name))
            continue;
        if (found) {
            like->code = CODE_PARAM;
            like->text =
                arena_msg(w->call->arena, "several are called %s here: %s, %s; send setup_path too",
                          name, found->name, h->procs[i]->name);
            return;
        }
        found = h->procs[i];
        like->meta.name = found->name;
    }
}

static void job_add_host(struct work *w, const struct host_ref *host, const struct job_process *p,
                         struct task_target like)
{
    struct call *c = w->call;
    const struct fleet_host *h = fleet_find_at(c->api->parts.fleet, host->cloud_id, host->ip);
    const char *key =
        arena_printf(c->arena, "%s:%lld:%s", like.meta.name, (long long)host->cloud_id, host->ip);

    h = h && call_may_see(c, h) ? h : NULL; /* not visible to the app: unknown */
    if (h && !job_scope_has(c, &w->scope, h)) {
        like.code = CODE_DENIED;
        like.text = arena_msg(c->arena,
                              w->scope.kind == SCOPE_BIZ ? "the host is not in business %lld"
                                                         : "the host is not in business set %lld",
                              (long long)w->scope.id);
    } else if (h && w->op == PROC_OP_UNHOST && !*p->value_key && !*p->setup_path) {
        find_by_name(w, h, &like);
    }
    targets_add(&w->targets, h, key, &like);
}

static void add_process(struct work *w, size_t i)
{
    const struct job_process *p = &w->processes[i];
    const struct host_ref *hosts = p->hosts.items;
    struct arena *a = w->call->arena;
    struct proc_spec *spec = arena_alloc(a, sizeof(*spec));
    const char *refusal = w->refusals ? w->refusals[i] : NULL;
    const struct task_target like = {
        .op = w->op,
        .meta = { .space = w->scope.space, .name = job_process_name(p, a) },
        .spec = spec,
        .code = refusal ? CODE_NO_COMMAND : CODE_OK,
        .text = refusal ? refusal : "",
    };

    job_process_spec(p, spec);
    targets_next(&w->targets);
    for (size_t n = 0; n < p->hosts.n; n++)
        job_add_host(w, &hosts[n], p, like);
}

static void job_on_accepted(struct call *c, const char *task_id, size_t n)
{
    const struct job_task_ref ref = { task_id };

    (void)n;
    call_finish(c, &job_task_ref_shape, &ref);
}

/* The permission that targets_check() denied. */
static const char *name_denied(const struct work *w)
{
    if (!app_may_space(&w->call->app->permissions, w->scope.space))
        return "namespace";
    return operation_name(w->op);
}

static void submit_work(struct work *w, const struct job_scope *scope)
{
    struct err err;

    if (job_check_all(w, scope, &err)) {
        if (w->scope.space)
            w->call->denied = name_denied(w);
        call_fail(w->call, &err);
        return;
    }
    targets_init(&w->targets, w->call, w->n_targets);
    for (size_t i = 0; i < w->n; i++)
        add_process(w, i);
    targets_operate(&w->targets, job_on_accepted);
}

/* ---- the three forms */

/* An out-of-range limit means "no limit": manage_proc defines it so; operate_process does not
 * check, and limits of more than 100 % or less than 0 have no effect. */
static const struct job_process *without_odd_limits(const struct call *c, const struct list *from)
{
    struct job_process *list = arena_alloc(c->arena, from->n * sizeof(*list));

    memcpy(list, from->items, from->n * sizeof(*list));
    for (size_t i = 0; i < from->n; i++) {
        int64_t *limits[] = { &list[i].cpu_limit, &list[i].mem_limit };

        for (size_t l = 0; l < ARRAY_LEN(limits); l++)
            *limits[l] = *limits[l] < 0 || *limits[l] > 100 ? 0 : *limits[l];
        if (job_is_blank(list[i].value_key))
            list[i].value_key = "";
        if (job_is_blank(list[i].user))
            list[i].user = "root";
    }
    return list;
}

static void fail_op(struct call *c, int64_t op)
{
    struct err err;

    err_set(&err, ERR_INVALID, "op_type: must be 0, 1, 2, 3, 4, 7, 8 or 9, is %lld", (long long)op);
    call_fail(c, &err);
}

static void operate_processes(struct call *c, int64_t op)
{
    const struct job_operate *ask = c->ask;
    struct work w = { .call = c,
                      .op = op,
                      .processes = without_odd_limits(c, &ask->processes),
                      .n = ask->processes.n };

    submit_work(&w, &ask->scope);
}

void job_manage(struct call *c)
{
    const struct job_operate *ask = c->ask;

    operate_processes(c, operation_find_managed(ask->op)->number); /* the shape has checked it */
}

void job_operate(struct call *c)
{
    const struct job_operate *ask = c->ask;

    if (operation_find_gse(ask->op))
        operate_processes(c, ask->op);
    else
        fail_op(c, ask->op);
}

/* Windows scripts can not be run by our agents. */
static const char *job_refusal_of(const struct call *c, const struct job_script_process *p)
{
    if (!*p->extension || !strcmp(p->extension, "sh"))
        return NULL;
    return arena_msg(c->arena, "cmd_shell_ext %s: this host runs none but sh", p->extension);
}

void job_operate_script(struct call *c)
{
    const struct job_script_operate *ask = c->ask;
    const struct job_script_process *from = ask->processes.items;
    size_t n = ask->processes.n;
    struct job_process *processes = arena_alloc(c->arena, n * sizeof(*processes));
    const char **refusals = arena_alloc(c->arena, n * sizeof(*refusals));
    struct work w = { .call = c,
                      .op = ask->op,
                      .processes = processes,
                      .n = n,
                      .is_script = true,
                      .refusals = refusals };

    if (!operation_find_gse(ask->op)) {
        fail_op(c, ask->op);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        job_process_of_script(&from[i], c->arena, &processes[i]);
        refusals[i] = job_refusal_of(c, &from[i]);
    }
    submit_work(&w, &ask->scope);
}
