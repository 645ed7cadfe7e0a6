/* SPDX-License-Identifier: MIT */
/* task_cancel.c - cancelling of tasks.  The cancellation is stored first, so that no later start of
 * the server sends the items; then the hub ends those that were not started. */
#include "server/dispatch/task_in.h"

struct cancel_call {
    struct active_task *active_task;
    struct task_cancel_ask ask;
};

static void report_cancelled(struct active_task *active_task, const struct err *failure)
{
    struct cancel_waiter *w = active_task->cancels;

    if (active_task->is_cancel_out || (active_task->n_cancelling && !failure))
        return;
    active_task->cancels = NULL;
    for (; w; w = w->next)
        w->fn(w->arg, failure);
}

void cancel_item_ends(struct active_item *item)
{
    item->is_cancelling = true;
    item->task->n_cancelling++;
}

void cancel_item_stored(struct active_item *item)
{
    if (!item->is_cancelling)
        return;
    item->is_cancelling = false;
    if (--item->task->n_cancelling == 0)
        report_cancelled(item->task, NULL);
}

static void on_noted(void *arg, struct store_call *c)
{
    struct cancel_call *e = arg;
    struct active_task *active_task = e->active_task;
    struct tasks *t = active_task->tasks;

    active_task->is_cancel_out = false;
    if (!c->failed && ((struct list *)c->out)->n) { /* otherwise the task has ended meanwhile */
        active_task->cancelled_ms = e->ask.at_ms;
        active_task->is_overtaken = true;
        t->cancelling = active_task;
        hub_cancel(t->hub, active_task->id, loop_now_ms(t->loop));
        t->cancelling = NULL;
    }
    report_cancelled(active_task, c->failed ? &c->err : NULL);
    store_call_free(c);
    tasks_wake(t);
}

static void task_cancel_submit(struct active_task *active_task)
{
    struct store_call *c = store_call_new(&store_task_cancel, on_noted, NULL);
    struct cancel_call *e = arena_alloc(&c->arena, sizeof(*e));
    struct err err;

    *e = (struct cancel_call){ active_task,
                               { active_task->task_no, tasks_wall_ms(active_task->tasks) } };
    c->in = &e->ask;
    c->arg = e;
    active_task->is_cancel_out = true;
    if (pending_calls_submit(active_task->tasks->pending_calls, c, &err) == 0)
        return;
    active_task->is_cancel_out = false;
    store_call_free(c);
    report_cancelled(active_task, &err);
}

void tasks_cancel(struct tasks *t, const char *id, task_cancelled_fn *fn, void *arg)
{
    struct active_task *active_task = map_find_str(&t->by_id, id);
    bool is_new =
        active_task && active_task->task_no && !active_task->is_ended && !active_task->cancelled_ms;
    struct cancel_waiter *w;

    if (!is_new && !(active_task && active_task->n_cancelling)) {
        fn(arg, NULL);
        return;
    }
    w = arena_alloc(&active_task->arena, sizeof(*w));
    *w = (struct cancel_waiter){ fn, arg, active_task->cancels };
    active_task->cancels = w;
    if (is_new && !active_task->is_cancel_out)
        task_cancel_submit(active_task);
}
