/* SPDX-License-Identifier: MIT */
/* sys_inotify.c - see sys_inotify.h. */
#include "base/os/sys_inotify.h"

#include <sys/inotify.h>

#include "base/os/sys_fault.h"

int sys_inotify_new(void)
{
    return sys_fails("inotify") ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

int sys_inotify_add(int fd, const char *path, unsigned mask)
{
    return sys_fails("inotify") ? -1 : inotify_add_watch(fd, path, mask);
}

void sys_inotify_del(int fd, int watch)
{
    (void)inotify_rm_watch(fd, watch); /* the kernel may have removed it already */
}
