/* SPDX-License-Identifier: MIT */
/* sys_epoll.h - epoll, calls as in sys.h; for epoll_set.c. */
#ifndef BASE_OS_SYS_EPOLL_H
#define BASE_OS_SYS_EPOLL_H

#include <stdint.h>
#include <sys/epoll.h>

int sys_epoll_create(void); /* close-on-exec */
int sys_epoll_add(int epoll, int fd, uint64_t key);
int sys_epoll_del(int epoll, int fd);
/* Reports ready descriptors; never waits. */
int sys_epoll_look(int epoll, struct epoll_event *to, int n);

#endif
