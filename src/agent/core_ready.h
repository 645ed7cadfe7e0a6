/* SPDX-License-Identifier: MIT */
/* core_ready.h - when a start has succeeded, for the core's own sources.
 *
 * As spec.holdfast.ready says; without it after start_check_secs, and nothing of this is
 * used.  Else the start, restart or pull-up succeeds as soon as the process is ready and
 * has been found, by who it is as ever.  It fails with 836 when ready.timeout has passed, or
 * when the process has ended; a process that runs and is not ready is left as it is.
 *
 * A restart command may leave the old process where it is for a while, so port, pid file and
 * health count when that command has ended, or is the process itself.
 *
 * READY=1 may be said while no agent listens: if one died meanwhile, a process that is alive
 * when its time is over has succeeded. */
#ifndef AGENT_CORE_READY_H
#define AGENT_CORE_READY_H

#include "agent/core_op.h"

/* Its command runs, or has ended: from now on it may be ready, if that is what is waited for. */
void ready_begin(struct op *op);
void ready_settle(struct op *op); /* its command has ended */
void ready_end(struct op *op);    /* it is over */

bool ready_is_self(const struct op *op);    /* its command is the process, which has no time-out */
bool ready_is_missing(const struct op *op); /* it is waited for, and not ready yet */

/* The last question was whether the pid file names it, not who it is. */
bool ready_asks_file(const struct op *op);
/* Whether the answer is about this. */
bool ready_on_probe(struct op *op, const struct core_probe *probe);
void ready_on_exit(struct op *op); /* of the process */
void ready_on_port(struct op *op, bool is_open);
void ready_on_notify(struct op *op, struct core_ident main); /* pid 0: it named none */
struct core_ident ready_main(const struct op *op);           /* the process, as it said itself */

#endif
