/* SPDX-License-Identifier: MIT */
/* core_step.h - definitions shared by the sources of an operation's phases (core_ops.c,
 * core_run.c, core_ready.c); private to them. */
#ifndef AGENT_SUPERVISE_CORE_STEP_H
#define AGENT_SUPERVISE_CORE_STEP_H

#include "agent/supervise/op_table.h"

/* The interval of probes for display while an operation is in progress, and the first of them: they
 * also say since when the process has its name. */
enum { FIRST_PEEK_MS = 250, PEEK_MS = 1000 };

/* Cells of op_table.c: core_ops.c */
op_fn op_on_accepted, op_on_turn, op_on_slot, op_on_looked, op_on_asked, op_on_checked;
op_fn op_on_settle_probed, op_on_settle_exited, op_on_died, op_on_result_durable;
op_fn op_on_deadline, op_on_look_timer, op_on_find_timer, op_on_settle_timer, op_on_check_timer;

/* core_run.c */
op_fn op_on_run_probed, op_on_began, op_on_ended, op_on_late_ended, op_on_run_exited;
op_fn op_on_prepared, op_on_prepare_timer;
op_fn op_on_run_timer, op_on_late_timer, op_on_dying_timer;

/* core_clear.c */
op_fn op_on_family, op_on_clear_probed, op_on_clear_timer;
void op_fill_family(const struct op *op, int number, struct core_family *ret);
/* Ends what is left of the family; false: no member is left.  If not, the operation goes on as
 * `then` says. */
bool op_clear(struct op *op, enum op_clear_then then);

/* core_cancel.c */
op_fn op_on_cancel, op_on_cancel_late;

/* core_ops.c */
void op_set_timer(struct op *op, int64_t in_ms);
int64_t op_timeout_ms(const struct op *op);
void op_ask_who(struct op *op, enum ask ask);
void op_check(struct op *op);                                        /* probes for the outcome */
void op_on_peek(struct op *op, const struct core_probe *probe);      /* the process was found */
void op_tell_instead(struct op *op, const struct core_probe *probe); /* another program runs */
void op_give_time_to_settle(struct op *op);                          /* its command has ended */
/* The process that was found is the command: it has had its name since that began. */
void op_note_begin(struct op *op, struct core_ident ident);
void op_note_found(struct proc *k, struct core_ident ident);
void op_end_down(struct op *op); /* nothing was to be stopped */
void op_resume(struct op *op);   /* determines what became of it */

/* core_run.c */
/* Whether the process is expected to stay running.  If so, it is probed while its command still
 * runs, because the command may be the process itself; otherwise the command runs until it ends. */
bool op_may_stay(const struct op *op);
/* Whether its command is the process: exit status and last output of the command are those of
 * the process. */
bool op_is_once(const struct op *op);
void op_tell_begun(const struct op *op); /* it begins to start or stop the process */
void op_begin_part(struct op *op);       /* starts its command or sends its signal */
void op_adopt(struct op *op);            /* takes over a command of a previous agent */
void op_resume_preparing(struct op *op); /* its pre-start command */
void op_await_death(struct op *op);
void op_note_old(struct op *op);

#endif
