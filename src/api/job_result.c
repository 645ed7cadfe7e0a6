/* SPDX-License-Identifier: MIT */
/* job_result.c - Job's get_proc_result: what became of a task, whichever API made it.
 *
 * The scope must be one that the app may use, and no more: a task is the app's, or for whoever
 * may see all (task_seen.h). */
#include "api/handlers.h"
#include "api/job_scope.h"
#include "api/result.h"
#include "api/task_seen.h"
#include "model/code.h"

/* Job's word for it while any entry is not final. */
static int64_t status_of(const struct task_info *task)
{
    for (size_t i = 0; i < task->n; i++) {
        if (task_mark(task, i).code == CODE_WAITING)
            return CODE_WAITING;
    }
    return CODE_OK;
}

static void on_task(struct call *c, const struct task_info *task)
{
    struct buf *out = call_data(c);

    buf_puts(out, "{\"status\":");
    buf_put_int(out, status_of(task));
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
        task_seen(c, ask->task_id, on_task);
}
