/* SPDX-License-Identifier: MIT */
/* lock.c - see lock.h. */
#include "store/lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { TEXT_SIZE = 16 };

static int refuse_second(const char *path, int fd, struct err *err)
{
    char text[TEXT_SIZE + 1] = { 0 };

    if (sys_pread(fd, text, TEXT_SIZE, 0) <= 0)
        return err_set(err, ERR_CONFLICT, "%s: in use by another process: end that one first",
                       path);
    return err_set(err, ERR_CONFLICT, "%s: in use by process %ld: end that one first", path,
                   strtol(text, NULL, 10));
}

/* The text has a fixed length, so it overwrites an older one completely. */
static int lock_file(const char *path, const char *lock, int fd, struct err *err)
{
    char text[TEXT_SIZE + 1];

    if (sys_flock(fd, LOCK_EX | LOCK_NB))
        return sys_again() ? refuse_second(path, fd, err) : err_sys(err, "lock %s", lock);
    snprintf(text, sizeof(text), "%-15ld\n", (long)getpid());
    if (sys_pwrite(fd, text, TEXT_SIZE, 0) != TEXT_SIZE)
        return err_sys(err, "write %s", lock);
    return 0;
}

int lock_take(const char *path, int *ret_fd, struct err *err)
{
    char *lock = xprintf("%s.lock", path);
    int fd = sys_open(lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    int result = fd < 0 ? err_sys(err, "open %s", lock) : lock_file(path, lock, fd, err);

    if (result && fd >= 0)
        sys_close(fd);
    if (result == 0)
        *ret_fd = fd;
    free(lock);
    return result;
}
