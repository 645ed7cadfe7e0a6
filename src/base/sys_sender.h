/* SPDX-License-Identifier: MIT */
/* sys_sender.h - system calls for datagrams whose sender counts, as sys.h has them. */
#ifndef BASE_SYS_SENDER_H
#define BASE_SYS_SENDER_H

#include <stddef.h>
#include <sys/types.h>

/* A datagram that waits, cut if it is longer, and the pid that sent it (0: not known, or of
 * nobody here); descriptors that come with it are closed.  For this, SO_PASSCRED is set. */
ssize_t sys_recv_sender(int fd, void *to, size_t n, pid_t *ret_pid);

#endif
