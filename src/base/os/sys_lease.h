/* SPDX-License-Identifier: MIT */
/* sys_lease.h - leases on files that other processes hold, calls as in sys.h. */
#ifndef BASE_OS_SYS_LEASE_H
#define BASE_OS_SYS_LEASE_H

/* A duplicate of the descriptor `fd` of another process.  Needs Linux 5.6. */
int sys_pidfd_getfd(int pidfd, int fd);

/* Removes the lease of the open file description behind `fd`, whichever process took it. */
int sys_unlease(int fd);

#endif
