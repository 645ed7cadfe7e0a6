/* SPDX-License-Identifier: MIT */
/* watch.h - waits for the end of a task.
 *
 * On a terminal one line says how far it is, drawn again and again on standard error;
 * elsewhere there is none.  A server that is away for a while is waited for: it may be
 * starting anew, and the task is on its disk.  Ctrl-C ends the wait, not the task. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "cli/cli.h"
#include "model/task.h"

enum watch_end { WATCH_DONE, WATCH_TIMEOUT, WATCH_SIGNAL };

struct watch {
    const char *label; /* "start prod/web" */
    const char *task_id;
    int64_t timeout_ms; /* -1: as long as it takes */

    /* Results. */
    enum watch_end end;
    int signal;            /* that ended it */
    int64_t elapsed_ms;    /* since the wait began */
    struct task_view task; /* as last seen */
    struct arena arena;    /* its texts */
};

/* On failure there is nothing to free; else arena_free(&w->arena) is the caller's. */
int watch_task(struct cli *cli, struct watch *w, struct err *err);

#endif
