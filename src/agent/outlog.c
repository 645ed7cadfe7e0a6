/* SPDX-License-Identifier: MIT */
/* outlog.c - see outlog.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/outlog_in.h"
#include "base/mem.h"
#include "base/sys.h"

enum { PIECE = 64 * 1024 };

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

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

void outlog_name(const char *text, const char *what, char to[OUTLOG_NAME_SIZE])
{
    static const uint64_t seed[2] = { 0x686f6c6466617374u,
                                      0x6f75746c6f67u }; /* for ever the same */
    enum { HASH_ROOM = 18, ROOM = OUTLOG_NAME_SIZE - OUTLOG_WHAT_MAX - 1 };
    size_t n = 0;
    const char *p;

    for (p = text; *p && n < ROOM - HASH_ROOM - 3; p++) {
        if (is_plain(*p))
            to[n++] = *p;
        else
            n += (size_t)snprintf(to + n, 4, "%%%02X", (unsigned char)*p);
    }
    to[n] = '\0';
    if (*p || !n)
        n += (size_t)snprintf(to + n, HASH_ROOM, "+%016llx",
                              (unsigned long long)map_hash(seed, text, strlen(text)));
    if (*what)
        snprintf(to + n, OUTLOG_WHAT_MAX + 2, "~%s", what);
}

/* --- A file of it ------------------------------------------------------- */

int outlog_trouble(const struct outlog *o, const char *name, const char *what, struct err *err)
{
    return err_sys(err, "%s %s/%s", what, o->path, name);
}

/* Only the agent makes files here, so anything else is a mistake of an administrator. */
int outlog_open_file(const struct outlog *o, const char *name, int flags, int *ret_fd,
                     struct stat *ret_st, struct err *err)
{
    int fd = sys_openat(o->dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);

    if (fd < 0)
        return outlog_trouble(o, name, "open", err);
    if (sys_fstat(fd, ret_st)) {
        outlog_trouble(o, name, "stat", err);
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

bool outlog_is_missing(const struct err *err)
{
    return err->code == ERR_SYSTEM && err->sys == ENOENT;
}

void outlog_old_name(const char *name, const char *end, char to[OUTLOG_OLD_SIZE])
{
    snprintf(to, OUTLOG_OLD_SIZE, "%s%s", name, end);
}

struct trimmed outlog_trimmed(const struct outlog *o, const char *name)
{
    const struct trimmed *t = map_find_str(&o->trimmed, name);

    return t ? *t : (struct trimmed){ .base = 0 };
}

uint64_t outlog_base(const struct outlog *o, const char *name)
{
    return outlog_trimmed(o, name).base;
}

int outlog_append(const struct outlog *o, const char *name, uid_t uid, gid_t gid, int *ret_fd,
                  uint64_t *ret_size, struct err *err)
{
    struct stat st;
    int fd;

    if (outlog_open_file(o, name, O_WRONLY | O_APPEND | O_CREAT, &fd, &st, err))
        return -1;
    if ((st.st_uid != uid || st.st_gid != gid) && geteuid() == 0 && sys_fchown(fd, uid, gid)) {
        outlog_trouble(o, name, "chown", err);
        sys_close(fd);
        return -1;
    }
    *ret_fd = fd;
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

/* 0 also if it is not there. */
static uint64_t size_of(const struct outlog *o, const char *name)
{
    struct stat st;

    return sys_lstat(o->dir, name, &st) ? 0 : (uint64_t)st.st_size;
}

uint64_t outlog_end(const struct outlog *o, const char *name)
{
    return outlog_trimmed(o, name).base + size_of(o, name);
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

static void set_trimmed(struct outlog *o, const char *name, uint64_t base, uint64_t older)
{
    struct trimmed *t = map_find_str(&o->trimmed, name);

    if (!t) {
        t = xalloc(sizeof(*t));
        snprintf(t->name, sizeof(t->name), "%s", name);
        map_put_str(&o->trimmed, t->name, t);
    }
    t->base = base;
    t->older = older;
}

/* A file on its way to be shorter. */
struct trimming {
    struct outlog *o;
    const char *name;
    int fd, old;    /* itself, and its NAME.1 to be */
    uint64_t base;  /* position of its first byte */
    uint64_t from;  /* from there on it is kept, */
    uint64_t at;    /* and up to here it has been copied */
    uint64_t taken; /* whole blocks at first; at last what was taken off */
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

/* What a writer adds faster than it can be copied is not waited for. */
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
    return sys_renameat(t->o->dir, temp, old);
}

/* There is no room for a copy: then better less of what it said than a full disk. */
static int drop_old(struct trimming *t, const char *old)
{
    struct stat st;

    if (sys_unlinkat(t->o->dir, old) && errno != ENOENT)
        return -1;
    t->from = UINT64_MAX;
    if (collapse(t))
        return 0;
    if (sys_fstat(t->fd, &st) || sys_ftruncate(t->fd, 0))
        return -1;
    t->taken = (uint64_t)st.st_size;
    return 0;
}

/* The copy is made under a third name, so that an old NAME.1 stays whole until the new
 * one is. */
static int trim_open(struct trimming *t, uint64_t max_bytes, struct err *err)
{
    char old[OUTLOG_OLD_SIZE], temp[OUTLOG_OLD_SIZE];
    struct err why;
    int result = 0;

    outlog_old_name(t->name, ".1", old);
    outlog_old_name(t->name, ".2", temp);
    t->old = sys_openat(t->o->dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (t->old < 0)
        return outlog_trouble(t->o, temp, "open", err);
    if (copy_old(t, temp, old)) {
        outlog_trouble(t->o, t->name, "copy", &why);
        (void)sys_unlinkat(t->o->dir, temp); /* the first failure is the one to tell */
        if (t->from <= max_bytes || drop_old(t, old)) {
            *err = why;
            result = -1;
        }
    } else if (shorten(t, max_bytes)) {
        result = outlog_trouble(t->o, t->name, "shorten", err);
    }
    if (!result)
        set_trimmed(t->o, t->name, t->base + t->taken, t->taken > t->from ? t->taken - t->from : 0);
    sys_close(t->old);
    return result;
}

int outlog_trim(struct outlog *o, const char *name, uint64_t max_bytes, bool *ret_trimmed,
                struct err *err)
{
    struct trimming t = { .o = o, .name = name };
    struct err why;
    struct stat st;
    bool is_large;
    int fd, result = 0;

    if (size_of(o, name) <= max_bytes) {
        *ret_trimmed = false;
        return 0;
    }
    if (outlog_open_file(o, name, O_RDWR, &fd, &st, &why)) {
        if (!outlog_is_missing(&why)) {
            *err = why;
            return -1;
        }
        *ret_trimmed = false;
        return 0;
    }
    is_large = (uint64_t)st.st_size > max_bytes;
    if (is_large) {
        t.at = t.from = (uint64_t)st.st_size - max_bytes;
        t.taken = whole_blocks(&st);
        t.base = outlog_trimmed(o, name).base;
        t.fd = fd;
        result = trim_open(&t, max_bytes, err);
    }
    sys_close(fd);
    if (!result)
        *ret_trimmed = is_large;
    return result;
}

/* --- All of them -------------------------------------------------------- */

int outlog_remove(struct outlog *o, const char *name, struct err *err)
{
    char old[OUTLOG_OLD_SIZE];

    outlog_old_name(name, ".1", old);
    if (sys_unlinkat(o->dir, name) && errno != ENOENT)
        return outlog_trouble(o, name, "unlink", err);
    if (sys_unlinkat(o->dir, old) && errno != ENOENT)
        return outlog_trouble(o, old, "unlink", err);
    free(map_del_str(&o->trimmed, name));
    return 0;
}

static DIR *open_dir(const struct outlog *o)
{
    int fd = sys_openat(o->dir, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd < 0 ? NULL : sys_fdopendir(fd);

    if (!dir)
        sys_close(fd);
    return dir;
}

/* The name without its end (".1", say); false: that is not its end, or it is too long to
 * be ours. */
static bool cut_end(const char *file, const char *end, char to[OUTLOG_NAME_SIZE])
{
    size_t n = strlen(file), m = strlen(end);

    if (n <= m || n - m >= OUTLOG_NAME_SIZE || strcmp(file + n - m, end) != 0)
        return false;
    memcpy(to, file, n - m);
    to[n - m] = '\0';
    return true;
}

/* What an agent before us has trimmed.  What can not be read makes positions begin anew,
 * and is no reason not to start. */
static void read_head(struct outlog *o, const char *file, const char *name)
{
    char head[OUTLOG_HEAD_SIZE + 1] = { 0 }, again[OUTLOG_HEAD_SIZE + 1];
    unsigned long long base = 0;
    struct err ignored;
    struct stat st;
    ssize_t got;
    int fd;

    if (outlog_open_file(o, file, O_RDONLY, &fd, &st, &ignored))
        return;
    got = sys_pread(fd, head, OUTLOG_HEAD_SIZE, 0);
    sys_close(fd);
    if (got != OUTLOG_HEAD_SIZE)
        return;
    base = strtoull(head + strcspn(head, "0123456789"), NULL, 10);
    snprintf(again, sizeof(again), OUTLOG_HEAD, base);
    if (!strcmp(head, again)) /* else it is none of ours */
        set_trimmed(o, name, base, (uint64_t)st.st_size - OUTLOG_HEAD_SIZE);
}

static int find_trimmed(struct outlog *o, struct err *err)
{
    char name[OUTLOG_NAME_SIZE];
    struct dirent *entry;
    DIR *dir = open_dir(o);

    if (!dir)
        return err_sys(err, "read %s", o->path);
    while ((entry = readdir(dir))) {
        if (cut_end(entry->d_name, ".1", name))
            read_head(o, entry->d_name, name);
    }
    closedir(dir);
    return 0;
}

/* Of a file that we do not know the kind of nothing is told. */
static void tell(const struct outlog *o, const char *file, outlog_fn *each, void *arg)
{
    char name[OUTLOG_NAME_SIZE], process[OUTLOG_NAME_SIZE];
    struct stat st;

    if (!sys_lstat(o->dir, file, &st) && S_ISREG(st.st_mode) &&
        (cut_end(file, ".1", name) || cut_end(file, ".2", name) || cut_end(file, "", name))) {
        snprintf(process, sizeof(process), "%.*s", (int)strcspn(name, "~"), name);
        each(arg, name, process, st.st_mtime);
    }
}

bool outlog_walk(struct outlog *o, size_t n, outlog_fn *each, void *arg)
{
    struct dirent *entry = NULL;

    if (!o->walk)
        o->walk = open_dir(o);
    for (; o->walk && n > 0 && (entry = readdir(o->walk)); n--) {
        if (entry->d_name[0] != '.')
            tell(o, entry->d_name, each, arg);
    }
    if (entry)
        return true;
    if (o->walk)
        closedir(o->walk);
    o->walk = NULL;
    return false;
}

/* --- The beginning and the end ------------------------------------------ */

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
    if (check_folder(o, err) || find_trimmed(o, err))
        goto fail;
    *ret = o;
    return 0;
fail:
    outlog_close(o);
    return -1;
}

void outlog_close(struct outlog *o)
{
    struct map_entry *e;

    if (!o)
        return;
    for (size_t at = 0; (e = map_next(&o->trimmed, &at));)
        free(e->value);
    map_free(&o->trimmed);
    if (o->walk)
        closedir(o->walk);
    sys_close(o->dir);
    free(o->path);
    free(o);
}
