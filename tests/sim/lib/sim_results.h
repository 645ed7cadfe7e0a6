/* SPDX-License-Identifier: MIT */
/* sim_results.h - the simulator's record of results that an agent has journaled and that are not
 * acknowledged yet.
 *
 * The agent must send each of them at once in every new session, whatever happened to earlier
 * sessions, to the agent, or to the host's power; when the world is calm none is left. */
#ifndef TESTS_SIM_LIB_SIM_RESULTS_H
#define TESTS_SIM_LIB_SIM_RESULTS_H

#include "link/message.h"

struct host;
struct record;
struct sim_item;

/* The item of a record about a result or its acknowledgement; NULL: the record is about something
 * else. */
struct sim_item *sim_results_item(struct host *h, unsigned type, const void *record);

void sim_results_written(struct host *h, unsigned type, struct sim_item *item);
void sim_results_read(struct host *h, const struct record *r); /* by an agent that starts */
void sim_results_forget(struct host *h);                       /* before it reads the journal */
void sim_results_told(struct host *h, const struct message_result *m);
void sim_results_session(struct host *h); /* it was just welcomed */
void sim_results_check(struct host *h);   /* at the end */

#endif
