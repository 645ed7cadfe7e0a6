/* SPDX-License-Identifier: MIT */
/* task.h - operations and their results, as /v1 shows them. */
#ifndef MODEL_TASK_H
#define MODEL_TASK_H

#include <stdint.h>

#include "model/proc.h"
#include "model/short_spec.h"
#include "model/view.h"

/* POST /v1/operations: one operation on one process of several hosts.  Without hosts it is for all
 * hosts that have the process; without a spec each host's own is used. */
struct operation_ask {
    int64_t op; /* enum proc_op, by name: start, stop, ... */
    const char *space, *name;
    struct list hosts; /* struct agent_ref: agent id, "cloud:ip", or an ip of cloud area 0 */
    struct proc_spec spec;
    enum presence has_spec;
    int64_t expect; /* expected number of targets; any other number refuses the request */
    enum presence has_expect;
    bool dry_run, idempotent;
    const char *signal; /* of PROC_OP_SIGNAL: model/signal.h */
};

/* The same as it is read: its spec may be a short one. */
struct operation_short_ask {
    struct operation_ask ask; /* but for `spec` */
    struct short_spec spec;
};

struct operation_target { /* as task_item_view; code 0: it would be tried */
    const char *key, *agent_id, *ip;
    int64_t cloud_id;
    bool online;
    int64_t code;
    const char *text;
};

struct operation_view {  /* its answer */
    const char *task_id; /* "": a dry run */
    int64_t items;
    int64_t deadline_ms; /* since 1970; every target has ended by then; 0: a dry run */
    bool dry_run;
    struct list targets; /* struct operation_target; only of a dry run */
};

struct forget_ask { /* POST /v1/processes/forget: removes the definition and stops hosting */
    const char *space, *name;
    struct list hosts; /* struct agent_ref, as above */
};
struct forget_view {
    struct list targets; /* struct operation_target, as named in the request; code 0: done */
};

struct task_item_view {
    const char *key, *agent_id, *ip, *space, *name; /* ip "": the host is not known any more */
    int64_t cloud_id, op;                           /* op is written by name if it has one */
    bool done, changed;
    int64_t code; /* 0: success; 115: not done yet */
    const char *text;
    struct proc_view view;
};

struct task_code_view {
    int64_t code, count;
    const char *name, *text;
};

struct task_view {
    const char *task_id, *app, *user;
    int64_t created_ms, deadline_ms, cancelled_ms; /* since 1970 */
    int64_t total, left, failed, unchanged;
    bool idempotent;
    struct list codes; /* struct task_code_view */
    struct list items; /* struct task_item_view */
    const char *next;
};

/* GET /v1/tasks/ID */
enum task_items { TASK_ITEMS_ALL, TASK_ITEMS_FAILED, TASK_ITEMS_OPEN, TASK_ITEMS_NONE };
struct task_look {
    int64_t only; /* enum task_items */
    int64_t after, limit;
};

struct task_list_query { /* GET /v1/tasks, and one task of its answer */
    const char *app;
    bool open, failed;
    int64_t since_s;
    const char *after;
    int64_t limit;
};

struct task_line {
    const char *task_id, *app, *user;
    int64_t op;
    const char *space, *name; /* of the first item */
    int64_t created_ms, finished_ms, cancelled_ms, total, left, failed;
    int64_t cancelled; /* of `failed`: cancelled before they started */
};

struct task_page {
    struct list tasks; /* struct task_line, newest first */
    const char *next;
};

/* The answer of BlueKing's operate calls, and the request of its result calls. */
struct task_ref {
    const char *task_id;
};

extern const struct shape operation_ask_shape, operation_short_ask_shape, operation_view_shape,
    operation_target_shape, forget_ask_shape, forget_view_shape, task_item_view_shape,
    task_code_view_shape, task_view_shape, task_look_shape, task_list_query_shape, task_line_shape,
    task_page_shape, task_ref_shape;

#endif
