/* SPDX-License-Identifier: MIT */
/* sys_disk.c - see sys_disk.h. */
#include "base/os/sys_disk.h"

#include "base/os/sys_fault.h"

int sys_statvfs(const char *path, struct statvfs *ret)
{
    return sys_fails("statvfs") ? -1 : statvfs(path, ret);
}
