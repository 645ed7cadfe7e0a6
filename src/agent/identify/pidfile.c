/* SPDX-License-Identifier: MIT */
/* pidfile.c - see pidfile.h. */
#include "agent/identify/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/identify/procfs.h"
#include "agent/identify/walk.h"
#include "agent/identify/writers.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_cached.h"

enum { PID_LIMIT = 4 * 1024 * 1024 }; /* PID_MAX_LIMIT of 64-bit kernels */

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

/* --- Cache -------------------------------------------------------------- */

enum { PAIR_BITS = 10 };

struct known_file {
    dev_t dev;
    ino_t ino;
    struct timespec written, changed;
    int64_t pid; /* 0: unused */
};

/* Hashed by inode, two entries per slot; a third one replaces the older of the two. */
struct pidfiles {
    pthread_mutex_t lock;
    struct known_file pairs[1 << PAIR_BITS][2];
};

/* Inode numbers of files in new folders often differ by a power of 2. */
static size_t pair_of(ino_t ino)
{
    return (size_t)(ino * 0x9E3779B97F4A7C15U >> (64 - PAIR_BITS));
}

struct pidfiles *pidfiles_new(void)
{
    struct pidfiles *p = xalloc(sizeof(*p));

    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void pidfiles_free(struct pidfiles *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static bool pidfile_is_same(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_known(struct pidfiles *p, const struct stat *st, int64_t *ret_pid)
{
    const struct known_file *pair = p->pairs[pair_of(st->st_ino)], *f;
    bool is;

    pthread_mutex_lock(&p->lock);
    f = &pair[pair[0].ino != st->st_ino];
    is = f->pid && f->dev == st->st_dev && f->ino == st->st_ino &&
         pidfile_is_same(&f->written, &st->st_mtim) && pidfile_is_same(&f->changed, &st->st_ctim);
    if (is)
        *ret_pid = f->pid;
    pthread_mutex_unlock(&p->lock);
    return is;
}

bool pidfile_is_known(struct pidfiles *p, const char *path, int64_t *ret_pid)
{
    struct stat st;

    return !sys_stat_cached(path, &st) && S_ISREG(st.st_mode) && is_known(p, &st, ret_pid);
}

static void pidfile_put(struct pidfiles *p, const struct known_file *f)
{
    struct known_file *pair = p->pairs[pair_of(f->ino)];

    pthread_mutex_lock(&p->lock);
    if (pair[0].pid && pair[0].ino != f->ino)
        pair[1] = pair[0];
    pair[0] = *f;
    pthread_mutex_unlock(&p->lock);
}

/* File timestamps have a granularity of up to 10 ms. Content read after the last step belongs to
 * the file's timestamps: a later write changes them. */
static bool is_settled(const struct stat *st)
{
    enum { STEPS_NS = 40 * 1000 * 1000 };
    struct timespec now;
    int64_t age_ns;

    clock_gettime(CLOCK_REALTIME, &now);
    age_ns = (now.tv_sec - st->st_ctim.tv_sec) * 1000000000 + now.tv_nsec - st->st_ctim.tv_nsec;
    return age_ns > STEPS_NS;
}

/* `st` was read before the content. */
static void remember_read(struct pidfiles *p, const struct stat *st, int64_t pid)
{
    if (is_settled(st))
        pidfile_put(p,
                    &(struct known_file){ st->st_dev, st->st_ino, st->st_mtim, st->st_ctim, pid });
}

/* Timestamps set by the kernel have a granularity of some milliseconds, within which another write
 * would not show. The time set here is between two such steps. Earlier writes are then part of the
 * content read, and later writes change the time again. Setting it back changes st_ctim, unless
 * that happens within the same step. File systems without nanosecond timestamps can not be used for
 * this. */
static void pidfile_remember(struct pidfiles *p, int fd, const char *text, ssize_t n, int64_t pid)
{
    struct timespec now[2] = { 0 }; /* of last access and last write */
    char back[32];
    struct stat st;

    now[0].tv_nsec = UTIME_OMIT;
    clock_gettime(CLOCK_REALTIME, &now[1]);
    now[1].tv_nsec ^= 1;
    if (!sys_futimens(fd, now) && sys_pread(fd, back, sizeof(back), 0) == n &&
        !memcmp(back, text, (size_t)n) && !sys_fstat(fd, &st) &&
        pidfile_is_same(&st.st_mtim, &now[1]))
        pidfile_put(p, &(struct known_file){ st.st_dev, st.st_ino, st.st_mtim, st.st_ctim, pid });
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
        return err_set(err, err->code, "pid file %s %s", w->shown, err_msg(err));
    return 0;
}

/* If a link of root leads elsewhere, both paths count. */
static int check_folders(const struct walk *w, const struct writers *trusted, const char *path,
                         struct err *err)
{
    char real[PATH_MAX];

    if (writers_check_folders(trusted, path, err))
        return -1;
    if (w->is_straight)
        return 0;
    if (walk_real_path(w, real, err))
        return -1;
    return writers_check_folders(trusted, real, err);
}

/* With user root the owner of the file is trusted for processes of that owner. */
static int check_writers(const struct walk *w, const char *path, uid_t uid, gid_t gid,
                         struct pidfile_content *ret, struct err *err)
{
    const struct stat *st = &w->at_stat;
    const struct writers trusted = { uid, gid, uid == 0 ? st->st_uid : uid };
    struct err why;

    ret->doubt[0] = '\0';
    ret->owner = st->st_uid;
    if (!writers_check_file(&trusted, path, st, &why) && !check_folders(w, &trusted, path, &why))
        return 0;
    if (why.code != ERR_DENIED) {
        *err = why;
        return err_wrap(err, "pid file %s", w->shown);
    }
    err_set(&why, ERR_DENIED, "pid file %s is not used: %s", w->shown, err_msg(&why));
    msg_copy(ret->doubt, sizeof(ret->doubt), err_msg(&why));
    return 0;
}

static int walk_and_read(struct walk *w, struct pidfiles *known, const char *path, uid_t uid,
                         gid_t gid, struct pidfile_content *ret, struct err *err)
{
    if (walk_to_end(w, path, err))
        return -1;
    /* For a folder as pid path, as in Job's documents, no file in it is known by name. */
    if (S_ISDIR(w->at_stat.st_mode)) {
        err_set(err, ERR_NOT_FOUND, "pid file %s is a folder", w->shown);
        err->sys = EISDIR;
        return -1;
    }
    if (walk_check_file(w, w->at_stat.st_uid, PIDFILE_MAX_BYTES, MSG("a pid"), err) ||
        check_writers(w, path, uid, gid, ret, err))
        return -1;
    if (known && is_known(known, &w->at_stat, &ret->pid))
        return 0;
    if (read_checked(w, &ret->pid, err))
        return -1;
    if (known && !ret->doubt[0])
        remember_read(known, &w->at_stat, ret->pid);
    return 0;
}

int pidfile_read(struct pidfiles *known, const char *path, uid_t uid, gid_t gid,
                 struct pidfile_content *ret, struct err *err)
{
    struct walk w = { .what = MSG("pid file"), .at = -1 };
    int result = walk_and_read(&w, known, path, uid, gid, ret, err);

    sys_close(w.at);
    return result;
}

/* --- Writing ------------------------------------------------------------ */

/* Only root and the user may be able to replace the file. The folder's path ends with a slash. */
static int pidfile_check_folder(const struct walk *w, const char *path, uid_t uid, gid_t gid,
                                struct err *err)
{
    const struct writers trusted = { uid, gid, uid };

    if (!S_ISDIR(w->at_stat.st_mode))
        return err_set(err, ERR_INVALID, "pid file %s: %s", w->shown, strerror(ENOTDIR));
    return check_folders(w, &trusted, path, err) ? err_wrap(err, "pid file %s", w->shown) : 0;
}

/* A concurrent reader finds the old or the new number: the first one in the file counts. */
static int write_over(struct pidfiles *known, const struct walk *file, int64_t pid, struct err *err)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)pid), fd, result = 0;

    if (walk_open(file, O_RDWR | O_NONBLOCK, &fd, err))
        return -1;
    if (sys_pwrite(fd, text, (size_t)n, 0) != n || sys_ftruncate(fd, n))
        result = err_sys(err, "pid file %s", file->shown);
    else if (known)
        pidfile_remember(known, fd, text, n, pid);
    sys_close(fd);
    return result;
}

/* Whether a file that names `pid` is older than the start: that process is gone, or older than the
 * start. Otherwise the started process, or a child of it, wrote the file. */
static bool is_stale(int64_t pid, int64_t since_ticks)
{
    struct procfs_stat st;
    struct err why;

    if (procfs_stat((pid_t)pid, &st, &why))
        return why.code == ERR_NOT_FOUND;
    return st.start_ticks < since_ticks;
}

/* An existing file is kept unless its pid is stale: commands like kill $(cat FILE) would hit an
 * unrelated process. A file of the user with a single link is then overwritten in place, because
 * replacing a thousand files is expensive on some file systems. A file that others can write to is
 * replaced. */
static int replace(struct pidfiles *known, const struct walk *folder, struct walk *file,
                   const char *path, const char *name, uid_t uid, gid_t gid, int64_t pid,
                   int64_t since_ticks, bool *ret_is_written, struct err *err)
{
    struct pidfile_content old;
    struct err why;

    *ret_is_written = false;
    if (walk_and_read(file, known, path, uid, gid, &old, &why)) {
        if (why.code == ERR_NOT_FOUND)
            return 0;
        *err = why;
        return -1;
    }
    if (old.owner != 0 && old.owner != uid)
        return err_set(err, ERR_DENIED, "%s", old.doubt);
    if (!is_stale(old.pid, since_ticks))
        return err_set(err, ERR_CONFLICT, "pid file %s is there already", folder->shown);
    if (old.owner == uid && file->at_stat.st_nlink == 1 && !old.doubt[0]) {
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
    int fd = sys_openat(w->at, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK, 0644),
        result = 0;

    if (fd < 0)
        return err_sys(err, "pid file %s", w->shown);
    if (sys_fchown(fd, uid, gid) || sys_write(fd, text, (size_t)n) != n) {
        result = err_sys(err, "pid file %s", w->shown);
        (void)sys_unlinkat(w->at, name); /* the first error is reported */
    } else if (known) {
        pidfile_remember(known, fd, text, n, pid);
    }
    sys_close(fd);
    return result;
}

int pidfile_write(struct pidfiles *known, const char *path, uid_t uid, gid_t gid, int64_t pid,
                  int64_t since_ticks, struct err *err)
{
    struct walk w = { .what = MSG("pid file"), .at = -1 }, file = w;
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
        result = pidfile_check_folder(&w, folder, uid, gid, err);
    if (!result)
        result = replace(known, &w, &file, path, slash + 1, uid, gid, pid, since_ticks, &is_written,
                         err);
    if (!result && !is_written)
        result = create(known, &w, slash + 1, uid, gid, pid, err);
    sys_close(file.at);
    sys_close(w.at);
    return result;
}
