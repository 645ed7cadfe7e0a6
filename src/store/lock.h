/* SPDX-License-Identifier: MIT */
/* lock.h - exclusive use of a file by one process: FILE.lock beside it is locked and has its
 * pid. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include "base/text/err.h"

/* The lock is held until *ret_fd is closed, at the latest at the end of the process.  ERR_CONFLICT,
 * naming the holder, if another process has it. */
int lock_take(const char *path, int *ret_fd, struct err *err);

#endif
