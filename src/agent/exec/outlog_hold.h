/* SPDX-License-Identifier: MIT */
/* outlog_hold.h - keeps output files open, so that their writers can not take a lease. A lease
 * (fcntl F_SETLEASE) would prevent the agent from opening the file, and so from trimming it. The
 * kernel grants no lease on a file with another open file description. The agent's descriptor must
 * have a description of its own: one shared with the writer does not count.
 *
 * At most a quarter of the agent's descriptors is used for that. Usable from any thread. */
#ifndef AGENT_EXEC_OUTLOG_HOLD_H
#define AGENT_EXEC_OUTLOG_HOLD_H

#include "agent/exec/outlog_folder.h"

struct held_files;

struct held_files *held_files_new(const struct outlog_folder *f); /* which must live longer */
void held_files_free(struct held_files *h);                       /* NULL is allowed */

/* The descriptor of a file, which the caller closes; the file is kept open if there is room. */
int held_files_open(struct held_files *h, const char *name, int *ret_fd, struct err *err);
void held_files_keep(struct held_files *h, const char *name);
void held_files_keep_all(struct held_files *h);
void held_files_let_go(struct held_files *h, const char *name);

/* Whether a thread searches for a lease. */
bool held_files_are_searched(const struct held_files *h);

#endif
