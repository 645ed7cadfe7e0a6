/* SPDX-License-Identifier: MIT */
/* exes.h - which file each process of the host runs, read once for many who ask.
 *
 * A start that has no pid file searches the host, and a thousand starts would read a
 * thousand times what a thousand processes run.  What stands here is a hint: whoever was
 * named is looked at anew, and who has come since is not among them; so it is forgotten
 * with the turn it was read in. */
#ifndef AGENT_EXES_H
#define AGENT_EXES_H

#include "agent/procfs.h"
#include "base/err.h"

struct exes;

struct exes *exes_new(void);
void exes_free(struct exes *e); /* NULL is fine */
void exes_forget(struct exes *e);

/* Calls fn for each process whose file lies under the folder (an absolute path without
 * links and without a slash behind), reading them all if they are not here. */
int exes_each(struct exes *e, const char *folder, procfs_fn *fn, void *arg, struct err *err);

#endif
