/* SPDX-License-Identifier: MIT */
/* unit_file.c - see unit_file.h. */
#include "cli/unit_file.h"

#include <string.h>

struct unit {
    struct setting_lines lines;
    struct arena *arena;
    struct buf all; /* struct setting */
    const char *section;
};

/* Adds the lines that continue this one; comments among them are left out, as in systemd. */
static int unit_join(struct unit *u, const char *line, size_t n, struct buf *to, struct err *err)
{
    for (;;) {
        int more;

        if (!n || line[n - 1] != '\\') {
            if (n)
                buf_add(to, line, n);
            return 0;
        }
        buf_add(to, line, n - 1);
        buf_addc(to, ' ');
        if (to->len > SETTING_LINE_MAX)
            return setting_fail(u->lines.file, u->lines.line,
                                MSG("a line of more than 65536 bytes"), err);
        do {
            more = setting_lines_next(&u->lines, &line, &n, err);
        } while (more > 0 && n && (*line == '#' || *line == ';'));
        if (more <= 0)
            return more;
    }
}

static const char *unit_trim(const char *p, size_t *n)
{
    for (; *n && (*p == ' ' || *p == '\t'); p++)
        --*n;
    while (*n && (p[*n - 1] == ' ' || p[*n - 1] == '\t'))
        --*n;
    return p;
}

static int unit_take(struct unit *u, const char *text, size_t n, size_t line, struct err *err)
{
    const char *equals = memchr(text, '=', n), *key = text, *value;
    size_t key_n, value_n;
    struct setting s;

    if (*text == '[') {
        if (n < 3 || text[n - 1] != ']')
            return setting_fail(u->lines.file, line, MSG("a section is written [NAME]"), err);
        u->section = arena_memdup(u->arena, text + 1, n - 2);
        return 0;
    }
    if (!equals || equals == text)
        return setting_fail(u->lines.file, line, MSG("expected KEY=VALUE"), err);
    if (!u->section)
        return setting_fail(u->lines.file, line, MSG("a setting before the first [SECTION]"), err);
    key_n = (size_t)(equals - text);
    value_n = n - key_n - 1;
    key = unit_trim(key, &key_n);
    value = unit_trim(equals + 1, &value_n);
    s = (struct setting){ u->lines.file, line, u->section, arena_memdup(u->arena, key, key_n),
                          arena_memdup(u->arena, value, value_n) };
    return setting_add(&u->all, &s, err);
}

static int unit_read_line(struct unit *u, const char *line, size_t n, struct err *err)
{
    size_t number = u->lines.line, trimmed;
    struct buf whole = { 0 };
    const char *text;
    int bad;

    line = unit_trim(line, &n);
    if (!n || *line == '#' || *line == ';')
        return 0;
    bad = unit_join(u, line, n, &whole, err);
    trimmed = whole.len;
    text = bad || !trimmed ? "" : unit_trim(buf_data(&whole), &trimmed);
    if (!bad && trimmed)
        bad = unit_take(u, text, trimmed, number, err);
    buf_free(&whole);
    return bad;
}

int unit_read(const char *file, const char *text, size_t n, struct arena *a, struct list *ret,
              struct err *err)
{
    struct unit u = { .arena = a };
    const char *line;
    size_t line_n;
    int more, bad = 0;

    setting_lines_begin(&u.lines, file, text, n);
    while (!bad && (more = setting_lines_next(&u.lines, &line, &line_n, err)) != 0)
        bad = more < 0 ? -1 : unit_read_line(&u, line, line_n, err);
    if (bad)
        buf_free(&u.all);
    else
        setting_list(&u.all, a, ret);
    return bad;
}
