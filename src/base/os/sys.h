/* SPDX-License-Identifier: MIT */
/* sys.h - wrappers of system calls that can fail.  All other code calls these.
 *
 * Each function is its system call, restarted after EINTR where that is right, with
 * close-on-exec descriptors and non-blocking sockets.  In a test build (-Dfault=true) the n-th
 * call can be made to fail, or to kill the process, so that tests reach every failure path:
 *
 *     sys_fault("write", 3, ENOSPC);       in a unit test: the 3rd write
 *     HOLDFAST_FAULT=write:3:ENOSPC        the same for a whole program
 *     HOLDFAST_FAULT=any:17:kill           SIGKILL at the 17th call of any kind
 *
 * Other builds contain none of this. */
#ifndef BASE_OS_SYS_H
#define BASE_OS_SYS_H

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
int sys_openat2(const char *path, int flags); /* ELOOP: the path contains a symbolic link */
DIR *sys_fdopendir(int fd);                   /* takes over the fd on success */
ssize_t sys_read(int fd, void *to, size_t n);
ssize_t sys_write(int fd, const void *from, size_t n);
ssize_t sys_pread(int fd, void *to, size_t n, off_t at);
ssize_t sys_pwrite(int fd, const void *from, size_t n, off_t at);
int sys_ftruncate(int fd, off_t size);
int sys_flock(int fd, int operation);
int sys_dup3(int from, int to); /* replaces the file behind `to` in one step */
int sys_fsync(int fd);
int sys_fstat(int fd, struct stat *ret_st);
int sys_stat(const char *path, struct stat *ret_st);
int sys_lstat(int dir, const char *path, struct stat *ret_st); /* dir may be AT_FDCWD */
int sys_rename(const char *from, const char *to);
int sys_link(const char *from, const char *to); /* hard link; never replaces a file */
int sys_mkdirat(int dir, const char *name, mode_t mode);
int sys_rmdirat(int dir, const char *name);
int sys_may_write(const char *path); /* fails with EACCES or EROFS if it may not be written */
int sys_unlink(const char *path);
int sys_mkdir(const char *path, mode_t mode);
ssize_t sys_readlinkat(int dir, const char *path, char *to, size_t n);
int sys_renameat(int dir, const char *from, const char *to);
int sys_unlinkat(int dir, const char *name);
int sys_fallocate(int fd, int mode, off_t at, off_t n);
int sys_fdatasync(int fd);
int sys_fchown(int fd, uid_t uid, gid_t gid);
int sys_futimens(int fd, const struct timespec times[2]); /* times of the last access and write */
int sys_dupfd(int fd, int lowest); /* the lowest free number that is at least `lowest` */
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
ssize_t sys_send(int fd, const void *from, size_t n); /* EPIPE without SIGPIPE */
ssize_t sys_recv(int fd, void *to, size_t n);
int sys_eventfd(void);
int sys_inotify(const char *path, unsigned mask); /* watches one path; non-blocking */

int sys_pidfd_open(pid_t pid);
int sys_pidfd_send_signal(int pidfd, int number);
int sys_kill(pid_t pid, int number); /* EINVAL unless pid is above 1 */
bool sys_has_group(pid_t group);     /* a process group with members; zombies count */
int sys_waitid(idtype_t type, id_t id, siginfo_t *ret, int options);
/* Of this process. */
int sys_prlimit(int resource, const struct rlimit *limit, struct rlimit *ret_old);
int sys_prctl(int option, unsigned long value);
int sys_setpriority(int nice); /* of the calling process */

/* Exit status, as of wait(), of a process that need not be our child.  Needs Linux 6.15.
 * ENODATA: the status is not known, or the process still runs. */
int sys_pidfd_status(int pidfd, int *ret);

/* Starts a child that shares our memory and descriptors (CLONE_VM, CLONE_VFORK); the calling
 * thread waits until the child has called exec or ended.  The child runs on a stack of its own,
 * without our signal handlers, with all signals blocked, in the cgroup whose descriptor is
 * `cgroup` (-1: ours).  run() must not return.  It must not touch the descriptors before
 * sys_close_range() has made them its own, and must not call anything that keeps state in this
 * process: it may use the calls of this header, sys_end() last.  Its descriptors are not known to
 * ThreadSanitizer, which would take them for those of this process with the same numbers: files are
 * read and written by the functions below.  Its own functions are IN_CHILD (in_child.h).  A planted
 * fault reaches it too. */
struct sys_child {
    void (*run)(void *arg);
    void *arg;
    void *stack;
    size_t stack_size;
    int cgroup;
    pid_t *pid; /* may be NULL; it and *ret_pidfd are set before the child runs, so that other
                 * threads can see them */
};
/* Pidfd -1: the kernel is too old for it. */
pid_t sys_clone3(const struct sys_child *child, int *ret_pidfd);

/* For that child.  The set*id calls change the ids of the calling thread only; libc's functions
 * with these names would change them for all threads. */
int sys_close_range(unsigned from); /* closes `from` and above, and stops sharing those below */
int sys_dup2(int from, int to);     /* not close-on-exec */
ssize_t sys_child_read_file(const char *path, void *to, size_t n); /* what one read() gets */
ssize_t sys_child_write_file(const char *path, const char *text);
int sys_setsid(void);
int sys_chdir(const char *path);
int sys_setgroups(size_t n, const gid_t *groups);
int sys_setresgid(gid_t gid); /* sets real, effective and saved id */
int sys_setresuid(uid_t uid);
int sys_execve(const char *path, char *const *argv, char *const *env);
void sys_end(int status) __attribute__((noreturn));

/* Whether errno is EAGAIN: the call would have blocked. */
bool sys_again(void);

/* These never fail: close() always closes, and random bytes are always available. */
void sys_close(int fd);
void sys_random(void *to, size_t n);

#ifdef HOLDFAST_FAULT
/* For tests.  `call` is the name of a function above without "sys_", or "any"; nth counts from 1
 * and from now on, 0 removes the fault; error 0 kills.  sys_fault_hit() returns whether the
 * fault has happened. */
void sys_fault(const char *call, long nth, int error);
bool sys_fault_hit(void);
#endif

#endif
