/* SPDX-License-Identifier: MIT */
/* view.h - a process as its agent sees it: what is wanted of it, whether it is
 * hosted, what it is, and why.  Three variables, because they move apart. */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include <stdint.h>

#include "model/why.h"
#include "wire/shape.h"

/* Wanted and actual state share their numbers, which are BlueKing's. */
enum proc_status { PROC_UNREGISTERED = 0, PROC_RUNNING = 1, PROC_STOPPED = 2 };

struct proc_view {
    const char *space, *name;
    int64_t wanted, status; /* enum proc_status */
    bool hosted;
    int64_t pid; /* -1: not running */
    int64_t restarts;
    const char *why; /* one sentence: what it does or does not, and the reason */
    struct proc_cause cause;
    const char *others; /* pids of others that fit, where several are expected: "12 34" */
    const char *cmdline, *version, *health, *stat, *start_time, *utime, *stime;
    double cpu_percent, cpu_percent_avg, mem_percent;
    int64_t mem_bytes, threads, elapsed_s;
    int64_t register_s, last_start_s, report_s; /* since 1970 */
};

extern const struct shape proc_view_shape;

/* Puts copies of its texts in the arena; NULL becomes "". */
void proc_view_keep(struct proc_view *v, struct arena *a);

#endif
