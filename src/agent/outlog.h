/* SPDX-License-Identifier: MIT */
/* outlog.h - what processes say, in files of bounded size.
 *
 * A file is handed to the process itself, open for appending: no pipe, so the writer
 * goes on whether we live or not.  It writes as much as it likes; when it has grown,
 * outlog_trim() moves what is old to NAME.1 and takes it off the front of the file,
 * under the writer's hands.  Where the file system can (ext4, XFS) nothing is lost by
 * that; elsewhere what is written in the microseconds between copying and truncating is.
 *
 * Positions count every byte that was ever said, so they only grow and stay good over
 * trimming and over our own restarts: the first line of NAME.1 tells which byte NAME
 * begins with.  An agent killed in the midst of trimming may leave them some bytes
 * ahead, so that a reader sees something twice; never is something passed over.
 *
 * The files belong to the user, who can so open /dev/stdout again (and cut it short,
 * which is his affair: a position past the end begins anew); the folder is the agent's
 * alone, so that nobody can put another file in their place.  Names are made by
 * outlog_name() or by us, never taken from outside as they are. */
#ifndef AGENT_OUTLOG_H
#define AGENT_OUTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum { OUTLOG_NAME_SIZE = 220, OUTLOG_WHAT_MAX = 16, OUTLOG_TAIL_BYTES = 8192 };

struct outlog; /* the folder */

/* Makes the folder if need be.  Refuses one that others own or can write to. */
int outlog_open(const char *path, struct outlog **ret, struct err *err);
void outlog_close(struct outlog *o); /* NULL is fine */

/* A file name for any text: letters, digits, "_" and "-" stay, of the others each byte
 * becomes %XX; a text too long is cut and ends with a hash of all of it.  `what` that is
 * not "" (a word of ours, OUTLOG_WHAT_MAX bytes at most) makes another one: TEXT~WHAT. */
void outlog_name(const char *text, const char *what, char to[OUTLOG_NAME_SIZE]);

/* The file to append to, made if need be and given to the user; the caller's to close.
 * May be called by any thread.  What is said from now on begins at outlog_base(), the
 * position of the file's first byte, asked for before, and the size. */
int outlog_append(const struct outlog *o, const char *name, uid_t uid, gid_t gid, int *ret_fd,
                  uint64_t *ret_size, struct err *err);
uint64_t outlog_base(const struct outlog *o, const char *name);

/* If the file is larger than max_bytes, its last max_bytes become NAME.1, in place of
 * the older one, and it begins anew; so 2 * max_bytes stay on the disk, and what is
 * written between two calls.  No such file is nothing to do. */
int outlog_trim(struct outlog *o, const char *name, uint64_t max_bytes, bool *ret_trimmed,
                struct err *err);

/* Where the next byte will stand; 0 if there is no such file, or it can not be told. */
uint64_t outlog_end(const struct outlog *o, const char *name);

/* Adds the last max_bytes of what was said from `from` on, before `until` (0: all), to
 * `to`.  Always UTF-8 without NUL: what is not becomes U+FFFD, and a character cut at
 * the front goes.  No such file adds nothing. */
int outlog_tail(const struct outlog *o, const char *name, uint64_t from, uint64_t until,
                size_t max_bytes, struct buf *to, struct err *err);

/* For who follows.  `at` -1: the last `lines` lines (0: no matter how many), else what was
 * said from there on; max_bytes at most, before cleaning as above, and whole lines where
 * that is less than there is.  `next` is where to go on: a character whose end has not
 * been said yet is left for then.  With has_gap, `at` is there no more (it was trimmed
 * away, or the file cut short), and this is what follows. */
struct outlog_ask {
    int64_t at;
    size_t lines, max_bytes;
};
struct outlog_piece {
    uint64_t next;
    bool has_gap, is_there; /* is_there false: no such file */
};
int outlog_read(const struct outlog *o, const char *name, const struct outlog_ask *ask,
                struct buf *to, struct outlog_piece *ret, struct err *err);

/* The place in text[0..n) where its last `lines` lines begin. */
size_t outlog_last_lines(const char *text, size_t n, size_t lines);

int outlog_remove(struct outlog *o, const char *name, struct err *err); /* and NAME.1 */

/* Goes on through the folder, some files a call, for whoever looks after it: each() is
 * given a file's name, the name of its process's (without ~WHAT) and when it was last
 * written to, since 1970; it may remove the file.  False: all have been seen. */
typedef void outlog_fn(void *arg, const char *name, const char *process, int64_t wall_s);
bool outlog_walk(struct outlog *o, size_t n, outlog_fn *each, void *arg);

#endif
