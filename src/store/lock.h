/* SPDX-License-Identifier: MIT */
/* lock.h - one process at a time has a file: FILE.lock beside it is locked, and says by whom. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include "base/err.h"

/* *ret_fd holds it until it is closed, at the latest when we end, however that is.  Somebody
 * else has it: ERR_CONFLICT, by naming him. */
int lock_take(const char *path, int *ret_fd, struct err *err);

#endif
