/* SPDX-License-Identifier: MIT */
/* core_drift.h - detects configuration files (configmap) that differ from the spec.  For the
 * core's own sources.
 *
 * Files are watched while the process is known.  An event is sent when a file begins to differ
 * and when it matches again; no other action is taken.  For a file without an md5 in the spec,
 * the first observed content is the expected one.  This expectation is lost when the agent
 * restarts, unless the file differs at that time. */
#ifndef AGENT_SUPERVISE_CORE_DRIFT_H
#define AGENT_SUPERVISE_CORE_DRIFT_H

#include "agent/supervise/core_in.h"

struct drift;

bool drift_is_wanted(const struct proc *k);
/* Call when the spec may have changed; sets *slot to NULL if there is nothing to watch.  True: the
 * files are others than before. */
bool drift_look(struct proc *k, struct drift **slot);
void drift_free(struct drift *d); /* NULL is allowed */

/* Arguments as of core_on_file(). */
void drift_on_file(struct proc *k, struct drift *d, const char *path, const char *md5,
                   const char *why);

#endif
