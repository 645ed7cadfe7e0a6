/* SPDX-License-Identifier: MIT */
/* walk.c - see walk.h. */
#include "agent/identify/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/os/sys.h"
#include "base/text/utf8.h"

enum { LINKS_MAX = 8 };

static int stands_wrong(const struct walk *w, struct err *err, const char *what)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return err_set(err, ERR_NOT_FOUND, "there is no %s %s", w->what, w->shown);
    return err_sys(err, "%s %s: %s", w->what, w->shown, what);
}

static void step_to(struct walk *w, int fd)
{
    sys_close(w->at);
    w->at = fd;
    w->at_stat = w->st;
}

static int go_root(struct walk *w, struct err *err)
{
    int fd = sys_open("/", O_PATH | O_DIRECTORY, 0);

    if (fd < 0)
        return err_sys(err, "/");
    if (sys_fstat(fd, &w->st)) {
        err_sys(err, "/");
        sys_close(fd);
        return -1;
    }
    step_to(w, fd);
    return 0;
}

/* Removes the first component of `rest`; false: `rest` is empty. */
static bool take_part(struct walk *w, char part[NAME_MAX + 1])
{
    size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/");

    if (!n || n > NAME_MAX)
        return false;
    memcpy(part, w->rest + skip, n);
    part[n] = '\0';
    memmove(w->rest, w->rest + skip + n, strlen(w->rest + skip + n) + 1);
    return true;
}

static bool only_root_writes(const struct stat *st)
{
    return st->st_uid == 0 && !(st->st_mode & 022);
}

/* Prepends the link's target to the rest. */
static int walk_follow(struct walk *w, int link, const char *part, struct err *err)
{
    char target[PATH_MAX], joined[2 * PATH_MAX];
    ssize_t n;

    if (w->st.st_uid != 0 || !only_root_writes(&w->at_stat))
        return err_set(err, ERR_DENIED,
                       "%s %s: %s is a symbolic link of uid %u in a folder of uid %u; only "
                       "links of root in folders that only root can write to are followed",
                       w->what, w->shown, part, (unsigned)w->st.st_uid,
                       (unsigned)w->at_stat.st_uid);
    if (++w->links > LINKS_MAX)
        return err_set(err, ERR_LIMIT, "%s %s: more than %d symbolic links", w->what, w->shown,
                       LINKS_MAX);
    n = sys_readlinkat(link, "", target, sizeof(target) - 1);
    if (n < 0)
        return stands_wrong(w, err, part);
    target[n] = '\0';
    if (snprintf(joined, sizeof(joined), "%s/%s", target, w->rest) >= (int)sizeof(w->rest))
        return err_set(err, ERR_LIMIT, "%s %s: its path is too long", w->what, w->shown);
    memcpy(w->rest, joined, strlen(joined) + 1);
    return target[0] == '/' ? go_root(w, err) : 0;
}

static int take_step(struct walk *w, const char *part, struct err *err)
{
    int fd = sys_openat(w->at, part, O_PATH | O_NOFOLLOW, 0), result;

    if (fd < 0)
        return stands_wrong(w, err, part);
    if (sys_fstat(fd, &w->st)) {
        err_sys(err, "%s %s: %s", w->what, w->shown, part);
        sys_close(fd);
        return -1;
    }
    if (!S_ISLNK(w->st.st_mode)) {
        step_to(w, fd);
        return 0;
    }
    result = walk_follow(w, fd, part, err);
    sys_close(fd);
    return result;
}

/* A path without symbolic links, the common case, in one step. ret_done false: there is an
 * obstacle, or the kernel is too old; the walk finds the reason. */
static int jump_to_end(struct walk *w, const char *path, bool *ret_done, struct err *err)
{
    int fd = sys_openat2(path, O_PATH);

    *ret_done = fd >= 0;
    if (fd < 0) {
        bool walks = errno == ELOOP || errno == EACCES || errno == ENOTDIR || errno == ENOSYS ||
                     errno == EPERM || errno == EINVAL;

        return walks ? 0 : stands_wrong(w, err, MSG("open"));
    }
    if (sys_fstat(fd, &w->st)) {
        err_sys(err, "%s %s", w->what, w->shown);
        sys_close(fd);
        return -1;
    }
    step_to(w, fd);
    memcpy(w->rest, path, strlen(path) + 1);
    w->is_straight = true;
    return 0;
}

int walk_to_end(struct walk *w, const char *path, struct err *err)
{
    char part[NAME_MAX + 1];
    size_t n = strlen(path);
    bool is_done;

    memcpy(w->shown, path, utf8_cut(path, WALK_SHOWN_MAX - 1));
    if (path[0] != '/' || n >= sizeof(w->rest))
        return err_set(err, ERR_INVALID, "%s %s: not an absolute path of at most %d bytes", w->what,
                       w->shown, (int)sizeof(w->rest) - 1);
    if (jump_to_end(w, path, &is_done, err))
        return -1;
    if (is_done)
        return 0;
    memcpy(w->rest, path, n + 1);
    if (go_root(w, err))
        return -1;
    while (take_part(w, part)) {
        if (take_step(w, part, err))
            return -1;
    }
    return 0;
}

int walk_check_file(const struct walk *w, uid_t uid, size_t max_bytes, const char *expected,
                    struct err *err)
{
    const struct stat *st = &w->at_stat;

    if (!S_ISREG(st->st_mode))
        return err_set(err, ERR_INVALID, "%s %s is not a regular file", w->what, w->shown);
    if (st->st_uid != 0 && st->st_uid != uid)
        return err_set(err, ERR_DENIED,
                       uid ? "%s %s belongs to uid %u, expected uid %u or root"
                           : "%s %s belongs to uid %u, expected uid %u",
                       w->what, w->shown, (unsigned)st->st_uid, (unsigned)uid);
    if (st->st_size > (off_t)max_bytes)
        return err_set(err, ERR_INVALID, "%s %s holds %lld bytes, expected %s", w->what, w->shown,
                       (long long)st->st_size, expected);
    return 0;
}

/* Opening by path takes a third of the time of opening by /proc. -1: the file has been replaced, or
 * can not be opened. */
static int open_again(const struct walk *w, int flags)
{
    int fd = sys_openat2(w->rest, flags | O_NOCTTY);
    struct stat st;

    if (fd < 0 ||
        (!sys_fstat(fd, &st) && st.st_dev == w->at_stat.st_dev && st.st_ino == w->at_stat.st_ino))
        return fd;
    sys_close(fd);
    return -1;
}

int walk_open(const struct walk *w, int flags, int *ret_fd, struct err *err)
{
    bool is_harmless = (flags & O_ACCMODE) == O_RDONLY && (flags & O_NONBLOCK);
    char self[64];
    int fd = w->is_straight && is_harmless ? open_again(w, flags) : -1;

    if (fd >= 0) {
        *ret_fd = fd;
        return 0;
    }
    snprintf(self, sizeof(self), "/proc/self/fd/%d", w->at);
    fd = sys_open(self, flags | O_NOCTTY, 0);
    if (fd < 0 && errno == EWOULDBLOCK)
        return err_set(err, ERR_UNAVAILABLE, "%s %s can not be opened now: it has a lease", w->what,
                       w->shown);
    if (fd < 0)
        return err_sys(err, "%s %s", w->what, w->shown);
    *ret_fd = fd;
    return 0;
}

int walk_real_path(const struct walk *w, char to[PATH_MAX], struct err *err)
{
    char self[64];
    ssize_t n;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", w->at);
    n = sys_readlinkat(AT_FDCWD, self, to, PATH_MAX - 1);
    if (n < 0)
        return err_sys(err, "%s", self);
    to[n] = '\0';
    return 0;
}
