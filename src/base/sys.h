/* SPDX-License-Identifier: MIT */
/* sys.h - the one door to system calls that can fail.
 *
 * Each function is its system call, restarted after EINTR where that is right,
 * with descriptors closed on exec and sockets not blocking.  In a test build
 * (-Dfault=true) the n-th call can be made to fail, or to kill the process, so
 * that every failure path is walked:
 *
 *     sys_fault("write", 3, ENOSPC);       in a unit test: the 3rd write
 *     HOLDFAST_FAULT=write:3:ENOSPC        the same for a whole program
 *     HOLDFAST_FAULT=any:17:kill           SIGKILL at the 17th call of any kind
 *
 * In other builds nothing of this exists. */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>

int sys_open(const char *path, int flags, mode_t mode);
int sys_openat(int dir, const char *path, int flags, mode_t mode);
int sys_openat2(const char *path, int flags); /* ELOOP: a part of it is a symbolic link */
DIR *sys_fdopendir(int fd);                   /* takes the fd over, unless it fails */
ssize_t sys_read(int fd, void *to, size_t n);
ssize_t sys_write(int fd, const void *from, size_t n);
ssize_t sys_pread(int fd, void *to, size_t n, off_t at);
ssize_t sys_pwrite(int fd, const void *from, size_t n, off_t at);
int sys_ftruncate(int fd, off_t size);
int sys_flock(int fd, int operation);
int sys_dup3(int from, int to); /* `to` becomes `from` in one step */
int sys_fsync(int fd);
int sys_fstat(int fd, struct stat *ret_st);
int sys_stat(const char *path, struct stat *ret_st);
int sys_lstat(int dir, const char *path, struct stat *ret_st); /* dir: AT_FDCWD */
int sys_rename(const char *from, const char *to);
int sys_link(const char *from, const char *to); /* a second name; never over another file */
int sys_unlink(const char *path);
int sys_mkdir(const char *path, mode_t mode);
ssize_t sys_readlinkat(int dir, const char *path, char *to, size_t n);
int sys_renameat(int dir, const char *from, const char *to);
int sys_unlinkat(int dir, const char *name);
int sys_fallocate(int fd, int mode, off_t at, off_t n);
int sys_fdatasync(int fd);
int sys_fchown(int fd, uid_t uid, gid_t gid);
int sys_futimens(int fd, const struct timespec times[2]); /* of the last access and write */
int sys_dupfd(int fd, int lowest); /* the first free number from `lowest` on */
int sys_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int sys_ioctl(int fd, unsigned long request, void *arg);

int sys_socket(int family, int type, int protocol);
int sys_bind(int fd, const struct sockaddr *addr, socklen_t len);
int sys_listen(int fd, int backlog);
int sys_accept(int fd, struct sockaddr *addr, socklen_t *len);
int sys_connect(int fd, const struct sockaddr *addr, socklen_t len);
int sys_setsockopt(int fd, int level, int name, int value);
int sys_getsockopt(int fd, int level, int name, int *ret_value);
int sys_getsockname(int fd, struct sockaddr *addr, socklen_t *len);
int sys_shutdown(int fd, int how);
ssize_t sys_send(int fd, const void *from, size_t n); /* EPIPE without the signal */
ssize_t sys_recv(int fd, void *to, size_t n);
int sys_eventfd(void);
int sys_inotify(const char *path, unsigned mask); /* of one path alone; does not block */

int sys_pidfd_open(pid_t pid);
int sys_pidfd_send_signal(int pidfd, int number);
int sys_waitid(idtype_t type, id_t id, siginfo_t *ret, int options);
int sys_prlimit(int resource, const struct rlimit *limit, struct rlimit *ret_old); /* ours */
int sys_prctl(int option, unsigned long value);

/* A child that shares our memory and descriptors; the calling thread waits until
 * it has become another program or ended.  It runs on a stack of its own, with no
 * signal handler of ours, all signals blocked and cgroup's descriptor (-1: our own)
 * saying where it belongs.  run() must not return, must leave the descriptors alone
 * until sys_close_range() has made them its own, and may use nothing that keeps
 * state for this process: the calls of this header, sys_end() last.  A sanitizer
 * must not look at it: its frames never return.  A planted fault reaches it too. */
struct sys_child {
    void (*run)(void *arg);
    void *arg;
    void *stack;
    size_t stack_size;
    int cgroup;
};
pid_t sys_clone3(const struct sys_child *child, int *ret_pidfd); /* -1: an old kernel's child */

/* For that child.  Ids change for the calling thread alone, where libc's functions
 * of these names would change them for all. */
int sys_close_range(unsigned from); /* that one and all above; those below are its own now */
int sys_dup2(int from, int to);     /* stays open on exec */
int sys_setsid(void);
int sys_chdir(const char *path);
int sys_setgroups(size_t n, const gid_t *groups);
int sys_setresgid(gid_t gid); /* real, effective and saved */
int sys_setresuid(uid_t uid);
int sys_execve(const char *path, char *const *argv, char *const *env);
void sys_end(int status) __attribute__((noreturn));

/* Whether the call that just failed only says "not now". */
bool sys_again(void);

/* These do not fail: close() has closed whatever it says, random bytes are always there. */
void sys_close(int fd);
void sys_random(void *to, size_t n);

#ifdef HOLDFAST_FAULT
/* For tests.  `call` is a name above without "sys_", or "any"; nth counts from
 * 1 and from now, 0 turns it off; error 0 kills.  sys_fault_hit() says whether
 * it has happened. */
void sys_fault(const char *call, long nth, int error);
bool sys_fault_hit(void);
#endif

#endif
