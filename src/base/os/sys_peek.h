/* SPDX-License-Identifier: MIT */
/* sys_peek.h - reads from a socket without removing the bytes; calls as in sys.h. */
#ifndef BASE_OS_SYS_PEEK_H
#define BASE_OS_SYS_PEEK_H

#include <stddef.h>
#include <sys/types.h>

/* As sys_recv(), but the bytes stay in the socket. */
ssize_t sys_peek(int fd, void *to, size_t n);

#endif
