/* SPDX-License-Identifier: MIT */
/* file.h - reads and writes small files as a whole.
 *
 * Reading has a size limit.  Writing is atomic: after a crash the old file or the new file is
 * there, never a part of it.  Errors name the file.  A missing file is ERR_SYSTEM with ENOENT in
 * `sys`. */
#ifndef BASE_IO_FILE_H
#define BASE_IO_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/mem/buf.h"
#include "base/text/err.h"

int file_read(const char *path, size_t max, struct buf *ret, struct err *err);

/* For secrets: ERR_DENIED if other users may read or write the file, or if it belongs neither to
 * us nor to root. */
int file_read_secret(const char *path, size_t max, struct buf *ret, struct err *err);

/* For files that decide what runs: ERR_DENIED if others than the owner may write it, or if it
 * belongs neither to us nor to root. */
int file_read_own(const char *path, size_t max, struct buf *ret, struct err *err);
int file_check_own_folder(const char *path, struct err *err); /* the same for a folder */
/* Opens it, checked in the same way; a symbolic link at the end of the path is refused. */
int file_open_own_folder(const char *path, int *ret_fd, struct err *err);
void file_wipe(struct buf *b); /* overwrites the bytes, then buf_free() */

/* On success the file and its name are on the disk.  Only one caller at a time may replace a
 * file: an existing PATH.new counts as left over from a crash. */
int file_replace(const char *path, mode_t mode, const void *bytes, size_t n, struct err *err);

/* The same, but writes to the empty file `spare`, for which space on the disk may be reserved
 * already, in place of PATH.new.  `spare` is gone afterwards.  If it does not exist, PATH.new is
 * used. */
int file_replace_by(const char *spare, const char *path, mode_t mode, const void *bytes, size_t n,
                    struct err *err);

/* The same, but fails with ERR_CONFLICT if the file exists. */
int file_create(const char *path, mode_t mode, const void *bytes, size_t n, struct err *err);

/* Writes all bytes to an open file.  Returns -1 with errno set; a part of them may be written
 * then. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
