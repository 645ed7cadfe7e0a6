/* SPDX-License-Identifier: MIT */
/* hub_turns.h - whose item is sent next.  Not for others than the sources of hub.h.
 *
 * What can be sent waits in lanes: the items of one task for one agent, in their order.  Apps
 * take turns, in an app its tasks do, and in a task its lanes; a turn is a few items of a lane.
 * A lane is ready while its agent can be sent one more; those that are not cost nothing.
 *
 * Two limits (hub.h, struct hub_limits), and for both: who has nothing of his on the way may
 * always send one, so that nobody waits for what others have asked.
 *   - per_agent: items that an agent was sent and whose results are not stored: so many it has in
 *     its books, and what it has no room for it would not take;
 *   - total: items that were sent and that no agent has answered, neither that it has them nor
 *     with a result.  An agent that is silent for SILENT_MS counts no more, and gets nothing
 *     until it is heard.
 * To an agent for which too much waits (struct hub_hands, is_full) nothing goes for HELD_MS.
 *
 * Items of one process of an agent go in the order in which they were accepted, whosever they
 * are: one whose turn it is lets those before it go in its place. */
#ifndef SERVER_HUB_TURNS_H
#define SERVER_HUB_TURNS_H

#include "server/hub_in.h"

void turns_init(struct hub *h);
void turns_app(struct task *t, const char *app); /* whose it is; and that it is nobody's: */
void turns_app_done(struct task *t);

void turns_add(struct item *item);    /* it waits for its turn; its agent has a session */
void turns_answer(struct item *item); /* its agent has it */
/* It has a result, which its agent keeps until that is stored; so again in each new session. */
void turns_end(struct item *item);
void turns_drop(struct item *item); /* it waits no more, and is not on the way; again is fine */
void turns_heard(struct agent *a);  /* it is not silent */

/* The agent has a new session, or none: nothing is on the way to it. */
void turns_reset(struct agent *a);
void turns_on_silence(void *agent); /* of its timer */
void turns_on_room(void *agent);    /* likewise: perhaps there is room again */

/* Sends what may be sent, at most a slice of it in one turn of the loop: `now_ms` tells turns
 * apart, and who calls again for the rest says so. */
void turns_take(struct hub *h, bool is_next_turn);
bool turns_wait(const struct hub *h); /* something may be sent at once */
bool turns_spare(struct hub *h);      /* one more may go in this turn of the loop, out of turn */

#endif
