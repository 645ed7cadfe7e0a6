/* SPDX-License-Identifier: MIT */
/* task_info.h - a task as it stands, for who shows it.
 *
 * It may have 50,000 items, and is asked for again and again while they end: so what is shown of
 * an item is put together when it is asked for, and not before. */
#ifndef SERVER_TASK_INFO_H
#define SERVER_TASK_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/view.h"

/* One target as it stands. */
struct task_item {
    const char *agent; /* "": none */
    const char *key;
    int64_t op;
    const char *space, *name;
    int64_t code; /* CODE_WAITING until it has ended */
    const char *text;
    struct proc_view view; /* the process afterwards; of what never ran: its name, and
                            * whether it is hosted, if that is known */
    int64_t done_ms;       /* wall time; 0: not yet */
    const char *setup_path, *proc_name, *func_id, *instance_id; /* of its spec */
};

/* As much of it as all are looked at for. */
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
    const struct task_item *items; /* NULL: `source` has them; ask by task_item() in any case */
    size_t n, n_left;
    int64_t cancelled_ms; /* 0: it was not */
    bool idempotent;
    const struct task_source *source;
    void *from; /* of the source */
};

/* Of n < task->n.  What an item points to is good as long as the task is. */
struct task_mark task_mark(const struct task_info *task, size_t n);
struct task_item task_item(const struct task_info *task, size_t n);

#endif
