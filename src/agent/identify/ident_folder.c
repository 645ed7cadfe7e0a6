/* SPDX-License-Identifier: MIT */
/* ident_folder.c - see ident_folder.h. */
#include "agent/identify/ident_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/identify/procfs.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"

enum { STATUS_READ = 4096 };

/* *ret_n 0: the process is gone. */
static int read_in(int folder, const char *name, char *to, size_t size, size_t *ret_n,
                   struct err *err)
{
    int fd = sys_openat(folder, name, O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : sys_read(fd, to, size);
    bool is_gone = n < 0 && (errno == ESRCH || errno == ENOENT);

    if (n < 0 && !is_gone)
        err_sys(err, "read %s in a folder of /proc", name);
    sys_close(fd);
    if (n < 0 && !is_gone)
        return -1;
    *ret_n = is_gone ? 0 : (size_t)n;
    return 0;
}

/* A thread has a folder, too, under its own id. */
static int check_leader(int fd, int64_t pid, struct err *err)
{
    char text[STATUS_READ + 1];
    const char *at;
    size_t n = 0;

    if (read_in(fd, "status", text, STATUS_READ, &n, err))
        return -1;
    text[n] = '\0';
    at = strstr(text, "\nTgid:");
    if (!at)
        return err_set(err, ERR_NOT_FOUND, "there is no process %lld", (long long)pid);
    if (strtoll(at + strlen("\nTgid:"), NULL, 10) != pid)
        return err_set(err, ERR_DENIED, "pid %lld is a thread, not a process", (long long)pid);
    return 0;
}

int folder_open(int64_t pid, int *ret_fd, struct err *err)
{
    char path[32];
    int fd;

    snprintf(path, sizeof(path), "/proc/%lld", (long long)pid);
    fd = sys_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 && (errno == ENOENT || errno == ESRCH))
        return err_set(err, ERR_NOT_FOUND, "there is no process %lld", (long long)pid);
    if (fd < 0)
        return err_sys(err, "%s", path);
    if (check_leader(fd, pid, err)) {
        sys_close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

/* A process whose first thread alone has ended is shown as a zombie, too, but its thread count is
 * larger. */
int folder_check_ended(int fd, bool *ret, int64_t *ret_pid, struct err *err)
{
    char text[PROCFS_STAT_SIZE];
    struct procfs_stat st;
    size_t n = 0;

    if (read_in(fd, "stat", text, sizeof(text), &n, err))
        return -1;
    if (n == 0) {
        *ret = true;
        *ret_pid = 0;
        return 0;
    }
    if (procfs_parse_stat(text, n, &st, err))
        return -1;
    *ret = st.state == 'X' || (st.state == 'Z' && st.threads <= 1);
    *ret_pid = st.pid;
    return 0;
}

int folder_signal(int fd, int number, struct err *err)
{
    int64_t pid = 0;
    bool ended = true;

    if (folder_check_ended(fd, &ended, &pid, err))
        return -1;
    if (!ended && !sys_kill((pid_t)pid, number))
        return 0;
    if (ended || errno == ESRCH)
        return err_set(err, ERR_NOT_FOUND, "the process has ended");
    return err_sys(err, "signal %d", number);
}
