/* SPDX-License-Identifier: MIT */
/* sys_epoll.c - see sys_epoll.h. */
#include "base/os/sys_epoll.h"

#include <errno.h>
#include <stddef.h>

#include "base/os/sys_fault.h"

int sys_epoll_create(void)
{
    return sys_fails("epoll") ? -1 : epoll_create1(EPOLL_CLOEXEC);
}

int sys_epoll_add(int epoll, int fd, uint64_t key)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = key };

    return sys_fails("epoll") ? -1 : epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int sys_epoll_del(int epoll, int fd)
{
    return sys_fails("epoll") ? -1 : epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

int sys_epoll_look(int epoll, struct epoll_event *to, int n)
{
    int got;

    do {
        got = sys_fails("epoll") ? -1 : epoll_wait(epoll, to, n, 0);
    } while (got < 0 && errno == EINTR);
    return got;
}
