/* SPDX-License-Identifier: MIT */
/* room.h - check for free space in the file system of a file. */
#ifndef STORE_ROOM_H
#define STORE_ROOM_H

#include "base/text/err.h"

/* Fails if the file system is read-only or full.  If it cannot be examined the check succeeds; a
 * write will then show the problem. */
int room_check(const char *path, struct err *err);

#endif
