/* SPDX-License-Identifier: MIT */
/* task_info.c - see task_info.h. */
#include "server/dispatch/task_info.h"

struct task_mark task_mark(const struct task_info *task, size_t n)
{
    if (task->items)
        return (struct task_mark){ task->items[n].op, task->items[n].code, task->items[n].key };
    return task->source->mark(task, n);
}

struct task_item task_item(const struct task_info *task, size_t n)
{
    return task->items ? task->items[n] : task->source->item(task, n);
}
