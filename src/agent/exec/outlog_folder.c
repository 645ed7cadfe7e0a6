/* SPDX-License-Identifier: MIT */
/* outlog_folder.c - see outlog_folder.h. */
#include "agent/exec/outlog_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

static int outlog_folder_check_folder(const struct outlog_folder *f, struct err *err)
{
    struct stat st;

    if (sys_fstat(f->dir, &st))
        return err_sys(err, "stat %s", f->path);
    if (st.st_uid != geteuid())
        return err_set(err, ERR_DENIED, "%s belongs to uid %u, expected uid %u", f->path,
                       (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & 022)
        return err_set(err, ERR_DENIED, "%s can be written to by others (mode %03o)", f->path,
                       (unsigned)st.st_mode & 0777);
    return 0;
}

int outlog_folder_open(struct outlog_folder *f, const char *path, struct err *err)
{
    f->path = xstrdup(path);
    f->dir = -1;
    if (sys_mkdir(path, 0755) && errno != EEXIST)
        return err_sys(err, "mkdir %s", path);
    f->dir = sys_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (f->dir < 0)
        return err_sys(err, "open %s", path);
    return outlog_folder_check_folder(f, err);
}

void outlog_folder_close(struct outlog_folder *f)
{
    sys_close(f->dir);
    free(f->path);
}

/* ---- names */

static bool outlog_folder_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

void outlog_name(const char *text, const char *what, char to[OUTLOG_NAME_SIZE])
{
    static const uint64_t seed[2] = { 0x686f6c6466617374u, 0x6f75746c6f67u }; /* a constant key */
    enum { HASH_ROOM = 18, ROOM = OUTLOG_NAME_SIZE - OUTLOG_WHAT_MAX - 1 };
    size_t n = 0;
    const char *p;

    for (p = text; *p && n < ROOM - HASH_ROOM - 3; p++) {
        if (outlog_folder_is_plain(*p))
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

void outlog_old_name(const char *name, const char *end, char to[OUTLOG_OLD_SIZE])
{
    snprintf(to, OUTLOG_OLD_SIZE, "%s%s", name, end);
}

/* ---- a file of it */

int outlog_trouble(const struct outlog_folder *f, const char *name, const char *fmt,
                   struct err *err)
{
    char doing[64];
    int error = errno;

    msg_constant(doing, sizeof(doing), fmt);
    errno = error;
    return err_sys(err, "%s %s/%s", doing, f->path, name);
}

/* Only the agent creates files here, so another file type is an administrator's mistake. */
int outlog_open_file(const struct outlog_folder *f, const char *name, int flags, int *ret_fd,
                     struct stat *ret_st, struct err *err)
{
    int fd = sys_openat(f->dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);

    if (fd < 0)
        return outlog_trouble(f, name, "open", err);
    if (sys_fstat(fd, ret_st)) {
        outlog_trouble(f, name, "stat", err);
        sys_close(fd);
        return -1;
    }
    if (!S_ISREG(ret_st->st_mode)) {
        sys_close(fd);
        return err_set(err, ERR_DENIED, "%s/%s is not a regular file", f->path, name);
    }
    *ret_fd = fd;
    return 0;
}

bool outlog_is_missing(const struct err *err)
{
    return err->code == ERR_SYSTEM && err->sys == ENOENT;
}

DIR *outlog_open_dir(const struct outlog_folder *f)
{
    int fd = sys_openat(f->dir, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd < 0 ? NULL : sys_fdopendir(fd);

    if (!dir)
        sys_close(fd);
    return dir;
}

struct outlog_space outlog_space_of(const struct stat *st)
{
    enum { BLOCK = 512 };
    uint64_t size = (uint64_t)st->st_size, taken = (uint64_t)st->st_blocks * BLOCK;

    return (struct outlog_space){ size, taken > size ? taken - size : 0 };
}

bool outlog_is_over(const struct outlog_space *s, uint64_t max_bytes)
{
    enum { RESERVED_BYTES = 4 << 20 };

    return s->size > max_bytes ||
           (s->reserved > RESERVED_BYTES && (s->reserved - RESERVED_BYTES) / 2 > max_bytes);
}
