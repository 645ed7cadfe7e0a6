/* SPDX-License-Identifier: MIT */
/* place.c - see place.h. */
#include "agent/confine/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/os/sys.h"
#include "base/text/utf8.h"

/* A path in two parts: the head, which may exist, and the rest, which does not. */
struct split {
    const char *path; /* the whole path, for texts */
    char head[PATH_MAX], rest[PATH_MAX];
};

static void drop_slashes(char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        path[--n] = '\0';
}

/* A name counts only if it resolves to the same file here: a removed file, or one mounted in
 * another namespace (/proc/PID/root of a container), has a name that looks local. */
static bool leads_to(const char *name, int fd)
{
    struct stat at, is;

    return name[0] == '/' && !sys_fstat(fd, &is) && !sys_stat(name, &at) &&
           at.st_dev == is.st_dev && at.st_ino == is.st_ino;
}

/* Asks the kernel for the path. */
static int place_name_of(int fd, const char *path, char to[PATH_MAX], struct err *err)
{
    char self[64];
    ssize_t n;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    n = sys_readlinkat(AT_FDCWD, self, to, PATH_MAX - 1);
    if (n < 0)
        return err_sys(err, "%s", path);
    to[n] = '\0';
    if (leads_to(to, fd))
        return 0;
    return err_set(err, ERR_DENIED, "%s can not be reached from here by a name of its own", path);
}

/* The file is missing, or the name is a dangling link, which is refused. */
static int check_missing(const struct split *s, struct err *err)
{
    int fd = sys_open(s->head, O_PATH | O_NOFOLLOW, 0);

    sys_close(fd);
    return fd < 0 ? 0
                  : err_set(err, ERR_DENIED, "%s: %s is a symbolic link that leads nowhere",
                            s->path, s->head);
}

/* Moves the last component of the head to the rest. */
static int step_back(struct split *s, struct err *err)
{
    char *slash = strrchr(s->head, '/');
    char rest[PATH_MAX];

    if (!strcmp(slash + 1, ".."))
        return err_set(err, ERR_DENIED, "%s: `..` behind a folder that is not there", s->path);
    if (strcmp(slash + 1, ".") != 0) {
        if (snprintf(rest, sizeof(rest), "%s%s", slash, s->rest) >= (int)sizeof(rest))
            return err_set(err, ERR_LIMIT, "%.*s...: too long", (int)utf8_cut(s->path, 200),
                           s->path);
        memcpy(s->rest, rest, strlen(rest) + 1);
    }
    slash[slash == s->head] = '\0';
    drop_slashes(s->head);
    return 0;
}

static int join(const struct split *s, const char *head, char to[PATH_MAX], struct err *err)
{
    const char *first = *s->rest && !strcmp(head, "/") ? "" : head;

    if (snprintf(to, PATH_MAX, "%s%s", first, s->rest) >= PATH_MAX)
        return err_set(err, ERR_LIMIT, "%.*s...: too long", (int)utf8_cut(s->path, 200), s->path);
    return 0;
}

/* Finds the deepest part that exists. */
static int find_head(struct split *s, int *ret_fd, struct err *err)
{
    for (;;) {
        int fd = sys_open(s->head, O_PATH, 0);

        if (fd >= 0) {
            *ret_fd = fd;
            return 0;
        }
        if (errno != ENOENT || !strcmp(s->head, "/"))
            return err_sys(err, "%s", s->path);
        if (check_missing(s, err) || step_back(s, err))
            return -1;
    }
}

/* New files can be created only in a folder. */
static int place_check_folder(const struct split *s, int fd, struct err *err)
{
    struct stat st;

    if (!*s->rest)
        return 0;
    if (sys_fstat(fd, &st))
        return err_sys(err, "%s", s->path);
    return S_ISDIR(st.st_mode) ? 0 : err_set(err, ERR_DENIED, "%s: not a folder", s->path);
}

int place_resolve(const char *path, char ret[PATH_MAX], struct err *err)
{
    struct split s = { .path = path };
    char head[PATH_MAX];
    int fd = -1, result = -1;

    if (path[0] != '/')
        return err_set(err, ERR_INVALID, "%.*s: not an absolute path", (int)utf8_cut(path, 200),
                       path);
    if (snprintf(s.head, sizeof(s.head), "%s", path) >= (int)sizeof(s.head))
        return err_set(err, ERR_LIMIT, "%.*s...: too long", (int)utf8_cut(path, 200), path);
    drop_slashes(s.head);
    if (find_head(&s, &fd, err))
        return -1;
    if (!place_check_folder(&s, fd, err) && !place_name_of(fd, path, head, err))
        result = join(&s, head, ret, err);
    sys_close(fd);
    return result;
}

bool place_is_under(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    if (n && folder[n - 1] == '/')
        n--; /* "/" itself */
    return !strncmp(path, folder, n) && (path[n] == '/' || path[n] == '\0');
}
