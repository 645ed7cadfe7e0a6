/* SPDX-License-Identifier: MIT */
/* file.h - a small file, whole: read within a limit, and written so that after
 * any crash there is the old one or the new one, never a part.
 *
 * Errors name the file.  A missing one is ERR_SYSTEM with ENOENT in `sys`. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

int file_read(const char *path, size_t max, struct buf *ret, struct err *err);

/* For what only we may know: a file that others may read or write, or that is
 * neither ours nor root's, is refused with ERR_DENIED. */
int file_read_secret(const char *path, size_t max, struct buf *ret, struct err *err);
void file_wipe(struct buf *b); /* buf_free() for such bytes */

/* On success it is on the disk, its name too.  Only one at a time may replace a
 * file: what lies beside it as PATH.new is taken for the rest of a crash. */
int file_replace(const char *path, mode_t mode, const void *bytes, size_t n, struct err *err);

/* The same, but never over a file that is there: ERR_CONFLICT. */
int file_create(const char *path, mode_t mode, const void *bytes, size_t n, struct err *err);

/* To a file that is open, in as many writes as it takes; -1 with errno set.  Part of it may
 * be there then. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
