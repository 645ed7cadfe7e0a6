/* SPDX-License-Identifier: MIT */
/* procfile_disk.h - finds, reads and replaces the file of model/procfile.h.
 *
 * The file is written to a temporary file and renamed. Its folder and the file must belong to the
 * agent's user or root and be writable to no other user. A symbolic link as the file is followed
 * only if root owns it and it is in a folder that only root can write to. */
#ifndef AGENT_PERSIST_PROCFILE_DISK_H
#define AGENT_PERSIST_PROCFILE_DISK_H

#include "base/mem/buf.h"
#include "base/text/err.h"

/* ERR_NOT_FOUND: there is no file; ERR_DENIED: its owner or mode is not acceptable. */
int procfile_load(const char *path, struct buf *ret, struct err *err);

/* A file written but not renamed yet; dir -1: none. */
struct procfile_new {
    int dir;
    char *name;
};
int procfile_begin(const char *path, const struct buf *text, struct procfile_new *ret,
                   struct err *err);
int procfile_end(struct procfile_new *f, struct err *err); /* *f is empty then */
void procfile_drop(struct procfile_new *f);
int procfile_sync(const char *path, struct err *err); /* makes the rename durable */

/* Renames the existing file to PATH.bad. */
int procfile_set_aside(const char *path, struct err *err);

#endif
