/* SPDX-License-Identifier: MIT */
/* core_rate.h - how often a process was restarted lately.  For the core's own sources.
 *
 * RATE_FLAPPING restarts within RATE_MINUTES make one event, which is repeated every RATE_MINUTES
 * with the count as long as it goes on.  The time is cut into slots, so that a process needs little
 * memory for it, and none before its first restart. */
#ifndef AGENT_SUPERVISE_CORE_RATE_H
#define AGENT_SUPERVISE_CORE_RATE_H

struct proc;

enum { RATE_MINUTES = 10, RATE_FLAPPING = 5 };

/* It was restarted: sets cause.recent_*, which is 0 again RATE_MINUTES after the last time. */
void rate_on_restart(struct proc *k);
/* A previous agent has set cause.recent_*: how often it was restarted before is not known. */
void rate_resume(struct proc *k);
void rate_free(struct proc *k);

#endif
