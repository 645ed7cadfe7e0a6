/* SPDX-License-Identifier: MIT */
/* folder.h - a folder of a test's own, and all that is in it. */
#ifndef TESTS_LIB_FOLDER_H
#define TESTS_LIB_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/io/file.h"

struct folder {
    char path[32];
};

static inline void folder_init(struct folder *f)
{
    snprintf(f->path, sizeof(f->path), "/tmp/folder-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

/* Removes all files in it; returns how many they were. */
static inline int folder_sweep(const struct folder *f)
{
    DIR *dir = opendir(f->path);
    struct dirent *e;
    int n = 0;

    while ((e = readdir(dir))) {
        if (e->d_name[0] != '.')
            n += unlinkat(dirfd(dir), e->d_name, 0) == 0;
    }
    closedir(dir);
    return n;
}

static inline void folder_done(struct folder *f)
{
    folder_sweep(f);
    assert_int_equal(rmdir(f->path), 0);
}

/* The whole file as text, to be freed; "" if there is none. */
static inline char *folder_text(const char *path)
{
    struct buf b = { 0 };
    struct err err;
    char *text;

    (void)file_read(path, 1 << 20, &b, &err); /* none is an answer */
    text = strdup(buf_text(&b));
    buf_free(&b);
    return text;
}

static inline void folder_put(const char *path, mode_t mode, const char *text, size_t n)
{
    int fd;

    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
}

static inline mode_t folder_mode(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

#endif
