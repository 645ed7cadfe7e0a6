/* SPDX-License-Identifier: MIT */
/* journal.c - see journal.h.
 *
 * Invariant: unless it is broken, the file's length is `size`, its first `size` bytes
 * are whole records, and its first `synced` bytes are on the disk.  `pending` goes
 * behind them. */
#include "agent/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"

enum { PENDING_KEPT = 32 * 1024 };

struct journal {
    char *path;
    int fd, lock;
    uint64_t id, size, synced;
    int64_t base; /* position of the file's first byte; negative after a compaction to more */
    int64_t lost_from, lost_to; /* positions of the last flush that failed */
    struct buf pending;
    bool is_syncing, is_broken;
};

struct journal_writer {
    struct buf bytes;
    uint64_t id;
};

/* --- Writing ------------------------------------------------------------ */

static int broken(const struct journal *j, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE,
                   "journal %s: an earlier failure left it unknown what is on the disk", j->path);
}

/* All of it or nothing. */
static int write_behind(struct journal *j, const struct buf *b, struct err *err)
{
    if (!file_write_all(j->fd, buf_data(b), b->len)) {
        j->size += b->len;
        return 0;
    }
    err_sys(err, "write %s", j->path);
    j->is_broken = sys_ftruncate(j->fd, (off_t)j->size) != 0;
    return -1;
}

/* Of use to the next open only, so that one which can not be written is no failure.
 * Records that wait have their places already; then it waits behind them. */
static void write_mark(struct journal *j)
{
    struct buf b = { 0 };
    struct err ignored;

    if (j->pending.len) {
        record_put_mark(&j->pending, j->id, j->size + j->pending.len, j->synced);
        return;
    }
    record_put_mark(&b, j->id, j->size, j->synced);
    (void)write_behind(j, &b, &ignored);
    buf_free(&b);
}

int64_t journal_append(struct journal *j, uint8_t type, const void *body, size_t n)
{
    assert(type != RECORD_MARK && n <= RECORD_BODY_MAX);
    record_put(&j->pending, j->id, j->size + j->pending.len, type, body, n);
    return j->base + (int64_t)(j->size + j->pending.len);
}

/* Their positions are given to no other records, and never become durable. */
static void lose_pending(struct journal *j)
{
    j->lost_from = j->base + (int64_t)j->size;
    j->lost_to = j->lost_from + (int64_t)j->pending.len;
    j->base += (int64_t)j->pending.len;
}

int journal_flush(struct journal *j, struct err *err)
{
    int result = 0;

    if (!j->pending.len)
        return 0;
    if (j->is_broken)
        result = broken(j, err);
    else if (j->size + j->pending.len > JOURNAL_MAX_BYTES)
        result =
            err_set(err, ERR_LIMIT, "journal %s: more than %d bytes", j->path, JOURNAL_MAX_BYTES);
    else
        result = write_behind(j, &j->pending, err);
    if (result)
        lose_pending(j);
    if (j->pending.cap > PENDING_KEPT)
        buf_free(&j->pending); /* so many records come seldom together */
    else
        buf_truncate(&j->pending, 0);
    return result;
}

/* --- Making it durable -------------------------------------------------- */

int64_t journal_durable(const struct journal *j)
{
    return j->base + (int64_t)j->synced;
}

int journal_sync_begin(struct journal *j, struct journal_sync *ret, struct err *err)
{
    assert(!j->is_syncing);
    if (journal_flush(j, err))
        return -1;
    if (j->is_broken)
        return broken(j, err);
    j->is_syncing = true;
    *ret = (struct journal_sync){ .fd = j->fd, .size = j->size };
    return 0;
}

void journal_sync_run(struct journal_sync *s)
{
    s->error = sys_fdatasync(s->fd) ? errno : 0;
}

int journal_sync_end(struct journal *j, const struct journal_sync *s, struct err *err)
{
    assert(j->is_syncing);
    j->is_syncing = false;
    if (s->error) {
        j->is_broken = true;
        errno = s->error;
        return err_sys(err, "sync %s", j->path);
    }
    j->synced = s->size;
    if (!j->is_broken)
        write_mark(j);
    return 0;
}

int journal_sync(struct journal *j, int64_t position, struct err *err)
{
    struct journal_sync s;

    if (position > j->lost_from && position <= j->lost_to)
        return err_set(err, ERR_UNAVAILABLE, "journal %s: that record could not be written",
                       j->path);
    if (position <= journal_durable(j))
        return 0;
    if (journal_sync_begin(j, &s, err))
        return -1;
    journal_sync_run(&s);
    return journal_sync_end(j, &s, err);
}

/* --- Compaction --------------------------------------------------------- */

void journal_put(struct journal_writer *w, uint8_t type, const void *body, size_t n)
{
    assert(type != RECORD_MARK && n <= RECORD_BODY_MAX);
    record_put(&w->bytes, w->id, w->bytes.len, type, body, n);
}

static void begin_file(struct journal_writer *w)
{
    sys_random(&w->id, sizeof(w->id));
    record_put_head(&w->bytes, w->id);
}

/* Replaces the file on the disk by what `w` holds. */
static int end_file(struct journal_writer *w, const char *path, struct err *err)
{
    record_put_mark(&w->bytes, w->id, w->bytes.len, w->bytes.len);
    return file_replace(path, 0600, buf_data(&w->bytes), w->bytes.len, err);
}

static int open_file(const char *path, int *ret_fd, struct err *err)
{
    int fd = sys_open(path, O_RDWR | O_APPEND | O_NOFOLLOW, 0);

    if (fd < 0)
        return err_sys(err, "open %s", path);
    *ret_fd = fd;
    return 0;
}

/* Whether the name still leads to the file we write. */
static bool is_in_place(const struct journal *j)
{
    struct stat ours, there;

    return !sys_fstat(j->fd, &ours) && !sys_stat(j->path, &there) && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

int journal_compact(struct journal *j, journal_live_fn *fn, void *arg, struct err *err)
{
    struct journal_writer w = { 0 };
    int64_t end = j->base + (int64_t)(j->size + j->pending.len);
    int fd = -1, result;

    assert(!j->is_syncing);
    begin_file(&w);
    fn(arg, &w);
    result = end_file(&w, j->path, err);
    if (!result)
        result = open_file(j->path, &fd, err);
    if (!result) {
        sys_close(j->fd);
        j->fd = fd;
        j->id = w.id;
        j->size = j->synced = w.bytes.len;
        j->base = end - (int64_t)j->size;
        j->is_broken = false;
        buf_truncate(&j->pending, 0);
    } else if (!is_in_place(j)) {
        j->is_broken = true; /* the new one is there, and we can not write to it */
    }
    buf_free(&w.bytes);
    return result;
}

uint64_t journal_size_bytes(const struct journal *j)
{
    return j->size;
}

/* --- Opening ------------------------------------------------------------ */

static int take_lock(struct journal *j, struct err *err)
{
    char *path = xprintf("%s.lock", j->path);
    int result = 0;

    j->lock = sys_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (j->lock < 0)
        result = err_sys(err, "open %s", path);
    else if (sys_flock(j->lock, LOCK_EX | LOCK_NB))
        result = errno == EWOULDBLOCK ? err_set(err, ERR_CONFLICT,
                                                "journal %s is in use by another process", j->path)
                                      : err_sys(err, "lock %s", path);
    free(path);
    return result;
}

static int make_file(const char *path, struct err *err)
{
    struct journal_writer w = { 0 };
    int result;

    begin_file(&w);
    result = end_file(&w, path, err);
    buf_free(&w.bytes);
    return result;
}

static int find_file(struct journal *j, struct err *err)
{
    struct stat st;

    if (sys_lstat(AT_FDCWD, j->path, &st)) {
        if (errno != ENOENT)
            return err_sys(err, "%s", j->path);
        if (make_file(j->path, err))
            return -1;
    }
    return open_file(j->path, &j->fd, err);
}

static int read_file(const struct journal *j, struct buf *to, struct err *err)
{
    enum { PIECE = 1 << 20 };
    struct stat st;
    ssize_t got;

    if (sys_fstat(j->fd, &st))
        return err_sys(err, "stat %s", j->path);
    if (!S_ISREG(st.st_mode) || st.st_size > JOURNAL_MAX_BYTES)
        return err_set(err, ERR_LIMIT, "journal %s: not a regular file of at most %d bytes",
                       j->path, JOURNAL_MAX_BYTES);
    do {
        got = sys_read(j->fd, buf_reserve(to, PIECE), PIECE);
        to->len += got > 0 ? (size_t)got : 0;
    } while (got > 0 && to->len <= JOURNAL_MAX_BYTES);
    return got < 0 ? err_sys(err, "read %s", j->path) : 0;
}

/* Cuts a torn end off, and makes sure of the rest: the caller acts on it. */
static int settle(struct journal *j, size_t n, const struct record_file *file, struct err *err)
{
    if (n > file->end && sys_ftruncate(j->fd, (off_t)file->end))
        return err_sys(err, "cut the torn end of %s off", j->path);
    if (sys_fdatasync(j->fd))
        return err_sys(err, "sync %s", j->path);
    j->id = file->id;
    j->size = j->synced = file->end;
    if (file->synced + RECORD_HEAD + sizeof(uint64_t) < file->end)
        write_mark(j);
    return 0;
}

static int load(struct journal *j, record_fn *fn, void *arg, struct journal_report *ret_report,
                struct err *err)
{
    struct buf bytes = { 0 };
    struct record_file file;
    int result = read_file(j, &bytes, err);

    if (!result && record_scan(buf_data(&bytes), bytes.len, &file, err))
        result = err_wrap(err, "journal %s", j->path);
    if (!result)
        result = settle(j, bytes.len, &file, err);
    if (!result)
        result = record_each(buf_data(&bytes), &file, fn, arg, err);
    if (!result)
        *ret_report = (struct journal_report){ file.count, file.end, bytes.len - file.end };
    buf_free(&bytes);
    return result;
}

int journal_open(const char *path, record_fn *fn, void *arg, struct journal **ret,
                 struct journal_report *ret_report, struct err *err)
{
    struct journal *j = xalloc(sizeof(*j));

    j->path = xstrdup(path);
    j->fd = j->lock = -1;
    if (take_lock(j, err) || find_file(j, err) || load(j, fn, arg, ret_report, err)) {
        journal_close(j);
        return -1;
    }
    *ret = j;
    return 0;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    sys_close(j->fd);
    sys_close(j->lock);
    buf_free(&j->pending);
    free(j->path);
    free(j);
}
