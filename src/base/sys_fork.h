/* SPDX-License-Identifier: MIT */
/* sys_fork.h - system calls that make a second process of us, as sys.h has them. */
#ifndef BASE_SYS_FORK_H
#define BASE_SYS_FORK_H

#include <sys/types.h>

/* Before there are threads, loops or libraries with state: the child goes on with copies. */
pid_t sys_fork(void);

int sys_socketpair(int ret_fds[2]); /* unix, a stream; neither blocks */

#endif
