/* SPDX-License-Identifier: MIT */
/* pidfile.c - see pidfile.h. */
#include "agent/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agent/procfs.h"
#include "base/sys.h"
#include "base/utf8.h"

enum {
    LINKS_MAX = 8,
    SHOWN_MAX = 256,
    PID_LIMIT = 4 * 1024 * 1024
}; /* the kernel's own, on 64 bits */

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

/* --- The way to it ------------------------------------------------------ */

/* What is still to be walked, and where we are: `at` is open for its path alone. */
struct walk {
    char shown[SHOWN_MAX]; /* the path, for texts, which are short */
    char rest[PATH_MAX];
    int at;
    struct stat at_stat, st;
    int links;
};

static int stands_wrong(const struct walk *w, struct err *err, const char *what)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return err_set(err, ERR_NOT_FOUND, "there is no pid file %s", w->shown);
    return err_sys(err, "pid file %s: %s", w->shown, what);
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

/* Takes the first part off `rest`; false if there is none. */
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

/* Puts the link's target in front of what is still to be walked. */
static int follow(struct walk *w, int link, const char *part, struct err *err)
{
    char target[PATH_MAX], joined[2 * PATH_MAX];
    ssize_t n;

    if (w->st.st_uid != 0 || !only_root_writes(&w->at_stat))
        return err_set(err, ERR_DENIED,
                       "pid file %s: %s is a symbolic link of uid %u in a folder of uid %u; only "
                       "links of root in folders that only root can write to are followed",
                       w->shown, part, (unsigned)w->st.st_uid, (unsigned)w->at_stat.st_uid);
    if (++w->links > LINKS_MAX)
        return err_set(err, ERR_LIMIT, "pid file %s: more than %d symbolic links", w->shown,
                       LINKS_MAX);
    n = sys_readlinkat(link, "", target, sizeof(target) - 1);
    if (n < 0)
        return stands_wrong(w, err, part);
    target[n] = '\0';
    if (snprintf(joined, sizeof(joined), "%s/%s", target, w->rest) >= (int)sizeof(w->rest))
        return err_set(err, ERR_LIMIT, "pid file %s: its path is too long", w->shown);
    memcpy(w->rest, joined, strlen(joined) + 1);
    return target[0] == '/' ? go_root(w, err) : 0;
}

static int take_step(struct walk *w, const char *part, struct err *err)
{
    int fd = sys_openat(w->at, part, O_PATH | O_NOFOLLOW, 0), result;

    if (fd < 0)
        return stands_wrong(w, err, part);
    if (sys_fstat(fd, &w->st)) {
        err_sys(err, "pid file %s: %s", w->shown, part);
        sys_close(fd);
        return -1;
    }
    if (!S_ISLNK(w->st.st_mode)) {
        step_to(w, fd);
        return 0;
    }
    result = follow(w, fd, part, err);
    sys_close(fd);
    return result;
}

/* A path without symbolic links, as almost all are, in one step.  ret_done false: there is
 * something in the way, or the kernel is too old, and the walk finds out what. */
static int jump_to_end(struct walk *w, const char *path, bool *ret_done, struct err *err)
{
    int fd = sys_openat2(path, O_PATH);

    *ret_done = fd >= 0;
    if (fd < 0) {
        bool walks = errno == ELOOP || errno == EACCES || errno == ENOTDIR || errno == ENOSYS ||
                     errno == EPERM || errno == EINVAL;

        return walks ? 0 : stands_wrong(w, err, "open");
    }
    if (sys_fstat(fd, &w->st)) {
        err_sys(err, "pid file %s", w->shown);
        sys_close(fd);
        return -1;
    }
    step_to(w, fd);
    return 0;
}

static int walk_to_end(struct walk *w, const char *path, struct err *err)
{
    char part[NAME_MAX + 1];
    size_t n = strlen(path);
    bool is_done;

    memcpy(w->shown, path, n < SHOWN_MAX ? n : utf8_whole(path, SHOWN_MAX - 1));
    if (path[0] != '/' || n >= sizeof(w->rest))
        return err_set(err, ERR_INVALID, "pid file %s: not an absolute path of at most %d bytes",
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

static int check_file(const struct walk *w, uid_t uid, struct err *err)
{
    const struct stat *st = &w->at_stat;

    if (!S_ISREG(st->st_mode))
        return err_set(err, ERR_INVALID, "pid file %s is not a regular file", w->shown);
    if (st->st_uid != 0 && st->st_uid != uid)
        return err_set(err, ERR_DENIED, "pid file %s belongs to uid %u, expected uid %u%s",
                       w->shown, (unsigned)st->st_uid, (unsigned)uid, uid ? " or root" : "");
    if (st->st_size > PIDFILE_MAX_BYTES)
        return err_set(err, ERR_INVALID, "pid file %s holds %lld bytes, expected a pid", w->shown,
                       (long long)st->st_size);
    return 0;
}

/* What was checked is opened, and nothing that may have taken its place. */
static int read_checked(const struct walk *w, int64_t *ret_pid, struct err *err)
{
    char self[64], text[PIDFILE_MAX_BYTES + 1];
    ssize_t n;
    int fd;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", w->at);
    fd = sys_open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return err_sys(err, "pid file %s", w->shown);
    n = sys_read(fd, text, sizeof(text));
    if (n < 0)
        err_sys(err, "pid file %s", w->shown);
    sys_close(fd);
    if (n < 0)
        return -1;
    if (pidfile_parse(text, (size_t)n, ret_pid, err))
        return err_set(err, err->code, "pid file %s %s", w->shown, err->text);
    return 0;
}

static int walk_and_read(struct walk *w, const char *path, uid_t uid, int64_t *ret_pid,
                         struct err *err)
{
    if (walk_to_end(w, path, err) || check_file(w, uid, err))
        return -1;
    return read_checked(w, ret_pid, err);
}

int pidfile_read(const char *path, uid_t uid, int64_t *ret_pid, struct err *err)
{
    struct walk w = { .at = -1 };
    int result = walk_and_read(&w, path, uid, ret_pid, err);

    sys_close(w.at);
    return result;
}

/* --- Writing ------------------------------------------------------------ */

/* Only root and the user can put another file in its place. */
static int check_folder(const struct walk *w, uid_t uid, struct err *err)
{
    const struct stat *st = &w->at_stat;

    if (!S_ISDIR(st->st_mode))
        return err_set(err, ERR_INVALID, "pid file %s: %s", w->shown, strerror(ENOTDIR));
    if ((st->st_uid != 0 && st->st_uid != uid) || ((st->st_mode & 022) && !(st->st_mode & S_ISVTX)))
        return err_set(err, ERR_DENIED, "pid file %s: others can write to its folder", w->shown);
    return 0;
}

/* Whoever reads meanwhile finds the one number or the other: the first one counts. */
static int write_over(const struct walk *file, int64_t pid, struct err *err)
{
    char self[64], text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)pid), fd, result = 0;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", file->at);
    fd = sys_open(self, O_WRONLY | O_NOCTTY, 0);
    if (fd < 0)
        return err_sys(err, "pid file %s", file->shown);
    if (sys_pwrite(fd, text, (size_t)n, 0) != n || sys_ftruncate(fd, n))
        result = err_sys(err, "pid file %s", file->shown);
    sys_close(fd);
    return result;
}

/* What is there is left alone, but for the name of a process that is gone.  A file of the
 * user's own, under this name alone, is then written over: a thousand new ones in the
 * place of old ones cost some file systems more than what they are for. */
static int replace(const struct walk *folder, struct walk *file, const char *path, const char *name,
                   uid_t uid, int64_t pid, bool *ret_is_written, struct err *err)
{
    struct procfs_stat st;
    struct err why;
    int64_t old;

    *ret_is_written = false;
    if (walk_and_read(file, path, uid, &old, &why)) {
        if (why.code == ERR_NOT_FOUND)
            return 0;
        *err = why;
        return -1;
    }
    if (!procfs_stat((pid_t)old, &st, &why) || why.code != ERR_NOT_FOUND)
        return err_set(err, ERR_CONFLICT, "pid file %s is there already", folder->shown);
    if (file->at_stat.st_uid == uid && file->at_stat.st_nlink == 1) {
        *ret_is_written = true;
        return write_over(file, pid, err);
    }
    if (sys_unlinkat(folder->at, name))
        return err_sys(err, "pid file %s: remove the old one", folder->shown);
    return 0;
}

static int create(const struct walk *w, const char *name, uid_t uid, gid_t gid, int64_t pid,
                  struct err *err)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)pid);
    int fd = sys_openat(w->at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644), result = 0;

    if (fd < 0)
        return err_sys(err, "pid file %s", w->shown);
    if (sys_fchown(fd, uid, gid) || sys_write(fd, text, (size_t)n) != n) {
        result = err_sys(err, "pid file %s", w->shown);
        (void)sys_unlinkat(w->at, name); /* the first failure is the one to tell */
    }
    sys_close(fd);
    return result;
}

int pidfile_write(const char *path, uid_t uid, gid_t gid, int64_t pid, struct err *err)
{
    struct walk w = { .at = -1 }, file = { .at = -1 };
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
        result = check_folder(&w, uid, err);
    if (!result)
        result = replace(&w, &file, path, slash + 1, uid, pid, &is_written, err);
    if (!result && !is_written)
        result = create(&w, slash + 1, uid, gid, pid, err);
    sys_close(file.at);
    sys_close(w.at);
    return result;
}
