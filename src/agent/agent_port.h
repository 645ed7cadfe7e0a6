/* SPDX-License-Identifier: MIT */
/* agent_port.h - whether a port of TCP takes connections on this host, for the agent's own
 * sources: on 127.0.0.1 or on ::1.  Whoever connects says nothing and goes. */
#ifndef AGENT_AGENT_PORT_H
#define AGENT_AGENT_PORT_H

#include <stdint.h>

struct agent;
struct ports;

struct ports *ports_new(struct agent *a);
void ports_free(struct ports *p); /* NULL is fine */

void hand_try_port(void *agent, uint64_t id, int64_t port);

#endif
