/* SPDX-License-Identifier: MIT */
/* sim_more.h - resource usage and readiness of simulated processes. */
#ifndef TESTS_SIM_LIB_SIM_MORE_H
#define TESTS_SIM_LIB_SIM_MORE_H

#include "agent/supervise/core_effects.h"

struct host;
struct sim;

void sim_limit_spec(const struct sim *s, int key, struct proc_spec *spec);
void sim_ready_spec(const struct sim *s, int key, struct proc_spec *spec);
void sim_limit_host(struct host *h); /* the core exists and has not been started */
void sim_hand_sample(void *host, struct core_ident ident);

#endif
