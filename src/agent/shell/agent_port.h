/* SPDX-License-Identifier: MIT */
/* agent_port.h - checks whether a TCP port accepts connections on 127.0.0.1 or ::1. Sends no data.
 */
#ifndef AGENT_SHELL_AGENT_PORT_H
#define AGENT_SHELL_AGENT_PORT_H

#include <stdint.h>

struct agent_base;
struct ports;

struct ports *ports_new(struct agent_base *a);
void ports_free(struct ports *p); /* NULL is allowed */

void ports_try(struct ports *p, uint64_t id, int64_t port); /* -> core_on_port() */

#endif
