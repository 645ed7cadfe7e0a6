/* SPDX-License-Identifier: MIT */
/* pushes.h - what agents are told because a client has registered it with us, and not as an
 * operation of a task: the new spec of a process they host (operation 3), or that one is
 * hosted no more (4).
 *
 * What is to be told the fleet knows, durably (fleet_proc.is_behind); here is only what is on
 * its way.  It goes out when the agent is connected, again until the agent has it, and from
 * the beginning with each session.  Both may come twice without harm.  What the agent refuses
 * for good is said in the log and in the process's `why`; what it refuses for now is tried
 * again. */
#ifndef SERVER_PUSHES_H
#define SERVER_PUSHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/loop.h"
#include "link/message.h"
#include "server/fleet_registry.h"

struct pushes;

/* As agents_send(). */
typedef void pushes_send_fn(void *arg, const char *agent, int64_t epoch, unsigned type,
                            const struct shape *s, const void *message);

/* Listens to the fleet, which must outlive it, from here on. */
struct pushes *pushes_new(struct loop *loop, struct log *log, struct fleet *fleet,
                          pushes_send_fn *send, void *arg);
void pushes_free(struct pushes *p); /* NULL is fine */

/* For the sessions: taken and result.  False: it is about something else. */
bool pushes_on_message(struct pushes *p, const char *agent, int64_t epoch, unsigned type,
                       const void *message);

int64_t pushes_waiting(const struct pushes *p); /* that are not done yet */

#endif
