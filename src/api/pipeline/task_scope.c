/* SPDX-License-Identifier: MIT */
/* task_scope.c - see task_scope.h. */
#include "api/pipeline/task_scope.h"

#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "model/code.h"

struct reading {
    struct call *call;
    const char *id;
    task_scope_fn *fn;
};

static bool may_see(const struct call *c, const struct task_info *task)
{
    return !app_has_limits(&c->app->permissions) || !strcmp(task->app, c->app->code);
}

static void on_read(void *arg, const struct task_info *task, const struct err *failure)
{
    const struct reading *r = arg;
    struct err err;

    if (failure && failure->code != CODE_NO_TASK) {
        call_fail(r->call, failure);
        return;
    }
    if (failure || !may_see(r->call, task)) {
        err_set(&err, CODE_NO_TASK, "task %s: no such task, or it has expired", r->id);
        call_fail(r->call, &err);
        return;
    }
    r->fn(r->call, task);
}

void task_scope_read(struct call *c, const char *id, task_scope_fn *fn)
{
    struct reading *r = arena_alloc(c->arena, sizeof(*r));

    *r = (struct reading){ c, id, fn };
    tasks_read(c->api->parts.tasks, id, on_read, r);
}
