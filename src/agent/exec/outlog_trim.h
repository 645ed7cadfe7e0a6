/* SPDX-License-Identifier: MIT */
/* outlog_trim.h - size limits of output files (outlog.h). Usable from any thread. */
#ifndef AGENT_EXEC_OUTLOG_TRIM_H
#define AGENT_EXEC_OUTLOG_TRIM_H

#include "agent/exec/outlog.h"

/* If the file is larger than max_bytes, its last max_bytes become NAME.1, replacing the older one,
 * and the file starts empty. So 2 * max_bytes stay on the disk, and the data written between two
 * calls. A missing file is no error. Otherwise blocks reserved behind the end of the file are
 * released if outlog_is_over() is true; data written in the microseconds meanwhile is lost. */
int outlog_trim(struct outlog *o, const char *name, uint64_t max_bytes, bool *ret_trimmed,
                struct err *err);

/* For a file that grows faster than outlog_trim() can copy: only its last keep_bytes become NAME.1,
 * which then begins with a line with the number of dropped bytes, and the file starts empty. Data
 * written meanwhile is lost and not counted. `fd` is from outlog_hold(); the caller closes it, and
 * keeps it open as long as the file grows that fast: some file systems write a truncated file to
 * the disk on close. ERR_NOT_FOUND: the name refers to another file by now. */
int outlog_drop(struct outlog *o, const char *name, int fd, uint64_t keep_bytes, struct err *err);

/* Removes a file before another user gets a new one: its content becomes NAME.1, which belongs to
 * the agent. */
int outlog_leave(struct outlog *o, const char *name, struct err *err);

#endif
