/* SPDX-License-Identifier: MIT */
/* pidfile.h - a pid out of a file that its writer may have meant to harm us with.
 *
 * The path is walked (walk.h) and nothing is opened but a regular file, which must belong to root
 * or to the process's user.  Its content is never repeated in a text: it may be a file the user
 * could not read himself. */
#ifndef AGENT_PIDFILE_H
#define AGENT_PIDFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { PIDFILE_MAX_BYTES = 4096 };

/* What we have written into files that nobody has changed since: to read one takes longer than
 * to see that.  Wherever it is asked for it may be NULL. */
struct pidfiles;

struct pidfiles *pidfiles_new(void);
void pidfiles_free(struct pidfiles *p); /* NULL is fine */

/* ERR_NOT_FOUND if there is no such file, or a folder in its place; any other
 * code: there is one, and the text says what is wrong with it. */
int pidfile_read(const struct pidfiles *known, const char *path, uid_t uid, int64_t *ret_pid,
                 struct err *err);

/* Leaves the pid of a process that writes no file itself, in a file of the user's own.
 * ERR_CONFLICT if there is one already, unless it names a process that is gone or began before
 * since_ticks, when this one's start began; ERR_DENIED if the folder is neither root's nor the
 * user's, or others can write there what they like. */
int pidfile_write(struct pidfiles *known, const char *path, uid_t uid, gid_t gid, int64_t pid,
                  int64_t since_ticks, struct err *err);

/* The first number in the text; above 1, and none that a pid can not be.  The text
 * of an error continues "pid file /x/y.pid ". */
int pidfile_parse(const char *text, size_t n, int64_t *ret_pid, struct err *err);

#endif
