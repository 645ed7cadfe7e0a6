/* SPDX-License-Identifier: MIT */
/* core_cancel.c - see core_cancel.h. */
#include "agent/supervise/core_cancel.h"

#include <stdlib.h>

#include "agent/supervise/core_step.h"
#include "base/mem/mem.h"

bool op_is_cancelled(const struct op *op)
{
    return op->fate == FATE_CANCELLED || op->command.op == OP_NOTHING;
}

void op_end_cancelled(struct op *op)
{
    op_end(op, CODE_CANCELLED, "cancelled before it was begun");
}

void op_on_cancel_late(struct op *op, const struct op_input *in)
{
    const struct core *c = op->core;
    const struct message_ref ref = { op->command.task, op->command.item };

    (void)in;
    c->effects->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
}

/* It waits for its record, for earlier operations or for a slot.  One that a previous agent began,
 * or whose turn it is, has begun. */
void op_on_cancel(struct op *op, const struct op_input *in)
{
    bool is_next = op->phase == PHASE_JOURNAL && TAILQ_FIRST(&op->proc->ops) == op;

    if (!op->is_durable)
        op->fate = op->begun == BEGUN_BEFORE ? op->fate : FATE_CANCELLED;
    else if (op->begun || is_next)
        op_on_cancel_late(op, in);
    else
        op_end_cancelled(op);
}

static void take_nothing(struct core *c, const struct message_cancel *m, int64_t deadline_ms)
{
    struct message_command nothing = {
        .task = m->task, .item = m->item, .op = OP_NOTHING, .meta = m->meta
    };

    shape_defaults(&proc_spec_shape, &nothing.spec);
    (void)core_take(c, &nothing, deadline_ms); /* if it is not accepted, the server cancels again */
}

void cancel_on_message(struct core *c, const struct message_cancel *m, int64_t deadline_ms)
{
    char *key = xprintf("%s#%lld", m->task, (long long)m->item);
    const struct message_ref ref = { m->task, m->item };
    struct done *done = map_find_str(&c->done, key);
    struct op *op = map_find_str(&c->commands, key);

    free(key);
    if (!done && !op) {
        take_nothing(c, m, deadline_ms);
    } else if (op) {
        op_step(op, OP_CANCELLED, NULL);
    } else {
        c->effects->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
        done_send_again(done);
    }
}
