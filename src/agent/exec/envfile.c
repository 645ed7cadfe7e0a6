/* SPDX-License-Identifier: MIT */
/* envfile.c - see envfile.h. */
#include "agent/exec/envfile.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "agent/identify/walk.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

/* ---- text */

struct line {
    const char *at;
    size_t n;
};

static bool envfile_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct line envfile_trim(struct line l)
{
    while (l.n && envfile_is_blank(l.at[0])) {
        l.at++;
        l.n--;
    }
    while (l.n && envfile_is_blank(l.at[l.n - 1]))
        l.n--;
    return l;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(struct line l)
{
    for (size_t i = 0; i < l.n; i++) {
        bool is_digit = l.at[i] >= '0' && l.at[i] <= '9';

        if (!is_letter(l.at[i]) && !(i && is_digit))
            return false;
    }
    return l.n > 0;
}

/* Removes the quotes; false: they do not match. */
static bool unquote(struct line *l)
{
    char quote = l->n ? l->at[0] : 0;

    if (quote != '"' && quote != '\'')
        return true;
    if (l->n < 2 || memchr(l->at + 1, quote, l->n - 1) != l->at + l->n - 1)
        return false;
    l->at++;
    l->n -= 2;
    return true;
}

static int envfile_read_line(struct line l, size_t number, struct arena *a, const char **ret,
                             struct err *err)
{
    const char *equals = memchr(l.at, '=', l.n);
    struct line name, value;

    if (!equals)
        return err_set(err, ERR_INVALID, "line %zu: expected NAME=value, there is no \"=\"",
                       number);
    name = (struct line){ l.at, (size_t)(equals - l.at) };
    value = envfile_trim((struct line){ equals + 1, l.n - name.n - 1 });
    if (!is_name(name))
        return err_set(err, ERR_INVALID,
                       "line %zu: before \"=\" must stand a name of letters, digits and \"_\", "
                       "with no blank",
                       number);
    if (!unquote(&value))
        return err_set(err, ERR_INVALID,
                       "line %zu: the value begins with a quote that does not end it", number);
    *ret = arena_printf(a, "%.*s=%.*s", (int)name.n, name.at, (int)value.n, value.at);
    return 0;
}

int envfile_parse(const char *text, size_t n, struct arena *a, const char *const **ret,
                  struct err *err)
{
    const char **pairs = arena_alloc(a, (ENVFILE_MAX_LINES + 1) * sizeof(*pairs));
    const char *at = text, *end = text + n;
    size_t found = 0;

    if (n > ENVFILE_MAX_BYTES)
        return err_set(err, ERR_LIMIT, "holds more than %d bytes", ENVFILE_MAX_BYTES);
    if (n && memchr(text, '\0', n))
        return err_set(err, ERR_INVALID, "holds a zero byte; it is not a text");
    for (size_t number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct line l = envfile_trim((struct line){ at, (size_t)((newline ? newline : end) - at) });

        at = newline ? newline + 1 : end;
        if (!l.n || l.at[0] == '#')
            continue;
        if (found == ENVFILE_MAX_LINES)
            return err_set(err, ERR_LIMIT, "line %zu: more than %d variables", number,
                           ENVFILE_MAX_LINES);
        if (envfile_read_line(l, number, a, &pairs[found], err))
            return -1;
        found++;
    }
    *ret = pairs;
    return 0;
}

/* ---- the file */

static bool is_in_groups(const struct user *u, gid_t gid)
{
    for (size_t i = 0; i < u->groups_n; i++) {
        if (u->groups[i] == gid)
            return true;
    }
    return u->gid == gid;
}

/* Whether the user has this right; `right` is S_IROTH or S_IXOTH. */
static bool may(const struct user *u, const struct stat *st, mode_t right)
{
    if (u->uid == 0)
        return true;
    if (st->st_uid == u->uid)
        return st->st_mode & (right << 6);
    if (is_in_groups(u, st->st_gid))
        return st->st_mode & (right << 3);
    return st->st_mode & right;
}

/* Whether the user can search every folder of the path. */
static bool may_get_there(const struct user *u, const char *path)
{
    char folder[PATH_MAX];
    struct stat st;

    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t n = (size_t)(slash - path);

        if (n >= sizeof(folder))
            return false;
        memcpy(folder, path, n);
        folder[n] = '\0';
        if (sys_stat(folder, &st) || !may(u, &st, S_IXOTH))
            return false;
    }
    return true;
}

static int check(const struct walk *w, const char *path, const struct user *u, struct err *err)
{
    if (walk_check_file(w, u->uid, ENVFILE_MAX_BYTES, MSG("at most 65536"), err))
        return -1;
    if (may(u, &w->at_stat, S_IROTH) && may_get_there(u, path))
        return 0;
    return err_set(err, ERR_DENIED, "%s %s: user %s may not read it himself", w->what, w->shown,
                   u->name);
}

static int envfile_read_all(const struct walk *w, struct buf *to, struct err *err)
{
    ssize_t got;
    int fd;

    if (walk_open(w, O_RDONLY | O_NONBLOCK, &fd, err))
        return -1;
    do {
        got = sys_read(fd, buf_reserve(to, 4096), 4096);
        to->len += got > 0 ? (size_t)got : 0;
    } while (got > 0 && to->len <= ENVFILE_MAX_BYTES);
    if (got < 0)
        err_sys(err, "%s %s", w->what, w->shown);
    sys_close(fd);
    return got < 0 ? -1 : 0;
}

int envfile_read(const char *path, const struct user *user, struct arena *a,
                 const char *const **ret, struct err *err)
{
    struct walk w = { .what = "env_file", .at = -1 };
    struct buf text = { 0 };
    int result = walk_to_end(&w, path, err);

    if (!result)
        result = check(&w, path, user, err);
    if (!result)
        result = envfile_read_all(&w, &text, err);
    sys_close(w.at);
    if (!result && envfile_parse(buf_data(&text), text.len, a, ret, err))
        result = err_wrap(err, "env_file %s", w.shown);
    buf_free(&text);
    return result;
}
