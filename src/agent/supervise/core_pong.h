/* SPDX-License-Identifier: MIT */
/* core_pong.h - the answer to the server's ping, for the core's own sources. */
#ifndef AGENT_SUPERVISE_CORE_PONG_H
#define AGENT_SUPERVISE_CORE_PONG_H

#include "agent/supervise/core.h"

void pong_send(struct core *c, int64_t server_ms);

#endif
