/* SPDX-License-Identifier: MIT */
/* journal.c - see journal.h.
 *
 * Invariant: unless the journal is broken, the file's length is `size`, its first `size` bytes are
 * whole records, and its first `synced` bytes are durable. `pending` is appended next. Disk space
 * is preallocated behind the file's end and in PATH.spare, which the next compaction writes to and
 * renames. So a full disk takes effect late. */
#include "agent/persist/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

enum {
    PENDING_KEPT = 32 * 1024,
    AHEAD_BYTES = 1 << 20,         /* space to preallocate */
    AHEAD_MIN_BYTES = 512 << 10,   /* when less than this is left */
    AHEAD_RETRY_BYTES = 64 * 1024, /* after a failure: retried when less than this is left */
};

struct journal {
    char *path;
    int fd, lock;
    uint64_t id, size, synced;
    int64_t base; /* position of the first byte; < 0 after a compaction to a larger file */
    int64_t lost_from, lost_to; /* positions of the last failed flush */
    uint64_t room, spare_room;  /* preallocated bytes, from the start of the file */
    uint64_t room_at;           /* file size at which more is preallocated */
    struct buf pending;
    bool is_syncing, is_broken;
};

struct journal_writer {
    struct buf bytes;
    uint64_t id;
};

/* --- Preallocation ------------------------------------------------------ */

/* A failure is not an error: a later write may fail and reports it then. */
static bool take_room(int fd, uint64_t bytes)
{
    return fd >= 0 && !sys_fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
}

/* Creates an empty file with space for the whole journal: a compaction needs no more. */
static void take_spare(struct journal *j, uint64_t bytes)
{
    char *path = xprintf("%s.spare", j->path);
    int fd = sys_open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);

    if (take_room(fd, bytes))
        j->spare_room = bytes;
    sys_close(fd);
    free(path);
}

/* Called on every flush; acts once per half megabyte. */
static void make_room(struct journal *j)
{
    uint64_t end = j->size + j->pending.len, bytes = end + AHEAD_BYTES;

    if (end < j->room_at)
        return;
    if (take_room(j->fd, bytes))
        j->room = bytes;
    if (j->spare_room < bytes)
        take_spare(j, bytes);
    j->room_at = j->room >= bytes && j->spare_room >= bytes ? bytes - AHEAD_MIN_BYTES
                                                            : end + AHEAD_RETRY_BYTES;
}

/* --- Writing ------------------------------------------------------------ */

static int broken(const struct journal *j, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE,
                   "journal %s: an earlier failure left it unknown what is on the disk", j->path);
}

/* Writes everything or nothing. */
static int write_behind(struct journal *j, const struct buf *b, struct err *err)
{
    if (!file_write_all(j->fd, buf_data(b), b->len)) {
        j->size += b->len;
        return 0;
    }
    err_sys(err, "write %s", j->path);
    j->is_broken = sys_ftruncate(j->fd, (off_t)j->size) != 0;
    j->room = j->size;
    j->room_at = j->size;
    return -1;
}

/* Only the next open uses the mark, so a failed write is no error. Pending records have their
 * positions already; then the mark is appended after them. */
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

/* Their positions are not reused and never become durable. */
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
    else {
        make_room(j);
        result = write_behind(j, &j->pending, err);
    }
    if (result)
        lose_pending(j);
    if (j->pending.cap > PENDING_KEPT)
        buf_free(&j->pending); /* such large batches are rare */
    else
        buf_truncate(&j->pending, 0);
    return result;
}

/* --- Sync --------------------------------------------------------------- */

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

/* Writes the content of `w` to the spare file and renames it over the journal. */
static int end_file(struct journal_writer *w, const char *path, struct err *err)
{
    char *spare = xprintf("%s.spare", path);
    int result;

    record_put_mark(&w->bytes, w->id, w->bytes.len, w->bytes.len);
    result = file_replace_by(spare, path, 0600, buf_data(&w->bytes), w->bytes.len, err);
    free(spare);
    return result;
}

static int journal_open_file(const char *path, int *ret_fd, struct err *err)
{
    int fd = sys_open(path, O_RDWR | O_APPEND | O_NOFOLLOW, 0);

    if (fd < 0)
        return err_sys(err, "open %s", path);
    *ret_fd = fd;
    return 0;
}

/* Whether the name still refers to the open file. */
static bool is_in_place(const struct journal *j)
{
    struct stat ours, there;

    return !sys_fstat(j->fd, &ours) && !sys_stat(j->path, &there) && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

/* Closing the old file frees its space, which the next spare file uses. */
static void go_on_with(struct journal *j, int fd, const struct journal_writer *w, int64_t end)
{
    sys_close(j->fd);
    j->fd = fd;
    j->id = w->id;
    j->size = j->synced = w->bytes.len;
    j->base = end - (int64_t)j->size;
    j->is_broken = false;
    buf_truncate(&j->pending, 0);
    j->room = j->room_at = j->spare_room = 0;
    make_room(j);
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
        result = journal_open_file(j->path, &fd, err);
    if (!result) {
        go_on_with(j, fd, &w, end);
    } else {
        j->is_broken |= !is_in_place(j); /* replaced by a file that is not open */
        j->spare_room = j->room_at = 0;
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

static int journal_make_file(const char *path, struct err *err)
{
    struct journal_writer w = { 0 };
    int result;

    begin_file(&w);
    result = end_file(&w, path, err);
    buf_free(&w.bytes);
    return result;
}

static int journal_find_file(struct journal *j, struct err *err)
{
    struct stat st;

    if (sys_lstat(AT_FDCWD, j->path, &st)) {
        if (errno != ENOENT)
            return err_sys(err, "%s", j->path);
        if (journal_make_file(j->path, err))
            return -1;
    }
    return journal_open_file(j->path, &j->fd, err);
}

static int journal_read_file(const struct journal *j, struct buf *to, struct err *err)
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

/* Cuts off a torn end and syncs the rest, because the caller acts on it. */
static int journal_settle(struct journal *j, size_t n, const struct record_file *file,
                          struct err *err)
{
    if (n > file->end && sys_ftruncate(j->fd, (off_t)file->end))
        return err_sys(err, "cut the torn end of %s off", j->path);
    if (sys_fdatasync(j->fd))
        return err_sys(err, "sync %s", j->path);
    j->id = file->id;
    j->size = j->synced = file->end;
    make_room(j);
    if (file->synced + RECORD_HEAD + sizeof(uint64_t) < file->end)
        write_mark(j);
    return 0;
}

static int journal_load(struct journal *j, record_fn *fn, void *arg,
                        struct journal_report *ret_report, struct err *err)
{
    struct buf bytes = { 0 };
    struct record_file file;
    int result = journal_read_file(j, &bytes, err);

    if (!result && record_scan(buf_data(&bytes), bytes.len, &file, err))
        result = err_wrap(err, "journal %s", j->path);
    if (!result)
        result = journal_settle(j, bytes.len, &file, err);
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
    if (take_lock(j, err) || journal_find_file(j, err) ||
        journal_load(j, fn, arg, ret_report, err)) {
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
