/* SPDX-License-Identifier: MIT */
/* ident_folder.h - reference to a process by its folder in /proc, for kernels without pidfd. An
 * open folder stays bound to its process like a pidfd: after its end nothing can be read in it,
 * even if the pid is reused. It causes no event, so it is polled, and a signal is sent by pid right
 * after a check. Used by ident.c only. */
#ifndef AGENT_IDENTIFY_IDENT_FOLDER_H
#define AGENT_IDENTIFY_IDENT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/err.h"

int folder_open(int64_t pid, int *ret_fd, struct err *err); /* ERR_DENIED: it is a thread */

/* *ret_pid: 0 if it has been reaped. */
int folder_check_ended(int fd, bool *ret, int64_t *ret_pid, struct err *err);
int folder_signal(int fd, int number, struct err *err);

#endif
