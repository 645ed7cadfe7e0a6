/* SPDX-License-Identifier: MIT */
/* sys_old.c - see sys_old.h. */
#include "base/os/sys_old.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/in_child.h"
#include "base/os/sys_signal.h"

/* Global, because it describes the kernel: all callers must see the same. */
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

struct start {
    void (*run)(void *arg);
    void *arg;
};

IN_CHILD static int run_child(void *arg)
{
    const struct start *start = arg;

    sys_default_signals(~0U);
    start->run(start->arg);
    return 127; /* not reached: run() does not return */
}

/* Our signal handlers are still installed in the child, but all signals are blocked.  `start` stays
 * valid while the child reads it, because the parent waits (CLONE_VFORK). */
pid_t sys_old_clone(void (*run)(void *arg), void *arg, void *stack_top, pid_t *pid)
{
    struct start start = { run, arg };

    return clone(run_child, stack_top,
                 CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD | (pid ? CLONE_PARENT_SETTID : 0),
                 &start, pid);
}

/* The number of an entry of /proc/self/fd; 0 for other names (".."). */
IN_CHILD static unsigned number_of(const char *name)
{
    unsigned n = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        n = n * 10 + (unsigned)(*name - '0');
    return n;
}

/* Uses neither malloc() nor opendir(): the memory is shared with the parent, which waits. Raw
 * calls: see sys_dup2(). */
IN_CHILD int sys_old_close_range(unsigned from)
{
    _Alignas(struct dirent64) char names[2048];
    long n = -1;
    int dir;

    if (unshare(CLONE_FILES))
        return -1;
    dir = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    while ((n = syscall(SYS_getdents64, dir, names, sizeof(names))) > 0) {
        for (long at = 0; at < n;) {
            const struct dirent64 *d = (const void *)(names + at);
            unsigned fd = number_of(d->d_name);

            if (fd >= from && fd != (unsigned)dir)
                syscall(SYS_close, fd);
            at += d->d_reclen;
        }
    }
    syscall(SYS_close, dir);
    return n < 0 ? -1 : 0;
}
