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
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

int sys_open(const char *path, int flags, mode_t mode);
int sys_openat(int dir, const char *path, int flags, mode_t mode);
DIR *sys_fdopendir(int fd); /* takes the fd over, unless it fails */
ssize_t sys_read(int fd, void *to, size_t n);
ssize_t sys_write(int fd, const void *from, size_t n);
int sys_dup3(int from, int to); /* `to` becomes `from` in one step */
int sys_fsync(int fd);
int sys_fstat(int fd, struct stat *ret_st);
int sys_stat(const char *path, struct stat *ret_st);
int sys_lstat(const char *path, struct stat *ret_st);
int sys_rename(const char *from, const char *to);
int sys_unlink(const char *path);
int sys_mkdir(const char *path, mode_t mode);

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

/* Whether the call that just failed only says "not now". */
bool sys_again(void);

/* These do not fail: close() has closed whatever it says, and without random
 * bytes we do not go on. */
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
