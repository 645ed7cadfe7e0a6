/* SPDX-License-Identifier: MIT */
/* core_cancel.h - commands that the server cancels.  For the core's own sources.
 *
 * A command that has not started ends with code 826 at once.  A command that has started
 * continues, and the server is answered with MESSAGE_TAKEN.  For a command that has not arrived
 * yet, a placeholder that does nothing is recorded and ends with 826; if the command arrives
 * later, it counts as a repetition. */
#ifndef AGENT_SUPERVISE_CORE_CANCEL_H
#define AGENT_SUPERVISE_CORE_CANCEL_H

#include <stdbool.h>

#include "link/message.h"

struct core;
struct op;

/* `op_type` of such a placeholder; no operation has it. */
enum { OP_NOTHING = -1 };

void cancel_on_message(struct core *c, const struct message_cancel *m, int64_t deadline_ms);

/* Whether the operation was cancelled and must not start. */
bool op_is_cancelled(const struct op *op);
void op_end_cancelled(struct op *op);

#endif
