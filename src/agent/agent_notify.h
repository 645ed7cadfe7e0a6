/* SPDX-License-Identifier: MIT */
/* agent_notify.h - processes say that they are ready, for the agent's own sources: READY=1 as
 * systemd understands it, to a socket that their start commands find in $NOTIFY_SOCKET.
 *
 * What counts is who says it: the kernel names the sender, and that is the process which is
 * waited for, its start command, or one that descends from either or is in the session that
 * command made; else one of the very user and name of exactly one that is waited for.
 * MAINPID= names the process if that belongs to it as well; all else is ignored.  A sender that
 * nobody can place yet is tried for a while: its command may be about to be known.
 *
 * The socket has an abstract name, for the agent's folder is closed to ordinary users. */
#ifndef AGENT_AGENT_NOTIFY_H
#define AGENT_AGENT_NOTIFY_H

#include "base/err.h"

struct agent;
struct notices;

/* A socket that can not be had is told of in the log; then nobody hears who is ready. */
struct notices *notices_new(struct agent *a);
void notices_free(struct notices *n); /* NULL is fine */

const char *notices_socket(const struct notices *n); /* "@name"; "": there is none */

#endif
