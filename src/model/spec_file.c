/* SPDX-License-Identifier: MIT */
/* spec_file.c - see spec_file.h. */
#include "model/spec_file.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "wire/json/yaml.h"

#define KEY "processes"

/* Where the rest of the text begins after this prefix; NULL: it does not begin so. */
static const char *after(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);

    return strncmp(text, prefix, n) ? NULL : text + n;
}

/* `processes` is a key of the outermost mapping: at the begin of a line, or the first in braces. */
static bool is_list(const char *text)
{
    const char *first = text + strspn(text, " \t\r\n"), *rest = after(first, "{");

    if (rest) {
        rest += strspn(rest, " \t\r\n");
        return after(rest, KEY) || after(rest, "\"" KEY "\"");
    }
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        rest = after(line, KEY);
        if (rest && rest[strspn(rest, " ")] == ':')
            return true;
    }
    return false;
}

static bool is_json(const char *path)
{
    size_t n = strlen(path);

    return n > 5 && !strcmp(path + n - 5, ".json");
}

/* JSON is read as JSON, because not all JSON is YAML: tabs, \\u surrogates. */
static int read_text(const struct shape *s, const char *path, struct buf *text, struct arena *a,
                     void *ret, struct err *err)
{
    if (!is_json(path)) {
        shape_defaults(s, ret);
        return yaml_read(s, path, buf_text(text), text->len, a, ret, err);
    }
    if (shape_read(s, buf_data(text), text->len, SHAPE_STRICT | SHAPE_UNITS, a, ret, err))
        return err_wrap(err, "%s", path);
    return 0;
}

static int read_list(const char *path, struct buf *text, struct arena *a, struct list *ret,
                     struct err *err)
{
    struct short_spec_list all;
    struct short_spec *one;

    if (is_list(buf_text(text))) {
        if (read_text(&short_spec_list_shape, path, text, a, &all, err))
            return -1;
        *ret = all.processes;
        return 0;
    }
    one = arena_alloc(a, sizeof(*one));
    if (read_text(&short_spec_shape, path, text, a, one, err))
        return -1;
    *ret = (struct list){ one, 1 };
    return 0;
}

static int expand_all(const char *path, const struct list *specs,
                      const struct short_context *context, struct arena *a, struct list *ret,
                      struct err *err)
{
    const struct short_spec *s = specs->items;
    struct spec_process *all = arena_alloc(a, (specs->n + 1) * sizeof(*all));

    for (size_t i = 0; i < specs->n; i++) {
        struct err why;

        all[i].path = path;
        if (!short_spec_expand(&s[i], context, a, &all[i].meta, &all[i].spec, &why))
            continue;
        if (specs->n > 1)
            return err_set(err, why.code, "%s: processes[%zu].%s", path, i, err_msg(&why));
        *err = why;
        return err_wrap(err, "%s", path);
    }
    *ret = (struct list){ all, specs->n };
    return 0;
}

int spec_file_read_text(const char *path, struct buf *text, const struct short_context *context,
                        struct arena *a, struct list *ret, struct err *err)
{
    struct list specs;

    if (read_list(path, text, a, &specs, err))
        return -1;
    return expand_all(path, &specs, context, a, ret, err);
}

int spec_file_read_all(const char *path, const struct short_context *context, struct arena *a,
                       struct list *ret, struct err *err)
{
    struct buf text = { 0 };
    int bad;

    if (file_read(path, YAML_SIZE_MAX, &text, err))
        return -1;
    bad = spec_file_read_text(path, &text, context, a, ret, err);
    buf_free(&text);
    return bad;
}

int spec_file_read_one(const char *path, const struct short_context *context, struct arena *a,
                       struct spec_process *ret, struct err *err)
{
    struct list all;
    const struct spec_process *first;

    if (spec_file_read_all(path, context, a, &all, err))
        return -1;
    if (all.n != 1)
        return err_set(err, ERR_INVALID, "%s: has %zu processes, and one was expected", path,
                       all.n);
    first = all.items;
    *ret = *first;
    return 0;
}

const char *spec_file_user(struct arena *a)
{
    const struct passwd *p = geteuid() ? getpwuid(geteuid()) : NULL;

    return p ? arena_strdup(a, p->pw_name) : "";
}
