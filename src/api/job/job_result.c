/* SPDX-License-Identifier: MIT */
/* job_result.c - Job's get_proc_result: the results of a task, whichever API created it.
 *
 * The app must be allowed to use the scope; the scope is not compared with the task.  The task must
 * be the app's own, or the app must have no limits (task_scope.h). */
#include "api/gse/result.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/job_scope.h"
#include "api/pipeline/task_scope.h"
#include "model/code.h"

/* Job's status: waiting while any item is unfinished. */
static int64_t job_result_status_of(const struct task_info *task)
{
    for (size_t i = 0; i < task->n; i++) {
        if (task_mark(task, i).code == CODE_WAITING)
            return CODE_WAITING;
    }
    return CODE_OK;
}

static void job_result_on_task(struct call *c, const struct task_info *task)
{
    struct buf *out = call_data(c);

    buf_puts(out, "{\"status\":");
    buf_put_int(out, job_result_status_of(task));
    buf_puts(out, ",\"result\":");
    result_map_write(c, task, CONTENT_OBJECT, out);
    buf_addc(out, '}');
    call_end(c);
}

void job_result_get(struct call *c)
{
    const struct job_result_ask *ask = c->ask;
    struct job_found scope;
    struct err err;

    if (job_scope_find(c, &ask->scope, &scope, &err))
        call_fail(c, &err);
    else
        task_scope_read(c, ask->task_id, job_result_on_task);
}
