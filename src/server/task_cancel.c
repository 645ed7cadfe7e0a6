/* SPDX-License-Identifier: MIT */
/* task_cancel.c - tasks that somebody wants no more.  That is stored first, so that no start
 * of ours sends what was cancelled; then the hub ends what it can. */
#include "server/task_in.h"

struct errand {
    struct live *live;
    struct task_cancel_ask ask;
};

static void tell(struct live *live, const struct err *failure)
{
    struct cancel_waiter *w = live->cancels;

    if (live->is_cancel_out || (live->n_cancelling && !failure))
        return;
    live->cancels = NULL;
    for (; w; w = w->next)
        w->fn(w->arg, failure);
}

void cancel_item_ends(struct live_item *item)
{
    item->is_cancelling = true;
    item->task->n_cancelling++;
}

void cancel_item_stored(struct live_item *item)
{
    if (!item->is_cancelling)
        return;
    item->is_cancelling = false;
    if (--item->task->n_cancelling == 0)
        tell(item->task, NULL);
}

static void on_noted(void *arg, struct store_call *c)
{
    struct errand *e = arg;
    struct live *live = e->live;
    struct tasks *t = live->tasks;

    live->is_cancel_out = false;
    if (!c->failed && ((struct list *)c->out)->n) { /* else it has ended meanwhile */
        live->cancelled_ms = e->ask.at_ms;
        live->is_overtaken = true;
        t->cancelling = live;
        hub_cancel(t->hub, live->id, loop_now_ms(t->loop));
        t->cancelling = NULL;
    }
    tell(live, c->failed ? &c->err : NULL);
    store_call_free(c);
    tasks_wake(t);
}

static void submit(struct live *live)
{
    struct store_call *c = store_call_new(&store_task_cancel, on_noted, NULL);
    struct errand *e = arena_alloc(&c->arena, sizeof(*e));
    struct err err;

    *e = (struct errand){ live, { live->task_no, tasks_wall_ms(live->tasks) } };
    c->in = &e->ask;
    c->arg = e;
    live->is_cancel_out = true;
    if (errands_submit(live->tasks->errands, c, &err) == 0)
        return;
    live->is_cancel_out = false;
    store_call_free(c);
    tell(live, &err);
}

void tasks_cancel(struct tasks *t, const char *id, task_cancelled_fn *fn, void *arg)
{
    struct live *live = map_find_str(&t->by_id, id);
    bool is_new = live && live->task_no && !live->is_ended && !live->cancelled_ms;
    struct cancel_waiter *w;

    if (!is_new && !(live && live->n_cancelling)) {
        fn(arg, NULL);
        return;
    }
    w = arena_alloc(&live->arena, sizeof(*w));
    *w = (struct cancel_waiter){ fn, arg, live->cancels };
    live->cancels = w;
    if (is_new && !live->is_cancel_out)
        submit(live);
}
