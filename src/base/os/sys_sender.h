/* SPDX-License-Identifier: MIT */
/* sys_sender.h - receives datagrams with the pid of their sender; calls as in sys.h. */
#ifndef BASE_OS_SYS_SENDER_H
#define BASE_OS_SYS_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sys_sender {
    pid_t pid;            /* 0: not known, or not of this pid namespace */
    bool had_descriptors; /* descriptors came with it, and were closed */
};

/* A datagram that waits, cut if it is longer, and its sender.  For this, SO_PASSCRED is set.  The
 * close of a descriptor that came with it may take as long as the sender likes, unless
 * sys_refuse_descriptors() has succeeded: so this is not for the loop. */
ssize_t sys_recv_sender(int fd, void *to, size_t n, struct sys_sender *ret);

#endif
