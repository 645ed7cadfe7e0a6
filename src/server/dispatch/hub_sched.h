/* SPDX-License-Identifier: MIT */
/* hub_sched.h - decides which item is sent next.  Private to the sources of hub.h.
 *
 * Items wait in queues: each queue has the items of one task for one agent, in order.  Apps take
 * turns, within an app its tasks, and within a task its queues; a turn sends a few items of one
 * queue.  A queue is ready while one more item may be sent to its agent; queues that are not ready
 * cost nothing.
 *
 * There are two limits (struct hub_limits).  An app without an item on the way may always send one,
 * so no app waits for the requests of another.
 *
 *   - per_agent: items that were sent to an agent and whose results are not stored.  The agent's
 *     journal holds this many; it would refuse more.
 *   - total: items that were sent and that no agent has acknowledged or answered.  An agent that is
 *     silent for SILENT_MS does not count, and is sent nothing until it is heard from.
 *
 * An agent with too much unsent output (struct hub_effects, is_full) is sent nothing for HELD_MS.
 *
 * Items of one process of an agent are sent in the order in which they were accepted, whatever app
 * they belong to: when it is an item's turn, earlier items of its process are sent in its place. */
#ifndef SERVER_DISPATCH_HUB_SCHED_H
#define SERVER_DISPATCH_HUB_SCHED_H

#include "server/dispatch/hub_in.h"

void sched_init(struct hub *h);
void sched_app(struct task *t, const char *app); /* until sched_app_done() */
void sched_app_done(struct task *t);

void sched_add(struct item *item);    /* it waits for its turn; its agent has a session */
void sched_answer(struct item *item); /* its agent has acknowledged it */
/* It has a result.  The agent holds the result until it is stored, so the item counts again in each
 * new session. */
void sched_end(struct item *item);
void sched_drop(struct item *item); /* neither waits nor is on the way; may be repeated */
void sched_heard(struct agent *a);  /* it is not silent */

/* The agent has a new session, or none: nothing is on the way to it. */
void sched_reset(struct agent *a);
void sched_on_silence(void *agent); /* of the timer `silence` */
void sched_on_room(void *agent);    /* of the timer `full`: there may be room again */

/* Sends what may be sent, at most a slice per loop iteration.  An iteration begins with a new time
 * of the hub, or with `is_next_turn`. */
void sched_take(struct hub *h, bool is_next_turn);
bool sched_wait(const struct hub *h); /* whether an item may be sent at once */
bool sched_spare(struct hub *h);      /* takes one of this slice; false: it is used up */

#endif
