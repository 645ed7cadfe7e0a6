/* SPDX-License-Identifier: MIT */
/* sys_unix.h - system calls about unix sockets, as sys.h has them: who is at the other
 * end, and who may come in by a socket's file. */
#ifndef BASE_SYS_UNIX_H
#define BASE_SYS_UNIX_H

#include <stddef.h>
#include <sys/types.h>

struct sys_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* As it was when the peer connected. */
int sys_peer(int fd, struct sys_peer *ret);

/* Its other groups, at most *n; *n becomes how many.  ENOPROTOOPT: this kernel does not say. */
int sys_peer_groups(int fd, gid_t *to, size_t *n);

int sys_chmod(const char *path, mode_t mode);
int sys_chown_group(const char *path, gid_t gid);

#endif
