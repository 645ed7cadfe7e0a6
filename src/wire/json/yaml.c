/* SPDX-License-Identifier: MIT */
/* yaml.c - rewrites libyaml's events as JSON, which the field tables read.  A list beside the
 * JSON has the line of each value. */
#include "wire/json/yaml.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/msg.h"
#include "base/text/utf8.h"

struct mark {
    size_t json_at;
    size_t line;
};

struct level {
    bool is_map, wants_value;
    size_t items;
};

struct convert {
    yaml_parser_t parser;
    struct buf json;
    struct mark *marks;
    size_t n_marks, marks_cap;
    struct level levels[JSON_DEPTH_MAX];
    size_t depth, documents;
    const char *name;
    struct err *err;
};

static int yaml_fail(struct convert *c, const yaml_mark_t *at, const char *what)
{
    return err_set(c->err, ERR_MALFORMED, "%s:%zu: %s", c->name, (size_t)at->line + 1, what);
}

/* libyaml's message, with a hint about its usual cause. */
static int fail_parse(struct convert *c)
{
    const yaml_parser_t *p = &c->parser;
    const char *problem = p->problem ? p->problem : MSG("not YAML");
    bool is_tab = strstr(problem, "cannot start any token") != NULL;

    if (is_tab)
        return err_set(c->err, ERR_MALFORMED, "%s:%zu: %s; is it a tab? indent with spaces",
                       c->name, (size_t)p->problem_mark.line + 1, problem);
    return err_set(c->err, ERR_MALFORMED, "%s:%zu: %s", c->name, (size_t)p->problem_mark.line + 1,
                   problem);
}

static void add_mark(struct convert *c, const yaml_mark_t *at)
{
    if (c->n_marks == c->marks_cap) {
        c->marks_cap = c->marks_cap ? c->marks_cap * 2 : 64;
        c->marks = xresize(c->marks, c->marks_cap * sizeof(*c->marks));
    }
    c->marks[c->n_marks++] = (struct mark){ c->json.len, (size_t)at->line + 1 };
}

static struct level *top(struct convert *c)
{
    return c->depth ? &c->levels[c->depth - 1] : NULL;
}

/* Writes the separator before a key or a value, and records its line. */
static int begin_node(struct convert *c, const yaml_event_t *e, bool is_scalar)
{
    struct level *l = top(c);
    bool is_key = l && l->is_map && !l->wants_value;

    if (!l && e->type != YAML_MAPPING_START_EVENT)
        return yaml_fail(c, &e->start_mark,
                         MSG("must be a list of settings (\"name: value\" lines)"));
    if (is_key && !is_scalar)
        return yaml_fail(c, &e->start_mark, MSG("a key must be a plain word"));
    if (l && (is_key || !l->is_map) && l->items++)
        buf_addc(&c->json, ',');
    if (l && l->is_map)
        l->wants_value = is_key;
    add_mark(c, &e->start_mark);
    return 0;
}

static void end_node(struct convert *c)
{
    struct level *l = top(c);

    if (l && l->is_map && l->wants_value)
        buf_addc(&c->json, ':');
}

static bool is_null(const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;

    if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    return !*text || !strcmp(text, "~") || !strcmp(text, "null") || !strcmp(text, "Null") ||
           !strcmp(text, "NULL");
}

static int put_scalar(struct convert *c, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    size_t n = e->data.scalar.length;

    if (e->data.scalar.anchor || e->data.scalar.tag)
        return yaml_fail(c, &e->start_mark, MSG("anchors and tags are not understood"));
    if (memchr(text, 0, n) || utf8_valid(text, n) != n)
        return yaml_fail(c, &e->start_mark, MSG("not valid UTF-8 text"));
    if (!top(c) && is_null(e))
        return 0; /* an empty document sets nothing */
    if (begin_node(c, e, true))
        return -1;
    if (is_null(e) && !(top(c)->is_map && top(c)->wants_value))
        buf_puts(&c->json, "null");
    else
        buf_quote(&c->json, text, n);
    end_node(c);
    return 0;
}

static int push_level(struct convert *c, const yaml_event_t *e, bool is_map, bool decorated)
{
    if (decorated)
        return yaml_fail(c, &e->start_mark, MSG("anchors and tags are not understood"));
    if (begin_node(c, e, false))
        return -1;
    if (c->depth == JSON_DEPTH_MAX)
        return yaml_fail(c, &e->start_mark, MSG("nested too deeply"));
    c->levels[c->depth++] = (struct level){ .is_map = is_map };
    buf_addc(&c->json, is_map ? '{' : '[');
    return 0;
}

static int pop_level(struct convert *c)
{
    buf_addc(&c->json, top(c)->is_map ? '}' : ']');
    c->depth--;
    return 0;
}

static int yaml_on_event(struct convert *c, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: return 0;
    case YAML_DOCUMENT_START_EVENT:
        return c->documents++ ? yaml_fail(c, &e->start_mark, MSG("a second document begins here"))
                              : 0;
    case YAML_ALIAS_EVENT: return yaml_fail(c, &e->start_mark, MSG("aliases are not understood"));
    case YAML_SCALAR_EVENT: return put_scalar(c, e);
    case YAML_SEQUENCE_START_EVENT:
        return push_level(c, e, false, e->data.sequence_start.anchor || e->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return push_level(c, e, true, e->data.mapping_start.anchor || e->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return pop_level(c);
    }
    return 0;
}

static int convert_all(struct convert *c)
{
    for (;;) {
        yaml_event_t event;
        bool end;
        int failed;

        if (!yaml_parser_parse(&c->parser, &event))
            return fail_parse(c);
        end = event.type == YAML_STREAM_END_EVENT;
        failed = yaml_on_event(c, &event);
        yaml_event_delete(&event);
        if (failed || end)
            return failed;
    }
}

static size_t line_of(const struct convert *c, size_t json_at)
{
    size_t line = 1;

    for (size_t i = 0; i < c->n_marks && c->marks[i].json_at <= json_at; i++)
        line = c->marks[i].line;
    return line;
}

static int read_json(struct convert *c, const struct shape *s, struct arena *a, void *out)
{
    struct json j;
    int failed;

    json_init(&j, buf_data(&c->json), c->json.len, a, c->err);
    failed = shape_read_json(s, &j, SHAPE_STRICT | SHAPE_TEXT | SHAPE_OVERLAY | SHAPE_UNITS, out);
    json_done(&j);
    if (failed)
        return err_wrap(c->err, "%s:%zu", c->name, line_of(c, (size_t)(j.p - j.start)));
    return 0;
}

int yaml_read(const struct shape *s, const char *name, const char *text, size_t n, struct arena *a,
              void *out, struct err *err)
{
    struct convert c = { .name = name, .err = err };
    int failed;

    if (n > YAML_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "%s: larger than %d bytes", name, YAML_SIZE_MAX);
    if (!yaml_parser_initialize(&c.parser))
        abort();
    yaml_parser_set_encoding(&c.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&c.parser, (const unsigned char *)text, n);
    failed = convert_all(&c);
    yaml_parser_delete(&c.parser);
    if (!failed && c.json.len)
        failed = read_json(&c, s, a, out);
    buf_free(&c.json);
    free(c.marks);
    return failed ? -1 : 0;
}

static int read_whole(int fd, const char *path, struct buf *to, struct err *err)
{
    for (;;) {
        ssize_t got = sys_read(fd, buf_reserve(to, 65536), 65536);

        if (got < 0)
            return err_sys(err, "read %s", path);
        if (got == 0)
            return 0;
        to->len += (size_t)got;
        if (to->len > YAML_SIZE_MAX)
            return err_set(err, ERR_LIMIT, "%s: larger than %d bytes", path, YAML_SIZE_MAX);
    }
}

int yaml_read_file(const struct shape *s, const char *path, struct arena *a, void *out,
                   struct err *err)
{
    struct buf text = { 0 };
    int fd = sys_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0), failed;
    struct stat st;

    if (fd < 0)
        return err_sys(err, "open %s", path);
    if (sys_fstat(fd, &st))
        failed = err_sys(err, "stat %s", path);
    else if (!S_ISREG(st.st_mode)) /* a pipe might block, or be empty for now */
        failed = err_set(err, ERR_INVALID, "%s: is not a regular file", path);
    else
        failed = read_whole(fd, path, &text, err);
    sys_close(fd);
    if (!failed)
        failed = yaml_read(s, path, buf_text(&text), text.len, a, out, err);
    buf_free(&text);
    return failed ? -1 : 0;
}
