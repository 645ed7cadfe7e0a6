/* SPDX-License-Identifier: MIT */
/* sys_fork.h - fork() and socketpair(), calls as in sys.h. */
#ifndef BASE_OS_SYS_FORK_H
#define BASE_OS_SYS_FORK_H

#include <sys/types.h>

/* Call it before there are threads, loops or libraries with state: the child gets copies of
 * them. */
pid_t sys_fork(void);

int sys_socketpair(int ret_fds[2]); /* stream sockets, non-blocking */

#endif
