/* SPDX-License-Identifier: MIT */
/* http_files.c - see http_files.h. */
#include "wire/http/http_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "base/text/utf8.h"

enum { COUNT_MAX = 4096, BYTES_MAX = 64 * 1024 * 1024, DEPTH_MAX = 16, HASH_MIN = 8 };

struct file {
    const char *path, *type, *bytes;
    size_t n;
    int64_t modified_s;
    char etag[40], modified[TIME_TEXT_SIZE];
    struct http_field fields[5];
};

struct http_files {
    struct http_files_config config;
    struct arena arena; /* holds everything below */
    struct map files;   /* path to struct file */
    size_t count, bytes;
};

static const struct {
    const char *extension, *type;
} types[] = {
    { "html", "text/html; charset=utf-8" },
    { "js", "text/javascript; charset=utf-8" },
    { "mjs", "text/javascript; charset=utf-8" },
    { "css", "text/css; charset=utf-8" },
    { "svg", "image/svg+xml" },
    { "png", "image/png" },
    { "ico", "image/x-icon" },
    { "webp", "image/webp" },
    { "json", "application/json" },
    { "map", "application/json" },
    { "woff2", "font/woff2" },
    { "wasm", "application/wasm" },
    { "txt", "text/plain; charset=utf-8" },
};

static const char *type_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < ARRAY_LEN(types); i++) {
        if (!strcasecmp(dot + 1, types[i].extension))
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Whether `p`, up to the next dot, is a hash in base64url characters.  Lower-case letters and
 * '-' alone count as words ("vue-next.css"): caching a changed file forever does harm, asking
 * again does not. */
static bool is_hash(const char *p)
{
    bool looks_random = false;
    size_t n = 0;

    for (; isalnum((unsigned char)p[n]) || p[n] == '-' || p[n] == '_'; n++)
        looks_random |= isdigit((unsigned char)p[n]) || isupper((unsigned char)p[n]);
    return n >= HASH_MIN && p[n] == '.' && looks_random;
}

static bool is_immutable(const char *path)
{
    const char *name = strrchr(path, '/') + 1, *dash = name;

    if (strncmp(path, "/assets/", 8) != 0)
        return false;
    while ((dash = strchr(dash, '-'))) {
        if (dash++ > name && is_hash(dash))
            return true;
    }
    return false;
}

/* ---- loading ---- */

/* The hash is not secret and must be the same on every node, so its key is constant. */
static void put_etag(struct file *f)
{
    static const uint64_t seeds[2][2] = { { 1, 2 }, { 3, 4 } };

    snprintf(f->etag, sizeof(f->etag), "\"%016llx%016llx\"",
             (unsigned long long)map_hash(seeds[0], f->bytes, f->n),
             (unsigned long long)map_hash(seeds[1], f->bytes, f->n));
}

static void describe(struct file *f, int64_t modified_s)
{
    f->type = type_of(f->path);
    f->modified_s = modified_s;
    time_http(modified_s * 1000, f->modified);
    put_etag(f);
    f->fields[0] = (struct http_field){ "ETag", f->etag };
    f->fields[1] = (struct http_field){ "Last-Modified", f->modified };
    f->fields[2] = (struct http_field){
        "Cache-Control",
        is_immutable(f->path) ? "public, max-age=31536000, immutable" : "no-cache",
    };
    f->fields[3] = (struct http_field){ "X-Content-Type-Options", "nosniff" };
}

/* Reads to the end of the file, or up to max + 1 bytes. */
static int http_files_read_all(int fd, size_t max, struct buf *to, struct err *err)
{
    ssize_t got = 1;

    while (got > 0 && to->len <= max) {
        size_t room = max + 1 - to->len < 65536 ? max + 1 - to->len : 65536;

        got = sys_read(fd, buf_reserve(to, room), room);
        if (got < 0)
            return err_sys(err, "read");
        to->len += (size_t)got;
    }
    return 0;
}

static void http_files_put(struct http_files *fs, struct file *f)
{
    size_t n = strlen(f->path), index = strlen("index.html");

    map_put(&fs->files, f->path, n, f);
    if (!strcmp(strrchr(f->path, '/'), "/index.html"))
        map_put(&fs->files, f->path, n - index, f);
}

static int add_bytes(struct http_files *fs, const char *path, int fd, const struct stat *st,
                     struct err *err)
{
    size_t left = fs->config.bytes_max - fs->bytes;
    struct buf bytes = { 0 };
    struct file *f;

    if (http_files_read_all(fd, left, &bytes, err)) {
        buf_free(&bytes);
        return -1;
    }
    if (bytes.len > left) {
        buf_free(&bytes);
        return err_set(err, ERR_LIMIT, "more than %zu bytes in all", fs->config.bytes_max);
    }
    f = arena_alloc(&fs->arena, sizeof(*f));
    f->path = arena_strdup(&fs->arena, path);
    f->bytes = bytes.len ? arena_memdup(&fs->arena, buf_data(&bytes), bytes.len) : "";
    f->n = bytes.len;
    buf_free(&bytes);
    describe(f, st->st_mtime);
    http_files_put(fs, f);
    fs->bytes += f->n;
    return 0;
}

static int http_files_walk(struct http_files *fs, const char *path, int fd, int depth,
                           struct err *err);

/* `path` is the path in requests.  Takes over the fd. */
static int http_files_add(struct http_files *fs, const char *path, int fd, int depth,
                          struct err *err)
{
    struct stat st;
    int failed = 0;

    if (sys_fstat(fd, &st)) {
        failed = err_sys(err, "stat");
    } else if (S_ISDIR(st.st_mode)) {
        return http_files_walk(fs, path, fd, depth + 1, err);
    } else if (S_ISREG(st.st_mode)) {
        if (fs->count++ >= fs->config.count_max)
            failed = err_set(err, ERR_LIMIT, "more than %zu files", fs->config.count_max);
        else
            failed = add_bytes(fs, path, fd, &st, err);
    }
    sys_close(fd);
    return failed ? err_wrap(err, "%s%s", fs->config.dir, path) : 0;
}

/* O_NOFOLLOW: files outside the folder must not be served.  O_NONBLOCK: opening a FIFO must not
 * block. */
static int add_entry(struct http_files *fs, int dir, const char *in, const char *name, int depth,
                     struct err *err)
{
    char *path;
    int fd, failed = 0;

    if (name[0] == '.')
        return 0;
    if (utf8_valid(name, strlen(name)) != strlen(name))
        return err_set(err, ERR_INVALID, "%s%s: a name in it is not UTF-8", fs->config.dir, in);
    path = xprintf("%s/%s", in, name);
    fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd >= 0)
        failed = http_files_add(fs, path, fd, depth, err);
    else if (errno != ELOOP && errno != ENXIO) /* a symbolic link, a socket */
        failed = err_sys(err, "open %s%s", fs->config.dir, path);
    free(path);
    return failed;
}

static int walk_entries(struct http_files *fs, const char *path, DIR *dir, int depth,
                        struct err *err)
{
    struct dirent *entry;
    int failed = 0;

    do {
        errno = 0;
        entry = readdir(dir);
        if (entry)
            failed = add_entry(fs, dirfd(dir), path, entry->d_name, depth, err);
        else if (errno)
            failed = err_sys(err, "read directory %s%s", fs->config.dir, path);
    } while (entry && !failed);
    return failed;
}

/* Takes over the fd. */
static int http_files_walk(struct http_files *fs, const char *path, int fd, int depth,
                           struct err *err)
{
    const char *root = fs->config.dir;
    DIR *dir = depth <= DEPTH_MAX ? sys_fdopendir(fd) : NULL;
    int failed;

    if (depth > DEPTH_MAX)
        failed = err_set(err, ERR_LIMIT, "%s%s: more than %d levels", root, path, DEPTH_MAX);
    else if (!dir)
        failed = err_sys(err, "open directory %s%s", root, path);
    else
        failed = walk_entries(fs, path, dir, depth, err);
    if (dir)
        closedir(dir);
    else
        sys_close(fd);
    return failed;
}

int http_files_load(const struct http_files_config *config, struct http_files **ret,
                    struct err *err)
{
    struct http_files *fs = xalloc(sizeof(*fs));
    int fd;

    fs->config = *config;
    fs->config.count_max = config->count_max ? config->count_max : COUNT_MAX;
    fs->config.bytes_max = config->bytes_max ? config->bytes_max : BYTES_MAX;
    fs->config.dir = arena_strdup(&fs->arena, config->dir);
    fd = sys_open(config->dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        err_sys(err, "open %s", config->dir);
        goto fail;
    }
    if (http_files_walk(fs, "", fd, 0, err))
        goto fail;
    *ret = fs;
    return 0;
fail:
    http_files_free(fs);
    return -1;
}

void http_files_free(struct http_files *f)
{
    if (!f)
        return;
    map_free(&f->files);
    arena_free(&f->arena);
    free(f);
}

/* ---- answering ---- */

/* Whether `etag` is in the list.  A weak mark on a client's tag does not matter for a GET (RFC
 * 9110, 13.1.2), and none of our tags is a part of another. */
static bool lists_etag(const char *list, const char *etag)
{
    return !strcmp(list, "*") || strstr(list, etag);
}

static bool is_unchanged_since(const struct file *f, const char *text)
{
    struct tm tm = { 0 };
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);

    return end && *end == '\0' && f->modified_s <= timegm(&tm);
}

/* If-None-Match, if present, decides alone (RFC 9110, 13.2.2). */
static bool is_unchanged(const struct file *f, const struct http_head *h)
{
    const char *none_match = http_head_find(h, "If-None-Match");
    const char *since = http_head_find(h, "If-Modified-Since");

    if (none_match)
        return lists_etag(none_match, f->etag);
    return since && is_unchanged_since(f, since);
}

/* The page of an app is only for GET and HEAD: other methods to unknown paths are mistakes. */
static const struct file *http_files_find(const struct http_files *fs, const char *path,
                                          bool is_reading)
{
    const struct file *f = map_find_str(&fs->files, path);
    const char *last = strrchr(path, '/');

    if (f || !fs->config.is_app || !is_reading || !last || strchr(last, '.'))
        return f;
    return map_find_str(&fs->files, "/index.html");
}

bool http_files_answer(const struct http_files *fs, struct http_req *req)
{
    static const struct http_field allow[] = { { "Allow", "GET, HEAD" }, { 0 } };
    bool is_reading = !strcmp(req->head.method, "GET") || !strcmp(req->head.method, "HEAD");
    const struct file *f = http_files_find(fs, req->head.path, is_reading);

    if (!f)
        return false;
    if (!is_reading)
        http_answer(req, 405, allow, NULL, NULL);
    else if (is_unchanged(f, &req->head))
        http_answer(req, 304, f->fields, NULL, NULL);
    else
        http_answer_const(req, 200, f->fields, f->type, f->bytes, f->n);
    return true;
}
