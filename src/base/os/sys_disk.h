/* SPDX-License-Identifier: MIT */
/* sys_disk.h - free space of a file system; calls as in sys.h. */
#ifndef BASE_OS_SYS_DISK_H
#define BASE_OS_SYS_DISK_H

#include <sys/statvfs.h>

int sys_statvfs(const char *path, struct statvfs *ret);

#endif
