/* SPDX-License-Identifier: MIT */
/* core_queue.c - see core_queue.h. */
#include "agent/supervise/core_queue.h"

#include "agent/supervise/op_table.h"

void op_queue_init(struct op_queue *q)
{
    TAILQ_INIT(&q->first);
    TAILQ_INIT(&q->others);
    q->at_once = AT_ONCE;
}

/* A waiting operation may have been overtaken by a restart of its process: it keeps its place. */
static struct op *first_ready(const struct op_list *list)
{
    struct op *op;

    TAILQ_FOREACH(op, list, queued) {
        if (TAILQ_FIRST(&op->proc->ops) == op)
            break;
    }
    return op;
}

static struct op *next_to_begin(const struct op_queue *q)
{
    bool is_free = q->taken < q->at_once;
    struct op *first = NULL, *other = is_free ? first_ready(&q->others) : NULL;

    if (is_free || q->taken_first < (q->at_once + 3) / 4)
        first = first_ready(&q->first);
    return first && !(other && q->in_row >= IN_ROW) ? first : other;
}

static void remove_queued(struct op *op)
{
    struct op_queue *q = &op->core->queue;

    TAILQ_REMOVE(op->goes_first ? &q->first : &q->others, op, queued);
    op->is_queued = false;
}

void op_queue_seize(struct op *op)
{
    struct op_queue *q = &op->core->queue;

    if (op->has_slot)
        return;
    op->has_slot = true;
    q->taken++;
    q->taken_first += op->goes_first;
}

/* An operation that ends at once returns its slot within this function: a loop, so that a
 * thousand of them need no more stack than one. */
void op_queue_grant(struct core *c)
{
    struct op_queue *q = &c->queue;
    struct op *op;

    if (q->is_granting)
        return;
    q->is_granting = true;
    while ((op = next_to_begin(q))) {
        q->in_row = op->goes_first && !TAILQ_EMPTY(&q->others) ? q->in_row + 1 : 0;
        remove_queued(op);
        op_queue_seize(op);
        op_step(op, OP_SLOT, NULL);
    }
    q->is_granting = false;
}

void op_queue_enter(struct op *op, bool goes_first)
{
    struct op_queue *q = &op->core->queue;

    op->goes_first = goes_first;
    op->asked_ms = op->core->now_ms;
    op->is_queued = true;
    TAILQ_INSERT_TAIL(goes_first ? &q->first : &q->others, op, queued);
    op_queue_grant(op->core);
}

void op_queue_drop(struct op *op)
{
    struct op_queue *q = &op->core->queue;

    if (op->is_queued)
        remove_queued(op);
    if (!op->has_slot)
        return;
    op->has_slot = false;
    q->taken--;
    q->taken_first -= op->goes_first;
}

void op_queue_leave(struct op *op)
{
    bool had_slot = op->has_slot;

    op_queue_drop(op);
    if (had_slot)
        op_queue_grant(op->core);
}

bool op_queue_could_grant(const struct op_queue *q)
{
    return next_to_begin(q) != NULL;
}
