/* SPDX-License-Identifier: MIT */
/* pidfile.c - see pidfile.h. */
#include "agent/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agent/procfs.h"
#include "agent/walk.h"
#include "base/sys.h"

enum { PID_LIMIT = 4 * 1024 * 1024 }; /* the kernel's own, on 64 bits */

/* --- Content ------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_text(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == 127 || (c < ' ' && (c < '\t' || c > '\r')))
            return false;
    }
    return true;
}

int pidfile_parse(const char *text, size_t n, int64_t *ret_pid, struct err *err)
{
    size_t at = 0;
    int64_t pid = 0;

    if (n == 0)
        return err_set(err, ERR_INVALID, "is empty, expected a pid");
    if (n > PIDFILE_MAX_BYTES)
        return err_set(err, ERR_INVALID, "holds more than %d bytes, expected a pid",
                       PIDFILE_MAX_BYTES);
    if (!is_text(text, n))
        return err_set(err, ERR_INVALID, "holds binary data, expected a pid");
    while (at < n && !is_digit(text[at]))
        at++;
    if (at == n)
        return err_set(err, ERR_INVALID, "holds no number, expected a pid");
    if (at > 0 && text[at - 1] == '-')
        return err_set(err, ERR_INVALID, "holds a negative number, expected a pid");
    for (; at < n && is_digit(text[at]) && pid <= PID_LIMIT; at++)
        pid = pid * 10 + (text[at] - '0');
    if (pid > PID_LIMIT)
        return err_set(err, ERR_INVALID, "holds a number too large for a pid");
    if (pid <= 1)
        return err_set(err, ERR_INVALID, "names pid %d, which no process of ours can have",
                       (int)pid);
    *ret_pid = pid;
    return 0;
}

/* --- Reading ------------------------------------------------------------ */

static int read_checked(const struct walk *w, int64_t *ret_pid, struct err *err)
{
    char text[PIDFILE_MAX_BYTES + 1];
    ssize_t n;
    int fd;

    if (walk_open(w, O_RDONLY | O_NONBLOCK, &fd, err))
        return -1;
    n = sys_read(fd, text, sizeof(text));
    if (n < 0)
        err_sys(err, "pid file %s", w->shown);
    sys_close(fd);
    if (n < 0)
        return -1;
    if (pidfile_parse(text, (size_t)n, ret_pid, err))
        return err_set(err, err->code, "pid file %s %s", w->shown, err->text);
    return 0;
}

static int walk_and_read(struct walk *w, const char *path, uid_t uid, int64_t *ret_pid,
                         struct err *err)
{
    if (walk_to_end(w, path, err))
        return -1;
    /* Where Job's documents mean a folder to look in, nothing in it is known by its name. */
    if (S_ISDIR(w->at_stat.st_mode))
        return err_set(err, ERR_NOT_FOUND, "pid file %s is a folder", w->shown);
    if (walk_check_file(w, uid, PIDFILE_MAX_BYTES, "a pid", err))
        return -1;
    return read_checked(w, ret_pid, err);
}

int pidfile_read(const char *path, uid_t uid, int64_t *ret_pid, struct err *err)
{
    struct walk w = { .what = "pid file", .at = -1 };
    int result = walk_and_read(&w, path, uid, ret_pid, err);

    sys_close(w.at);
    return result;
}

/* --- Writing ------------------------------------------------------------ */

/* Only root and the user can put another file in its place. */
static int check_folder(const struct walk *w, uid_t uid, struct err *err)
{
    const struct stat *st = &w->at_stat;

    if (!S_ISDIR(st->st_mode))
        return err_set(err, ERR_INVALID, "pid file %s: %s", w->shown, strerror(ENOTDIR));
    if ((st->st_uid != 0 && st->st_uid != uid) || ((st->st_mode & 022) && !(st->st_mode & S_ISVTX)))
        return err_set(err, ERR_DENIED, "pid file %s: others can write to its folder", w->shown);
    return 0;
}

/* Whoever reads meanwhile finds the one number or the other: the first one counts. */
static int write_over(const struct walk *file, int64_t pid, struct err *err)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)pid), fd, result = 0;

    if (walk_open(file, O_WRONLY, &fd, err))
        return -1;
    if (sys_pwrite(fd, text, (size_t)n, 0) != n || sys_ftruncate(fd, n))
        result = err_sys(err, "pid file %s", file->shown);
    sys_close(fd);
    return result;
}

/* What is there is left alone, but for the name of a process that is gone.  A file of the
 * user's own, under this name alone, is then written over: a thousand new ones in the
 * place of old ones cost some file systems more than what they are for. */
static int replace(const struct walk *folder, struct walk *file, const char *path, const char *name,
                   uid_t uid, int64_t pid, bool *ret_is_written, struct err *err)
{
    struct procfs_stat st;
    struct err why;
    int64_t old;

    *ret_is_written = false;
    if (walk_and_read(file, path, uid, &old, &why)) {
        if (why.code == ERR_NOT_FOUND)
            return 0;
        *err = why;
        return -1;
    }
    if (!procfs_stat((pid_t)old, &st, &why) || why.code != ERR_NOT_FOUND)
        return err_set(err, ERR_CONFLICT, "pid file %s is there already", folder->shown);
    if (file->at_stat.st_uid == uid && file->at_stat.st_nlink == 1) {
        *ret_is_written = true;
        return write_over(file, pid, err);
    }
    if (sys_unlinkat(folder->at, name))
        return err_sys(err, "pid file %s: remove the old one", folder->shown);
    return 0;
}

static int create(const struct walk *w, const char *name, uid_t uid, gid_t gid, int64_t pid,
                  struct err *err)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)pid);
    int fd = sys_openat(w->at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644), result = 0;

    if (fd < 0)
        return err_sys(err, "pid file %s", w->shown);
    if (sys_fchown(fd, uid, gid) || sys_write(fd, text, (size_t)n) != n) {
        result = err_sys(err, "pid file %s", w->shown);
        (void)sys_unlinkat(w->at, name); /* the first failure is the one to tell */
    }
    sys_close(fd);
    return result;
}

int pidfile_write(const char *path, uid_t uid, gid_t gid, int64_t pid, struct err *err)
{
    struct walk w = { .what = "pid file", .at = -1 }, file = w;
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    bool is_written = false;
    int result;

    if (path[0] != '/' || !slash[1] || slash - path >= (ptrdiff_t)sizeof(folder) - 1)
        return err_set(err, ERR_INVALID, "pid file: not the absolute path of a file");
    memcpy(folder, path, (size_t)(slash - path) + 1);
    folder[slash - path + 1] = '\0';
    result = walk_to_end(&w, folder, err);
    if (!result)
        result = check_folder(&w, uid, err);
    if (!result)
        result = replace(&w, &file, path, slash + 1, uid, pid, &is_written, err);
    if (!result && !is_written)
        result = create(&w, slash + 1, uid, gid, pid, err);
    sys_close(file.at);
    sys_close(w.at);
    return result;
}
