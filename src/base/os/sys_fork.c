/* SPDX-License-Identifier: MIT */
/* sys_fork.c - see sys_fork.h. */
#include "base/os/sys_fork.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/os/sys_fault.h"

pid_t sys_fork(void)
{
    return sys_fails("fork") ? -1 : fork();
}

int sys_socketpair(int ret_fds[2])
{
    const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

    return sys_fails("socketpair") ? -1 : socketpair(AF_UNIX, type, 0, ret_fds);
}
