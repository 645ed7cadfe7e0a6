/* SPDX-License-Identifier: MIT */
/* spec_folder.c - see spec_folder.h. */
#include "model/spec_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "model/rules.h"
#include "wire/json/yaml.h"

enum { FILES_MAX = 10000, ALL_MAX = 10000 };

const char *spec_folder_path(const char *path, struct arena *a)
{
    char *to = arena_strdup(a, path);
    size_t n = 0;

    for (const char *p = path; *p; p++) {
        if (*p != '/' || !n || to[n - 1] != '/')
            to[n++] = *p;
    }
    while (n > 1 && to[n - 1] == '/')
        n--;
    to[n] = '\0';
    return to;
}

static bool is_spec(const char *name)
{
    static const char *const ends[] = { ".yaml", ".yml", ".json" };
    size_t n = strlen(name);

    for (size_t i = 0; *name != '.' && i < ARRAY_LEN(ends); i++) {
        size_t len = strlen(ends[i]);

        if (n > len && !strcmp(name + n - len, ends[i]))
            return true;
    }
    return false;
}

static int list_entries(DIR *dir, const char *path, struct arena *a, struct buf *names,
                        struct err *err)
{
    const struct dirent *entry;

    for (;;) {
        const char *name;

        errno = 0;
        entry = readdir(dir);
        if (!entry)
            return errno ? err_sys(err, "read %s", path) : 0;
        if (!is_spec(entry->d_name))
            continue;
        if (names->len / sizeof(name) == FILES_MAX)
            return err_set(err, ERR_LIMIT, "%s: more than %d files", path, FILES_MAX);
        name = arena_strdup(a, entry->d_name);
        buf_add(names, &name, sizeof(name));
    }
}

static int list_files(const char *path, struct arena *a, struct buf *names, struct err *err)
{
    int fd = sys_open(path, O_RDONLY | O_DIRECTORY, 0), bad;
    DIR *dir = fd < 0 ? NULL : sys_fdopendir(fd);

    if (!dir) {
        err_sys(err, "open %s", path);
        if (fd >= 0)
            sys_close(fd);
        return -1;
    }
    bad = list_entries(dir, path, a, names, err);
    closedir(dir);
    return bad;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int read_file(const char *folder, const char *name, const struct short_context *context,
                     struct arena *a, struct buf *to, struct err *err)
{
    const char *path = arena_printf(a, "%s/%s", folder, name);
    struct buf text = { 0 };
    struct list all;
    int bad;

    if (file_read_own(path, YAML_SIZE_MAX, &text, err))
        return -1;
    bad = spec_file_read_text(path, &text, context, a, &all, err);
    buf_free(&text);
    if (!bad && all.n)
        buf_add(to, all.items, all.n * sizeof(struct spec_process));
    if (!bad && to->len / sizeof(struct spec_process) > ALL_MAX)
        return err_set(err, ERR_LIMIT, "%s: more than %d processes", folder, ALL_MAX);
    return bad;
}

static int by_meta(const void *a, const void *b)
{
    const struct spec_process *p = a, *q = b;
    int spaces = strcmp(p->meta.space, q->meta.space);

    return spaces ? spaces : strcmp(p->meta.name, q->meta.name);
}

/* Sorted, so that the same names are neighbours. */
static int check_twice(const struct spec_process *p, size_t n, struct err *err)
{
    for (size_t i = 1; i < n; i++) {
        if (!by_meta(&p[i - 1], &p[i]))
            return err_set(err, ERR_CONFLICT, "%s: %s/%s is in %s, too", p[i].path, p[i].meta.space,
                           p[i].meta.name, p[i - 1].path);
    }
    return 0;
}

static int read_files(const char *path, const struct buf *names,
                      const struct short_context *context, struct arena *a, struct list *ret,
                      struct err *err)
{
    const char *const *name = (const void *)names->block;
    struct buf all = { 0 };
    struct spec_process *p;
    size_t n;

    for (size_t i = 0; i < names->len / sizeof(*name); i++) {
        if (read_file(path, name[i], context, a, &all, err)) {
            buf_free(&all);
            return -1;
        }
    }
    n = all.len / sizeof(*p);
    p = arena_alloc(a, (n + 1) * sizeof(*p));
    if (n)
        memcpy(p, buf_data(&all), all.len);
    buf_free(&all);
    qsort(p, n, sizeof(*p), by_meta);
    for (size_t i = 0; i < n; i++)
        p[i].spec.extra.source = arena_strdup(a, path);
    *ret = (struct list){ p, n };
    return check_twice(p, n, err);
}

int spec_folder_read(const char *path, const struct short_context *context, struct arena *a,
                     struct list *ret, struct err *err)
{
    struct buf names = { 0 };
    int bad;

    if (file_check_own_folder(path, err))
        return -1;
    bad = list_files(path, a, &names, err);
    if (!bad && names.len)
        qsort(names.block, names.len / sizeof(const char *), sizeof(const char *), by_text);
    if (!bad)
        bad = read_files(path, &names, context, a, ret, err);
    buf_free(&names);
    return bad;
}
