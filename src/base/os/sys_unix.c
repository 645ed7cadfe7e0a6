/* SPDX-License-Identifier: MIT */
/* sys_unix.c - see sys_unix.h. */
#include "base/os/sys_unix.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/sys.h"
#include "base/os/sys_fault.h"
#include "base/os/sys_old.h"

/* Newer than the headers of our oldest system; the same on all machines but parisc and sparc. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

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

/* The default of /proc/sys/kernel/overflowuid. */
enum { OVERFLOW_UID = 65534 };

/* A program that runs as the overflow user itself must accept such peers. */
bool sys_peer_is_told(const struct sys_peer *p)
{
    return p->pid > 0 && (p->uid != OVERFLOW_UID || geteuid() == OVERFLOW_UID) &&
           p->uid != (uid_t)-1;
}

int sys_peer_groups(int fd, gid_t *to, size_t *n)
{
    socklen_t size = (socklen_t)(*n * sizeof(*to));

    if (sys_fails("getsockopt") || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, to, &size))
        return -1;
    *n = size / sizeof(*to);
    return 0;
}

int sys_refuse_descriptors(int fd)
{
    if (sys_lacks(SYS_PASSRIGHTS)) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return sys_setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, 0);
}

int sys_chmod(const char *path, mode_t mode)
{
    return sys_fails("chmod") ? -1 : chmod(path, mode);
}

int sys_fchmod(int fd, mode_t mode)
{
    return sys_fails("chmod") ? -1 : fchmod(fd, mode);
}

int sys_chown_group(const char *path, gid_t gid)
{
    return sys_fails("chown") ? -1 : chown(path, (uid_t)-1, gid);
}
