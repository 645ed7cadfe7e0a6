/* SPDX-License-Identifier: MIT */
/* shape_text.c - see shape_text.h. */
#include "wire/shape_text.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/nearest.h"

/* What is written by its name is spoken of by its name. */
static void expect_enum(const struct field *f, char *to)
{
    size_t n = (size_t)snprintf(to, SHAPE_EXPECT_SIZE, "one of");

    for (const struct enum_name *e = f->names; e->name && n < SHAPE_EXPECT_SIZE; e++) {
        const char *between = e == f->names ? "" : ",";

        if (f->flags & FIELD_BY_NAME)
            n += (size_t)snprintf(to + n, SHAPE_EXPECT_SIZE - n, "%s %s", between, e->name);
        else
            n += (size_t)snprintf(to + n, SHAPE_EXPECT_SIZE - n, "%s %lld (%s)", between,
                                  (long long)e->value, e->name);
    }
}

static void expect_count(const struct field *f, const char *what, const char *of, char *to)
{
    long long min = f->min, max = f->max;

    if (!max)
        snprintf(to, SHAPE_EXPECT_SIZE, min ? "%s of at least %lld %s" : "%s", what, min, of);
    else if (min == max)
        snprintf(to, SHAPE_EXPECT_SIZE, "%s of %lld %s", what, max, of);
    else if (min)
        snprintf(to, SHAPE_EXPECT_SIZE, "%s of %lld to %lld %s", what, min, max, of);
    else
        snprintf(to, SHAPE_EXPECT_SIZE, "%s of at most %lld %s", what, max, of);
}

static void expect_range(const struct field *f, const char *what, char *to)
{
    if (!f->min && !f->max)
        snprintf(to, SHAPE_EXPECT_SIZE, "%s", what);
    else
        snprintf(to, SHAPE_EXPECT_SIZE, "%s from %lld to %lld", what, (long long)f->min,
                 (long long)f->max);
}

void field_expect(const struct field *f, char to[SHAPE_EXPECT_SIZE])
{
    switch (f->type) {
    case FIELD_STR: expect_count(f, "a string", "bytes", to); return;
    case FIELD_INT: expect_range(f, "an integer", to); return;
    case FIELD_FLOAT: expect_range(f, "a number", to); return;
    case FIELD_BOOL: snprintf(to, SHAPE_EXPECT_SIZE, "true or false"); return;
    case FIELD_ENUM: expect_enum(f, to); return;
    case FIELD_OBJ: snprintf(to, SHAPE_EXPECT_SIZE, "an object"); return;
    case FIELD_LIST: expect_count(f, "a list", "items", to); return;
    case FIELD_MAP: expect_count(f, "an object", "entries", to); return;
    case FIELD_SCALAR: expect_count(f, "a string, number or boolean", "bytes", to); return;
    case FIELD_RAW: expect_count(f, "any JSON", "bytes", to); return;
    }
}

bool field_is_also(const char *also, const char *key, size_t n)
{
    while (*also) {
        size_t len = strcspn(also, " ");

        if (len == n && memcmp(also, key, n) == 0)
            return true;
        also += len + strspn(also + len, " ");
    }
    return false;
}

const char *field_enum_name(const struct field *f, int64_t value)
{
    for (const struct enum_name *e = f->names; e->name; e++) {
        if (e->value == value)
            return e->name;
    }
    return NULL;
}

static bool bool_to_json(const char *text, struct buf *out)
{
    static const char *const words[][2] = {
        { "true", "true" },   { "yes", "true" }, { "on", "true" },   { "1", "true" },
        { "false", "false" }, { "no", "false" }, { "off", "false" }, { "0", "false" },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!strcmp(words[i][0], text)) {
            buf_puts(out, words[i][1]);
            return true;
        }
    }
    return false;
}

/* Letters would read as JSON words or errors about bytes; a number has none. */
static bool number_to_json(const char *text, struct buf *out)
{
    if (!*text || *text == '+' || text[strspn(text, "+-.0123456789eE")])
        return false;
    buf_puts(out, text);
    return true;
}

/* "a,b" is a list too, of items without commas; "a," has two, "" none. */
static bool list_to_json(const char *text, struct buf *out)
{
    if (*text == '[') {
        buf_puts(out, text);
        return true;
    }
    buf_addc(out, '[');
    for (bool more = *text; more;) {
        size_t n = strcspn(text, ",");

        buf_quote(out, text, n);
        text += n;
        more = *text == ',';
        if (more) {
            text++;
            buf_addc(out, ',');
        }
    }
    buf_addc(out, ']');
    return true;
}

static bool object_to_json(const char *text, struct buf *out)
{
    if (*text != '{')
        return false;
    buf_puts(out, text);
    return true;
}

bool field_text_to_json(const struct field *f, const char *text, struct buf *out)
{
    switch (f->type) {
    case FIELD_INT:
    case FIELD_FLOAT: return number_to_json(text, out);
    case FIELD_BOOL: return bool_to_json(text, out);
    case FIELD_LIST: return list_to_json(text, out);
    case FIELD_OBJ:
    case FIELD_MAP: return object_to_json(text, out);
    case FIELD_STR:
    case FIELD_ENUM:
    case FIELD_SCALAR:
    case FIELD_RAW: break; /* read from the string itself */
    }
    buf_quote(out, text, strlen(text));
    return true;
}

/* The field that may have been meant; NULL: none is near. */
static const char *nearest_field(const struct shape *s, const char *key, size_t n)
{
    const char *names[SHAPE_FIELDS_MAX + 1] = { 0 };
    char word[NEAREST_MAX + 1];

    if (n > NEAREST_MAX)
        return NULL;
    memcpy(word, key, n);
    word[n] = '\0';
    for (size_t i = 0; s->fields[i].name; i++)
        names[i] = s->fields[i].name;
    return nearest_find(word, names);
}

void shape_no_such(const struct shape *s, const char *key, size_t n, unsigned flags,
                   char to[SHAPE_EXPECT_SIZE])
{
    const char *near = flags & SHAPE_ASKED ? nearest_field(s, key, n) : NULL;

    if (near)
        snprintf(to, SHAPE_EXPECT_SIZE, "no such field; did you mean %s?", near);
    else if (flags & SHAPE_ASKED)
        snprintf(to, SHAPE_EXPECT_SIZE, "no such field, see /openapi.json");
    else if (memchr(key, '.', n))
        snprintf(to, SHAPE_EXPECT_SIZE,
                 "no such setting; one inside another is written { outer: { inner: ... } }");
    else
        snprintf(to, SHAPE_EXPECT_SIZE, "no such setting, see --help");
}
