/* SPDX-License-Identifier: MIT */
/* core_restart.h - the restart rule, and the cells of proc_table.c.  For the core's own sources. */
#ifndef AGENT_SUPERVISE_CORE_RESTART_H
#define AGENT_SUPERVISE_CORE_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/supervise/proc_table.h"

struct proc_spec;

/* Cells of proc_table.c. */
proc_fn restart_judge, restart_settle, restart_try;
proc_fn restart_on_found, restart_on_up, restart_on_begun, restart_on_up_end, restart_on_young_end;

void restart_init(struct proc *k);
void restart_on_exit(struct proc *k); /* with or without an operation in progress */
/* Before the process is known to be down: whether its end is news; and the event about it, once its
 * output is known. */
void restart_note_exit(struct proc *k);
void restart_tell_exit(struct proc *k);
/* The outcome of an automatic restart. */
void restart_on_done(struct proc *k, int code, const char *text);
void restart_count(struct proc *k); /* it was restarted */
/* Call when no operation is in progress: restarts the process if needed. */
void restart_evaluate(struct proc *k);
void restart_resume(struct proc *k); /* an internal operation was in progress when the agent died */
/* Hosting begins: clears "denied", "finished" and its failures. */
void restart_reset(struct proc *k);
void restart_on_boot(struct proc *k);  /* the host was started anew */
void restart_on_limit(struct proc *k); /* it was stopped because of a limit: its run was up */
/* This spec is about to replace its own, which it may run with: another command, path, user or
 * environment has to prove itself. */
void restart_on_spec(struct proc *k, const struct proc_spec *spec);
bool restart_is_unlimited(
    const struct proc *k); /* no number of tries ends its hosting, as of now */
bool restart_is_in_progress(const struct proc *k); /* an operation acts on it or is about to */
/* Whether it is restarted if it is down: hosted, resident, has not ended as expected, and is not
 * forbidden by the policy. */
bool restart_is_wanted(const struct proc *k);
void restart_on_failure(struct proc *k); /* a start failed, and it does not run */

/* Of a restart of a running process that the previous agent had begun: after the first half it is
 * down, and the command of the second half is the last start command. */
int restart_resumed_half(const struct proc *k); /* enum op_half */

/* Restarts a running process for its health.  False: it may not be restarted now. */
bool restart_for_health(struct proc *k);

#endif
