/* SPDX-License-Identifier: MIT */
/* spec_plan.h - what has to be done so that the agent of a host runs what a folder of specs says.
 * Pure: lists in, a plan out. */
#ifndef CLI_SPEC_PLAN_H
#define CLI_SPEC_PLAN_H

#include "link/local.h"
#include "model/spec_folder.h"

enum plan_action {
    PLAN_SAME,
    PLAN_NEW,     /* the agent does not know it: it is hosted */
    PLAN_CHANGED, /* it is hosted with another spec: restarted if it runs, hosted if not */
    PLAN_STOPPED, /* its spec is another, but an operator has stopped it: it is left alone */
    PLAN_REMOVED, /* it came from the folder and is not there any more: stopped and forgotten */
    PLAN_ACTIONS
};

struct plan_step {
    enum plan_action action;
    struct proc_meta meta;
    const struct proc_spec *spec; /* NULL for PLAN_REMOVED */
    const char *path;             /* the file; "" for PLAN_REMOVED */
    bool running;
    const char *changes; /* "control.start_cmd, holdfast.nice"; "" if there are none */
    int64_t code;        /* of its result, once it is carried out */
    const char *text;
};

struct plan {
    struct list steps; /* struct plan_step, by namespace and name */
    size_t n[PLAN_ACTIONS];
};

/* `processes` are struct spec_process, sorted as spec_folder_read() does; `specs` are struct
 * local_spec, which this sorts.  Texts are in the arena or in the lists. */
void plan_make(const char *folder, const struct list *processes, struct list *specs,
               struct arena *a, struct plan *ret);

/* The fields in which two values of a shape differ, with full paths: "a.b, c"; "" for none. */
const char *plan_changes(const struct shape *s, const void *was, const void *now, struct arena *a);

extern const struct shape plan_shape; /* struct plan: a list `processes` */

#endif
