/* SPDX-License-Identifier: MIT */
/* watch.h - waits for the end of a task.
 *
 * On a terminal the progress is one line on standard error that is redrawn; elsewhere it is not
 * shown.  If the server is unreachable for a while, the wait continues: the server may be
 * restarting, and the task is on its disk.  Ctrl-C ends the wait, not the task. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "cli/cli.h"
#include "model/task.h"

enum watch_end { WATCH_DONE, WATCH_TIMEOUT, WATCH_SIGNAL };

struct watch {
    const char *label; /* "start prod/web" */
    const char *task_id;
    int64_t timeout_ms; /* -1: no limit */

    /* Results. */
    enum watch_end end;
    int signal;            /* the signal that ended the wait */
    int64_t elapsed_ms;    /* since the wait began */
    struct task_view task; /* the last known state */
    struct arena arena;    /* memory of `task` */
};

/* On failure there is nothing to free; otherwise the caller calls arena_free(&w->arena). */
int watch_task(struct cli *cli, struct watch *w, struct err *err);

#endif
