/* SPDX-License-Identifier: MIT */
/* agent_calls.h - connections that survive an upgrade in place: those of local clients that wait
 * for an operation. Their descriptors stay open over execve(), and an environment variable lists
 * them with their tasks. */
#ifndef AGENT_SHELL_AGENT_CALLS_H
#define AGENT_SHELL_AGENT_CALLS_H

#include "agent/supervise/core_local.h"
#include "base/mem/buf.h"

/* Appends one connection to the list; calls_set() passes the list to the next program. */
void calls_add(struct buf *to, int fd, const char *task);
void calls_set(struct buf *calls);

const char *calls_get(void); /* the list set by the previous program; NULL: none */
const char *calls_next(const char *at, int *ret_fd, char task[CORE_LOCAL_TASK_SIZE]); /* or NULL */
void calls_drop(void); /* closes the descriptors: they were dup()ed, or execve() failed */

#endif
