/* SPDX-License-Identifier: MIT */
/* ini_file.c - see ini_file.h. */
#include "cli/ini_file.h"

#include <stdbool.h>
#include <string.h>

struct ini {
    struct setting_lines lines;
    struct arena *arena;
    struct buf all;     /* struct setting */
    struct buf value;   /* of `now`, which is not in `all` yet */
    struct setting now; /* key NULL: none */
    const char *section;
    size_t section_at; /* index of its first setting */
    size_t n_sections;
};

static bool ini_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const struct setting *settings_of(const struct ini *f)
{
    return (const struct setting *)(const void *)buf_data(&f->all);
}

static int ini_end_setting(struct ini *f, struct err *err)
{
    if (!f->now.key)
        return 0;
    f->now.value = arena_memdup(f->arena, buf_data(&f->value), f->value.len);
    buf_truncate(&f->value, 0);
    if (setting_add(&f->all, &f->now, err))
        return -1;
    f->now.key = NULL;
    return 0;
}

static int ini_fail_twice(const struct ini *f, const char *what, size_t first, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s:%zu: %s is given twice, first in line %zu", f->lines.file,
                   f->lines.line, what, first);
}

static int ini_begin_section(struct ini *f, const char *line, size_t n, struct err *err)
{
    const char *end = memchr(line, ']', n);
    const struct setting *s;
    struct setting head = { f->lines.file, f->lines.line, "", "", "" };

    if (ini_end_setting(f, err))
        return -1;
    if (!end || end == line + 1)
        return setting_fail(f->lines.file, f->lines.line, MSG("a section is written [NAME]"), err);
    s = settings_of(f); /* after the last setting was added */
    head.section = f->section = arena_memdup(f->arena, line + 1, (size_t)(end - line - 1));
    for (size_t i = 0; i < f->all.len / sizeof(*s); i++) {
        if (!*s[i].key && !strcmp(s[i].section, f->section))
            return ini_fail_twice(f, arena_printf(f->arena, "[%s]", f->section), s[i].line, err);
    }
    if (++f->n_sections > SETTING_SECTIONS_MAX)
        return setting_fail(f->lines.file, f->lines.line, MSG("more than 2000 sections"), err);
    f->section_at = f->all.len / sizeof(*s);
    return setting_add(&f->all, &head, err);
}

/* Without a comment behind a blank, and without blanks around it. */
static void ini_add_value(struct ini *f, const char *p, size_t n)
{
    while (n && ini_is_blank(*p))
        p++, n--;
    for (size_t i = 0; i < n; i++) {
        if ((p[i] == ';' || p[i] == '#') && (!i || ini_is_blank(p[i - 1])))
            n = i;
    }
    while (n && ini_is_blank(p[n - 1]))
        n--;
    if (f->value.len && n)
        buf_addc(&f->value, '\n');
    if (n)
        buf_add(&f->value, p, n);
}

static const char *ini_key(struct arena *a, const char *p, size_t n)
{
    char *key;

    while (n && ini_is_blank(p[n - 1]))
        n--;
    key = arena_memdup(a, p, n);
    for (size_t i = 0; i < n; i++)
        key[i] = (char)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i]);
    return key;
}

static int ini_begin_setting(struct ini *f, const char *line, size_t n, struct err *err)
{
    size_t at = 0, first = f->section_at;
    const struct setting *s;

    while (at < n && line[at] != '=' && line[at] != ':')
        at++;
    if (ini_end_setting(f, err))
        return -1;
    if (at == n || !at)
        return setting_fail(f->lines.file, f->lines.line, MSG("expected KEY=VALUE"), err);
    if (!f->section)
        return setting_fail(f->lines.file, f->lines.line,
                            MSG("a setting before the first [SECTION]"), err);
    f->now = (struct setting){ f->lines.file, f->lines.line, f->section,
                               ini_key(f->arena, line, at), "" };
    s = settings_of(f);
    for (size_t i = first; i < f->all.len / sizeof(*s); i++) {
        if (!strcmp(s[i].key, f->now.key))
            return ini_fail_twice(f, f->now.key, s[i].line, err);
    }
    if (f->all.len / sizeof(*s) - first > SETTING_KEYS_MAX)
        return setting_fail(f->lines.file, f->lines.line,
                            MSG("more than 1000 settings in a section"), err);
    ini_add_value(f, line + at + 1, n - at - 1);
    return 0;
}

static int ini_read_line(struct ini *f, const char *line, size_t n, struct err *err)
{
    size_t indent = 0;

    while (indent < n && ini_is_blank(line[indent]))
        indent++;
    if (indent == n || line[indent] == '#' || line[indent] == ';')
        return 0;
    if (indent && f->now.key) {
        ini_add_value(f, line + indent, n - indent);
        return 0;
    }
    if (line[indent] == '[')
        return ini_begin_section(f, line + indent, n - indent, err);
    return ini_begin_setting(f, line + indent, n - indent, err);
}

int ini_read(const char *file, const char *text, size_t n, struct arena *a, struct list *ret,
             struct err *err)
{
    struct ini f = { .arena = a };
    const char *line;
    size_t line_n;
    int more, bad = 0;

    setting_lines_begin(&f.lines, file, text, n);
    while (!bad && (more = setting_lines_next(&f.lines, &line, &line_n, err)) != 0)
        bad = more < 0 ? -1 : ini_read_line(&f, line, line_n, err);
    if (!bad)
        bad = ini_end_setting(&f, err);
    buf_free(&f.value);
    if (bad)
        buf_free(&f.all);
    else
        setting_list(&f.all, a, ret);
    return bad;
}
