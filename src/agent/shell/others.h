/* SPDX-License-Identifier: MIT */
/* others.h - snapshot of the core's assignment of processes to names. A search for a process on a
 * worker thread must skip processes of other names, and must not call the core, which belongs to
 * the loop. It uses this copy. The result is checked again on the loop, because a process may have
 * been started since. */
#ifndef AGENT_SHELL_OTHERS_H
#define AGENT_SHELL_OTHERS_H

#include <stdbool.h>

#include "agent/supervise/core.h"

struct others;

struct others *others_new(const struct core *c); /* returned with one reference */
struct others *others_ref(struct others *o);     /* for the loop only: the counter is not atomic */
void others_unref(struct others *o);             /* NULL is allowed */

/* Whether the process, or one of its ancestors, is that of another spec than space:name. Any
 * thread. */
bool others_have(const struct others *o, struct core_ident ident, const char *space,
                 const char *name);

/* Whether it is the main process or the start command of any spec. Any thread. */
bool others_know(const struct others *o, struct core_ident ident);

/* The same as others_have() for the current state; on the loop only. */
bool others_have_now(const struct core *c, struct core_ident ident, const char *space,
                     const char *name);

#endif
