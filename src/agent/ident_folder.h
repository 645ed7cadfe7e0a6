/* SPDX-License-Identifier: MIT */
/* ident_folder.h - a process held by its folder in /proc, where the kernel has no pidfd.
 *
 * An open folder stays with its process as a pidfd does: when that is gone nothing can be
 * read in it, whoever has the pid by then.  What it can not do is wake us, so it is looked
 * at from time to time; and a signal goes to the pid right after a look.  For ident.c
 * alone. */
#ifndef AGENT_IDENT_FOLDER_H
#define AGENT_IDENT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

int folder_open(int64_t pid, int *ret_fd, struct err *err); /* ERR_DENIED: it is a thread */

/* *ret_pid: 0 if it has been reaped. */
int folder_has_ended(int fd, bool *ret, int64_t *ret_pid, struct err *err);
int folder_signal(int fd, int number, struct err *err);

#endif
