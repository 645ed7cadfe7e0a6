/* SPDX-License-Identifier: MIT */
/* sys_lease.c - see sys_lease.h. */
#include "base/os/sys_lease.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/sys_fault.h"

int sys_pidfd_getfd(int pidfd, int fd)
{
    return sys_fails("pidfd_getfd") ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

int sys_unlease(int fd)
{
    return sys_fails("unlease") ? -1 : fcntl(fd, F_SETLEASE, F_UNLCK);
}
