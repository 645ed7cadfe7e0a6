/* SPDX-License-Identifier: MIT */
/* agent_specs.h - the folder of specs (model/spec_folder.h), at the agent's start, and pages of
 * the specs that it has.
 *
 * The agent only adds: a process that it does not know is hosted, a hosted one whose spec in the
 * folder is another takes that from its next start on.  It never stops, restarts or forgets one,
 * and leaves alone what is not hosted any more, because an operator has stopped it, and what has
 * its spec from elsewhere.  A folder that cannot be read, or with an error in a file, changes
 * nothing, which the log says. */
#ifndef AGENT_SHELL_AGENT_SPECS_H
#define AGENT_SHELL_AGENT_SPECS_H

#include "link/local.h"

struct agent_base;
struct core;

/* Called before core_start().  `folder` "": none. */
void specs_start(struct agent_base *a, const char *folder);

/* Calls `send` for pages of specs that fit into a frame; "": any namespace or name.  The last page
 * has is_last set, and may be empty. */
void specs_each_page(const struct core *c, const char *space, const char *name,
                     void (*send)(void *arg, const struct local_specs *page), void *arg);

#endif
