/* SPDX-License-Identifier: MIT */
/* task_info.h - a read-only view of a task.
 *
 * A task may have 50,000 items, and clients poll it while they end.  So an item is put together
 * only when it is read. */
#ifndef SERVER_DISPATCH_TASK_INFO_H
#define SERVER_DISPATCH_TASK_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/view.h"

/* One target in its current state. */
struct task_item {
    const char *agent; /* "": none */
    const char *key;   /* see task_key.h */
    int64_t op;
    const char *space, *name;
    int64_t code; /* CODE_WAITING until it has ended */
    const char *text;
    struct proc_view view; /* the process afterwards; if it never ran: names, and hosted if known */
    int64_t done_ms;       /* wall time; 0: not yet */
    const char *setup_path, *proc_name, *func_id, *instance_id; /* of its spec */
    bool by_agent_id; /* each name in its key begins with an agent id as the caller spelled it */
};

/* The part that is read of all items. */
struct task_mark {
    int64_t op, code;
    const char *key;
};

struct task_info;

/* Where the items come from. */
struct task_source {
    struct task_mark (*mark)(const struct task_info *task, size_t n);
    struct task_item (*item)(const struct task_info *task, size_t n);
};

struct task_info {
    const char *id, *app, *user;
    int64_t form, created_ms, deadline_ms;
    const struct task_item *items; /* NULL: `source` has them; use task_item() in either case */
    size_t n, n_left;
    int64_t cancelled_ms; /* 0: not cancelled */
    bool idempotent;
    const struct task_source *source;
    void *from; /* argument of the source */
};

/* For n < task->n.  The contents are valid as long as the task. */
struct task_mark task_mark(const struct task_info *task, size_t n);
struct task_item task_item(const struct task_info *task, size_t n);

#endif
