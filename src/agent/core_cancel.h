/* SPDX-License-Identifier: MIT */
/* core_cancel.h - commands that the server wants no more, for the core's own sources.
 *
 * What has not begun ends with 826, at once; what has goes on, and is said to be taken.  One
 * that has not even come is taken as a command that does nothing and ends so: should it come
 * later, by another way or once more, it is known. */
#ifndef AGENT_CORE_CANCEL_H
#define AGENT_CORE_CANCEL_H

#include <stdbool.h>

#include "link/cancel.h"

struct core;
struct op;

/* `op_type` of what is taken only to be known; no operation has it. */
enum { OP_NOTHING = -1 };

void cancel_on_message(struct core *c, const struct message_cancel *m, int64_t deadline_ms);

/* It is not to be begun. */
bool op_is_cancelled(const struct op *op);
void op_end_cancelled(struct op *op);

#endif
