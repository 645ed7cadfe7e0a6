/* SPDX-License-Identifier: MIT */
/* agent_sample.h - what processes use, as the core asks for it, and the groups of processes
 * that have a limit, written down in `procgroupinfo.json` for other tools.  For the agent's
 * own sources.
 *
 * What is asked for waits until the next settle, and only so much is done in one. */
#ifndef AGENT_AGENT_SAMPLE_H
#define AGENT_AGENT_SAMPLE_H

#include "agent/core_hands.h"
#include "base/err.h"

struct agent;
struct samples;

int samples_new(struct agent *a, struct samples **ret, struct err *err); /* a->core is there */
void samples_free(struct samples *s);                                    /* NULL is fine */

void hand_sample(void *agent, struct core_ident ident);
void samples_settle(struct agent *a);

#endif
