/* SPDX-License-Identifier: MIT */
/* sys_old.h - what stands in for calls that an older kernel lacks, and some calls about
 * processes and folders, as sys.h has them.
 *
 * sys_do_without() makes this kernel look like an older one: the calls fail as they do
 * where they do not exist.  That is for tests of what is done then, and for a kernel (or
 * a sandbox that plays one) whose call misbehaves. */
#ifndef BASE_SYS_OLD_H
#define BASE_SYS_OLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sys_newer {
    SYS_PIDFD = 1,      /* and what came with it: clone3, close_range */
    SYS_PIDFD_INFO = 2, /* sys_pidfd_status() */
    SYS_CHILDREN = 4,   /* /proc/PID/task/TID/children */
    SYS_INOTIFY = 8,
};

void sys_do_without(unsigned calls); /* from now on; 0: whatever there is */
bool sys_lacks(enum sys_newer call); /* as told above; then errno is ENOSYS */

/* For sys.c alone.  A child as of sys_clone3(), without a descriptor and in our cgroup; and
 * sys_close_range(), one by one. */
struct sys_child;
pid_t sys_old_clone(const struct sys_child *child);
int sys_old_close_range(unsigned from);

/* How a process ended that need not be a child of ours (6.15): as wait() gives it.  ENODATA:
 * not known, or not yet. */
int sys_pidfd_status(int pidfd, int *ret);

int sys_kill(pid_t pid, int number); /* pid above 1, else EINVAL */
int sys_setpriority(int nice);       /* of the calling process */
int sys_may_write(const char *path); /* EACCES, EROFS: not */
int sys_mkdirat(int dir, const char *name, mode_t mode);
int sys_rmdirat(int dir, const char *name);

#endif
