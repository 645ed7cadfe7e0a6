/* SPDX-License-Identifier: MIT */
/* room.c - see room.h. */
#include "store/room.h"

#include <unistd.h>

#include "base/os/sys_disk.h"

enum { ROOM_MIN_BYTES = 64 << 10 }; /* a few pages of the WAL */

int room_check(const char *path, struct err *err)
{
    struct statvfs fs;
    unsigned long long blocks;

    if (sys_statvfs(path, &fs))
        return 0;
    if (fs.f_flag & ST_RDONLY)
        return err_set(err, ERR_SYSTEM,
                       "%s: may only be read: make it and its folder writable (its file system is "
                       "read-only)",
                       path);
    blocks = geteuid() == 0 ? fs.f_bfree : fs.f_bavail;
    if (fs.f_blocks && blocks * fs.f_frsize < ROOM_MIN_BYTES)
        return err_set(err, ERR_UNAVAILABLE,
                       "%s: no space left: free some and try again (its file system has %llu bytes "
                       "free)",
                       path, blocks * fs.f_frsize);
    return 0;
}
