/* SPDX-License-Identifier: MIT */
/* task.h - operations and what became of them, as /v1 has them. */
#ifndef MODEL_TASK_H
#define MODEL_TASK_H

#include <stdint.h>

#include "model/proc.h"
#include "model/view.h"

/* POST /v1/operations: one operation on one process of several hosts.  Without hosts it
 * is for all where the process is known; without a spec each host's is used. */
struct operation_ask {
    int64_t op; /* enum proc_op, by name: start, stop, ... */
    const char *space, *name;
    struct list hosts; /* struct agent_ref: agent id, "cloud:ip", or an ip of cloud area 0 */
    struct proc_spec spec;
    enum presence has_spec;
};

struct operation_view { /* its answer */
    const char *task_id;
    int64_t items;
};

struct task_item_view {
    const char *key, *agent_id, *ip, *space, *name; /* ip "": the host is not known (any more) */
    int64_t cloud_id, op;                           /* by name where it has one */
    bool done;
    int64_t code; /* 0: it went well; 115: not done */
    const char *text;
    struct proc_view view;
};

struct task_view {
    const char *task_id, *app, *user;
    int64_t created_ms, deadline_ms; /* since 1970 */
    int64_t total, left, failed;
    struct list items; /* struct task_item_view */
};

/* What BlueKing's operate calls answer with, and its result calls ask for. */
struct task_ref {
    const char *task_id;
};

extern const struct enum_name proc_op_names[];
extern const struct shape operation_ask_shape, operation_view_shape, task_item_view_shape,
    task_view_shape, task_ref_shape;

#endif
