/* SPDX-License-Identifier: MIT */
/* field.c - see field.h. */
#include "wire/json/field.h"

#include <stdio.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"
#include "base/text/suggest.h"
#include "base/text/utf8.h"

/* Longer lists of names are cut. */
enum { ENUM_NAMES_MAX = 192 };

/* An enum that is written by name is described by its names; "" stands for the default. */
static void expect_enum(const struct field *f, char *to)
{
    struct buf names = { 0 };

    for (const struct enum_name *e = f->names; e->name; e++) {
        if (!*e->name)
            continue;
        buf_puts(&names, names.len ? ", " : "");
        if (f->flags & FIELD_BY_NAME)
            buf_puts(&names, e->name);
        else
            buf_printf(&names, "%lld (%s)", (long long)e->value, e->name);
    }
    buf_truncate(&names, utf8_cut(buf_text(&names), ENUM_NAMES_MAX));
    msg_printf(to, SHAPE_EXPECT_SIZE, "one of %s", buf_text(&names));
    buf_free(&names);
}

/* `what` and `of` are messages, too. */
static void expect_count(const struct field *f, const char *what, const char *of, char *to)
{
    long long min = f->min, max = f->max;

    if (!max && !min)
        msg_copy(to, SHAPE_EXPECT_SIZE, what);
    else if (!max)
        msg_printf(to, SHAPE_EXPECT_SIZE, "%s of at least %lld %s", what, min, of);
    else if (min == max)
        msg_printf(to, SHAPE_EXPECT_SIZE, "%s of %lld %s", what, max, of);
    else if (min)
        msg_printf(to, SHAPE_EXPECT_SIZE, "%s of %lld to %lld %s", what, min, max, of);
    else
        msg_printf(to, SHAPE_EXPECT_SIZE, "%s of at most %lld %s", what, max, of);
}

static void expect_range(const struct field *f, const char *what, char *to)
{
    if (!f->min && !f->max)
        msg_copy(to, SHAPE_EXPECT_SIZE, what);
    else
        msg_printf(to, SHAPE_EXPECT_SIZE, "%s from %lld to %lld", what, (long long)f->min,
                   (long long)f->max);
}

void field_expect(const struct field *f, char to[SHAPE_EXPECT_SIZE])
{
    switch (f->type) {
    case FIELD_STR: expect_count(f, MSG("a string"), MSG("bytes"), to); return;
    case FIELD_INT: expect_range(f, MSG("an integer"), to); return;
    case FIELD_FLOAT: expect_range(f, MSG("a number"), to); return;
    case FIELD_BOOL: msg_copy(to, SHAPE_EXPECT_SIZE, MSG("true or false")); return;
    case FIELD_ENUM: expect_enum(f, to); return;
    case FIELD_OBJ: msg_copy(to, SHAPE_EXPECT_SIZE, MSG("an object")); return;
    case FIELD_LIST: expect_count(f, MSG("a list"), MSG("items"), to); return;
    case FIELD_MAP: expect_count(f, MSG("an object"), MSG("entries"), to); return;
    case FIELD_SCALAR:
        expect_count(f, MSG("a string, number or boolean"), MSG("bytes"), to);
        return;
    case FIELD_RAW: expect_count(f, MSG("any JSON"), MSG("bytes"), to); return;
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

/* Only characters of numbers pass: letters would be read as JSON words or cause errors about
 * bytes. */
static bool number_to_json(const char *text, struct buf *out)
{
    if (!*text || *text == '+' || text[strspn(text, "+-.0123456789eE")])
        return false;
    buf_puts(out, text);
    return true;
}

struct unit {
    char letter;
    int64_t is;
};

/* Largest first. */
static const struct unit time_units[] = {
    { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 }, { 0 }
};
static const struct unit size_units[] = {
    { 'T', INT64_C(1) << 40 }, { 'G', 1 << 30 }, { 'M', 1 << 20 }, { 'K', 1 << 10 }, { 0 }
};

/* Digits at *p; -1: there are none, or too many. */
static int64_t read_digits(const char **p)
{
    int64_t n = 0;

    if (**p < '0' || **p > '9')
        return -1;
    for (; **p >= '0' && **p <= '9'; (*p)++) {
        if (n > (INT64_MAX - 9) / 10)
            return -1;
        n = n * 10 + (**p - '0');
    }
    return n;
}

static const struct unit *find_unit(const struct unit *u, char letter)
{
    while (u->letter && u->letter != letter)
        u++;
    return u->letter ? u : NULL;
}

/* Several may follow each other, the largest unit first. */
static bool read_seconds(const char *p, int64_t *ret)
{
    const struct unit *next = time_units;
    int64_t sum = 0;

    do {
        int64_t n = read_digits(&p), part;
        const struct unit *u = n < 0 ? NULL : find_unit(next, *p);

        if (!u || __builtin_mul_overflow(n, u->is, &part) ||
            __builtin_add_overflow(sum, part, &sum))
            return false;
        next = u + 1;
        p++;
    } while (*p);
    *ret = sum;
    return true;
}

/* One unit, which may end in "B" or "iB". */
static bool read_bytes(const char *p, int64_t *ret)
{
    int64_t n = read_digits(&p);
    const struct unit *u = n < 0 ? NULL : find_unit(size_units, *p);

    if (!u || __builtin_mul_overflow(n, u->is, ret))
        return false;
    p++;
    return !*p || !strcmp(p, "B") || !strcmp(p, "iB");
}

bool field_read_units(unsigned flags, const char *text, int64_t *ret)
{
    const char *p = text;
    int64_t n = read_digits(&p);

    if (n < 0 || *p)
        return flags & FIELD_SECONDS ? read_seconds(text, ret) : read_bytes(text, ret);
    *ret = n;
    return true;
}

/* "a,b" is a list too, of items without commas; "a," has two items, "" none. */
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

/* The field with the most similar name; NULL: none is similar. */
static const char *suggest_field(const struct shape *s, const char *key, size_t n)
{
    const char *names[SHAPE_FIELDS_MAX + 1] = { 0 };
    char word[SUGGEST_MAX + 1];

    if (n > SUGGEST_MAX)
        return NULL;
    memcpy(word, key, n);
    word[n] = '\0';
    for (size_t i = 0; s->fields[i].name; i++)
        names[i] = s->fields[i].name;
    return suggest_find(word, names);
}

void shape_no_such(const struct shape *s, const char *key, size_t n, bool is_request,
                   char to[SHAPE_EXPECT_SIZE])
{
    const char *near = suggest_field(s, key, n);

    if (near && is_request)
        msg_printf(to, SHAPE_EXPECT_SIZE, "no such field; did you mean %s?", near);
    else if (near)
        msg_printf(to, SHAPE_EXPECT_SIZE, "no such setting; did you mean %s?", near);
    else if (is_request)
        msg_copy(to, SHAPE_EXPECT_SIZE, MSG("no such field, see /openapi.json"));
    else if (memchr(key, '.', n))
        msg_copy(to, SHAPE_EXPECT_SIZE,
                 MSG("no such setting; one inside another is written { outer: { inner: ... } }"));
    else
        msg_copy(to, SHAPE_EXPECT_SIZE, MSG("no such setting, see --help"));
}
