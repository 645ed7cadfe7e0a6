/* SPDX-License-Identifier: MIT */
/* core_ready.h - decides when a start has succeeded (spec.holdfast.ready).  For the core's own
 * sources.
 *
 * Without spec.holdfast.ready a start succeeds after start_check_secs, and this module is not
 * used.  Otherwise the start, restart or automatic restart succeeds as soon as the process is
 * ready and has been found by its identity.  It fails with 836 when ready.timeout has passed, or
 * when the process has exited.  A process that runs and is not ready is left running.
 *
 * A restart command may leave the old process running for a while.  So port, pid file and health
 * count only after that command has ended, or if it is the process itself.
 *
 * READY=1 may be sent while no agent listens: if an agent died meanwhile, the start succeeds if
 * the process is alive when the timeout has passed. */
#ifndef AGENT_SUPERVISE_CORE_READY_H
#define AGENT_SUPERVISE_CORE_READY_H

#include "agent/supervise/op_table.h"

/* Its command runs or has ended: from now on it may become ready, if readiness is required. */
void ready_begin(struct op *op);
void ready_settle(struct op *op); /* its command has ended */
void ready_end(struct op *op);    /* the operation has ended */

bool ready_is_self(const struct op *op);    /* its command is the process, which has no time-out */
bool ready_is_missing(const struct op *op); /* readiness is required and not reached yet */

/* Cells of op_table.c. */
op_fn ready_on_reported, ready_on_time;

/* Answers to the probes of an operation that waits for readiness. */
void ready_on_check(struct op *op, const struct core_probe *probe);
void ready_on_self(struct op *op, const struct core_probe *probe);
void ready_on_file(struct op *op, const struct core_probe *probe); /* does the pid file name it? */
void ready_on_exit(struct op *op);                                 /* of the process */
void ready_on_port(struct op *op, const struct core_checked *got);
void ready_on_notify(struct op *op, struct core_ident main); /* pid 0: no main pid was reported */
struct core_ident ready_main(const struct op *op); /* the main process, as reported by itself */

#endif
