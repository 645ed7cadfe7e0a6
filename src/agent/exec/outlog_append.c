/* SPDX-License-Identifier: MIT */
/* outlog_append.c - see outlog_append.h. */
#include "agent/exec/outlog_append.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/exec/outlog_trim.h"
#include "base/os/sys.h"

/* Creates the file, so that no other process has it open. */
static int outlog_append_make_file(const struct outlog_folder *f, const char *name, uid_t uid,
                                   gid_t gid, int *ret_fd, struct err *err)
{
    struct stat st;
    int fd;

    if (outlog_open_file(f, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, &fd, &st, err))
        return -1;
    if ((st.st_uid != uid || st.st_gid != gid) && geteuid() == 0 && sys_fchown(fd, uid, gid)) {
        outlog_trouble(f, name, "chown", err);
        sys_close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

/* Opens the existing file if it belongs to this user; 1: there is none. */
static int open_own(struct outlog *o, const char *name, uid_t uid, int *ret_fd, struct err *err)
{
    struct stat st;
    int fd;

    if (outlog_open_file(outlog_folder(o), name, O_WRONLY | O_APPEND, &fd, &st, err))
        return outlog_is_missing(err) ? 1 : -1;
    if (st.st_uid == uid || geteuid() != 0) {
        *ret_fd = fd;
        return 0;
    }
    sys_close(fd);
    return outlog_leave(o, name, err) ? -1 : 1;
}

int outlog_append(struct outlog *o, const char *name, uid_t uid, gid_t gid, int *ret_fd,
                  uint64_t *ret_from, struct err *err)
{
    struct err why;
    int fd = -1, result = open_own(o, name, uid, &fd, &why);

    if (result == 1)
        result = outlog_append_make_file(outlog_folder(o), name, uid, gid, &fd, &why);
    if (result) {
        *err = why;
        return -1;
    }
    outlog_keep_open(o, name);
    *ret_fd = fd;
    *ret_from = outlog_end(o, name, OUTLOG_MAY_WAIT);
    return 0;
}
