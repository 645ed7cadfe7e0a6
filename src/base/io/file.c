/* SPDX-License-Identifier: MIT */
/* file.c - see file.h. */
#include "base/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

/* ---- reading ---- */

enum trust { TRUST_ANY, TRUST_SECRET, TRUST_OWN };

static int check_owner(const char *path, const struct stat *st, struct err *err)
{
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return err_set(err, ERR_DENIED, "%s: belongs to user %u", path, (unsigned)st->st_uid);
    return 0;
}

static int check_secret(const char *path, const struct stat *st, struct err *err)
{
    if (st->st_mode & 077)
        return err_set(err, ERR_DENIED, "%s: others may use it (mode %03o); chmod 600 it", path,
                       (unsigned)st->st_mode & 0777);
    return check_owner(path, st, err);
}

static int check_own(const char *path, const struct stat *st, struct err *err)
{
    if (st->st_mode & 022)
        return err_set(err, ERR_DENIED, "%s: others may write to it (mode %03o); chmod go-w it",
                       path, (unsigned)st->st_mode & 0777);
    return check_owner(path, st, err);
}

/* Reserves max + 1 bytes: the extra byte shows that a file grew while it was read.  They are
 * reserved at once, so that growing the buffer leaves no copies of a secret in freed memory. */
static int read_open(int fd, const char *path, size_t max, enum trust trust, struct buf *to,
                     struct err *err)
{
    struct stat st;
    ssize_t got = 1;

    if (sys_fstat(fd, &st))
        return err_sys(err, "stat %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "%s: not a regular file", path);
    if ((trust == TRUST_SECRET && check_secret(path, &st, err)) ||
        (trust == TRUST_OWN && check_own(path, &st, err)))
        return -1;
    if ((uint64_t)st.st_size > max)
        return err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", path, max);
    (void)buf_reserve(to, max + 1); /* only reserves: buf_reserve() below returns the pointer */
    while (got > 0 && to->len <= max) {
        got = sys_read(fd, buf_reserve(to, max + 1 - to->len), max + 1 - to->len);
        if (got > 0)
            to->len += (size_t)got;
    }
    if (got < 0)
        return err_sys(err, "read %s", path);
    return got ? err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", path, max) : 0;
}

static int read_whole(const char *path, size_t max, enum trust trust, struct buf *ret,
                      struct err *err)
{
    struct buf b = { 0 };
    int fd = sys_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0), bad;

    if (fd < 0)
        return err_sys(err, "open %s", path);
    bad = read_open(fd, path, max, trust, &b, err);
    sys_close(fd);
    if (bad)
        file_wipe(&b);
    else
        *ret = b;
    return bad;
}

int file_read(const char *path, size_t max, struct buf *ret, struct err *err)
{
    return read_whole(path, max, TRUST_ANY, ret, err);
}

int file_read_secret(const char *path, size_t max, struct buf *ret, struct err *err)
{
    return read_whole(path, max, TRUST_SECRET, ret, err);
}

int file_read_own(const char *path, size_t max, struct buf *ret, struct err *err)
{
    return read_whole(path, max, TRUST_OWN, ret, err);
}

int file_check_own_folder(const char *path, struct err *err)
{
    struct stat st;

    if (sys_stat(path, &st))
        return err_sys(err, "open %s", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "%s: not a folder", path);
    return check_own(path, &st, err);
}

int file_open_own_folder(const char *path, int *ret_fd, struct err *err)
{
    int fd = sys_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0), result = 0;
    struct stat st;

    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return err_set(err, ERR_INVALID, "%s: not a folder", path);
    if (fd < 0)
        return err_sys(err, "open %s", path);
    if (sys_fstat(fd, &st))
        result = err_sys(err, "stat %s", path);
    else
        result = check_own(path, &st, err);
    if (result)
        sys_close(fd);
    else
        *ret_fd = fd;
    return result;
}

void file_wipe(struct buf *b)
{
    if (b->block)
        explicit_bzero(b->block, b->cap);
    buf_free(b);
}

/* ---- writing ---- */

int file_write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n > 0) {
        ssize_t put = sys_write(fd, at, n);

        if (put < 0)
            return -1;
        at += put;
        n -= (size_t)put;
    }
    return 0;
}

/* A new name survives a crash only after its folder is synced. */
static int sync_folder(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? xmemdup(path, (size_t)(slash - path) + 1) : xstrdup(".");
    int fd = sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    int bad = fd < 0 || sys_fsync(fd) ? err_sys(err, "write %s: sync its folder", path) : 0;

    sys_close(fd);
    free(folder);
    return bad;
}

enum { BESIDE_FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW };

/* Opens the temporary file.  An existing one is left over from a crash and is removed. */
static int open_beside(const char *beside, mode_t mode)
{
    int fd = sys_open(beside, BESIDE_FLAGS, mode);

    if (fd < 0 && errno == EEXIST && sys_unlink(beside) == 0)
        fd = sys_open(beside, BESIDE_FLAGS, mode);
    return fd;
}

/* Writes the bytes to `fd`, which is the open file `beside`, and renames it to `path`.  Closes
 * `fd`. */
static int replace_by(int fd, const char *beside, const char *path, const void *bytes, size_t n,
                      struct err *err)
{
    int bad = fd < 0 || file_write_all(fd, bytes, n) || sys_fsync(fd) || sys_rename(beside, path);

    if (bad) {
        err_sys(err, "write %s", path);
        if (fd >= 0)
            (void)sys_unlink(beside); /* the first failure is the one to report */
    }
    sys_close(fd);
    return bad ? -1 : sync_folder(path, err);
}

int file_replace(const char *path, mode_t mode, const void *bytes, size_t n, struct err *err)
{
    char *beside = xprintf("%s.new", path);
    int bad = replace_by(open_beside(beside, mode), beside, path, bytes, n, err);

    free(beside);
    return bad;
}

/* A spare file that is not empty is not used: its remaining bytes would end up in the new file. */
int file_replace_by(const char *spare, const char *path, mode_t mode, const void *bytes, size_t n,
                    struct err *err)
{
    int fd = sys_open(spare, O_WRONLY | O_NOFOLLOW, 0);
    struct stat st;

    if (fd >= 0 && (sys_fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > 0)) {
        sys_close(fd);
        (void)sys_unlink(spare); /* it is created again next time */
        fd = -1;
    }
    if (fd < 0)
        return file_replace(path, mode, bytes, n, err);
    return replace_by(fd, spare, path, bytes, n, err);
}

/* Two callers may create the same file at once: each writes a temporary file with a name of its
 * own, and link() lets exactly one of them succeed. */
int file_create(const char *path, mode_t mode, const void *bytes, size_t n, struct err *err)
{
    uint64_t own;
    char *beside;
    int fd, bad;

    sys_random(&own, sizeof(own));
    beside = xprintf("%s.%016llx.new", path, (unsigned long long)own);
    fd = sys_open(beside, BESIDE_FLAGS, mode);
    bad = fd < 0 || file_write_all(fd, bytes, n) || sys_fsync(fd) || sys_link(beside, path);
    if (bad && fd >= 0 && errno == EEXIST)
        err_set(err, ERR_CONFLICT, "%s: is there already", path);
    else if (bad)
        err_sys(err, "write %s", path);
    if (fd >= 0)
        (void)sys_unlink(beside); /* at worst a second name for the file remains */
    sys_close(fd);
    free(beside);
    return bad ? -1 : sync_folder(path, err);
}
