/* SPDX-License-Identifier: MIT */
/* proc_table.h - the life of a process: what each event does in each state.  For the core's own
 * sources.
 *
 * proc->wanted and proc->hosted say what was asked for; proc->actual says what is, and only
 * proc_enter() writes it.  One timer serves all states and stops when a state is left.  A cell
 * names the states that it may lead to.  An empty cell cannot happen: if it does, the pair is
 * counted and logged, and the process is judged anew.  The functions of the cells are in
 * core_restart.c. */
#ifndef AGENT_SUPERVISE_PROC_TABLE_H
#define AGENT_SUPERVISE_PROC_TABLE_H

#include <stdbool.h>

struct proc;

enum proc_actual {
#define PROC_STATE_ROW(id, ...) ACTUAL_##id,
#include "agent/supervise/proc_state_rows.h"
    PROC_STATES
};

enum proc_event {
#define PROC_EVENT_ROW(id, ...) PROC_EVENT_##id,
#include "agent/supervise/proc_state_rows.h"
    PROC_EVENTS
};

typedef void proc_fn(struct proc *k);

struct proc_cell {
    proc_fn *fn;      /* NULL: cannot happen */
    unsigned to;      /* a bit for each state that it may lead to, besides the current one */
    const char *text; /* for docs/lifecycle.md */
};

void proc_step(struct proc *k, enum proc_event event);
void proc_enter(struct proc *k,
                enum proc_actual to); /* and stops the timer, if it is another one */

/* What is wrong with the process, by the invariants of the table; NULL: nothing. */
const char *proc_find_fault(const struct proc *k);

/* For tests and documents. */
const struct proc_cell *proc_table_cell(enum proc_actual state, enum proc_event event);
const char *proc_state_name(enum proc_actual state);
const char *proc_state_text(enum proc_actual state);
const char *proc_event_name(enum proc_event event);
const char *proc_event_text(enum proc_event event);

#endif
