/* SPDX-License-Identifier: MIT */
/* core_step.h - what the sources of an operation's phases share: core_ops.c, core_run.c,
 * core_ready.c.  Not for others. */
#ifndef AGENT_CORE_STEP_H
#define AGENT_CORE_STEP_H

#include "agent/core_op.h"

/* When what is on its way is first looked at, for those who watch, and how often then. */
enum { PEEK_MS = 1000 };

/* A peek only tells those who watch: nothing comes of it. */
enum ask { ASK_FOR_GOOD, ASK_PEEK, ASK_PID_FILE };

/* core_ops.c */
void op_set_timer(struct op *op, int64_t in_ms);
int64_t op_timeout_ms(const struct op *op);
void op_ask_who(struct op *op, enum ask ask);
void op_look(struct op *op, enum phase phase);
void op_on_peek(struct op *op, const struct core_probe *probe); /* it was found */
void op_give_time_to_settle(struct op *op);                     /* its command is done */
void op_resume(struct op *op);                                  /* what has become of it? */

/* core_run.c */
/* One that is to stay is looked at while its command still runs, which may be the
 * process itself; one that is to end has all the time there is. */
bool op_may_stay(const struct op *op);
/* Its command is the whole of it: how that ends, and what it says last, is the process's. */
bool op_is_once(const struct op *op);
void op_begin_part(struct op *op); /* its command, or its signal */
void op_adopt(struct op *op);      /* a command of an agent before us */
void op_await_death(struct op *op);
void op_note_old(struct op *op);
void op_on_run_timer(struct op *op);
void op_on_dying_timer(struct op *op);

#endif
