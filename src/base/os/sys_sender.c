/* SPDX-License-Identifier: MIT */
/* sys_sender.c - see sys_sender.h. */
#include "base/os/sys_sender.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os/sys_fault.h"

/* There is room for the sender alone, so the kernel closes all descriptors, and MSG_CTRUNC says
 * that there were some. */
ssize_t sys_recv_sender(int fd, void *to, size_t n, struct sys_sender *ret)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec piece = { to, n };
    struct msghdr m = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
    };
    struct ucred sender = { 0 };
    ssize_t got;

    if (sys_fails("recv"))
        return -1;
    do {
        got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); got >= 0 && c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
            memcpy(&sender, CMSG_DATA(c), sizeof(sender));
    }
    *ret = (struct sys_sender){ sender.pid, got >= 0 && m.msg_flags & MSG_CTRUNC };
    return got;
}
