/* SPDX-License-Identifier: MIT */
/* core_drift.h - whether the files of a process's configmap are as they should be, for the
 * core's own sources.
 *
 * They are watched while the process is known.  One that differs is told of, once, and once
 * more when it is as it should be; nothing is done about it.  Of a file without an md5
 * what was seen first is what is expected; that is forgotten with the agent, unless the file
 * differs then. */
#ifndef AGENT_CORE_DRIFT_H
#define AGENT_CORE_DRIFT_H

#include "agent/core_in.h"

struct drift;

bool drift_is_wanted(const struct kept *k);
/* Its spec may be another one; *slot becomes NULL where there is nothing to watch. */
void drift_look(struct kept *k, struct drift **slot);
void drift_free(struct drift *d); /* NULL is fine */

/* As of core_on_file(). */
void drift_on_file(struct kept *k, struct drift *d, const char *path, const char *md5,
                   const char *why);

#endif
