/* SPDX-License-Identifier: MIT */
/* sys_unix.c - see sys_unix.h. */
#include "base/sys_unix.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys_fault.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

int sys_peer(int fd, struct sys_peer *ret)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);

    if (sys_fails("getsockopt") || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size))
        return -1;
    *ret = (struct sys_peer){ cred.pid, cred.uid, cred.gid };
    return 0;
}

int sys_peer_groups(int fd, gid_t *to, size_t *n)
{
    socklen_t size = (socklen_t)(*n * sizeof(*to));

    if (sys_fails("getsockopt") || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, to, &size))
        return -1;
    *n = size / sizeof(*to);
    return 0;
}

int sys_chmod(const char *path, mode_t mode)
{
    return sys_fails("chmod") ? -1 : chmod(path, mode);
}

int sys_chown_group(const char *path, gid_t gid)
{
    return sys_fails("chown") ? -1 : chown(path, (uid_t)-1, gid);
}
