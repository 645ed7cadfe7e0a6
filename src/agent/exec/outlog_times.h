/* SPDX-License-Identifier: MIT */
/* outlog_times.h - when output was written, roughly: processes write their files themselves, so
 * nothing has the time of a line.
 *
 * For each file there are some pairs: at this time it had this end.  They are noted when the agent
 * looks at the file because it was written to, about one in OUTLOG_TIMES_STEP_MS, and thin out with
 * age, so a file takes 512 bytes at most.  They are in memory only: output from before the agent's
 * start is all of one age.
 *
 * Times are monotonic.  Usable from any thread. */
#ifndef AGENT_EXEC_OUTLOG_TIMES_H
#define AGENT_EXEC_OUTLOG_TIMES_H

#include <stdint.h>

enum { OUTLOG_TIMES_STEP_MS = 10 * 1000, OUTLOG_TIMES_MAX = 32 };

struct outlog_times;

struct outlog_times *outlog_times_new(void);
void outlog_times_free(struct outlog_times *t); /* NULL is allowed */

void outlog_times_note(struct outlog_times *t, const char *file, int64_t now_ms, uint64_t end);
void outlog_times_forget(struct outlog_times *t, const char *file);

/* The size that the file was last seen with; 0: not known. */
uint64_t outlog_times_size(struct outlog_times *t, const char *file);
void outlog_times_set_size(struct outlog_times *t, const char *file, uint64_t size);

/* A position before which everything is older than that time; 0: not known. */
uint64_t outlog_times_find(struct outlog_times *t, const char *file, int64_t then_ms);

#endif
