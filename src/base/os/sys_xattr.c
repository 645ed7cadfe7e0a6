/* SPDX-License-Identifier: MIT */
/* sys_xattr.c - see sys_xattr.h. */
#include "base/os/sys_xattr.h"

#include <sys/xattr.h>

#include "base/os/sys_fault.h"

ssize_t sys_lgetxattr(const char *path, const char *name, void *to, size_t n)
{
    return sys_fails("lgetxattr") ? -1 : lgetxattr(path, name, to, n);
}
