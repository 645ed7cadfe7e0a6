/* SPDX-License-Identifier: MIT */
/* agent_notify.h - readiness of processes by READY=1 (sd_notify protocol), sent to the socket in
 * $NOTIFY_SOCKET of their start commands.
 *
 * The kernel names the sender of a message. It must be the awaited process, its start command, a
 * descendant of either, or a member of the session of that command; otherwise a process with the
 * user and name of exactly one awaited process. MAINPID= selects the process if that process passes
 * the same check. Other fields are ignored. A sender that can not be assigned yet is retried for a
 * while, because its command may not be known yet. Workers (workers.h) read names, because a user
 * can make a read of process arguments block.
 *
 * The socket (notify_socket.h) has an abstract name, because ordinary users can not enter the
 * agent's folder. So every user can send to it: the loop processes only messages that the socket's
 * threads pass on. */
#ifndef AGENT_SHELL_AGENT_NOTIFY_H
#define AGENT_SHELL_AGENT_NOTIFY_H

#include <stdbool.h>

#include "base/text/err.h"

struct agent_base;
struct notices;
struct users;

/* A socket that can not be created is logged; then no readiness is received. */
struct notices *notices_new(struct agent_base *a, struct users *users);
void notices_free(struct notices *n); /* NULL is allowed */

/* For an upgrade in place: execve() would close the socket in the only remaining thread, where
 * descriptors sent by a user could block it. Opened again if execve() fails. False: a thread hangs
 * in such a descriptor, and execve() would wait for it. */
bool notices_close(struct notices *n);
void notices_open(struct notices *n);

const char *notices_socket(const struct notices *n); /* "@name"; "": no socket */

#endif
