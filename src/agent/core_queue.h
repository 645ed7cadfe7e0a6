/* SPDX-License-Identifier: MIT */
/* core_queue.h - how many operations act at the same time, for the core's own sources.
 *
 * One that acts needs a slot from its first look until its command has ended, or has been
 * recognised as the process itself; what it waits for after that (a check, a signal's
 * effect, the disk) holds up nobody.  What only asks, or only changes hosting, needs none.
 *
 * The others wait, in the order they came.  Restarts of our own making go before them, and
 * so does the second half of a restart, whose process is down; yet of IN_ROW + 1 slots one
 * is for the others.  A quarter more slots are for those that go first alone, so that
 * commands which hang hold up no hosting. */
#ifndef AGENT_CORE_QUEUE_H
#define AGENT_CORE_QUEUE_H

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
    size_t taken, taken_first; /* slots; those of them that go first */
    size_t in_row;             /* of these have begun while others waited */
    bool is_granting;
};

void op_queue_init(struct op_queue *q);

/* It waits for a slot; op_on_slot() when it has one, which may be at once. */
void op_queue_enter(struct op *op, bool goes_first);

/* A slot for one that acts already, an earlier agent's: be there one or not. */
void op_queue_seize(struct op *op);

/* It waits no longer, or gives back its slot; whoever is next gets it. */
void op_queue_leave(struct op *op);

/* The same for one that ceases to be: nobody is begun. */
void op_queue_drop(struct op *op);

/* Whoever may begin now begins. */
void op_queue_grant(struct core *c);

#endif
