/* SPDX-License-Identifier: MIT */
/* op_table.h - the life of an operation: what each event does in each phase.  For the core's own
 * sources.
 *
 * Every input of an operation is an event, and op_step() carries out the cell of the current phase.
 * A cell names the phases that it may lead to.  An empty cell cannot happen: if it does, the pair
 * is counted and logged, and the operation ends with CODE_SYSTEM.  The functions of the cells are
 * in core_ops.c, core_run.c and core_ready.c. */
#ifndef AGENT_SUPERVISE_OP_TABLE_H
#define AGENT_SUPERVISE_OP_TABLE_H

#include "agent/supervise/core_op.h"

enum op_event {
#define EVENT_ROW(id, ...) OP_##id,
#include "agent/supervise/op_phase_rows.h"
    OP_EVENTS
};

/* The data of an event; NULL where it has none. */
struct op_input {
    const struct core_probe *probe;     /* PROBED */
    const struct core_members *members; /* FAMILY */
    const struct core_began *began;     /* BEGAN, or */
    const struct err *failure;          /* why it could not be started */
    int status;                         /* ENDED */
    const char *output;                 /* ENDED */
};

typedef void op_fn(struct op *op, const struct op_input *in);

struct op_cell {
    op_fn *fn;        /* NULL: cannot happen */
    unsigned to;      /* a bit for each phase that it may lead to, besides the current one */
    const char *text; /* for docs/lifecycle.md */
};

/* The operation may have been freed afterwards. */
void op_step(struct op *op, enum op_event event, const struct op_input *in);

/* Changes the phase, and stops the timer of the previous one. */
void op_enter(struct op *op, enum op_phase phase);

/* For tests and documents. */
const struct op_cell *op_table_cell(enum op_phase phase, enum op_event event);
const char *op_phase_name(enum op_phase phase);
const char *op_phase_text(enum op_phase phase);
const char *op_event_name(enum op_event event);
const char *op_event_text(enum op_event event);

#endif
