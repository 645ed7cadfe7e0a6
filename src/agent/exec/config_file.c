/* SPDX-License-Identifier: MIT */
/* config_file.c - see config_file.h. */
#include "agent/exec/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/msg.h"

enum { PIECE_BYTES = 64 * 1024 };

static void say(struct config_content *c, const char *fmt, ...) MSG_FORMAT(2, 3);

static void say(struct config_content *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    msg_vprintf(c->why, sizeof(c->why), fmt, ap);
    va_end(ap);
}

static void say_errno(struct config_content *c)
{
    char reason[128];

    msg_constant(reason, sizeof(reason), strerror(errno));
    if (errno == ENOENT || errno == ENOTDIR)
        say(c, "is not there");
    else
        say(c, "can not be read: %s", reason);
}

/* Whether the file may be opened. */
static bool is_fit(const struct stat *st, struct config_content *c)
{
    if (S_ISDIR(st->st_mode))
        say(c, "is a folder");
    else if (!S_ISREG(st->st_mode))
        say(c, "is not a regular file");
    else if (st->st_size > CONFIG_FILE_MAX_BYTES)
        say(c, "is larger than %d MB, and not compared", CONFIG_FILE_MAX_BYTES >> 20);
    else
        return true;
    return false;
}

static struct config_mark mark_of(const struct stat *st)
{
    return (struct config_mark){
        .device = (int64_t)st->st_dev,
        .inode = (int64_t)st->st_ino,
        .size = st->st_size,
        .modified_ns = st->st_mtim.tv_sec * 1000000000LL + st->st_mtim.tv_nsec,
        .changed_ns = st->st_ctim.tv_sec * 1000000000LL + st->st_ctim.tv_nsec,
    };
}

/* The file may grow during the read. */
static int hash(int fd, struct md5 *m, struct config_content *c)
{
    char *piece = xalloc(PIECE_BYTES);
    int64_t all = 0;
    ssize_t got;

    while ((got = sys_read(fd, piece, PIECE_BYTES)) > 0 && all <= CONFIG_FILE_MAX_BYTES) {
        md5_add(m, piece, (size_t)got);
        all += got;
    }
    free(piece);
    if (got < 0)
        say_errno(c);
    else if (all > CONFIG_FILE_MAX_BYTES)
        say(c, "is larger than %d MB, and not compared", CONFIG_FILE_MAX_BYTES >> 20);
    return *c->why ? -1 : 0;
}

static void read_open(int fd, struct config_mark *mark, struct config_content *c)
{
    struct md5 *m = md5_new();
    struct stat st;

    if (!m)
        say(c, "is not compared: this host's OpenSSL has no md5");
    else if (sys_fstat(fd, &st))
        say_errno(c);
    else if (is_fit(&st, c) && !hash(fd, m, c)) {
        md5_text(m, c->md5);
        *mark =
            mark_of(&st); /* from before the read, so that a concurrent change is noticed later */
    }
    md5_free(m);
}

/* O_NONBLOCK, in case the file was replaced since the check. */
void config_file_read(const char *path, struct config_mark *mark, struct config_content *ret)
{
    struct config_mark now, old = *mark;
    struct stat st;
    int fd;

    *ret = (struct config_content){ 0 };
    *mark = (struct config_mark){ 0 };
    ret->is_link = !sys_lstat(AT_FDCWD, path, &st) && S_ISLNK(st.st_mode);
    if (sys_stat(path, &st)) {
        say_errno(ret);
        return;
    }
    if (!is_fit(&st, ret))
        return;
    now = mark_of(&st);
    if (old.inode && !memcmp(&now, &old, sizeof(now))) {
        *mark = old;
        ret->is_same = true;
        return;
    }
    fd = sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0) {
        say_errno(ret);
        return;
    }
    read_open(fd, mark, ret);
    sys_close(fd);
}
