/* SPDX-License-Identifier: MIT */
/* trimmer.h - threads that keep output files within their size limits.
 *
 * One thread waits for inotify events of written files and checks these a few milliseconds later;
 * without events it sleeps. A file that is over its limit, or soon will be, gets a thread of its
 * own until its growth stops. That thread checks the file the more often the faster it grows. Data
 * that can be copied in time is copied (outlog_trim()); a file that grows faster than that is
 * dropped except for its newest part (outlog_drop()). So the files of one process take 2 *
 * max_bytes, the same again during a copy, and the growth between two checks.
 *
 * All functions but new and free can be called from any thread. */
#ifndef AGENT_SHELL_TRIMMER_H
#define AGENT_SHELL_TRIMMER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/exec/outlog.h"
#include "base/io/log.h"
#include "base/text/err.h"

struct trimmer;

/* `path` is that of the folder. The outlog and the log belong to the caller and must live until the
 * end. */
int trimmer_new(struct outlog *o, const char *path, uint64_t max_bytes, struct log *log,
                struct trimmer **ret, struct err *err);

/* Waits for the threads, wait_ms at most. False: one of them hangs, for example on a dead disk.
 * Then nothing is freed, because that thread still uses the trimmer and the outlog (not the log);
 * the call may be repeated. NULL is allowed. */
bool trimmer_free(struct trimmer *t, int64_t wait_ms);

bool trimmer_has_news(const struct trimmer *t); /* false: no inotify; call trimmer_look() */

void trimmer_set_all(struct trimmer *t, uint64_t max_bytes);

/* Limit of a process (0: the common limit) and its other commands, by file name. */
void trimmer_set_max(struct trimmer *t, const char *file, int64_t max_bytes);
uint64_t trimmer_max(struct trimmer *t, const char *file);

/* Checks that file soon, as if it had been written to. */
void trimmer_look(struct trimmer *t, const char *name);

#endif
