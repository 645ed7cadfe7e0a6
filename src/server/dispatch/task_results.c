/* SPDX-License-Identifier: MIT */
/* task_results.c - storing of results.
 *
 * The results of one loop iteration are stored together, and while a call is out further results
 * collect: so the results of a large task need only a few calls, in which tasks take turns.  A
 * result waits here until it is stored; then the hub shows it. */
#include "base/mem/mem.h"
#include "model/operation.h"
#include "model/task.h"
#include "server/dispatch/task_in.h"
#include "server/dispatch/task_rows.h"

enum { BATCH_MAX = 4096, TURN = 256, UNPARK_MS = 500 };

struct batch {
    struct tasks *tasks;
    struct active_item **items;
    struct result_row *rows;
    size_t n;
};

void results_put(struct active_item *item, const struct message_result *result)
{
    struct tasks *t = item->task->tasks;

    item->result = result;
    if (TAILQ_EMPTY(&item->task->waiting))
        TAILQ_INSERT_TAIL(&t->waiting, item->task, waits);
    TAILQ_INSERT_TAIL(&item->task->waiting, item, link);
    outbox_soon(t, &t->results);
}

static void requeue(struct active_item *item)
{
    results_put(item, item->result);
}

/* Waits for a claim to return, or for UNPARK_MS. */
static void park(struct active_item *item)
{
    struct tasks *t = item->task->tasks;

    TAILQ_INSERT_TAIL(&t->parked, item, link);
    if (!t->unpark.place)
        timer_set(t->loop, &t->unpark, UNPARK_MS);
}

void results_unpark(void *arg)
{
    struct tasks *t = arg;
    struct active_item *item;

    timer_stop(t->loop, &t->unpark);
    while ((item = TAILQ_FIRST(&t->parked))) {
        TAILQ_REMOVE(&t->parked, item, link);
        requeue(item);
    }
}

/* ---- the stored state of one item */

static void log_unknown(const struct active_item *item)
{
    LOG(item->task->tasks->log, LOG_ERROR, "the store does not know a task that runs",
        log_str("task", item->task->id), log_int("item", item->n));
}

/* The item was ended before by another writer: the stored result counts. */
static void take_stored(struct active_item *item, const struct task_item_row *row)
{
    struct message_result stored = { .code = row->code, .text = row->message };
    struct arena a = { 0 };

    task_view_read(row, &a, &stored.view);
    item->done_ms = row->done_ms;
    active_item_stored(item, &stored);
    arena_free(&a);
}

/* The item is claimed for another session than we assumed.  If that is one of ours, we use it; if
 * it belongs to another server, we must not end the item. */
static void learn_claim(struct active_item *item, const struct task_item_row *row)
{
    struct tasks *t = item->task->tasks;
    struct peer *p = tasks_peer(t, row->agent_id);
    int64_t believed = item->claimed;

    if (row->state == STORE_ITEM_QUEUED)
        item->claimed = 0;
    else if (row->epoch <= p->last)
        item->claimed = row->epoch;
    if (p->epoch > row->epoch)
        claims_put(t, p);
    if (item->claimed != believed)
        requeue(item);
    else
        park(item);
}

static void task_results_on_looked(void *arg, struct store_call *c)
{
    struct active_item *item = arg;
    const struct list *rows = c->out;
    const struct task_item_row *row = rows->items;

    if (c->failed) {
        park(item);
    } else if (rows->n == 0) {
        log_unknown(item);
        active_item_stored(item, NULL);
    } else if (row->state == STORE_ITEM_DONE) {
        take_stored(item, row);
    } else {
        learn_claim(item, row);
    }
    tasks_wake(item->task->tasks);
    store_call_free(c);
}

static void look_up(struct active_item *item)
{
    struct store_call *c = store_call_new(&store_item_find, task_results_on_looked, item);
    struct item_ref *ref = arena_alloc(&c->arena, sizeof(*ref));
    struct err err;

    *ref = (struct item_ref){ item->task->task_no, item->n };
    c->in = ref;
    if (pending_calls_submit(item->task->tasks->pending_calls, c, &err)) {
        store_call_free(c);
        park(item);
    }
}

/* ---- one batch */

static void take_verdict(struct active_item *item, const struct result_row *row, int64_t verdict)
{
    switch ((enum store_verdict)verdict) {
    case STORE_WRITTEN: active_item_stored(item, NULL); break;
    case STORE_UNKNOWN:
        log_unknown(item);
        active_item_stored(item, NULL);
        break;
    case STORE_REPEATED: look_up(item); break;
    case STORE_STALE:
        if (item->claimed != row->epoch)
            requeue(item); /* a claim returned meanwhile */
        else
            look_up(item);
        break;
    }
}

/* Before results that came since, in the original order. */
static void task_results_put_back(struct batch *b)
{
    for (size_t i = b->n; i-- > 0;) {
        struct active_task *active_task = b->items[i]->task;

        if (TAILQ_EMPTY(&active_task->waiting))
            TAILQ_INSERT_HEAD(&b->tasks->waiting, active_task, waits);
        TAILQ_INSERT_HEAD(&active_task->waiting, b->items[i], link);
    }
}

static void on_written(void *arg, struct store_call *c)
{
    struct batch *b = arg;
    struct tasks *t = b->tasks;
    const struct task_result_got *got = c->out;
    const struct verdict_row *verdicts = got->verdicts.items;

    t->results.is_out = false;
    if (c->failed) {
        task_results_put_back(b);
        outbox_failed(t, &t->results, &c->err);
        store_call_free(c);
        return;
    }
    t->results.wait_ms = 0;
    for (size_t i = 0; i < b->n; i++)
        take_verdict(b->items[i], &b->rows[i], verdicts[i].verdict);
    store_call_free(c);
    if (!TAILQ_EMPTY(&t->waiting))
        outbox_soon(t, &t->results);
    tasks_wake(t);
}

static bool is_failure(const struct active_item *item)
{
    const struct active_task *active_task = item->task;
    int64_t code = item->result->code;
    size_t n;

    if (code == CODE_OK || !active_task->idempotent)
        return code != CODE_OK;
    return !operation_was_done(hub_find(active_task->tasks->hub, active_task->id, &n)[item->n].op,
                               code);
}

static void task_results_fill_row(struct active_item *item, int64_t wall_ms, struct arena *a,
                                  struct result_row *ret)
{
    item->done_ms = wall_ms;
    *ret = (struct result_row){
        .task_no = item->task->task_no,
        .n = item->n,
        .epoch = item->claimed,
        .code = item->result->code,
        .message = arena_strdup(a, item->result->text),
        .content = task_view_json(&item->result->view, a),
        .done_ms = wall_ms,
        .is_failure = is_failure(item),
    };
}

static void task_results_take_turn(struct batch *b, struct active_task *active_task,
                                   struct arena *a)
{
    struct tasks *t = b->tasks;
    struct active_item *item;

    TAILQ_REMOVE(&t->waiting, active_task, waits);
    for (int i = 0; i < TURN && b->n < BATCH_MAX && (item = TAILQ_FIRST(&active_task->waiting));
         i++) {
        TAILQ_REMOVE(&active_task->waiting, item, link);
        task_results_fill_row(item, tasks_wall_ms(t), a, &b->rows[b->n]);
        b->items[b->n++] = item;
    }
    if (!TAILQ_EMPTY(&active_task->waiting))
        TAILQ_INSERT_TAIL(&t->waiting, active_task, waits);
}

static struct batch *take_batch(struct tasks *t, struct arena *a)
{
    struct batch *b = arena_alloc(a, sizeof(*b));
    struct active_task *active_task;

    b->tasks = t;
    b->items = arena_alloc(a, BATCH_MAX * sizeof(struct active_item *));
    b->rows = arena_alloc(a, BATCH_MAX * sizeof(*b->rows));
    while (b->n < BATCH_MAX && (active_task = TAILQ_FIRST(&t->waiting)))
        task_results_take_turn(b, active_task, a);
    return b;
}

void results_flush(void *arg)
{
    struct tasks *t = arg;
    struct store_call *c;
    struct task_result_ask *ask;
    struct batch *b;
    struct err err;

    if (t->results.is_out || TAILQ_EMPTY(&t->waiting))
        return;
    c = store_call_new(&store_task_result, on_written, NULL);
    ask = arena_alloc(&c->arena, sizeof(*ask));
    b = take_batch(t, &c->arena);
    ask->results = (struct list){ b->rows, b->n };
    c->in = ask;
    c->arg = b;
    t->results.is_out = true;
    if (pending_calls_submit(t->pending_calls, c, &err) == 0)
        return;
    t->results.is_out = false;
    task_results_put_back(b);
    outbox_failed(t, &t->results, &err);
    store_call_free(c);
}
