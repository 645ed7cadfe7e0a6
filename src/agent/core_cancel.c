/* SPDX-License-Identifier: MIT */
/* core_cancel.c - see core_cancel.h. */
#include "agent/core_cancel.h"

#include <stdlib.h>

#include "agent/core_op.h"
#include "base/mem.h"

bool op_is_cancelled(const struct op *op)
{
    return op->is_cancelled || op->command.op == OP_NOTHING;
}

void op_end_cancelled(struct op *op)
{
    op_end(op, CODE_CANCELLED, "cancelled before it was begun");
}

/* It waits for its turn, or for a slot, and nothing of it was done by an agent before us. */
static bool is_unbegun(const struct op *op)
{
    if (op->was_running || op->has_acted)
        return false;
    return op->phase == PHASE_QUEUE ||
           (op->phase == PHASE_JOURNAL && TAILQ_FIRST(&op->kept->ops) != op);
}

static void take_nothing(struct core *c, const struct message_cancel *m, int64_t deadline_ms)
{
    struct message_command nothing = {
        .task = m->task, .item = m->item, .op = OP_NOTHING, .meta = m->meta
    };

    shape_defaults(&proc_spec_shape, &nothing.spec);
    (void)core_take(c, &nothing, deadline_ms); /* if there is no room it is asked for again */
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
    } else if (op && !op->is_durable) {
        op->is_cancelled = !op->was_running;
    } else if (op && is_unbegun(op)) {
        op_end_cancelled(op);
    } else {
        c->hands->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
        if (done)
            book_send_again(done);
    }
}
