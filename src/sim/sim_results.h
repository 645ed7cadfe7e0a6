/* SPDX-License-Identifier: MIT */
/* sim_results.h - the simulator's book of results: those that the agent of a host has
 * written down, and has not heard of that they are stored.
 *
 * It owes them to the server: each is told at once in every new session, whatever became of
 * those before it, of the agent, or of its host's power; and when all is calm none is left. */
#ifndef SIM_SIM_RESULTS_H
#define SIM_SIM_RESULTS_H

#include "link/message.h"

struct host;
struct record;
struct sim_item;

/* The item that a record is of which says that there is a result, or that it is stored;
 * NULL: it says something else. */
struct sim_item *sim_results_item(struct host *h, unsigned type, const void *record);

void sim_results_written(struct host *h, unsigned type, struct sim_item *item);
void sim_results_read(struct host *h, const struct record *r); /* by an agent that begins */
void sim_results_forget(struct host *h);                       /* before it reads any */
void sim_results_told(struct host *h, const struct message_result *m);
void sim_results_session(struct host *h); /* it was welcomed just now */
void sim_results_check(struct host *h);   /* at the end */

#endif
