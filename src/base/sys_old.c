/* SPDX-License-Identifier: MIT */
/* sys_old.c - see sys_old.h. */
#include "base/sys_old.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/sys_fault.h"
#include "base/sys_signal.h"

#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

/* Of the kernel there is one, so of this, too: every caller must see the same. */
static atomic_uint without;

void sys_do_without(unsigned calls)
{
    without = calls;
}

IN_CHILD bool sys_lacks(enum sys_newer call)
{
    if (!(without & call))
        return false;
    errno = ENOSYS;
    return true;
}

IN_CHILD static int run(void *arg)
{
    const struct sys_child *child = arg;

    sys_default_signals(~0U);
    child->run(child->arg);
    return 127; /* it does not come back */
}

/* Handlers of ours are there still, but every signal is blocked. */
pid_t sys_old_clone(const struct sys_child *child)
{
    char *top = (char *)child->stack + child->stack_size;

    return clone(run, top, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD,
                 (void *)(uintptr_t)child);
}

/* The number that is a name in /proc/self/fd; others ("..") are 0. */
IN_CHILD static unsigned number_of(const char *name)
{
    unsigned n = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        n = n * 10 + (unsigned)(*name - '0');
    return n;
}

/* Neither malloc nor libc's opendir(): memory is shared with who waits for us. */
IN_CHILD int sys_old_close_range(unsigned from)
{
    _Alignas(struct dirent64) char names[2048];
    long n = -1;
    int dir;

    if (unshare(CLONE_FILES))
        return -1;
    dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    while ((n = syscall(SYS_getdents64, dir, names, sizeof(names))) > 0) {
        for (long at = 0; at < n;) {
            const struct dirent64 *d = (const void *)(names + at);
            unsigned fd = number_of(d->d_name);

            if (fd >= from && fd != (unsigned)dir)
                close((int)fd);
            at += d->d_reclen;
        }
    }
    close(dir);
    return n < 0 ? -1 : 0;
}

/* From the kernel's linux/pidfd.h, which is newer than that of our oldest system. */
struct pidfd_info {
    uint64_t mask, cgroup_id;
    uint32_t pid, tgid, ppid, ids[8];
    int32_t status;
};
_Static_assert(sizeof(struct pidfd_info) == 64, "the size is part of the request's number");

enum { PIDFD_INFO_EXIT_BIT = 1 << 3 };
#define PIDFD_GET_INFO_REQUEST 0xC040FF0BUL

int sys_pidfd_status(int pidfd, int *ret)
{
    struct pidfd_info info = { .mask = PIDFD_INFO_EXIT_BIT };

    if (sys_lacks(SYS_PIDFD_INFO) || sys_ioctl(pidfd, PIDFD_GET_INFO_REQUEST, &info))
        return -1;
    if (!(info.mask & PIDFD_INFO_EXIT_BIT)) {
        errno = ENODATA;
        return -1;
    }
    *ret = info.status;
    return 0;
}

/* 0, -1 and below are groups and everybody; nobody here means those. */
int sys_kill(pid_t pid, int number)
{
    if (pid <= 1) {
        errno = EINVAL;
        return -1;
    }
    return sys_fails("kill") ? -1 : kill(pid, number);
}

IN_CHILD int sys_setpriority(int nice)
{
    return sys_fails("setpriority") ? -1 : (int)syscall(SYS_setpriority, 0, 0, nice);
}

int sys_may_write(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

int sys_mkdirat(int dir, const char *name, mode_t mode)
{
    return sys_fails("mkdirat") ? -1 : mkdirat(dir, name, mode);
}

int sys_rmdirat(int dir, const char *name)
{
    return sys_fails("rmdirat") ? -1 : unlinkat(dir, name, AT_REMOVEDIR);
}
