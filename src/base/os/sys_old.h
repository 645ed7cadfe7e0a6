/* SPDX-License-Identifier: MIT */
/* sys_old.h - substitutes for system calls that older kernels lack.
 *
 * sys_do_without() makes this kernel look like an older one: the calls fail with ENOSYS.  Tests
 * use it to reach the substitutes, and operators for a kernel or a sandbox whose call
 * misbehaves. */
#ifndef BASE_OS_SYS_OLD_H
#define BASE_OS_SYS_OLD_H

#include <stdbool.h>
#include <sys/types.h>

enum sys_newer {
    SYS_PIDFD = 1,      /* and the calls that came with it: clone3, close_range */
    SYS_PIDFD_INFO = 2, /* sys_pidfd_status() */
    SYS_CHILDREN = 4,   /* /proc/PID/task/TID/children */
    SYS_INOTIFY = 8,
    SYS_PASSRIGHTS = 16, /* sys_refuse_descriptors() */
};

void sys_do_without(unsigned calls); /* from now on; 0: use all calls of the kernel */
/* Whether sys_do_without() disabled it; then sets errno to ENOSYS. */
bool sys_lacks(enum sys_newer call);

/* Only for sys.c.  Starts a child like sys_clone3(), but without a pidfd and in our cgroup; `pid`
 * may be NULL. */
pid_t sys_old_clone(void (*run)(void *arg), void *arg, void *stack_top, pid_t *pid);

/* Only for sys.c.  sys_close_range() that closes descriptors one by one. */
int sys_old_close_range(unsigned from);

#endif
