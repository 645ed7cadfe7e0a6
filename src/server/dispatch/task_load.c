/* SPDX-License-Identifier: MIT */
/* task_load.c - loads unfinished tasks at start, and removes old tasks from the store. */
#include "base/mem/mem.h"
#include "server/dispatch/task_in.h"
#include "server/dispatch/task_join.h"
#include "server/dispatch/task_rows.h"

enum { OPEN_PAGE = 100 };

/* Small steps with pauses for other calls: at most 10,000 rows a second. */
enum { PRUNE_MS = 60 * 1000, PRUNE_AGAIN_MS = 50, PRUNE_ROWS = 500 };
#define DAY_MS (24 * 3600 * INT64_C(1000))

static int read_specs(const struct list *rows, struct arena *a, struct task_stored_spec **ret,
                      struct err *err)
{
    const struct task_spec_row *row = rows->items;
    struct task_stored_spec *specs = arena_alloc(a, rows->n * sizeof(*specs));

    for (size_t i = 0; i < rows->n; i++) {
        if (task_rows_spec(&row[i], a, &specs[i], err))
            return -1;
    }
    *ret = specs;
    return 0;
}

/* ---- start */

static void fill_hub_item(const struct task_item_row *row, const struct task_stored_spec *stored,
                          int64_t begun_ms, struct arena *a, struct hub_item *ret)
{
    bool is_done = row->state == STORE_ITEM_DONE;

    *ret = (struct hub_item){
        .agent = *row->agent_id ? row->agent_id : NULL,
        .key = row->key,
        .op = row->op,
        .meta = { row->space, row->name, { 0 } },
        .spec = &stored->spec,
        .deadline_ms = begun_ms + task_budget_ms(&stored->spec, row->op),
        .code = is_done ? row->code : CODE_WAITING,
        .text = is_done ? row->message : "",
        .by_agent_id = stored->by_agent_id,
        .look = stored->look,
        .signal = stored->signal,
        .was_sent = row->state == STORE_ITEM_CLAIMED,
    };
    task_view_read(row, a, &ret->view);
}

static void fill_active_item(struct tasks *t, const struct task_item_row *row,
                             struct active_item *item)
{
    struct peer *p;

    item->spec_n = row->spec_n;
    item->done_ms = row->done_ms;
    if (row->state == STORE_ITEM_DONE) {
        item->task->left--;
        t->counts.items--;
        return;
    }
    if (row->state == STORE_ITEM_QUEUED)
        return;
    item->claimed = row->epoch;
    p = tasks_peer(t, row->agent_id);
    if (row->epoch > p->last)
        p->last = row->epoch;
}

static int load_task(struct tasks *t, const struct task_read_got *got, struct arena *a,
                     struct err *err)
{
    const struct task_row *task = got->tasks.items;
    const struct task_item_row *rows = got->items.items;
    struct task_create_ask made = { *task, got->specs, got->items };
    struct hub_item *items = arena_alloc(a, got->items.n * sizeof(*items));
    int64_t ago_ms = tasks_wall_ms(t) - task->created_ms, now_ms = loop_now_ms(t->loop);
    struct task_stored_spec *specs = NULL;
    struct active_task *active_task;

    if (task_rows_check(got, err) || read_specs(&got->specs, a, &specs, err))
        return -1;
    active_task = active_task_new(t, task, got->items.n);
    active_task->task_no = task->task_no;
    active_task->labels = task_rows_labels(&got->specs, &active_task->arena);
    for (size_t i = 0; i < active_task->n; i++) {
        fill_hub_item(&rows[i], &specs[rows[i].spec_n], now_ms - (ago_ms > 0 ? ago_ms : 0), a,
                      &items[i]);
        fill_active_item(t, &rows[i], &active_task->items[i]);
    }
    map_put(&t->by_no, (const char *)&active_task->task_no, sizeof(active_task->task_no),
            active_task);
    made.specs = task_rows_renew(specs, got->specs.n, a);
    join_digest(&made, active_task->digest);
    join_add(active_task, &got->items);
    hub_load(t->hub,
             &(struct hub_task){ active_task->id,
                                 { items, active_task->n },
                                 active_task->cancelled_ms != 0,
                                 active_task->app,
                                 active_task->form == TASK_FORM_NATIVE,
                                 active_task->idempotent },
             now_ms);
    return 0;
}

static int load_one(struct tasks *t, const struct task_row *task, struct err *err)
{
    struct task_read_ask ask = { task->id, -1, TASK_ITEMS_MAX };
    struct task_read_got got = { 0 };
    struct arena a = { 0 };
    int result = store_sync(t->store, &store_task_read, &ask, &a, &got, err);

    if (result == 0 && got.tasks.n)
        result = load_task(t, &got, &a, err);
    arena_free(&a);
    return result ? err_wrap(err, "task %s", task->id) : 0;
}

static int load_page(struct tasks *t, struct task_open_ask *ask, bool *ret_more, struct err *err)
{
    struct arena a = { 0 };
    struct list rows = { 0 };
    int result = store_sync(t->store, &store_task_open, ask, &a, &rows, err);
    const struct task_row *task = rows.items;

    for (size_t i = 0; result == 0 && i < rows.n; i++) {
        result = load_one(t, &task[i], err);
        ask->task_no = task[i].task_no;
    }
    *ret_more = rows.n == (size_t)ask->limit;
    arena_free(&a);
    return result;
}

int tasks_load(struct tasks *t, struct err *err)
{
    struct task_open_ask ask = { 0, OPEN_PAGE };
    bool more = true;

    while (more) {
        if (load_page(t, &ask, &more, err))
            return err_wrap(err, "load tasks");
    }
    tasks_wake(t);
    return 0;
}

/* ---- removal of old tasks */

static void on_pruned(void *arg, struct store_call *c)
{
    struct tasks *t = arg;
    const struct task_prune_got *got = c->out;

    if (c->failed)
        LOG(t->log, LOG_WARN, "old tasks are not removed", log_err(&c->err));
    if (c->failed || !got->more)
        claims_forget(t); /* here because this runs periodically */
    timer_set(t->loop, &t->prune, !c->failed && got->more ? PRUNE_AGAIN_MS : PRUNE_MS);
    store_call_free(c);
}

void task_prune(void *arg)
{
    struct tasks *t = arg;
    struct store_call *c = store_call_new(&store_task_prune, on_pruned, t);
    struct task_prune_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err;

    *ask = (struct task_prune_ask){
        retention_now_ms(t->retention, loop_clock(t->loop)) - t->days * DAY_MS, PRUNE_ROWS
    };
    c->in = ask;
    if (pending_calls_submit(t->pending_calls, c, &err) == 0)
        return;
    store_call_free(c);
    timer_set(t->loop, &t->prune, PRUNE_MS);
}
