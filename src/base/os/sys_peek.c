/* SPDX-License-Identifier: MIT */
/* sys_peek.c - see sys_peek.h. */
#include "base/os/sys_peek.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/os/sys_fault.h"

ssize_t sys_peek(int fd, void *to, size_t n)
{
    ssize_t got;

    if (sys_fails("recv"))
        return -1;
    do {
        got = recv(fd, to, n, MSG_PEEK);
    } while (got < 0 && errno == EINTR);
    return got;
}
