/* SPDX-License-Identifier: MIT */
/* view.h - a process as its agent sees it: wanted state, hosted or not, actual state, and why.
 * These are three variables because each can change alone. */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cause.h"
#include "model/check.h"
#include "model/operation.h"
#include "wire/json/shape.h"

struct proc_view {
    const char *space, *name;
    int64_t wanted, status; /* enum proc_status */
    bool hosted;
    int64_t pid; /* -1: not running */
    int64_t restarts;
    const char *why; /* one sentence: what it does, and the reason */
    struct proc_cause cause;
    const char *others; /* pids of further instances, if several are expected: "12 34" */
    const char *cmdline, *version, *health, *stat, *start_time, *utime, *stime;
    struct list checks; /* struct proc_check_view */
    double cpu_percent, cpu_percent_avg, mem_percent;
    int64_t mem_bytes, threads, elapsed_s;
    int64_t register_s, last_start_s, report_s; /* seconds since 1970 */
};

extern const struct shape proc_view_shape;

/* Its failing check, or "health_cmd" while that fails; NULL: nothing is known to fail. */
const char *proc_view_failing(const struct proc_view *v);
bool proc_view_is_healthy(const struct proc_view *v); /* all its checks pass, if it has any */
/* The reason of that check, or what health_cmd has said; "" if there is none. */
const char *proc_view_complaint(const struct proc_view *v);

/* The checks with their texts in this language, by translate() or translate_own(). */
struct list proc_view_checks_in(const struct proc_view *v, enum lang lang, struct arena *a,
                                const char *(*fn)(const char *text, enum lang lang,
                                                  struct arena *a));

/* Copies the texts into the arena; NULL becomes "". */
void proc_view_keep(struct proc_view *v, struct arena *a);

#endif
