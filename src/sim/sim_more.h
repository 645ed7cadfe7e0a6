/* SPDX-License-Identifier: MIT */
/* sim_more.h - more of a simulated host: what its processes use, and when they are ready. */
#ifndef SIM_SIM_MORE_H
#define SIM_SIM_MORE_H

#include "agent/core_hands.h"

struct host;
struct sim;

void sim_limit_spec(const struct sim *s, int key, struct proc_spec *spec);
void sim_ready_spec(const struct sim *s, int key, struct proc_spec *spec);
void sim_limit_host(struct host *h); /* its core is there, and not started yet */
void sim_hand_sample(void *host, struct core_ident ident);

#endif
