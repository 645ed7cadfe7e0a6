/* SPDX-License-Identifier: MIT */
/* procfile_disk.c - see procfile_disk.h. */
#include "agent/persist/procfile_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "model/procfile.h"

enum { LINKS_MAX = 8 };

/* Location of the file, which may not exist. */
struct place {
    char *path; /* with links resolved */
    int dir;
    struct stat dir_st, st;
    bool is_there;
};

static const char *procfile_disk_name_of(const struct place *p)
{
    return strrchr(p->path, '/') + 1;
}

static void procfile_disk_leave(struct place *p)
{
    sys_close(p->dir);
    free(p->path);
}

static bool procfile_disk_is_ours(const struct stat *st)
{
    return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & 022);
}

static int open_folder(struct place *p, struct err *err)
{
    char *folder = xmemdup(p->path, (size_t)(procfile_disk_name_of(p) - p->path));
    int result = 0;

    p->dir = sys_open(folder, O_PATH | O_DIRECTORY, 0);
    if (p->dir < 0)
        result = errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "there is no folder %s", folder)
                                 : err_sys(err, "%s", folder);
    else if (sys_fstat(p->dir, &p->dir_st))
        result = err_sys(err, "%s", folder);
    else if (!procfile_disk_is_ours(&p->dir_st))
        result = err_set(err, ERR_DENIED,
                         "folder %s: others can write to it; it must belong to root or uid %u, "
                         "with mode 0755 or less",
                         folder, (unsigned)geteuid());
    free(folder);
    return result;
}

static int procfile_disk_follow(struct place *p, int link, struct err *err)
{
    char target[PATH_MAX];
    char *path;
    ssize_t n;

    if (p->st.st_uid != 0 || p->dir_st.st_uid != 0 || (p->dir_st.st_mode & 022))
        return err_set(err, ERR_DENIED,
                       "%s is a symbolic link; only links of root in folders that only root can "
                       "write to are followed",
                       p->path);
    n = sys_readlinkat(link, "", target, sizeof(target) - 1);
    if (n <= 0)
        return err_sys(err, "%s", p->path);
    target[n] = '\0';
    path = target[0] == '/'
               ? xstrdup(target)
               : xprintf("%.*s%s", (int)(procfile_disk_name_of(p) - p->path), p->path, target);
    free(p->path);
    p->path = path;
    return 0;
}

/* One step; *ret_again: a link was followed. */
static int procfile_disk_look(struct place *p, bool *ret_again, struct err *err)
{
    int fd, result = 0;

    *ret_again = false;
    if (open_folder(p, err))
        return -1;
    fd = sys_openat(p->dir, procfile_disk_name_of(p), O_PATH | O_NOFOLLOW, 0);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_sys(err, "%s", p->path);
    p->is_there = true;
    if (sys_fstat(fd, &p->st)) {
        result = err_sys(err, "%s", p->path);
    } else if (S_ISLNK(p->st.st_mode)) {
        result = procfile_disk_follow(p, fd, err);
        *ret_again = !result;
    } else if (!S_ISREG(p->st.st_mode)) {
        result = err_set(err, ERR_DENIED, "%s is not a regular file", p->path);
    } else if (!procfile_disk_is_ours(&p->st)) {
        result =
            err_set(err, ERR_DENIED,
                    "%s: others can write to it; it must belong to root or uid %u, with mode 0644 "
                    "or less",
                    p->path, (unsigned)geteuid());
    }
    sys_close(fd);
    return result;
}

static int procfile_disk_find(const char *path, struct place *ret, struct err *err)
{
    struct place p = { .path = xstrdup(path), .dir = -1 };
    bool again = true;

    for (int links = 0; again; links++) {
        sys_close(p.dir);
        p.dir = -1;
        p.is_there = false;
        if (links > LINKS_MAX)
            err_set(err, ERR_DENIED, "%s: more than %d symbolic links", path, LINKS_MAX);
        if (links > LINKS_MAX || procfile_disk_look(&p, &again, err)) {
            procfile_disk_leave(&p);
            return -1;
        }
    }
    *ret = p;
    return 0;
}

/* ---- reading */

static int too_large(const char *path, struct err *err)
{
    return err_set(err, ERR_LIMIT, "%s: larger than %d bytes", path, PROCFILE_MAX_BYTES);
}

static int procfile_disk_read_all(int fd, size_t size, const char *path, struct buf *to,
                                  struct err *err)
{
    ssize_t got = 1;

    while (got > 0 && to->len <= PROCFILE_MAX_BYTES) {
        size_t room = to->len < size ? size - to->len : 4096;

        got = sys_read(fd, buf_reserve(to, room), room);
        to->len += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        return err_sys(err, "read %s", path);
    if (to->len > PROCFILE_MAX_BYTES)
        return too_large(path, err);
    return 0;
}

static int read_place(const struct place *p, struct buf *ret, struct err *err)
{
    struct buf text = { 0 };
    int fd, result;

    if (!p->is_there)
        return err_set(err, ERR_NOT_FOUND, "there is no file %s", p->path);
    if (p->st.st_size > PROCFILE_MAX_BYTES)
        return too_large(p->path, err);
    fd = sys_openat(p->dir, procfile_disk_name_of(p), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                    0);
    if (fd < 0)
        return err_sys(err, "open %s", p->path);
    result = procfile_disk_read_all(fd, (size_t)p->st.st_size, p->path, &text, err);
    sys_close(fd);
    if (result)
        buf_free(&text);
    else
        *ret = text;
    return result;
}

int procfile_load(const char *path, struct buf *ret, struct err *err)
{
    struct place p;
    int result;

    if (procfile_disk_find(path, &p, err))
        return -1;
    result = read_place(&p, ret, err);
    procfile_disk_leave(&p);
    return result;
}

int procfile_set_aside(const char *path, struct err *err)
{
    struct place p;
    char *bad;
    int result = 0;

    if (procfile_disk_find(path, &p, err))
        return -1;
    bad = xprintf("%s.bad", procfile_disk_name_of(&p));
    if (sys_renameat(p.dir, procfile_disk_name_of(&p), bad))
        result = err_sys(err, "rename %s to %s", p.path, bad);
    free(bad);
    procfile_disk_leave(&p);
    return result;
}

/* ---- writing */

/* A file left by a crash is unused and can be removed. */
static int open_new(int dir, const char *name)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW };
    int fd = sys_openat(dir, name, FLAGS, 0600);

    if (fd < 0 && errno == EEXIST && !sys_unlinkat(dir, name))
        fd = sys_openat(dir, name, FLAGS, 0600);
    return fd;
}

static char *new_name(const char *name)
{
    return xprintf("%s.new", name);
}

/* Not synced, because results wait for it: after a power loss the file may be the old one, or
 * empty. */
int procfile_begin(const char *path, const struct buf *text, struct procfile_new *ret,
                   struct err *err)
{
    struct place p;
    char *beside;
    int fd, result = 0;

    if (procfile_disk_find(path, &p, err))
        return -1;
    beside = new_name(procfile_disk_name_of(&p));
    fd = open_new(p.dir, beside);
    if (fd < 0 || file_write_all(fd, buf_data(text), text->len)) {
        result = err_sys(err, "write %s", p.path);
        if (fd >= 0)
            (void)sys_unlinkat(p.dir, beside); /* the first error is reported */
    }
    sys_close(fd);
    free(beside);
    if (!result) {
        *ret = (struct procfile_new){ p.dir, xstrdup(procfile_disk_name_of(&p)) };
        p.dir = -1;
    }
    procfile_disk_leave(&p);
    return result;
}

static void done_with(struct procfile_new *f)
{
    sys_close(f->dir);
    free(f->name);
    *f = (struct procfile_new){ .dir = -1 };
}

int procfile_end(struct procfile_new *f, struct err *err)
{
    char *beside = new_name(f->name);
    int result = 0;

    if (sys_renameat(f->dir, beside, f->name)) {
        result = err_sys(err, "rename %s to %s", beside, f->name);
        (void)sys_unlinkat(f->dir, beside); /* the first error is reported */
    }
    free(beside);
    done_with(f);
    return result;
}

int procfile_sync(const char *path, struct err *err)
{
    struct place p;
    int fd, result = 0;

    if (procfile_disk_find(path, &p, err))
        return -1;
    fd = sys_openat(p.dir, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || sys_fsync(fd))
        result = err_sys(err, "sync the folder of %s", p.path);
    sys_close(fd);
    procfile_disk_leave(&p);
    return result;
}

void procfile_drop(struct procfile_new *f)
{
    char *beside;

    if (f->dir < 0)
        return;
    beside = new_name(f->name);
    (void)sys_unlinkat(f->dir, beside); /* on failure the next write replaces it */
    free(beside);
    done_with(f);
}
