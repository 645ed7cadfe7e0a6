/* SPDX-License-Identifier: MIT */
/* outlog_append.h - gives a process its output file (outlog.h). */
#ifndef AGENT_EXEC_OUTLOG_APPEND_H
#define AGENT_EXEC_OUTLOG_APPEND_H

#include "agent/exec/outlog.h"

/* Opens the file for appending, creates it if needed and gives it to the user; the caller closes
 * the fd. New output begins at position ret_from. A file of another user is never reused: its
 * content becomes NAME.1, which belongs to the agent, and the user gets a new file. */
int outlog_append(struct outlog *o, const char *name, uid_t uid, gid_t gid, int *ret_fd,
                  uint64_t *ret_from, struct err *err);

#endif
