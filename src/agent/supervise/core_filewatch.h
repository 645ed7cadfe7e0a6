/* SPDX-License-Identifier: MIT */
/* core_filewatch.h - restarts or reloads a process when a file changes (spec.holdfast.watch).  For
 * the core's own sources.
 *
 * Only for a hosted process that runs; what changes while it is down, or during its start, is what
 * it runs with.  The content of a file counts, not its times.  A change has to last FILEWATCH_MS:
 * then the files are read again, and if they still are what they were, the strongest action of
 * those that have changed is taken, at most once in FILEWATCH_EACH_MS.  A file that is gone or can
 * not be read is reported and causes no action; it may come back changed.
 *
 * What the agent's predecessor knew of the files is lost: the first content that is seen is taken
 * for the one that the process runs with. */
#ifndef AGENT_SUPERVISE_CORE_FILEWATCH_H
#define AGENT_SUPERVISE_CORE_FILEWATCH_H

#include "agent/supervise/core_in.h"

enum { FILEWATCH_MS = 2000, FILEWATCH_EACH_MS = 30 * 1000 };

struct filewatch;

bool filewatch_is_wanted(const struct proc *k);
/* Call when spec or hosting may have changed; *slot becomes NULL if there is nothing to watch.
 * True: the files are others than before. */
bool filewatch_look(struct proc *k, struct filewatch **slot);
void filewatch_free(struct filewatch *w); /* NULL is allowed */

/* Arguments as of core_on_file(). */
void filewatch_on_file(struct filewatch *w, const char *path, const char *md5, const char *why);
/* The outcome of a restart or reload. */
void filewatch_on_done(struct proc *k, int64_t number, int code, const char *text);
struct op *filewatch_resume(struct proc *k); /* the agent died during it */

#endif
