/* SPDX-License-Identifier: MIT */
/* outlog.c - see outlog.h. */
#include "agent/outlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/utf8.h"

enum { PIECE = 64 * 1024, OLD_NAME_SIZE = OUTLOG_NAME_SIZE + 8 };

struct outlog {
    char *path;
    int dir;
};

/* --- The folder --------------------------------------------------------- */

static int check_folder(const struct outlog *o, struct err *err)
{
    struct stat st;

    if (sys_fstat(o->dir, &st))
        return err_sys(err, "stat %s", o->path);
    if (st.st_uid != geteuid())
        return err_set(err, ERR_DENIED, "%s belongs to uid %u, expected uid %u", o->path,
                       (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & 022)
        return err_set(err, ERR_DENIED, "%s can be written to by others (mode %03o)", o->path,
                       (unsigned)st.st_mode & 0777);
    return 0;
}

int outlog_open(const char *path, struct outlog **ret, struct err *err)
{
    struct outlog *o = xalloc(sizeof(*o));

    o->path = xstrdup(path);
    o->dir = -1;
    if (sys_mkdir(path, 0755) && errno != EEXIST) {
        err_sys(err, "mkdir %s", path);
        goto fail;
    }
    o->dir = sys_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (o->dir < 0) {
        err_sys(err, "open %s", path);
        goto fail;
    }
    if (check_folder(o, err))
        goto fail;
    *ret = o;
    return 0;
fail:
    outlog_close(o);
    return -1;
}

void outlog_close(struct outlog *o)
{
    if (!o)
        return;
    sys_close(o->dir);
    free(o->path);
    free(o);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

void outlog_name(const char *text, char to[OUTLOG_NAME_SIZE])
{
    static const uint64_t seed[2] = { 0x686f6c6466617374u,
                                      0x6f75746c6f67u }; /* for ever the same */
    enum { HASH_ROOM = 18 };
    size_t n = 0;
    const char *p;

    for (p = text; *p && n < OUTLOG_NAME_SIZE - HASH_ROOM - 3; p++) {
        if (is_plain(*p))
            to[n++] = *p;
        else
            n += (size_t)snprintf(to + n, 4, "%%%02X", (unsigned char)*p);
    }
    to[n] = '\0';
    if (*p || !n)
        snprintf(to + n, HASH_ROOM, "+%016llx",
                 (unsigned long long)map_hash(seed, text, strlen(text)));
}

/* --- A file of it ------------------------------------------------------- */

static int trouble(const struct outlog *o, const char *name, const char *what, struct err *err)
{
    return err_sys(err, "%s %s/%s", what, o->path, name);
}

/* Only the agent makes files here, so anything else is a mistake of an administrator. */
static int open_file(const struct outlog *o, const char *name, int flags, int *ret_fd,
                     struct stat *ret_st, struct err *err)
{
    int fd = sys_openat(o->dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);

    if (fd < 0)
        return trouble(o, name, "open", err);
    if (sys_fstat(fd, ret_st)) {
        trouble(o, name, "stat", err);
        sys_close(fd);
        return -1;
    }
    if (!S_ISREG(ret_st->st_mode)) {
        sys_close(fd);
        return err_set(err, ERR_DENIED, "%s/%s is not a regular file", o->path, name);
    }
    *ret_fd = fd;
    return 0;
}

static bool is_missing(const struct err *err)
{
    return err->code == ERR_SYSTEM && err->sys == ENOENT;
}

int outlog_begin(const struct outlog *o, const char *name, uid_t uid, gid_t gid,
                 struct outlog_file *ret, struct err *err)
{
    struct stat st;
    int fd;

    if (open_file(o, name, O_WRONLY | O_APPEND | O_CREAT, &fd, &st, err))
        return -1;
    if (geteuid() == 0 && (st.st_uid != uid || st.st_gid != gid) && sys_fchown(fd, uid, gid)) {
        trouble(o, name, "chown", err);
        sys_close(fd);
        return -1;
    }
    *ret = (struct outlog_file){ .fd = fd, .from = (uint64_t)st.st_size };
    return 0;
}

static void old_name(const char *name, const char *end, char to[OLD_NAME_SIZE])
{
    snprintf(to, OLD_NAME_SIZE, "%s%s", name, end);
}

/* --- Trimming ----------------------------------------------------------- */

/* Copies from *at to `end` or the file's end, whichever comes first; *at is how far it
 * came. */
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

/* Whole blocks at the front of a file, of which a part of one at least must stay, can
 * be taken off under a writer's hands. */
static uint64_t whole_blocks(const struct stat *st)
{
    uint64_t block = st->st_blksize > 0 ? (uint64_t)st->st_blksize : 4096;
    uint64_t last = st->st_size > 0 ? (uint64_t)st->st_size - 1 : 0;

    return last - last % block;
}

/* What a writer adds faster than it can be copied is not waited for. */
static int shorten(int fd, int old, uint64_t at, uint64_t max_bytes, const struct stat *st)
{
    uint64_t n = whole_blocks(st);

    if (n > 0 && !sys_fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, (off_t)n))
        return 0;
    return copy(fd, old, &at, at + max_bytes) || sys_ftruncate(fd, 0) ? -1 : 0;
}

/* The copy is made under a third name, so that an old NAME.1 stays whole until the
 * new one is. */
static int trim_open(const struct outlog *o, const char *name, int fd, const struct stat *st,
                     uint64_t max_bytes, struct err *err)
{
    char old[OLD_NAME_SIZE], temp[OLD_NAME_SIZE];
    uint64_t at = (uint64_t)st->st_size - max_bytes;
    int to, result = 0;

    old_name(name, ".1", old);
    old_name(name, ".2", temp);
    to = sys_openat(o->dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (to < 0)
        return trouble(o, temp, "open", err);
    if (copy(fd, to, &at, whole_blocks(st)) || sys_renameat(o->dir, temp, old)) {
        result = trouble(o, name, "copy", err);
        (void)sys_unlinkat(o->dir, temp); /* the first failure is the one to tell */
    } else if (shorten(fd, to, at, max_bytes, st)) {
        result = trouble(o, name, "shorten", err);
    }
    sys_close(to);
    return result;
}

int outlog_trim(const struct outlog *o, const char *name, uint64_t max_bytes, bool *ret_trimmed,
                struct err *err)
{
    struct err why;
    struct stat st;
    bool is_large;
    int fd, result = 0;

    if (open_file(o, name, O_RDWR, &fd, &st, &why)) {
        if (!is_missing(&why)) {
            *err = why;
            return -1;
        }
        *ret_trimmed = false;
        return 0;
    }
    is_large = (uint64_t)st.st_size > max_bytes;
    if (is_large)
        result = trim_open(o, name, fd, &st, max_bytes, err);
    sys_close(fd);
    if (!result)
        *ret_trimmed = is_large;
    return result;
}

/* --- Reading ------------------------------------------------------------ */

/* The last n bytes of a file from *from on; none if it is not there.  A file smaller
 * than *from was trimmed since, and then *from becomes 0. */
static int read_end(const struct outlog *o, const char *name, uint64_t *from, size_t n,
                    struct buf *to, struct err *err)
{
    struct err why;
    struct stat st;
    uint64_t at, size;
    ssize_t got = 0;
    int fd;

    if (open_file(o, name, O_RDONLY, &fd, &st, &why)) {
        if (is_missing(&why))
            return 0;
        *err = why;
        return -1;
    }
    size = (uint64_t)st.st_size;
    *from = size < *from ? 0 : *from;
    at = size > n ? size - n : 0;
    at = at > *from ? at : *from;
    while (to->len < n && (got = sys_pread(fd, buf_reserve(to, n - to->len), n - to->len,
                                           (off_t)(at + to->len))) > 0)
        to->len += (size_t)got;
    if (got < 0)
        trouble(o, name, "read", err);
    sys_close(fd);
    return got < 0 ? -1 : 0;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void add_clean(struct buf *to, const char *text, size_t n)
{
    size_t step, at = 0;

    while (at < n && at < 3 && continues(text[at])) /* of a character that began before */
        at++;
    for (; at < n; at += step ? step : 1) {
        step = text[at] ? utf8_char(text + at, n - at) : 0;
        if (step)
            buf_add(to, text + at, step);
        else
            buf_puts(to, "\xEF\xBF\xBD");
    }
}

int outlog_tail(const struct outlog *o, const char *name, uint64_t from, size_t max_bytes,
                struct buf *to, struct err *err)
{
    struct buf newer = { 0 }, older = { 0 };
    char old[OLD_NAME_SIZE];
    int result = read_end(o, name, &from, max_bytes, &newer, err);

    old_name(name, ".1", old);
    if (!result && !from && newer.len < max_bytes)
        result = read_end(o, old, &from, max_bytes - newer.len, &older, err);
    if (!result) {
        buf_add(&older, buf_data(&newer), newer.len);
        add_clean(to, buf_data(&older), older.len);
    }
    buf_free(&newer);
    buf_free(&older);
    return result;
}

size_t outlog_last_lines(const char *text, size_t n, size_t lines)
{
    size_t at = n > 0 && text[n - 1] == '\n' ? n - 1 : n;

    if (!lines)
        return n;
    while (at > 0 && !(text[at - 1] == '\n' && --lines == 0))
        at--;
    return at;
}

int outlog_remove(const struct outlog *o, const char *name, struct err *err)
{
    char old[OLD_NAME_SIZE];

    old_name(name, ".1", old);
    if (sys_unlinkat(o->dir, name) && errno != ENOENT)
        return trouble(o, name, "unlink", err);
    if (sys_unlinkat(o->dir, old) && errno != ENOENT)
        return trouble(o, old, "unlink", err);
    return 0;
}
