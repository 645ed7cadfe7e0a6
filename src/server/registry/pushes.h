/* SPDX-License-Identifier: MIT */
/* pushes.h - commands to agents that follow from registrations, not from tasks: the new spec of a
 * hosted process (operation 3), or the end of hosting (4).
 *
 * The fleet stores durably what needs a push (fleet_proc.needs_push); this module has only the
 * pushes in progress.  A push is sent when the agent is connected, repeated until it is
 * acknowledged, and started again with each session.  Both commands are harmless when repeated.
 * A permanent refusal of the agent is shown in the log and in the process's `why`; a temporary one
 * is retried. */
#ifndef SERVER_REGISTRY_PUSHES_H
#define SERVER_REGISTRY_PUSHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/io/log.h"
#include "base/io/loop.h"
#include "link/message.h"
#include "server/fleet/fleet_registry.h"

struct pushes;

/* As agents_send(). */
typedef void pushes_send_fn(void *arg, const char *agent, int64_t epoch, unsigned type,
                            const struct shape *s, const void *message);

/* Registers with the fleet, which must outlive it. */
struct pushes *pushes_new(struct loop *loop, struct log *log, struct fleet *fleet,
                          pushes_send_fn *send, void *arg);
void pushes_free(struct pushes *p); /* NULL is fine */

/* Called by the sessions for `taken` and `result`.  False: the message is not about a push. */
bool pushes_on_message(struct pushes *p, const char *agent, int64_t epoch, unsigned type,
                       const void *message);

int64_t pushes_waiting(const struct pushes *p); /* pushes in progress */

#endif
