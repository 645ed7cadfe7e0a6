/* SPDX-License-Identifier: MIT */
/* pidfile.h - reads and writes pid files whose writer may be hostile. The path is resolved by
 * walk.h, and only a regular file is opened, never in a blocking way. Its pid is reliable only if
 * no other user can write to the file or replace it (writers.h). Its content never appears in a
 * text: the caller may have no right to read that file. */
#ifndef AGENT_IDENTIFY_PIDFILE_H
#define AGENT_IDENTIFY_PIDFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text/err.h"

enum { PIDFILE_MAX_BYTES = 4096 };

/* Cache of files that have not changed: comparing is faster than reading. NULL is allowed in all
 * functions. Usable from any thread. */
struct pidfiles;

struct pidfiles *pidfiles_new(void);
void pidfiles_free(struct pidfiles *p); /* NULL is allowed */

/* The pid of a file that has not changed since it was read or written; false: unknown. Never
 * blocks; all other functions here may block. Owner and folder are not checked again. */
bool pidfile_is_known(struct pidfiles *known, const char *path, int64_t *ret_pid);

struct pidfile_content {
    int64_t pid;
    uid_t owner;
    char doubt[ERR_MSG_BYTES]; /* reason if others can write to it; "": reliable */
};

/* ERR_NOT_FOUND: there is no such file, or it is a folder (err->sys is EISDIR); ERR_UNAVAILABLE: it
 * can not be read now; any other code: the file is invalid, and the text gives the reason. With uid
 * 0 a file of another owner is reliable only if the process it names has that real uid: the caller
 * checks this. */
int pidfile_read(struct pidfiles *known, const char *path, uid_t uid, gid_t gid,
                 struct pidfile_content *ret, struct err *err);

/* Writes the pid file of a process that writes none itself; the file belongs to the user.
 * ERR_CONFLICT if there is one already, unless it names a process that is gone or older than
 * since_ticks, the begin of this start; ERR_DENIED if others can write to the folder or to a parent
 * of it. */
int pidfile_write(struct pidfiles *known, const char *path, uid_t uid, gid_t gid, int64_t pid,
                  int64_t since_ticks, struct err *err);

/* The first number in the text; must be above 1 and a possible pid. The text of an error continues
 * "pid file /x/y.pid ". */
int pidfile_parse(const char *text, size_t n, int64_t *ret_pid, struct err *err);

#endif
