/* SPDX-License-Identifier: MIT */
/* hub_items.c - one item: sending it, and its end.  See hub_in.h. */
#include "link/message.h"
#include "model/app.h"
#include "model/operation.h"
#include "server/dispatch/hub_sched.h"

enum { RESEND_MS = 5000 };

bool item_is_open(const struct item *item)
{
    return item->task->is_stored && item->state < ITEM_STORING;
}

bool item_is_listed(const struct item *item)
{
    return item->agent && !item->is_twin && item->state != ITEM_ENDED;
}

void item_stop(struct item *item)
{
    timers_stop(&item->task->hub->timers, &item->resend);
    timers_stop(&item->task->hub->timers, &item->deadline);
    sched_drop(item);
    if (item_is_listed(item))
        TAILQ_REMOVE(&item->agent->open, item, link);
}

/* ---- end */

static void keep_result(struct item *item, const struct message_result *result)
{
    struct arena *a = &item->task->arena;

    item->result = *result;
    item->result.task = item->task->id;
    item->result.item = item->n;
    item->result.text = arena_strdup(a, result->text);
    proc_view_keep(&item->result.view, a);
}

static void store_result(struct item *item)
{
    struct hub *h = item->task->hub;

    item->state = ITEM_STORING;
    h->effects->store_result(h->arg, item->task->id, item->n, &item->result);
}

void item_end_twins(struct item *item)
{
    for (struct item *twin = item->twins; twin; twin = twin->twins) {
        if (twin->state == ITEM_ENDED)
            continue;
        twin->result = item->result;
        twin->result.item = twin->n;
        store_result(twin);
    }
}

/* The result is final from here on; it is shown when it is stored. */
void item_end(struct item *item, const struct message_result *result)
{
    struct hub *h = item->task->hub;

    timers_stop(&h->timers, &item->resend);
    timers_stop(&h->timers, &item->deadline);
    sched_end(item);
    keep_result(item, result);
    store_result(item);
    item_end_twins(item);
}

static void fill_own(const struct item *item, int code, const char *text,
                     struct message_result *ret)
{
    *ret = (struct message_result){ .code = code, .text = text };
    shape_defaults(&proc_view_shape, &ret->view);
    ret->view.space = item->pub->meta.space;
    ret->view.name = item->pub->meta.name;
}

void item_end_by_us(struct item *item, int code, const char *text)
{
    struct message_result r;

    fill_own(item, code, text, &r);
    item_end(item, &r);
}

static void show_result(struct item *item)
{
    if (item_is_listed(item))
        TAILQ_REMOVE(&item->agent->open, item, link);
    item->state = ITEM_ENDED;
    item->task->open--;
    item->pub->code = item->result.code;
    item->pub->text = item->result.text;
    item->pub->view = item->result.view;
}

void item_end_unstored(struct item *item, int code, const char *text)
{
    struct message_result r;

    fill_own(item, code, text, &r);
    keep_result(item, &r);
    show_result(item);
}

void item_end_stored(struct item *item, const struct message_result *other)
{
    if (other)
        keep_result(item, other);
    sched_drop(item);
    show_result(item);
}

/* ---- sending */

static void send_cancel(struct item *item)
{
    struct hub *h = item->task->hub;
    const struct message_cancel m = { item->task->id, item->n, item->pub->deadline_ms,
                                      item->pub->meta };

    h->effects->send(h->arg, item->agent->id, item->agent->epoch, MESSAGE_CANCEL,
                     &message_cancel_shape, &m);
}

static void send_command(struct item *item)
{
    struct hub *h = item->task->hub;
    struct message_command m = { .task = item->task->id,
                                 .item = item->n,
                                 .op = item->pub->op,
                                 .deadline_ms = item->pub->deadline_ms,
                                 .meta = item->pub->meta,
                                 .spec = *item->pub->spec,
                                 .look = item->pub->look,
                                 .signal = item->pub->signal };
    bool may_find_running = operation_was_done(m.op, CODE_RUNNING);

    m.stores_spec = item->task->is_idempotent && may_find_running;
    m.hosts_running = item->task->is_native && may_find_running;
    m.ends_tries = item->task->is_native && operation_has_outcome(m.op, MAKES_STOP);
    m.may_host = operation_registers(m.op) ? item->task->may_host : MAY_HOST_NONE;

    if (item->state == ITEM_QUEUED)
        item->state = ITEM_SENT;
    h->effects->send(h->arg, item->agent->id, item->agent->epoch, MESSAGE_COMMAND,
                     &message_command_shape, &m);
}

bool item_send(struct item *item)
{
    struct hub *h = item->task->hub;
    bool is_held =
        h->effects->is_full && h->effects->is_full(h->arg, item->agent->id, item->agent->epoch);

    timers_set(&h->timers, &item->resend,
               h->now_ms + (is_held && item->task->is_cancelled ? HELD_MS : RESEND_MS));
    if (is_held)
        return false;
    if (item->task->is_cancelled)
        send_cancel(item);
    else
        send_command(item);
    return true;
}

/* Only the agent knows whether it has started what it was sent.  A cancel is repeated until the
 * agent answers, like a command that was not acknowledged.  With many items, cancels are sent slice
 * by slice. */
void item_cancel(struct item *item)
{
    if (!item_is_open(item) || item->is_twin)
        return;
    if (item->state == ITEM_QUEUED) {
        item_end_by_us(item, CODE_CANCELLED, MSG("cancelled before it was sent to the agent"));
        return;
    }
    item->state = ITEM_SENT;
    if (item->is_sent && sched_spare(item->task->hub))
        (void)item_send(item); /* if held back, the timer sends it again */
    else if (item->is_sent)
        timers_set(&item->task->hub->timers, &item->resend, item->task->hub->now_ms);
    else if (item->agent->epoch && !item->sched_queue)
        sched_add(item);
}

static void on_resend(void *arg)
{
    struct item *item = arg;

    if (item_is_open(item) && item->state != ITEM_TAKEN && item->is_sent)
        (void)item_send(item); /* if held back, the timer sends it again */
}

static void on_deadline(void *arg)
{
    struct item *item = arg;

    if (item_is_open(item))
        item_end_by_us(item, CODE_DEADLINE, MSG("the agent did not answer before the deadline"));
}

const char *item_why_offline(const struct item *item)
{
    if (!item->agent)
        return MSG("no such host");
    return item->agent->epoch || !item->agent->is_offline ? NULL
                                                          : MSG("the agent is not connected");
}

/* The deadline timer starts here, not earlier: while the store is busy with the task it could have
 * no effect. */
void item_dispatch(struct item *item)
{
    const char *why;

    if (!item_is_open(item) || item->is_twin)
        return;
    timers_set(&item->task->hub->timers, &item->deadline, item->pub->deadline_ms);
    why = item_why_offline(item);
    if (item->task->is_cancelled)
        item_cancel(item);
    else if (why)
        item_end_by_us(item, CODE_OFFLINE, why);
    else if (item->agent->epoch)
        sched_add(item);
}

void item_init(struct item *item)
{
    timer_init(&item->resend, on_resend, item);
    timer_init(&item->deadline, on_deadline, item);
    if (item->pub->code != CODE_WAITING)
        item->state = ITEM_ENDED;
    else if (item->pub->was_sent)
        item->state = ITEM_SENT;
}
