/* SPDX-License-Identifier: MIT */
/* sys_xattr.h - extended attributes, calls as in sys.h. */
#ifndef BASE_OS_SYS_XATTR_H
#define BASE_OS_SYS_XATTR_H

#include <stddef.h>
#include <sys/types.h>

ssize_t sys_lgetxattr(const char *path, const char *name, void *to, size_t n);

#endif
