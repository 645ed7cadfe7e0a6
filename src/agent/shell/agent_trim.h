/* SPDX-License-Identifier: MIT */
/* agent_trim.h - output files of processes: their names, and limits in bytes (trimmer.h) and in
 * days.
 *
 * It also has those forwarded that their spec says so of (forwarder.h).
 *
 * Growing files are trimmed by separate threads; files that do not grow cost nothing. Without
 * inotify all files are checked on every tick. */
#ifndef AGENT_SHELL_AGENT_TRIM_H
#define AGENT_SHELL_AGENT_TRIM_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/exec/outlog_folder.h"

struct agent_base;
struct proc_spec;
struct trims;

/* File name of a process, used by its start and restart commands, or of another command of it
 * ("stop"). */
void output_name(const char *space, const char *name, const char *what, char to[OUTLOG_NAME_SIZE]);

struct trims *trims_new(struct agent_base *a, int64_t max_bytes);
/* False: after this time a thread still hangs and uses the outlog. NULL is allowed. */
bool trims_free(struct trims *t, int64_t wait_ms);
void trims_on_tick(struct trims *t);

/* Limit of a process (0: the common limit) and its other commands, by file name. */
void trims_set_max(struct trims *t, const char *file, int64_t max_bytes);
uint64_t trims_max(const struct trims *t, const char *file);

/* Output of a process that is about to start: forwarded as its spec says, from here on. */
void trims_forward(struct trims *t, const char *file, const char *space, const char *name,
                   const struct proc_spec *spec);
void trims_set_pid(struct trims *t, const char *file, int64_t pid);
void trims_on_watch(struct trims *t); /* a process has another pid: trims_on_turn() looks for it */
void trims_on_turn(struct trims *t);

void trims_set_all(struct trims *t, int64_t max_bytes); /* the common limit */
void trims_look(struct trims *t, const char *file);     /* checks the size of a file */

#endif
