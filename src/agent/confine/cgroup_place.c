/* SPDX-License-Identifier: MIT */
/* cgroup_place.c - see cgroup_place.h. */
#include "agent/confine/cgroup_place.h"

#include <stdio.h>
#include <string.h>

/* A part of a line. */
struct word {
    const char *at;
    size_t n;
};

static bool is_word(struct word w, const char *text)
{
    return w.n == strlen(text) && !memcmp(w.at, text, w.n);
}

/* The next word, up to `end` or the end of the line; advances `*at`. */
static struct word cgroup_place_take(const char **at, char end)
{
    const char stops[] = { end, '\n', '\0' };
    struct word w = { *at, strcspn(*at, stops) };

    *at += w.n;
    *at += **at == end && end != '\n';
    return w;
}

static bool has_item(struct word list, const char *item)
{
    const char *at = list.at, *end = list.at + list.n;
    size_t n = strlen(item);

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t len = (size_t)((comma ? comma : end) - at);

        if (len == n && !memcmp(at, item, n))
            return true;
        at += len + 1;
    }
    return false;
}

static const char *next_line(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

/* Blanks and similar characters are escaped as "\040". */
static bool unescape(struct word from, char *to, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < from.n; i++) {
        char c = from.at[i];

        if (c == '\\' && i + 3 < from.n) {
            c = (char)((from.at[i + 1] - '0') * 64 + (from.at[i + 2] - '0') * 8 +
                       (from.at[i + 3] - '0'));
            i += 3;
        }
        if (n + 1 >= size)
            return false;
        to[n++] = c;
    }
    to[n] = '\0';
    return true;
}

struct mount {
    char root[CGROUP_PATH_SIZE], point[CGROUP_PATH_SIZE];
};

/* "31 23 0:28 /root /point opts more - type source super" */
static bool read_mount(const char *line, const char *controller, struct mount *ret)
{
    struct word root, point, w;
    const char *at = line;

    for (int i = 0; i < 3; i++)
        (void)cgroup_place_take(&at, ' ');
    root = cgroup_place_take(&at, ' ');
    point = cgroup_place_take(&at, ' ');
    do
        w = cgroup_place_take(&at, ' ');
    while (w.n && !is_word(w, "-"));
    w = cgroup_place_take(&at, ' ');
    if (!is_word(w, *controller ? "cgroup" : "cgroup2"))
        return false;
    (void)cgroup_place_take(&at, ' ');
    if (*controller && !has_item(cgroup_place_take(&at, ' '), controller))
        return false;
    return unescape(root, ret->root, sizeof(ret->root)) &&
           unescape(point, ret->point, sizeof(ret->point));
}

static bool find_mount(const char *mounts, const char *controller, struct mount *ret)
{
    for (const char *at = mounts; *at; at = next_line(at)) {
        if (read_mount(at, controller, ret))
            return true;
    }
    return false;
}

/* "4:memory:/path", "0::/path" */
static bool find_path(const char *ours, const char *controller, char *to, size_t size)
{
    for (const char *line = ours; *line; line = next_line(line)) {
        const char *at = line;
        struct word number = cgroup_place_take(&at, ':'), list = cgroup_place_take(&at, ':'),
                    path = cgroup_place_take(&at, '\n');
        bool is_it = *controller ? has_item(list, controller) : !list.n && is_word(number, "0");

        if (!is_it)
            continue;
        if (path.n >= size)
            return false;
        memcpy(to, path.at, path.n);
        to[path.n] = '\0';
        return true;
    }
    return false;
}

static bool leads_out(const char *path)
{
    size_t n = strlen(path);

    return path[0] != '/' || strstr(path, "/../") || (n >= 3 && !strcmp(path + n - 3, "/.."));
}

/* In a container that sees only a part of the hierarchy, the path of that part is a prefix of the
 * agent's. */
static const char *below(const char *path, const char *root)
{
    size_t n = strcmp(root, "/") ? strlen(root) : 0;

    if (strncmp(path, root, n) != 0 || (path[n] != '/' && path[n]))
        return NULL;
    return strcmp(path + n, "/") ? path + n : "";
}

bool cgroup_find_place(const char *mounts, const char *ours, const char *controller,
                       struct cgroup_place *ret)
{
    struct mount mount;
    char path[CGROUP_PATH_SIZE];
    const char *rest;

    if (!find_mount(mounts, controller, &mount) ||
        !find_path(ours, controller, path, sizeof(path)) || leads_out(path))
        return false;
    rest = below(path, mount.root);
    if (!rest || snprintf(ret->folder, sizeof(ret->folder), "%s%s", mount.point, rest) >=
                     (int)sizeof(ret->folder))
        return false;
    snprintf(ret->inside, sizeof(ret->inside), "%s", strcmp(path, "/") ? path : "");
    return true;
}
