/* SPDX-License-Identifier: MIT */
/* agent_piddir.h - the agent's folder of pid files, which only the agent's user can write to.
 *
 * If the pid_path of a spec lies directly in it, the agent keeps the file also for a command that
 * daemonizes: written once the main process is found, and removed when that has ended, before the
 * next start command at the latest. */
#ifndef AGENT_SHELL_AGENT_PIDDIR_H
#define AGENT_SHELL_AGENT_PIDDIR_H

#include <stdbool.h>
#include <stdint.h>

struct agent_base;

/* The folder: the setting, or the default of this user. The caller frees it. */
char *piddir_path(const char *setting, const char *data_dir);
void piddir_make(const struct agent_base *a); /* if it is missing; a failure is logged */

bool piddir_has(const char *dir, const char *path); /* path is DIR/NAME */

/* On a worker: removes the file if its process is `pid`, or has ended. */
void piddir_drop(const char *dir, const char *path, int64_t pid);
/* The same, by a worker. */
void piddir_drop_later(struct agent_base *a, const char *path, int64_t pid);

#endif
