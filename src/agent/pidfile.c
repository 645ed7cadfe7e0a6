/* SPDX-License-Identifier: MIT */
/* pidfile.c - see pidfile.h. */
#include "agent/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/procfs.h"
#include "agent/walk.h"
#include "base/mem.h"
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

/* --- What is known of them ---------------------------------------------- */

enum { PAIR_BITS = 10 };

struct known_file {
    dev_t dev;
    ino_t ino;
    struct timespec written, changed;
    int64_t pid; /* 0: none */
};

/* By their inodes; of three that belong to one pair the one of the two that was there first is
 * forgotten. */
struct pidfiles {
    struct known_file pairs[1 << PAIR_BITS][2];
};

/* Inodes of files in new folders are far apart, often by a power of 2. */
static size_t pair_of(ino_t ino)
{
    return (size_t)(ino * 0x9E3779B97F4A7C15U >> (64 - PAIR_BITS));
}

struct pidfiles *pidfiles_new(void)
{
    return xalloc(sizeof(struct pidfiles));
}

void pidfiles_free(struct pidfiles *p)
{
    free(p);
}

static bool is_same(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_known(const struct pidfiles *p, const struct stat *st, int64_t *ret_pid)
{
    const struct known_file *pair = p->pairs[pair_of(st->st_ino)];
    const struct known_file *f = &pair[pair[0].ino != st->st_ino];

    if (!f->pid || f->dev != st->st_dev || f->ino != st->st_ino ||
        !is_same(&f->written, &st->st_mtim) || !is_same(&f->changed, &st->st_ctim))
        return false;
    *ret_pid = f->pid;
    return true;
}

static void put(struct pidfiles *p, const struct known_file *f)
{
    struct known_file *pair = p->pairs[pair_of(f->ino)];

    if (pair[0].pid && pair[0].ino != f->ino)
        pair[1] = pair[0];
    pair[0] = *f;
}

/* The kernel's own times have steps of some milliseconds, in which somebody else could write to
 * it, too; the one that is set here is between two such steps.  What was written before is then
 * read, and what is written later changes the time again.  Whoever sets it back changes another,
 * st_ctim, unless he does so in the same step.  File systems that do not keep times to the last
 * digit are of no use for this. */
static void remember(struct pidfiles *p, int fd, const char *text, ssize_t n, int64_t pid)
{
    struct timespec now[2] = { 0 }; /* of the last access and write */
    char back[32];
    struct stat st;

    now[0].tv_nsec = UTIME_OMIT;
    clock_gettime(CLOCK_REALTIME, &now[1]);
    now[1].tv_nsec ^= 1;
    if (!sys_futimens(fd, now) && sys_pread(fd, back, sizeof(back), 0) == n &&
        !memcmp(back, text, (size_t)n) && !sys_fstat(fd, &st) && is_same(&st.st_mtim, &now[1]))
        put(p, &(struct known_file){ st.st_dev, st.st_ino, st.st_mtim, st.st_ctim, pid });
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

static int walk_and_read(struct walk *w, const struct pidfiles *known, const char *path, uid_t uid,
                         int64_t *ret_pid, struct err *err)
{
    if (walk_to_end(w, path, err))
        return -1;
    /* Where Job's documents mean a folder to look in, nothing in it is known by its name. */
    if (S_ISDIR(w->at_stat.st_mode))
        return err_set(err, ERR_NOT_FOUND, "pid file %s is a folder", w->shown);
    if (walk_check_file(w, uid, PIDFILE_MAX_BYTES, "a pid", err))
        return -1;
    if (known && is_known(known, &w->at_stat, ret_pid))
        return 0;
    return read_checked(w, ret_pid, err);
}

int pidfile_read(const struct pidfiles *known, const char *path, uid_t uid, int64_t *ret_pid,
                 struct err *err)
{
    struct walk w = { .what = "pid file", .at = -1 };
    int result = walk_and_read(&w, known, path, uid, ret_pid, err);

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
static int write_over(struct pidfiles *known, const struct walk *file, int64_t pid, struct err *err)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)pid), fd, result = 0;

    if (walk_open(file, O_RDWR, &fd, err))
        return -1;
    if (sys_pwrite(fd, text, (size_t)n, 0) != n || sys_ftruncate(fd, n))
        result = err_sys(err, "pid file %s", file->shown);
    else if (known)
        remember(known, fd, text, n, pid);
    sys_close(fd);
    return result;
}

/* Whether a file that names `pid` was there before the start: then that is gone, or began before
 * it.  Else whoever was started has written the file, or a child of its. */
static bool is_stale(int64_t pid, int64_t since_ticks)
{
    struct procfs_stat st;
    struct err why;

    if (procfs_stat((pid_t)pid, &st, &why))
        return why.code == ERR_NOT_FOUND;
    return st.start_ticks < since_ticks;
}

/* What is there is left alone, but for a pid that is stale: commands like kill $(cat FILE) would
 * go to a stranger.  A file of the user's own, under this name alone, is then written over: a
 * thousand new ones in the place of old ones cost some file systems more than what they are for. */
static int replace(struct pidfiles *known, const struct walk *folder, struct walk *file,
                   const char *path, const char *name, uid_t uid, int64_t pid, int64_t since_ticks,
                   bool *ret_is_written, struct err *err)
{
    struct err why;
    int64_t old;

    *ret_is_written = false;
    if (walk_and_read(file, known, path, uid, &old, &why)) {
        if (why.code == ERR_NOT_FOUND)
            return 0;
        *err = why;
        return -1;
    }
    if (!is_stale(old, since_ticks))
        return err_set(err, ERR_CONFLICT, "pid file %s is there already", folder->shown);
    if (file->at_stat.st_uid == uid && file->at_stat.st_nlink == 1) {
        *ret_is_written = true;
        return write_over(known, file, pid, err);
    }
    if (sys_unlinkat(folder->at, name))
        return err_sys(err, "pid file %s: remove the old one", folder->shown);
    return 0;
}

static int create(struct pidfiles *known, const struct walk *w, const char *name, uid_t uid,
                  gid_t gid, int64_t pid, struct err *err)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)pid);
    int fd = sys_openat(w->at, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644), result = 0;

    if (fd < 0)
        return err_sys(err, "pid file %s", w->shown);
    if (sys_fchown(fd, uid, gid) || sys_write(fd, text, (size_t)n) != n) {
        result = err_sys(err, "pid file %s", w->shown);
        (void)sys_unlinkat(w->at, name); /* the first failure is the one to tell */
    } else if (known) {
        remember(known, fd, text, n, pid);
    }
    sys_close(fd);
    return result;
}

int pidfile_write(struct pidfiles *known, const char *path, uid_t uid, gid_t gid, int64_t pid,
                  int64_t since_ticks, struct err *err)
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
        result =
            replace(known, &w, &file, path, slash + 1, uid, pid, since_ticks, &is_written, err);
    if (!result && !is_written)
        result = create(known, &w, slash + 1, uid, gid, pid, err);
    sys_close(file.at);
    sys_close(w.at);
    return result;
}
