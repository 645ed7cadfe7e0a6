/* SPDX-License-Identifier: MIT */
/* outlog_trim.c - see outlog_trim.h. */
#include "agent/exec/outlog_trim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { PIECE = 64 * 1024, LEAVE_BYTES = 10 << 20 }; /* LEAVE_BYTES: kept of another user's file */

/* Copies from *at to `end` or the file's end, whichever comes first; *at is advanced. */
static int copy(int from, int to, uint64_t *at, uint64_t end)
{
    char *piece = xalloc(PIECE);
    ssize_t got = 0, put = 0;

    while (*at < end) {
        got = sys_pread(from, piece, end - *at < PIECE ? end - *at : PIECE, (off_t)*at);
        if (got <= 0)
            break;
        put = sys_write(to, piece, (size_t)got);
        if (put < 0)
            break;
        *at += (uint64_t)put;
    }
    free(piece);
    return got < 0 || put < 0 ? -1 : 0;
}

/* Number of bytes in whole blocks at the front of a file that can be removed while a process
 * writes; part of a block must remain. */
static uint64_t whole_blocks(const struct stat *st)
{
    uint64_t block = st->st_blksize > 0 ? (uint64_t)st->st_blksize : 4096;
    uint64_t last = st->st_size > 0 ? (uint64_t)st->st_size - 1 : 0;

    return last - last % block;
}

/* A file being trimmed. */
struct trimming {
    struct outlog *o;
    const struct outlog_folder *folder;
    const char *name;
    int fd, old;    /* the file, and the new NAME.1 */
    uint64_t base;  /* position of its first byte */
    uint64_t from;  /* data from this offset on is kept */
    uint64_t at;    /* and copied up to this offset */
    uint64_t taken; /* whole blocks at first; finally the bytes removed */
};

static const char *head_of(const struct trimming *t, char to[OUTLOG_HEAD_SIZE + 1])
{
    snprintf(to, OUTLOG_HEAD_SIZE + 1, OUTLOG_HEAD, (unsigned long long)(t->base + t->taken));
    return to;
}

static bool collapse(const struct trimming *t)
{
    return t->taken > 0 && !sys_fallocate(t->fd, FALLOC_FL_COLLAPSE_RANGE, 0, (off_t)t->taken);
}

/* Does not wait for a writer that is faster than the copy. */
static int shorten(struct trimming *t, uint64_t max_bytes)
{
    char head[OUTLOG_HEAD_SIZE + 1];

    if (collapse(t))
        return 0;
    if (copy(t->fd, t->old, &t->at, t->at + max_bytes))
        return -1;
    t->taken = t->at;
    if (sys_pwrite(t->old, head_of(t, head), OUTLOG_HEAD_SIZE, 0) < 0 || sys_ftruncate(t->fd, 0))
        return -1;
    return 0;
}

static int copy_old(struct trimming *t, const char *temp, const char *old)
{
    char head[OUTLOG_HEAD_SIZE + 1];

    if (sys_write(t->old, head_of(t, head), OUTLOG_HEAD_SIZE) < 0 ||
        copy(t->fd, t->old, &t->at, t->taken))
        return -1;
    outlog_change(t->o, t->name);
    return sys_renameat(t->folder->dir, temp, old);
}

/* There is no room for a copy: losing output is better than a full disk. */
static int drop_old(struct trimming *t, const char *old)
{
    struct stat st;

    outlog_change(t->o, t->name);
    if (sys_unlinkat(t->folder->dir, old) && errno != ENOENT)
        return -1;
    t->from = UINT64_MAX;
    if (collapse(t))
        return 0;
    if (sys_fstat(t->fd, &st) || sys_ftruncate(t->fd, 0))
        return -1;
    t->taken = (uint64_t)st.st_size;
    return 0;
}

/* The copy is made under a third name, so that the old NAME.1 stays complete until the new one is.
 */
static int trim_open(struct trimming *t, uint64_t max_bytes, struct err *err)
{
    char old[OUTLOG_OLD_SIZE], temp[OUTLOG_OLD_SIZE];
    struct err why;
    int result = 0;

    outlog_old_name(t->name, ".1", old);
    outlog_old_name(t->name, ".2", temp);
    t->old = sys_openat(t->folder->dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (t->old < 0)
        return outlog_trouble(t->folder, temp, "open", err);
    if (copy_old(t, temp, old)) {
        outlog_trouble(t->folder, t->name, "copy", &why);
        (void)sys_unlinkat(t->folder->dir, temp); /* the first error is reported */
        if (t->from <= max_bytes || drop_old(t, old)) {
            *err = why;
            result = -1;
        }
    } else if (shorten(t, max_bytes)) {
        result = outlog_trouble(t->folder, t->name, "shorten", err);
    }
    if (!result)
        outlog_set_trimmed(t->o, t->name, t->base + t->taken,
                           t->taken > t->from ? t->taken - t->from : 0, 0);
    else
        outlog_keep_trimmed(t->o, t->name);
    sys_close(t->old);
    return result;
}

/* Truncating a file to its current size releases blocks reserved behind it (tested on ext4, tmpfs
 * and overlayfs); punching a hole does not on ext4. No system call does this without a size, so
 * data written since fstat() is lost. */
static int give_back(struct trimming *t, struct err *err)
{
    struct stat st;
    int result;

    outlog_change(t->o, t->name);
    result = sys_fstat(t->fd, &st) || sys_ftruncate(t->fd, st.st_size);
    if (result)
        outlog_trouble(t->folder, t->name, "shorten", err);
    outlog_keep_trimmed(t->o, t->name);
    return result ? -1 : 0;
}

static int trim_named(struct outlog *o, const char *name, uint64_t max_bytes, bool *ret_trimmed,
                      struct err *err)
{
    struct trimming t = { .o = o, .folder = outlog_folder(o), .name = name };
    struct outlog_space space;
    struct err why;
    struct stat st;
    bool is_large;
    int fd, result = 0;

    if (outlog_hold(o, name, &fd, &why)) {
        if (!outlog_is_missing(&why)) {
            *err = why;
            return -1;
        }
        *ret_trimmed = false;
        return 0;
    }
    if (sys_fstat(fd, &st)) {
        outlog_trouble(t.folder, name, "stat", err);
        sys_close(fd);
        return -1;
    }
    space = outlog_space_of(&st);
    is_large = space.size > max_bytes;
    t.fd = fd;
    if (is_large) {
        t.at = t.from = (uint64_t)st.st_size - max_bytes;
        t.taken = whole_blocks(&st);
        t.base = outlog_base(o, name);
        result = trim_open(&t, max_bytes, err);
    } else if (outlog_is_over(&space, max_bytes)) {
        result = give_back(&t, err);
    }
    sys_close(fd);
    if (!result)
        *ret_trimmed = is_large;
    return result;
}

int outlog_trim(struct outlog *o, const char *name, uint64_t max_bytes, bool *ret_trimmed,
                struct err *err)
{
    const struct outlog_space space = outlog_space(o, name);
    int result;

    if (!outlog_is_over(&space, max_bytes)) {
        *ret_trimmed = false;
        return 0;
    }
    outlog_begin_trim(o, name);
    result = trim_named(o, name, max_bytes, ret_trimmed, err);
    outlog_end_trim(o, name);
    return result;
}

/* --- Fast growth -------------------------------------------------------- */

/* Writes the line that replaces the first kept bytes; 0: no room for it. */
static size_t outlog_trim_write_line(uint64_t dropped, uint64_t room, char to[OUTLOG_LINE_SIZE])
{
    int n = snprintf(to, OUTLOG_LINE_SIZE, "[%llu" OUTLOG_DROPPED, (unsigned long long)dropped);

    return n > 0 && (uint64_t)n <= room ? (size_t)n : 0;
}

/* NAME.1 is overwritten in place: the file system would flush a renamed file to the disk each time.
 * Its head is written last, so that it never describes more data than there is. */
static int write_kept(struct trimming *t, uint64_t dropped)
{
    char head[OUTLOG_HEAD_SIZE + 1], line[OUTLOG_LINE_SIZE];
    uint64_t taken = t->taken;
    size_t n = outlog_trim_write_line(dropped, taken - t->from, line);

    t->at = t->from + n;
    t->taken = 0; /* the old head, until the data is complete */
    if (sys_write(t->old, head_of(t, head), OUTLOG_HEAD_SIZE) < 0 ||
        (n && sys_write(t->old, line, n) < 0) || copy(t->fd, t->old, &t->at, taken))
        return -1;
    t->taken = taken;
    if (sys_ftruncate(t->old, (off_t)(OUTLOG_HEAD_SIZE + taken - t->from)) ||
        sys_pwrite(t->old, head_of(t, head), OUTLOG_HEAD_SIZE, 0) < 0)
        return -1;
    return 0;
}

/* The file is truncated in any case: a full disk is worse than lost output. */
static int outlog_trim_drop(struct trimming *t, struct err *err)
{
    struct trimmed before = outlog_trimmed(t->o, t->name);
    uint64_t end = t->taken, dropped = before.dropped + before.older + t->from;
    char old[OUTLOG_OLD_SIZE];

    outlog_old_name(t->name, ".1", old);
    outlog_change(t->o, t->name);
    t->old = sys_openat(t->folder->dir, old, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
    if (t->old < 0 || write_kept(t, dropped)) {
        (void)sys_unlinkat(t->folder->dir, old); /* the next attempt may have room */
        t->from = end;
    }
    sys_close(t->old);
    if (sys_ftruncate(t->fd, 0)) {
        outlog_keep_trimmed(t->o, t->name);
        return outlog_trouble(t->folder, t->name, "shorten", err);
    }
    outlog_set_trimmed(t->o, t->name, t->base + end, end - t->from, dropped);
    return 0;
}

static int drop_held(struct outlog *o, const char *name, int fd, uint64_t keep_bytes,
                     struct err *err)
{
    struct trimming t = {
        .o = o, .folder = outlog_folder(o), .name = name, .fd = fd, .base = outlog_base(o, name)
    };
    struct stat st;

    if (sys_fstat(fd, &st))
        return outlog_trouble(t.folder, name, "stat", err);
    if (!st.st_nlink)
        return err_set(err, ERR_NOT_FOUND, "%s/%s was removed", t.folder->path, name);
    t.taken = (uint64_t)st.st_size;
    t.from = t.taken > keep_bytes ? t.taken - keep_bytes : 0;
    return outlog_trim_drop(&t, err);
}

int outlog_drop(struct outlog *o, const char *name, int fd, uint64_t keep_bytes, struct err *err)
{
    int result;

    outlog_begin_trim(o, name);
    result = drop_held(o, name, fd, keep_bytes, err);
    outlog_end_trim(o, name);
    return result;
}

/* --- Another user ------------------------------------------------------- */

/* Data that can not be copied is dropped: the next user must not get it. */
static int outlog_trim_leave(struct trimming *t, struct err *err)
{
    char old[OUTLOG_OLD_SIZE], temp[OUTLOG_OLD_SIZE];

    outlog_old_name(t->name, ".1", old);
    outlog_old_name(t->name, ".2", temp);
    t->old = sys_openat(t->folder->dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (t->old < 0 || copy_old(t, temp, old)) {
        (void)sys_unlinkat(t->folder->dir, temp); /* may not exist */
        outlog_change(t->o, t->name);
        (void)sys_unlinkat(t->folder->dir, old); /* it ends before the data dropped now */
        t->from = t->taken;
    }
    sys_close(t->old);
    if (sys_unlinkat(t->folder->dir, t->name)) {
        outlog_keep_trimmed(t->o, t->name);
        return outlog_trouble(t->folder, t->name, "unlink", err);
    }
    outlog_set_trimmed(t->o, t->name, t->base + t->taken, t->taken - t->from, 0);
    return 0;
}

static int leave_named(struct outlog *o, const char *name, struct err *err)
{
    struct trimming t = {
        .o = o, .folder = outlog_folder(o), .name = name, .base = outlog_base(o, name)
    };
    struct stat st;
    int result;

    if (outlog_open_file(t.folder, name, O_RDONLY, &t.fd, &st, err))
        return -1;
    t.taken = (uint64_t)st.st_size;
    t.at = t.from = t.taken > LEAVE_BYTES ? t.taken - LEAVE_BYTES : 0;
    if (t.taken > 0)
        result = outlog_trim_leave(&t, err);
    else
        result =
            sys_unlinkat(t.folder->dir, name) ? outlog_trouble(t.folder, name, "unlink", err) : 0;
    sys_close(t.fd);
    return result;
}

int outlog_leave(struct outlog *o, const char *name, struct err *err)
{
    int result;

    outlog_begin_trim(o, name);
    result = leave_named(o, name, err);
    if (!result)
        outlog_let_go(o, name);
    outlog_end_trim(o, name);
    return result;
}
