/* SPDX-License-Identifier: MIT */
/* sys_unix.h - unix sockets, calls as in sys.h: the credentials of the peer, and the permissions
 * of the socket's file. */
#ifndef BASE_OS_SYS_UNIX_H
#define BASE_OS_SYS_UNIX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sys_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* The credentials at the time the peer connected. */
int sys_peer(int fd, struct sys_peer *ret);

/* Whether the credentials identify the peer.  For a peer in another user or pid namespace the
 * kernel gives the overflow uid, or no pid. */
bool sys_peer_is_told(const struct sys_peer *p);

/* The peer's supplementary groups, at most *n; sets *n to their number.  ENOPROTOOPT: the kernel
 * is too old. */
int sys_peer_groups(int fd, gid_t *to, size_t *n);

/* From now on sending descriptors to this unix socket, or to one that it accepts, fails with EPERM
 * (6.16).  Where a kernel can not do that, ENOPROTOOPT: then the kernel drops those that come while
 * the message is received or the socket is closed, in the thread that does it, and the last close
 * of a descriptor may take as long as the sender likes (a TCP socket with SO_LINGER). */
int sys_refuse_descriptors(int fd);

int sys_chmod(const char *path, mode_t mode);
int sys_fchmod(int fd, mode_t mode); /* of a unix socket that is not bound yet: of its file later */
int sys_chown_group(const char *path, gid_t gid);

#endif
