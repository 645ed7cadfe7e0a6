/* SPDX-License-Identifier: MIT */
/* sys.c - see sys.h. */
#include "base/os/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/clone3.h"
#include "base/os/in_child.h"
#include "base/os/sys_fault.h"
#include "base/os/sys_old.h"

/* Every call that can be made to fail has a row here and a function below. */
/* clang-format off */
#define CALLS(X) \
    X(OPEN, "open") X(READ, "read") X(WRITE, "write") X(FSYNC, "fsync") \
    X(FSTAT, "fstat") X(STAT, "stat") X(LSTAT, "lstat") X(RENAME, "rename") \
    X(UNLINK, "unlink") X(MKDIR, "mkdir") X(SOCKET, "socket") X(BIND, "bind") \
    X(LISTEN, "listen") X(ACCEPT, "accept") X(CONNECT, "connect") X(SETSOCKOPT, "setsockopt") \
    X(GETSOCKOPT, "getsockopt") X(GETSOCKNAME, "getsockname") X(SHUTDOWN, "shutdown") X(SEND, "send") \
    X(RECV, "recv") X(EVENTFD, "eventfd") X(DUP3, "dup3") X(OPENAT, "openat") X(OPENAT2, "openat2") \
    X(FDOPENDIR, "fdopendir") X(LINK, "link") \
    X(PREAD, "pread") X(PWRITE, "pwrite") X(FTRUNCATE, "ftruncate") X(FLOCK, "flock") \
    X(READLINKAT, "readlinkat") X(RENAMEAT, "renameat") X(UNLINKAT, "unlinkat") \
    X(FALLOCATE, "fallocate") X(FDATASYNC, "fdatasync") X(FCHOWN, "fchown") X(FUTIMENS, "futimens") X(DUPFD, "dupfd") \
    X(POLL, "poll") X(IOCTL, "ioctl") X(PIDFD_OPEN, "pidfd_open") \
    X(PIDFD_SEND_SIGNAL, "pidfd_send_signal") X(WAITID, "waitid") X(PRLIMIT, "prlimit") X(PRCTL, "prctl") \
    X(CLONE3, "clone3") X(CLOSE_RANGE, "close_range") X(DUP2, "dup2") X(SETSID, "setsid") \
    X(CHDIR, "chdir") X(SETGROUPS, "setgroups") X(SETRESGID, "setresgid") \
    X(SETRESUID, "setresuid") X(EXECVE, "execve") X(INOTIFY, "inotify") X(CHMOD, "chmod") X(CHOWN, "chown") \
    X(KILL, "kill") X(SETPRIORITY, "setpriority") X(MKDIRAT, "mkdirat") X(RMDIRAT, "rmdirat") X(EPOLL, "epoll") X(FORK, "fork") X(SOCKETPAIR, "socketpair") \
    X(LGETXATTR, "lgetxattr") X(PIDFD_GETFD, "pidfd_getfd") X(UNLEASE, "unlease")
/* clang-format on */

#define CALL_ENUM(id, name) CALL_##id,
enum call { CALLS(CALL_ENUM) CALL_ANY };

#ifdef HOLDFAST_FAULT

#define CALL_NAME(id, name) [CALL_##id] = name,
static const char *const calls[] = { CALLS(CALL_NAME)[CALL_ANY] = "any" };

/* The only variable in base that is not const: a planted fault must reach all callers without an
 * argument. */
static struct {
    atomic_int call;
    atomic_long left; /* calls until it happens; 0: no fault is planted */
    atomic_int error; /* errno; 0: kill */
    atomic_bool hit;
} fault;

/* Returns -1 if there is no such call. */
static int call_number(const char *name)
{
    for (int i = 0; i <= CALL_ANY; i++) {
        if (!strcmp(calls[i], name))
            return i;
    }
    return -1;
}

/* "ENOSPC" to its number, "kill" to 0; -1 if it is neither. */
static int error_number(const char *name)
{
    enum { ERRORS_MAX = 256 };

    for (int i = 1; i < ERRORS_MAX; i++) {
        const char *known = strerrorname_np(i);

        if (known && !strcmp(known, name))
            return i;
    }
    return strcmp(name, "kill") ? -1 : 0;
}

void sys_fault(const char *call, long nth, int error)
{
    int number = call_number(call);

    if (number < 0)
        abort();
    fault.left = 0;
    fault.hit = false;
    fault.call = number;
    fault.error = error;
    fault.left = nth;
}

bool sys_fault_hit(void)
{
    return fault.hit;
}

/* Reads HOLDFAST_FAULT before main().  An unknown word ends the program: otherwise a test could
 * pass without testing anything. */
__attribute__((constructor)) static void fault_from_environment(void)
{
    const char *text = getenv("HOLDFAST_FAULT");
    char call[24], error[16];
    int end = 0;
    long nth;

    if (!text)
        return;
    if (sscanf(text, "%23[a-z0-9_]:%ld:%15[A-Za-z0-9]%n", call, &nth, error, &end) == 3 &&
        !text[end] && nth > 0 && call_number(call) >= 0 && error_number(error) >= 0) {
        sys_fault(call, nth, error_number(error));
        return;
    }
    fprintf(stderr, "HOLDFAST_FAULT=%s: expected CALL:N:ERRNO or CALL:N:kill\n", text);
    _exit(2);
}

static bool fails(enum call call)
{
    if (fault.left <= 0 || (fault.call != CALL_ANY && fault.call != (int)call))
        return false;
    if (atomic_fetch_sub(&fault.left, 1) != 1)
        return false;
    fault.hit = true;
    if (fault.error == 0)
        raise(SIGKILL);
    errno = fault.error;
    return true;
}

bool sys_fails(const char *call)
{
    return fault.left > 0 && fails((enum call)call_number(call));
}

#else

static inline bool fails(enum call call)
{
    (void)call;
    return false;
}

#endif

int sys_open(const char *path, int flags, mode_t mode)
{
    return fails(CALL_OPEN) ? -1 : open(path, flags | O_CLOEXEC, mode);
}

int sys_openat(int dir, const char *path, int flags, mode_t mode)
{
    return fails(CALL_OPENAT) ? -1 : openat(dir, path, flags | O_CLOEXEC, mode);
}

int sys_openat2(const char *path, int flags)
{
    struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC),
                            .resolve = RESOLVE_NO_SYMLINKS };

    return fails(CALL_OPENAT2) ? -1 : (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

DIR *sys_fdopendir(int fd)
{
    return fails(CALL_FDOPENDIR) ? NULL : fdopendir(fd);
}

ssize_t sys_read(int fd, void *to, size_t n)
{
    ssize_t got;

    if (fails(CALL_READ))
        return -1;
    do {
        got = read(fd, to, n);
    } while (got < 0 && errno == EINTR);
    return got;
}

ssize_t sys_write(int fd, const void *from, size_t n)
{
    ssize_t put;

    if (fails(CALL_WRITE))
        return -1;
    do {
        put = write(fd, from, n);
    } while (put < 0 && errno == EINTR);
    return put;
}

ssize_t sys_pread(int fd, void *to, size_t n, off_t at)
{
    ssize_t got;

    if (fails(CALL_PREAD))
        return -1;
    do {
        got = pread(fd, to, n, at);
    } while (got < 0 && errno == EINTR);
    return got;
}

ssize_t sys_pwrite(int fd, const void *from, size_t n, off_t at)
{
    ssize_t put;

    if (fails(CALL_PWRITE))
        return -1;
    do {
        put = pwrite(fd, from, n, at);
    } while (put < 0 && errno == EINTR);
    return put;
}

int sys_ftruncate(int fd, off_t size)
{
    return fails(CALL_FTRUNCATE) ? -1 : ftruncate(fd, size);
}

int sys_flock(int fd, int operation)
{
    return fails(CALL_FLOCK) ? -1 : flock(fd, operation);
}

int sys_dup3(int from, int to)
{
    return fails(CALL_DUP3) ? -1 : dup3(from, to, O_CLOEXEC);
}

int sys_fsync(int fd)
{
    return fails(CALL_FSYNC) ? -1 : fsync(fd);
}

int sys_fstat(int fd, struct stat *ret_st)
{
    return fails(CALL_FSTAT) ? -1 : fstat(fd, ret_st);
}

int sys_stat(const char *path, struct stat *ret_st)
{
    return fails(CALL_STAT) ? -1 : stat(path, ret_st);
}

int sys_lstat(int dir, const char *path, struct stat *ret_st)
{
    return fails(CALL_LSTAT) ? -1 : fstatat(dir, path, ret_st, AT_SYMLINK_NOFOLLOW);
}

int sys_rename(const char *from, const char *to)
{
    return fails(CALL_RENAME) ? -1 : rename(from, to);
}

int sys_link(const char *from, const char *to)
{
    return fails(CALL_LINK) ? -1 : link(from, to);
}

int sys_unlink(const char *path)
{
    return fails(CALL_UNLINK) ? -1 : unlink(path);
}

int sys_mkdir(const char *path, mode_t mode)
{
    return fails(CALL_MKDIR) ? -1 : mkdir(path, mode);
}

ssize_t sys_readlinkat(int dir, const char *path, char *to, size_t n)
{
    return fails(CALL_READLINKAT) ? -1 : readlinkat(dir, path, to, n);
}

int sys_renameat(int dir, const char *from, const char *to)
{
    return fails(CALL_RENAMEAT) ? -1 : renameat(dir, from, dir, to);
}

int sys_unlinkat(int dir, const char *name)
{
    return fails(CALL_UNLINKAT) ? -1 : unlinkat(dir, name, 0);
}

int sys_fallocate(int fd, int mode, off_t at, off_t n)
{
    return fails(CALL_FALLOCATE) ? -1 : fallocate(fd, mode, at, n);
}

int sys_fdatasync(int fd)
{
    return fails(CALL_FDATASYNC) ? -1 : fdatasync(fd);
}

int sys_fchown(int fd, uid_t uid, gid_t gid)
{
    return fails(CALL_FCHOWN) ? -1 : fchown(fd, uid, gid);
}

int sys_futimens(int fd, const struct timespec times[2])
{
    return fails(CALL_FUTIMENS) ? -1 : futimens(fd, times);
}

int sys_dupfd(int fd, int lowest)
{
    return fails(CALL_DUPFD) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, lowest);
}

int sys_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    return fails(CALL_POLL) ? -1 : poll(fds, n, timeout_ms);
}

int sys_ioctl(int fd, unsigned long request, void *arg)
{
    return fails(CALL_IOCTL) ? -1 : ioctl(fd, request, arg);
}

int sys_socket(int family, int type, int protocol)
{
    return fails(CALL_SOCKET) ? -1 : socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}

int sys_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    return fails(CALL_BIND) ? -1 : bind(fd, addr, len);
}

int sys_listen(int fd, int backlog)
{
    return fails(CALL_LISTEN) ? -1 : listen(fd, backlog);
}

int sys_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    int got;

    if (fails(CALL_ACCEPT))
        return -1;
    do {
        got = accept4(fd, addr, len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (got < 0 && errno == EINTR);
    return got;
}

int sys_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    return fails(CALL_CONNECT) ? -1 : connect(fd, addr, len);
}

int sys_setsockopt(int fd, int level, int name, int value)
{
    return fails(CALL_SETSOCKOPT) ? -1 : setsockopt(fd, level, name, &value, sizeof(value));
}

int sys_getsockopt(int fd, int level, int name, int *ret_value)
{
    socklen_t len = sizeof(*ret_value);

    return fails(CALL_GETSOCKOPT) ? -1 : getsockopt(fd, level, name, ret_value, &len);
}

int sys_getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
    return fails(CALL_GETSOCKNAME) ? -1 : getsockname(fd, addr, len);
}

int sys_shutdown(int fd, int how)
{
    return fails(CALL_SHUTDOWN) ? -1 : shutdown(fd, how);
}

ssize_t sys_send(int fd, const void *from, size_t n)
{
    ssize_t put;

    if (fails(CALL_SEND))
        return -1;
    do {
        put = send(fd, from, n, MSG_NOSIGNAL);
    } while (put < 0 && errno == EINTR);
    return put;
}

ssize_t sys_recv(int fd, void *to, size_t n)
{
    ssize_t got;

    if (fails(CALL_RECV))
        return -1;
    do {
        got = recv(fd, to, n, 0);
    } while (got < 0 && errno == EINTR);
    return got;
}

int sys_eventfd(void)
{
    return fails(CALL_EVENTFD) ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int sys_inotify(const char *path, unsigned mask)
{
    int fd = fails(CALL_INOTIFY) || sys_lacks(SYS_INOTIFY)
                 ? -1
                 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (fd < 0 || inotify_add_watch(fd, path, mask) >= 0)
        return fd;
    sys_close(fd);
    return -1;
}

int sys_pidfd_open(pid_t pid)
{
    return fails(CALL_PIDFD_OPEN) || sys_lacks(SYS_PIDFD) ? -1
                                                          : (int)syscall(SYS_pidfd_open, pid, 0);
}

int sys_pidfd_send_signal(int pidfd, int number)
{
    return fails(CALL_PIDFD_SEND_SIGNAL) || sys_lacks(SYS_PIDFD)
               ? -1
               : (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}

int sys_waitid(idtype_t type, id_t id, siginfo_t *ret, int options)
{
    int got;

    if (fails(CALL_WAITID))
        return -1;
    do {
        got = waitid(type, id, ret, options);
    } while (got < 0 && errno == EINTR);
    return got;
}

int sys_prlimit(int resource, const struct rlimit *limit, struct rlimit *ret_old)
{
    return fails(CALL_PRLIMIT) ? -1 : prlimit(0, (enum __rlimit_resource)resource, limit, ret_old);
}

int sys_prctl(int option, unsigned long value)
{
    return fails(CALL_PRCTL) ? -1 : prctl(option, value, 0, 0, 0);
}

/* From linux/pidfd.h, which the oldest system that we support does not have yet. */
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

/* kill() takes 0 and below as process groups or all processes; no caller means those. */
int sys_kill(pid_t pid, int number)
{
    if (pid <= 1) {
        errno = EINVAL;
        return -1;
    }
    return fails(CALL_KILL) ? -1 : kill(pid, number);
}

bool sys_has_group(pid_t group)
{
    return group > 1 && (!kill(-group, 0) || errno == EPERM);
}

int sys_setpriority(int nice)
{
    return fails(CALL_SETPRIORITY) ? -1 : (int)syscall(SYS_setpriority, 0, 0, nice);
}

int sys_may_write(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

int sys_mkdirat(int dir, const char *name, mode_t mode)
{
    return fails(CALL_MKDIRAT) ? -1 : mkdirat(dir, name, mode);
}

int sys_rmdirat(int dir, const char *name)
{
    return fails(CALL_RMDIRAT) ? -1 : unlinkat(dir, name, AT_REMOVEDIR);
}

pid_t sys_clone3(const struct sys_child *child, int *ret_pidfd)
{
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | CLONE_CLEAR_SIGHAND |
                 (child->pid ? CLONE_PARENT_SETTID : 0),
        .pidfd = (uintptr_t)ret_pidfd,
        .parent_tid = (uintptr_t)child->pid,
        .exit_signal = SIGCHLD,
        .stack = (uintptr_t)child->stack,
        .stack_size = child->stack_size,
    };
    sigset_t all, old;
    long pid;

    *ret_pidfd = -1;
    if (fails(CALL_CLONE3))
        return -1;
    if (child->cgroup >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)child->cgroup;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old); /* of this thread; cannot fail */
    pid = sys_lacks(SYS_PIDFD) ? -ENOSYS : clone3_onto_stack(&args, child->run, child->arg);
    if ((pid == -ENOSYS || pid == -EINVAL) && child->cgroup < 0) {
        pid = sys_old_clone(child->run, child->arg, (char *)child->stack + child->stack_size,
                            child->pid);
        pid = pid < 0 ? -errno : pid;
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (pid < 0) {
        errno = (int)-pid;
        return -1;
    }
    return (pid_t)pid;
}

int sys_close_range(unsigned from)
{
    if (fails(CALL_CLOSE_RANGE))
        return -1;
    if (!sys_lacks(SYS_PIDFD) && !close_range(from, ~0U, CLOSE_RANGE_UNSHARE))
        return 0;
    return errno == ENOSYS || errno == EINVAL ? sys_old_close_range(from) : -1;
}

/* These and sys_end() are raw system calls: libc's are intercepted by ThreadSanitizer, and so is
 * _exit(), in which it waits for other threads, and writes what was found. */
int sys_dup2(int from, int to)
{
    if (fails(CALL_DUP2))
        return -1;
    if (from == to)
        return fcntl(from, F_GETFD) < 0 ? -1 : to; /* as dup2() does; dup3 would not */
    return (int)syscall(SYS_dup3, from, to, 0);
}

static int child_open(const char *path, int flags)
{
    return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
}

ssize_t sys_child_read_file(const char *path, void *to, size_t n)
{
    int fd = child_open(path, O_RDONLY);
    ssize_t got;

    if (fd < 0)
        return -1;
    got = fails(CALL_READ) ? -1 : (ssize_t)syscall(SYS_read, fd, to, n);
    syscall(SYS_close, fd);
    return got;
}

ssize_t sys_child_write_file(const char *path, const char *text)
{
    int fd = child_open(path, O_WRONLY);
    ssize_t put;

    if (fd < 0)
        return -1;
    put = fails(CALL_WRITE) ? -1 : (ssize_t)syscall(SYS_write, fd, text, strlen(text));
    syscall(SYS_close, fd);
    return put;
}

int sys_setsid(void)
{
    return fails(CALL_SETSID) ? -1 : setsid();
}

int sys_chdir(const char *path)
{
    return fails(CALL_CHDIR) ? -1 : chdir(path);
}

/* On 32-bit machines these system call numbers take 16-bit ids. */
_Static_assert(sizeof(long) == 8, "ids of 32 bits have other calls on this machine");

int sys_setgroups(size_t n, const gid_t *groups)
{
    return fails(CALL_SETGROUPS) ? -1 : (int)syscall(SYS_setgroups, n, groups);
}

int sys_setresgid(gid_t gid)
{
    return fails(CALL_SETRESGID) ? -1 : (int)syscall(SYS_setresgid, gid, gid, gid);
}

int sys_setresuid(uid_t uid)
{
    return fails(CALL_SETRESUID) ? -1 : (int)syscall(SYS_setresuid, uid, uid, uid);
}

IN_CHILD int sys_execve(const char *path, char *const *argv, char *const *env)
{
    return fails(CALL_EXECVE) ? -1 : execve(path, argv, env);
}

IN_CHILD void sys_end(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

bool sys_again(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

void sys_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

void sys_random(void *to, size_t n)
{
    char *p = to;

    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);

        if (got < 0 && errno != EINTR)
            abort();
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
}
