/* SPDX-License-Identifier: MIT */
/* outlog.h - what processes say, in files of bounded size.
 *
 * A file is handed to the process itself, open for appending: no pipe, so the writer
 * goes on whether we live or not.  It writes as much as it likes; the agent looks at
 * the size now and then, and outlog_trim() moves what is old to NAME.1 and takes it
 * off the front of the file, under the writer's hands.  Where the file system can
 * (ext4, XFS) nothing is lost by that; elsewhere what is written in the microseconds
 * between copying and truncating is.
 *
 * The files belong to the user, who can so open /dev/stdout again; the folder is the
 * agent's alone, so that nobody can put another file in their place.  Names are made
 * by outlog_name() or by us, never taken from outside as they are. */
#ifndef AGENT_OUTLOG_H
#define AGENT_OUTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum { OUTLOG_NAME_SIZE = 200, OUTLOG_TAIL_BYTES = 8192 };

struct outlog; /* the folder */

/* Makes the folder if need be.  Refuses one that others own or can write to. */
int outlog_open(const char *path, struct outlog **ret, struct err *err);
void outlog_close(struct outlog *o); /* NULL is fine */

/* A file name for any text: letters, digits, "_" and "-" stay, of the others each byte
 * becomes %XX; a text too long is cut and ends with a hash of all of it. */
void outlog_name(const char *text, char to[OUTLOG_NAME_SIZE]);

/* The file to append to, made if need be and given to the user; the caller's to close.
 * `from` is its size, so that outlog_tail() can leave out what was there before. */
struct outlog_file {
    int fd;
    uint64_t from;
};
int outlog_begin(const struct outlog *o, const char *name, uid_t uid, gid_t gid,
                 struct outlog_file *ret, struct err *err);

/* If the file is larger than max_bytes, its last max_bytes become NAME.1, in place of
 * the older one, and it begins anew; so 2 * max_bytes stay on the disk, and what is
 * written between two calls.  No such file is nothing to do. */
int outlog_trim(const struct outlog *o, const char *name, uint64_t max_bytes, bool *ret_trimmed,
                struct err *err);

/* Adds the last max_bytes to `to`, those before `from` left out (0: none are), NAME.1
 * used where the file alone has too few.  Always UTF-8 without NUL: what is not
 * becomes U+FFFD, and a character cut at the front goes.  No such file adds nothing. */
int outlog_tail(const struct outlog *o, const char *name, uint64_t from, size_t max_bytes,
                struct buf *to, struct err *err);

/* The place in text[0..n) where its last `lines` lines begin. */
size_t outlog_last_lines(const char *text, size_t n, size_t lines);

int outlog_remove(const struct outlog *o, const char *name, struct err *err); /* and NAME.1 */

#endif
