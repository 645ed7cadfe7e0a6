/* SPDX-License-Identifier: MIT */
/* core_queue.h - limits the number of operations that act at the same time.  For the core's own
 * sources.
 *
 * An acting operation needs a slot from its first probe until its command has ended, or has been
 * recognised as the process itself.  Later waits (for a check, for the effect of a signal, for
 * the disk) need no slot.  Operations that only query or only change hosting need none.
 *
 * The others wait in order of arrival.  Internal operations except periodic runs have priority,
 * and so does the second half of a restart, because its process is down; still, one in IN_ROW +
 * 1 slots is granted to the others.  A quarter more slots are reserved for operations with
 * priority, so that hanging commands do not delay supervision. */
#ifndef AGENT_SUPERVISE_CORE_QUEUE_H
#define AGENT_SUPERVISE_CORE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

enum { AT_ONCE = 100, IN_ROW = 8 };

struct core;
struct op;
TAILQ_HEAD(op_list, op);

struct op_queue {
    struct op_list first, others;
    size_t at_once;
    size_t taken, taken_first; /* slots in use; those of them with priority */
    size_t in_row;             /* grants with priority in a row while others waited */
    bool is_granting;
};

void op_queue_init(struct op_queue *q);

/* Waits for a slot; OP_SLOT follows when it has one, possibly at once. */
void op_queue_enter(struct op *op, bool goes_first);

/* Takes a slot for an operation that a previous agent started, even if none is free. */
void op_queue_seize(struct op *op);

/* Stops waiting, or returns the slot; the next waiting operation gets it. */
void op_queue_leave(struct op *op);

/* The same for an operation that is being freed: starts no other. */
void op_queue_drop(struct op *op);

/* Starts the waiting operations that may start now. */
void op_queue_grant(struct core *c);
bool op_queue_could_grant(const struct op_queue *q); /* one waits that may start */

#endif
