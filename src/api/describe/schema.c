/* SPDX-License-Identifier: MIT */
/* schema.c - see schema.h. */
#include "api/describe/schema.h"

#include <assert.h>
#include <string.h>

#include "base/mem/mem.h"

/* ---- names */

void schemas_add(struct schemas *s, const struct shape *shape)
{
    if (!shape)
        return;
    for (size_t i = 0; i < s->n; i++) {
        if (s->all[i] == shape)
            return;
    }
    assert(s->n < SCHEMA_SHAPES_MAX);
    if (!shape->bare)
        s->all[s->n++] = shape;
    for (const struct field *f = shape->fields; f->name; f++)
        schemas_add(s, f->sub);
}

/* Two shapes may have the same name, and names may contain blanks. */
static void schema_put_name(const struct schemas *s, const struct shape *shape, struct buf *out)
{
    int same = 1;

    for (size_t i = 0; i < s->n && s->all[i] != shape; i++)
        same += !strcmp(s->all[i]->name, shape->name);
    for (const char *p = shape->name; *p; p++)
        buf_addc(out, *p == ' ' ? '_' : *p);
    if (same > 1)
        buf_printf(out, "_%d", same);
}

void schemas_ref(const struct schemas *s, const struct shape *shape, struct buf *out)
{
    buf_puts(out, "{\"$ref\":\"#/components/schemas/");
    schema_put_name(s, shape, out);
    buf_puts(out, "\"}");
}

/* ---- a field */

static void schema_put_text(struct buf *out, const char *text)
{
    buf_quote(out, text, strlen(text));
}

static void schema_put_number(struct buf *out, const char *key, int64_t number)
{
    buf_printf(out, ",\"%s\":%lld", key, (long long)number);
}

static void put_enum(const struct field *f, struct buf *out)
{
    const char *between = "";

    buf_puts(out, "\"enum\":[");
    for (const struct enum_name *e = f->names; e->name; e++, between = ",") {
        buf_puts(out, between);
        schema_put_text(out, e->name);
    }
    for (const struct enum_name *e = f->names; e->name; e++)
        buf_printf(out, ",%lld", (long long)e->value);
    buf_addc(out, ']');
}

/* Our limits are in bytes, which is never less than characters. */
static void put_string(const struct field *f, struct buf *out)
{
    buf_puts(out, "\"type\":\"string\"");
    if (f->min > 0)
        schema_put_number(out, "minLength", 1);
    if (f->max > 0)
        schema_put_number(out, "maxLength", f->max);
    if (f->flags & FIELD_SECRET)
        buf_puts(out, ",\"writeOnly\":true");
}

static void put_integer(const struct field *f, struct buf *out)
{
    buf_puts(out, "\"type\":\"integer\"");
    if (!f->min && !f->max)
        return;
    schema_put_number(out, "minimum", f->flags & FIELD_ZERO_UNSET && f->min > 0 ? 0 : f->min);
    if (f->max != INT64_MAX)
        schema_put_number(out, "maximum", f->max);
}

static void put_inside(const struct schemas *s, const struct shape *sub, struct buf *out)
{
    if (sub->bare)
        schemas_field(s, sub->fields, out);
    else
        schemas_ref(s, sub, out);
}

static void schema_put_list(const struct schemas *s, const struct field *f, struct buf *out)
{
    buf_puts(out, "\"type\":\"array\",\"items\":");
    put_inside(s, f->sub, out);
    if (f->min > 0)
        schema_put_number(out, "minItems", f->min);
    if (f->max > 0)
        schema_put_number(out, "maxItems", f->max);
}

static void put_map(const struct schemas *s, const struct field *f, struct buf *out)
{
    buf_puts(out, "\"type\":\"object\",\"additionalProperties\":");
    schemas_field(s, &f->sub->fields[1], out);
    if (f->max > 0)
        schema_put_number(out, "maxProperties", f->max);
}

static void put_ref(const struct schemas *s, const struct field *f, struct buf *out)
{
    buf_puts(out, "\"$ref\":\"#/components/schemas/");
    schema_put_name(s, f->sub, out);
    buf_addc(out, '"');
}

static void put_type(const struct schemas *s, const struct field *f, struct buf *out)
{
    switch (f->type) {
    case FIELD_STR: put_string(f, out); break;
    case FIELD_INT: put_integer(f, out); break;
    case FIELD_FLOAT: buf_puts(out, "\"type\":\"number\""); break;
    case FIELD_BOOL: buf_puts(out, "\"type\":\"boolean\""); break;
    case FIELD_ENUM: put_enum(f, out); break;
    case FIELD_OBJ: put_ref(s, f, out); break;
    case FIELD_LIST: schema_put_list(s, f, out); break;
    case FIELD_MAP: put_map(s, f, out); break;
    case FIELD_SCALAR:
        buf_puts(out, "\"type\":[\"string\",\"number\",\"boolean\",\"null\"]");
        break;
    case FIELD_RAW: buf_puts(out, "\"x-any\":true"); break;
    }
}

static void put_doc(const struct field *f, struct buf *out)
{
    struct buf doc = { 0 };

    buf_puts(&doc, f->doc ? f->doc : "");
    if (f->also)
        buf_printf(&doc, "%salso read by: %s", doc.len ? "; " : "", f->also);
    if (f->check)
        buf_printf(&doc, "%sits text is checked", doc.len ? "; " : "");
    if (doc.len) {
        buf_puts(out, ",\"description\":");
        schema_put_text(out, buf_text(&doc));
    }
    buf_free(&doc);
}

static const char *enum_name(const struct field *f)
{
    for (const struct enum_name *e = f->names; e->name; e++) {
        if (e->value == f->fallback)
            return e->name;
    }
    return NULL;
}

static bool is_in_range(const struct field *f)
{
    return (!f->min && !f->max) || (f->fallback >= f->min && f->fallback <= f->max);
}

static void put_default(const struct field *f, struct buf *out)
{
    if (f->flags & FIELD_REQUIRED)
        return;
    if (f->type == FIELD_BOOL) {
        buf_printf(out, ",\"default\":%s", f->fallback ? "true" : "false");
    } else if (f->type == FIELD_INT && is_in_range(f)) {
        schema_put_number(out, "default", f->fallback);
    } else if (f->type == FIELD_STR && f->fallback_text) {
        buf_puts(out, ",\"default\":");
        schema_put_text(out, f->fallback_text);
    } else if (f->type == FIELD_ENUM && enum_name(f)) {
        buf_puts(out, ",\"default\":");
        schema_put_text(out, enum_name(f));
    }
}

void schemas_field(const struct schemas *s, const struct field *f, struct buf *out)
{
    buf_addc(out, '{');
    put_type(s, f, out);
    put_doc(f, out);
    put_default(f, out);
    buf_addc(out, '}');
}

/* ---- a shape */

static void put_required(const struct shape *shape, struct buf *out)
{
    const char *between = ",\"required\":[";

    for (const struct field *f = shape->fields; f->name; f++) {
        if (!(f->flags & FIELD_REQUIRED))
            continue;
        buf_puts(out, between);
        schema_put_text(out, f->name);
        between = ",";
    }
    if (*between == ',' && !between[1])
        buf_addc(out, ']');
}

static void put_shape(const struct schemas *s, const struct shape *shape, struct buf *out)
{
    buf_puts(out, "{\"type\":\"object\",\"properties\":{");
    for (const struct field *f = shape->fields; f->name; f++) {
        if (f->flags & FIELD_MSG)
            continue; /* answers have texts in the caller's language only */
        buf_puts(out, f == shape->fields ? "" : ",");
        schema_put_text(out, f->name);
        buf_addc(out, ':');
        schemas_field(s, f, out);
    }
    buf_addc(out, '}');
    put_required(shape, out);
    if (shape->doc) {
        buf_puts(out, ",\"description\":");
        schema_put_text(out, shape->doc);
    }
    buf_addc(out, '}');
}

void schemas_write(const struct schemas *s, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        buf_puts(out, i ? ",\"" : "\"");
        schema_put_name(s, s->all[i], out);
        buf_puts(out, "\":");
        put_shape(s, s->all[i], out);
    }
}

bool schema_is_plain(const struct field *f)
{
    switch (f->type) {
    case FIELD_STR:
    case FIELD_INT:
    case FIELD_FLOAT:
    case FIELD_BOOL:
    case FIELD_ENUM:
    case FIELD_SCALAR: return true;
    case FIELD_LIST: return f->sub->bare;
    case FIELD_OBJ:
    case FIELD_MAP:
    case FIELD_RAW: return false;
    }
    return false;
}
