/* SPDX-License-Identifier: MIT */
/* sys_cached.h - stat() of a path from the kernel's caches only.
 *
 * An ordinary stat() may wait for a disk, a file server or, with FUSE, for another user's
 * process.  This one never blocks: it fails if the kernel's caches do not have the answer. */
#ifndef BASE_OS_SYS_CACHED_H
#define BASE_OS_SYS_CACHED_H

#include <sys/stat.h>

/* For a path without symbolic links.  Sets type, mode, owner, size, inode and times.  -1 with
 * EAGAIN: the kernel would have to wait; with ENOSYS or EINVAL: the kernel is older than Linux
 * 5.12. */
int sys_stat_cached(const char *path, struct stat *ret);

#endif
