/* SPDX-License-Identifier: MIT */
/* sys.c - see sys.h. */
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* Every call that can be made to fail: one row here, and its function below. */
/* clang-format off */
#define CALLS(X) \
    X(OPEN, "open") X(READ, "read") X(WRITE, "write") X(FSYNC, "fsync") \
    X(FSTAT, "fstat") X(STAT, "stat") X(LSTAT, "lstat") X(RENAME, "rename") \
    X(UNLINK, "unlink") X(MKDIR, "mkdir") X(SOCKET, "socket") X(BIND, "bind") \
    X(LISTEN, "listen") X(ACCEPT, "accept") X(CONNECT, "connect") X(SETSOCKOPT, "setsockopt") \
    X(GETSOCKOPT, "getsockopt") X(GETSOCKNAME, "getsockname") X(SHUTDOWN, "shutdown") X(SEND, "send") \
    X(RECV, "recv") X(EVENTFD, "eventfd") X(DUP3, "dup3") X(OPENAT, "openat") \
    X(FDOPENDIR, "fdopendir")
/* clang-format on */

#define CALL_ENUM(id, name) CALL_##id,
enum call { CALLS(CALL_ENUM) CALL_ANY };

#ifdef HOLDFAST_FAULT

#define CALL_NAME(id, name) [CALL_##id] = name,
static const char *const calls[] = { CALLS(CALL_NAME)[CALL_ANY] = "any" };

/* The one place with state that is not const: a fault must reach every caller
 * without any of them knowing. */
static struct {
    atomic_int call;
    atomic_long left; /* calls until it happens; 0: off */
    atomic_int error; /* 0: kill */
    atomic_bool hit;
} fault;

/* -1 if there is no such call. */
static int call_number(const char *name)
{
    for (int i = 0; i <= CALL_ANY; i++) {
        if (!strcmp(calls[i], name))
            return i;
    }
    return -1;
}

/* "ENOSPC"; 0 for "kill", -1 for what is neither. */
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

/* Reads HOLDFAST_FAULT before main; a word it does not know ends the program,
 * or a test could pass because nothing was tested. */
__attribute__((constructor)) static void fault_from_environment(void)
{
    const char *text = getenv("HOLDFAST_FAULT");
    char call[16], error[16];
    int end = 0;
    long nth;

    if (!text)
        return;
    if (sscanf(text, "%15[a-z0-9]:%ld:%15[A-Za-z0-9]%n", call, &nth, error, &end) == 3 &&
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

int sys_lstat(const char *path, struct stat *ret_st)
{
    return fails(CALL_LSTAT) ? -1 : lstat(path, ret_st);
}

int sys_rename(const char *from, const char *to)
{
    return fails(CALL_RENAME) ? -1 : rename(from, to);
}

int sys_unlink(const char *path)
{
    return fails(CALL_UNLINK) ? -1 : unlink(path);
}

int sys_mkdir(const char *path, mode_t mode)
{
    return fails(CALL_MKDIR) ? -1 : mkdir(path, mode);
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
