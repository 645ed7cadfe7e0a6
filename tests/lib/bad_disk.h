/* SPDX-License-Identifier: MIT */
/* bad_disk.h - a disk that does not take what is synced, while disk_fails, or does not answer,
 * while disk_hangs. */
#ifndef TESTS_LIB_BAD_DISK_H
#define TESTS_LIB_BAD_DISK_H

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int disk_fails, disk_hangs;

/* SQLite has no door for this one, so it finds ours before the C library's. */
int fdatasync(int fd)
{
    while (atomic_load(&disk_hangs))
        usleep(1000);
    if (atomic_load(&disk_fails)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

#endif
