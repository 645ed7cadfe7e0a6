/* SPDX-License-Identifier: MIT */
/* agent_piddir.h - the agent's folder of pid files, which only the agent's user can write to: a
 * folder that others own or may write to, or a symbolic link in its place, is not used.
 *
 * If the pid_path of a spec lies directly in it, the agent keeps the file also for a command that
 * daemonizes: written once the main process is found, and removed when that has ended, before the
 * next start command at the latest. */
#ifndef AGENT_SHELL_AGENT_PIDDIR_H
#define AGENT_SHELL_AGENT_PIDDIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text/err.h"

struct agent_base;
struct pidfiles;

/* The folder: the setting, or the default of this user. The caller frees it. */
char *piddir_path(const char *setting, const char *data_dir);
void piddir_make(const struct agent_base *a); /* if it is missing; also logs that it is not used */

bool piddir_has(const char *dir, const char *path); /* path is DIR/NAME */

/* On a worker: the same, and the folder may be used. */
bool piddir_keeps(const char *dir, const char *path);

/* On a worker: pidfile_write(), but a path in the folder is not removed meanwhile. */
int piddir_write(struct agent_base *a, struct pidfiles *known, const char *path, uid_t uid,
                 gid_t gid, int64_t pid, int64_t since_ticks, struct err *err);

/* On a worker: removes the file if its process is `pid`, or has ended. */
void piddir_drop(struct agent_base *a, const char *path, int64_t pid);
/* The same, by a worker. */
void piddir_drop_later(struct agent_base *a, const char *path, int64_t pid);

#endif
