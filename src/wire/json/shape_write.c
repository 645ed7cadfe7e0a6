/* SPDX-License-Identifier: MIT */
/* shape_write.c - the writer: a struct as JSON, in the order of its table. */
#include <stdlib.h>
#include <string.h>

#include "wire/json/field.h"
#include "wire/json/shape.h"

static void write_value(const struct field *f, const void *at, struct buf *out);

static const void *at_offset(const void *base, size_t offset)
{
    return (const char *)base + offset;
}

static void write_str(const char *text, struct buf *out)
{
    buf_quote(out, text ? text : "", text ? strlen(text) : 0);
}

/* Only these rows hold texts for people. */
static bool is_for_people(const struct field *f)
{
    return (f->flags & FIELD_ENGLISH) || (f[1].name && (f[1].flags & FIELD_MSG));
}

/* A message is written as its English sentence. */
static void write_text(const struct field *f, const char *text, struct buf *out)
{
    struct buf english = { 0 };

    if (!text || !msg_is(text) || !is_for_people(f)) {
        write_str(text, out);
        return;
    }
    buf_put_msg(&english, text, NULL, 0);
    write_str(buf_text(&english), out);
    buf_free(&english);
}

static void write_enum(const struct field *f, int64_t value, struct buf *out)
{
    const char *name = f->flags & FIELD_BY_NAME ? field_enum_name(f, value) : NULL;

    if (name)
        write_str(name, out);
    else
        buf_put_int(out, value);
}

static void write_list(const struct shape *sub, const struct list *l, struct buf *out)
{
    buf_addc(out, '[');
    for (size_t i = 0; i < l->n; i++) {
        const void *item = at_offset(l->items, i * sub->size);

        if (i)
            buf_addc(out, ',');
        if (sub->bare)
            write_value(sub->fields, at_offset(item, sub->fields->offset), out);
        else
            shape_write(sub, item, out);
    }
    buf_addc(out, ']');
}

static void write_map(const struct shape *sub, const struct list *l, struct buf *out)
{
    const struct field *key = &sub->fields[0], *value = &sub->fields[1];

    buf_addc(out, '{');
    for (size_t i = 0; i < l->n; i++) {
        const void *item = at_offset(l->items, i * sub->size);

        if (i)
            buf_addc(out, ',');
        write_str(*(const char *const *)at_offset(item, key->offset), out);
        buf_addc(out, ':');
        write_value(value, at_offset(item, value->offset), out);
    }
    buf_addc(out, '}');
}

static void write_scalar(const struct scalar *s, struct buf *out)
{
    if (s->kind == SCALAR_TEXT)
        write_str(s->text, out);
    else
        buf_puts(out, s->kind == SCALAR_NULL ? "null" : s->text);
}

static void write_value(const struct field *f, const void *at, struct buf *out)
{
    const char *raw;

    switch (f->type) {
    case FIELD_STR: write_text(f, *(const char *const *)at, out); return;
    case FIELD_INT: buf_put_int(out, *(const int64_t *)at); return;
    case FIELD_FLOAT: json_put_double(out, *(const double *)at); return;
    case FIELD_BOOL: buf_puts(out, *(const bool *)at ? "true" : "false"); return;
    case FIELD_ENUM: write_enum(f, *(const int64_t *)at, out); return;
    case FIELD_OBJ: shape_write(f->sub, at, out); return;
    case FIELD_LIST: write_list(f->sub, at, out); return;
    case FIELD_MAP: write_map(f->sub, at, out); return;
    case FIELD_SCALAR: write_scalar(at, out); return;
    case FIELD_RAW:
        raw = *(const char *const *)at;
        buf_puts(out, raw ? raw : "null");
        return;
    }
}

static bool is_empty(const struct field *f, const void *at)
{
    const char *text;

    switch (f->type) {
    case FIELD_STR:
    case FIELD_RAW: text = *(const char *const *)at; return !text || !*text;
    case FIELD_INT:
    case FIELD_ENUM: return *(const int64_t *)at == 0;
    case FIELD_FLOAT: return *(const double *)at == 0;
    case FIELD_BOOL: return !*(const bool *)at;
    case FIELD_LIST:
    case FIELD_MAP: return ((const struct list *)at)->n == 0;
    case FIELD_SCALAR: return ((const struct scalar *)at)->kind == SCALAR_NULL;
    case FIELD_OBJ: return false;
    }
    return false;
}

static bool is_message(const void *at)
{
    const char *text = *(const char *const *)at;

    return text && msg_is(text);
}

static bool is_left_out(const struct field *f, const void *in)
{
    if (f->flags & FIELD_SECRET)
        return true;
    if (f->has && *(const enum presence *)at_offset(in, f->has) == PRESENCE_ABSENT)
        return true;
    if (f->flags & FIELD_MSG)
        return !is_message(at_offset(in, f->offset));
    return (f->flags & FIELD_OMIT_EMPTY) && is_empty(f, at_offset(in, f->offset));
}

/* Names come from our tables and need no escapes. */
static void write_name(const char *name, bool first, struct buf *out)
{
    size_t n = strlen(name);
    char *p = buf_reserve(out, n + 4);

    *p = first ? '{' : ',';
    p[1] = '"';
    memcpy(p + 2, name, n);
    p[n + 2] = '"';
    p[n + 3] = ':';
    out->len += n + 4;
}

void shape_write(const struct shape *s, const void *in, struct buf *out)
{
    bool first = true;

    for (const struct field *f = s->fields; f->name; f++) {
        if (is_left_out(f, in))
            continue;
        write_name(f->name, first, out);
        first = false;
        if (f->has && *(const enum presence *)at_offset(in, f->has) == PRESENCE_NULL)
            buf_puts(out, "null");
        else
            write_value(f, at_offset(in, f->offset), out);
    }
    buf_puts(out, first ? "{}" : "}");
}
