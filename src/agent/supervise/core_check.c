/* SPDX-License-Identifier: MIT */
/* core_check.c - the invariants of the core's state: for tests and the simulator. */
#include "agent/supervise/core_ready.h"
#include "agent/supervise/op_table.h"

#define PHASES_OF(a, b, c, d)                                                                      \
    (1u << PHASE_##a | 1u << PHASE_##b | 1u << PHASE_##c | 1u << PHASE_##d)

static bool op_is_in(const struct op *op, unsigned phases)
{
    return phases & 1u << op->phase;
}

/* What is wrong with the operation; NULL: nothing. */
static const char *find_op_fault(const struct op *op)
{
    bool is_first = TAILQ_FIRST(&op->proc->ops) == op;

    if (!is_first && !op_is_in(op, PHASES_OF(JOURNAL, QUEUE, ASK, SYNC)))
        return "two operations act on one process";
    if (op->has_slot && !op_is_in(op, PHASES_OF(LOOK, PREPARE, RUN, LATE)))
        return "an operation that does not act has a slot";
    if (op->is_queued != (op->phase == PHASE_QUEUE))
        return "an operation waits for a slot and is not in the queue, or the reverse";
    if (op->ready && !op_is_in(op, PHASES_OF(RUN, LATE, SETTLE, CHECK)))
        return "readiness is awaited without a start";
    if (op->run.pid && !op_is_in(op, PHASES_OF(PREPARE, RUN, LATE, FIND)) &&
        op->phase != PHASE_SYNC && op->begun != BEGUN_BEFORE)
        return "a command runs in a phase that has none";
    if (op->phase == PHASE_PREPARE && !op->is_preparing)
        return "a pre-start command runs that is none";
    if (op->phase == PHASE_CLEAR && op->proc->ident.pid)
        return "a process that runs is cleared away";
    if (op->phase == PHASE_DYING && !op->sent && op->begun != BEGUN_RESUMED)
        return "the end of a process is awaited that got no signal";
    if (op->phase == PHASE_SYNC && op_is_ours(op))
        return "an internal operation waits for its result to be durable";
    return NULL;
}

static const char *find_slot_fault(const struct core *c)
{
    const struct op_queue *q = &c->queue;
    size_t taken = 0, taken_first = 0;
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;

        taken += op->has_slot;
        taken_first += op->has_slot && op->goes_first;
    }
    if (taken != q->taken || taken_first != q->taken_first)
        return "slots are taken that no operation has";
    return op_queue_could_grant(q) ? "an operation waits while a slot is free" : NULL;
}

const char *core_find_fault(const struct core *c)
{
    struct map_entry *e;
    const char *fault = c->unexpected ? "an event came that the tables do not have" : NULL;

    for (size_t at = 0; !fault && (e = map_next(&c->by_id, &at));)
        fault = find_op_fault(e->value);
    for (size_t at = 0; c->is_started && !fault && (e = map_next(&c->proc, &at));)
        fault = proc_find_fault(e->value);
    return fault ? fault : find_slot_fault(c);
}
