/* SPDX-License-Identifier: MIT */
/* late_exits.h - processes that have ended and were reported with an unknown exit status, because
 * their parent has not reaped them yet.
 *
 * An init that reaps late must not delay a restart. The kernel tells the exit status once the
 * process is reaped, so it is asked for some seconds more; core_on_exit_status() corrects what was
 * reported. */
#ifndef AGENT_SHELL_LATE_EXITS_H
#define AGENT_SHELL_LATE_EXITS_H

#include <stdbool.h>

#include "agent/supervise/core_effects.h"

/* LATE_EXITS_MAX: descriptors; of more processes the status stays unknown. */
enum { LATE_EXITS_MAX = 64, LATE_EXITS_MS = 10 * 1000 };

struct agent_base;
struct end;
struct late_exits;

int exit_status_of(const struct end *end); /* as core_on_exit() takes it */

struct late_exits *late_exits_new(struct agent_base *a);
void late_exits_free(struct late_exits *x); /* NULL is allowed */

/* False: there is no room, and the pidfd still belongs to the caller. */
bool late_exits_put(struct late_exits *x, struct core_ident ident, int pidfd);

#endif
