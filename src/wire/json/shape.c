/* SPDX-License-Identifier: MIT */
/* shape.c - the reader: walks over a field table and a JSON text together. */
#include "wire/json/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"
#include "base/text/utf8.h"
#include "wire/json/field.h"
#include "wire/json/shape_place.h"

struct reader {
    struct json *j;
    unsigned flags;
    const char *at; /* start of the value that is being read */
    bool told;      /* the error contains its path already */
};

/* Sets "PATH: WHY".  A path that is too long is cut at its front, because its end tells more. */
MSG_FORMAT(3, 4)
static int reject(struct reader *r, const struct shape_place *p, const char *fmt, ...)
{
    struct buf path = { 0 };
    const char *text, *dots = "";
    char why[512];
    va_list ap;

    va_start(ap, fmt);
    msg_vprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    shape_place_print(p, &path);
    text = buf_text(&path);
    if (path.len > 240) {
        dots = "...";
        for (text += path.len - 240; ((unsigned char)*text & 0xC0) == 0x80;)
            text++;
    }
    if (*text)
        err_set(r->j->err, ERR_INVALID, "%s%s: %s", dots, text, why);
    else
        err_set(r->j->err, ERR_INVALID, "the body: %s", why);
    buf_free(&path);
    r->told = true;
    return -1;
}

static int reject_type(struct reader *r, const struct shape_place *p, const struct field *f,
                       enum json_kind got)
{
    char expected[SHAPE_EXPECT_SIZE];

    field_expect(f, expected);
    return reject(r, p, "must be %s, not %s", expected, json_kind_name(got));
}

static int reject_value(struct reader *r, const struct shape_place *p, const struct field *f,
                        const char *got, size_t n)
{
    char expected[SHAPE_EXPECT_SIZE];
    struct buf shown = { 0 };

    field_expect(f, expected);
    shape_show(got, utf8_whole(got, n < 40 ? n : 40), &shown);
    reject(r, p, "must be %s, not %.*s", expected, (int)shown.len, buf_text(&shown));
    buf_free(&shown);
    return -1;
}

static int reject_size(struct reader *r, const struct shape_place *p, const struct field *f,
                       size_t n)
{
    char expected[SHAPE_EXPECT_SIZE];

    if (n == 0)
        return reject(r, p, "must not be empty");
    field_expect(f, expected);
    return reject(r, p, "must be %s, has %zu", expected, n);
}

static void *at_offset(void *base, size_t offset)
{
    return (char *)base + offset;
}

static void set_default(const struct field *f, void *at)
{
    if (f->flags & FIELD_MSG)
        return; /* the row above has set the member */
    switch (f->type) {
    case FIELD_STR: *(const char **)at = f->fallback_text ? f->fallback_text : ""; break;
    case FIELD_RAW: *(const char **)at = f->fallback_text; break;
    case FIELD_INT:
    case FIELD_ENUM: *(int64_t *)at = f->fallback; break;
    case FIELD_FLOAT: *(double *)at = (double)f->fallback; break;
    case FIELD_BOOL: *(bool *)at = f->fallback != 0; break;
    case FIELD_OBJ: shape_defaults(f->sub, at); break;
    case FIELD_LIST:
    case FIELD_MAP: *(struct list *)at = (struct list){ 0 }; break;
    case FIELD_SCALAR: *(struct scalar *)at = (struct scalar){ 0 }; break;
    }
}

static void set_presence(const struct field *f, void *out, enum presence presence)
{
    if (f->has)
        *(enum presence *)at_offset(out, f->has) = presence;
}

void shape_defaults(const struct shape *s, void *out)
{
    for (const struct field *f = s->fields; f->name; f++) {
        set_default(f, at_offset(out, f->offset));
        set_presence(f, out, PRESENCE_ABSENT);
    }
}

static int read_object(struct reader *r, const struct shape_place *p, const struct shape *s,
                       void *out);
static int read_value(struct reader *r, const struct shape_place *p, const struct field *f,
                      enum json_kind kind, void *at);

/* Stores a text after checking it against the row. */
static int take_str(struct reader *r, const struct shape_place *p, const struct field *f,
                    const char *text, size_t n, const char **out)
{
    const char *wrong;

    if ((int64_t)n < f->min || (f->max && (int64_t)n > f->max))
        return reject_size(r, p, f, n);
    if ((f->flags & FIELD_MSG) && !(msg_is(text) && msg_is_whole(text)))
        return 0;
    wrong = f->check ? f->check(text) : NULL;
    if (wrong)
        return reject(r, p, "%s", wrong);
    *out = text;
    return 0;
}

static int read_str(struct reader *r, const struct shape_place *p, const struct field *f,
                    const char **out)
{
    struct json_text t;
    const char *text;
    size_t n;

    if (json_read_string(r->j, &t))
        return -1;
    text = json_text_copy(&t, r->j->arena, &n);
    return take_str(r, p, f, text, n, out);
}

/* A number too large for any type counts as out of the field's range, too. */
static int shape_read_number(struct reader *r, const struct shape_place *p, const struct field *f,
                             struct json_number *ret)
{
    const char *start = r->j->p, *end = start;
    int failed = json_read_number(r->j, ret);

    if (!failed || r->j->err->code != ERR_LIMIT)
        return failed;
    while (end < r->j->end && *end && strchr("+-.eE0123456789", *end))
        end++;
    return reject_value(r, p, f, start, (size_t)(end - start));
}

static int read_int(struct reader *r, const struct shape_place *p, const struct field *f,
                    int64_t *out)
{
    struct json_number n;

    if (shape_read_number(r, p, f, &n))
        return -1;
    if (n.is_int && n.i == 0 && (f->flags & FIELD_ZERO_UNSET))
        n.i = f->fallback;
    else if (!n.is_int || ((f->min || f->max) && (n.i < f->min || n.i > f->max)))
        return reject_value(r, p, f, n.p, n.n);
    *out = n.i;
    return 0;
}

static int read_float(struct reader *r, const struct shape_place *p, const struct field *f,
                      double *out)
{
    struct json_number n;

    if (shape_read_number(r, p, f, &n))
        return -1;
    if (n.d == 0 && (f->flags & FIELD_ZERO_UNSET))
        n.d = (double)f->fallback;
    else if ((f->min || f->max) && (n.d < (double)f->min || n.d > (double)f->max))
        return reject_value(r, p, f, n.p, n.n);
    *out = n.d;
    return 0;
}

/* By name; with SHAPE_TEXT also by number. */
static const struct enum_name *enum_by_text(const struct field *f, const char *text, unsigned flags)
{
    char number[24];

    for (const struct enum_name *e = f->names; e->name; e++) {
        if (!strcmp(e->name, text))
            return e;
        if (!(flags & SHAPE_TEXT))
            continue;
        snprintf(number, sizeof(number), "%lld", (long long)e->value);
        if (!strcmp(number, text))
            return e;
    }
    return NULL;
}

static int read_enum(struct reader *r, const struct shape_place *p, const struct field *f,
                     enum json_kind kind, int64_t *out)
{
    const struct enum_name *e;
    struct json_number number;
    struct json_text t;
    const char *text;
    size_t n;

    if (kind == JSON_KIND_STRING) {
        if (json_read_string(r->j, &t))
            return -1;
        text = json_text_copy(&t, r->j->arena, &n);
        e = enum_by_text(f, text, r->flags);
        if (!e)
            return reject_value(r, p, f, text, n);
        *out = e->value;
        return 0;
    }
    if (shape_read_number(r, p, f, &number))
        return -1;
    for (e = f->names; e->name; e++) {
        if (number.is_int && number.i == e->value) {
            *out = e->value;
            return 0;
        }
    }
    return reject_value(r, p, f, number.p, number.n);
}

/* Appends to a list in the arena; its capacity doubles. */
static void *list_add(struct reader *r, struct list *l, size_t *cap, size_t size)
{
    if (l->n == *cap) {
        void *more;

        *cap = *cap ? *cap * 2 : 4;
        more = arena_alloc(r->j->arena, *cap * size);
        if (l->n)
            memcpy(more, l->items, l->n * size);
        l->items = more;
    }
    return at_offset(l->items, l->n++ * size);
}

/* Checks the number of items against the row; n may still grow. */
static int check_count(struct reader *r, const struct shape_place *p, const struct field *f,
                       const char *start, size_t n, bool ended)
{
    char expected[SHAPE_EXPECT_SIZE];

    if ((!ended || (int64_t)n >= f->min) && (!f->max || (int64_t)n <= f->max))
        return 0;
    r->at = start;
    field_expect(f, expected);
    if (!ended)
        return reject(r, p, "must be %s, has at least %zu", expected, n);
    return reject(r, p, "must be %s, has %zu", expected, n);
}

static int peek(struct reader *r, enum json_kind *ret)
{
    if (json_peek(r->j, ret))
        return -1;
    r->at = r->j->p;
    return 0;
}

static int read_item(struct reader *r, const struct shape_place *p, const struct shape *sub,
                     void *at)
{
    enum json_kind kind;

    if (peek(r, &kind))
        return -1;
    if (sub->bare)
        return read_value(r, p, sub->fields, kind, at_offset(at, sub->fields->offset));
    if (kind != JSON_KIND_OBJECT)
        return reject(r, p, "must be an object, not %s", json_kind_name(kind));
    return read_object(r, p, sub, at);
}

static int read_entry(struct reader *r, const struct shape_place *p, const struct shape *sub,
                      const struct json_walk *w, void *at)
{
    const struct field *key = &sub->fields[0], *value = &sub->fields[1];
    size_t n;
    const char *text = json_text_copy(&w->key, r->j->arena, &n);
    struct shape_place here = { .up = p, .name = text, .n = n };
    enum json_kind kind;

    r->at = w->key.p - 1;
    if (json_note_key(r->j, w))
        return r->j->err->code == ERR_LIMIT ? -1 : reject(r, &here, "given twice");
    if (take_str(r, &here, key, text, n, at_offset(at, key->offset)) || peek(r, &kind))
        return -1;
    return read_value(r, &here, value, kind, at_offset(at, value->offset));
}

/* Reads a list or a map.  SHAPE_OVERLAY does not apply to its items, because they are new:
 * absent fields of an item get their default, and are required if the row says so. */
static int read_many(struct reader *r, const struct shape_place *p, const struct field *f,
                     enum json_kind kind, struct list *out)
{
    const char *start = r->j->p;
    unsigned flags = r->flags;
    struct json_walk w;
    struct list l = { 0 };
    size_t cap = 0;
    bool more;

    if (json_enter(r->j, kind, &w))
        return -1;
    r->flags &= ~(unsigned)SHAPE_OVERLAY;
    for (;;) {
        struct shape_place item = { .up = p, .n = l.n };
        void *at;

        if (json_next(r->j, &w, &more) || check_count(r, p, f, start, l.n + more, !more))
            return -1;
        if (!more)
            break;
        at = list_add(r, &l, &cap, f->sub->size);
        if (kind == JSON_KIND_LIST ? read_item(r, &item, f->sub, at)
                                   : read_entry(r, p, f->sub, &w, at))
            return -1;
    }
    r->flags = flags;
    *out = l;
    return 0;
}

static int read_raw(struct reader *r, const struct shape_place *p, const struct field *f,
                    const char **out)
{
    const char *start = r->j->p;
    size_t n;

    if (json_skip(r->j))
        return -1;
    n = (size_t)(r->j->p - start);
    if (f->max && (int64_t)n > f->max)
        return reject(r, p, "must be at most %lld bytes of JSON, has %zu", (long long)f->max, n);
    *out = arena_memdup(r->j->arena, start, n);
    return 0;
}

static int read_scalar(struct reader *r, const struct shape_place *p, const struct field *f,
                       enum json_kind kind, struct scalar *out)
{
    const char *start = r->j->p;
    bool as_text = f->flags & FIELD_AS_TEXT;
    size_t n;

    if (kind == JSON_KIND_STRING) {
        out->kind = SCALAR_TEXT;
        return read_str(r, p, f, &out->text);
    }
    if (json_skip(r->j))
        return -1;
    n = (size_t)(r->j->p - start);
    if (kind == JSON_KIND_NULL) {
        *out = as_text ? (struct scalar){ SCALAR_TEXT, "" } : (struct scalar){ SCALAR_NULL, NULL };
        return 0;
    }
    if (f->max && (int64_t)n > f->max)
        return reject_size(r, p, f, n);
    out->kind = as_text ? SCALAR_TEXT : kind == JSON_KIND_BOOL ? SCALAR_BOOL : SCALAR_NUMBER;
    out->text = arena_memdup(r->j->arena, start, n);
    return 0;
}

/* The JSON kinds that a field type accepts. */
static const unsigned accepts[] = {
    [FIELD_STR] = 1u << JSON_KIND_STRING,
    [FIELD_INT] = 1u << JSON_KIND_NUMBER,
    [FIELD_FLOAT] = 1u << JSON_KIND_NUMBER,
    [FIELD_BOOL] = 1u << JSON_KIND_BOOL,
    [FIELD_ENUM] = 1u << JSON_KIND_NUMBER | 1u << JSON_KIND_STRING,
    [FIELD_OBJ] = 1u << JSON_KIND_OBJECT,
    [FIELD_LIST] = 1u << JSON_KIND_LIST,
    [FIELD_MAP] = 1u << JSON_KIND_OBJECT,
    [FIELD_SCALAR] = 1u << JSON_KIND_STRING | 1u << JSON_KIND_NUMBER | 1u << JSON_KIND_BOOL |
                     1u << JSON_KIND_NULL,
    [FIELD_RAW] = ~0u,
};

/* SHAPE_TEXT: a string is rewritten as JSON of the field's type, which is then read. */
static int read_inner(struct reader *r, const struct shape_place *p, const struct field *f,
                      const struct buf *json, void *at)
{
    struct json *outer = r->j, inner;
    const char *outer_at = r->at;
    enum json_kind kind;
    int failed;

    json_init(&inner, buf_data(json), json->len, outer->arena, outer->err);
    inner.depth = outer->depth;
    r->j = &inner;
    failed = peek(r, &kind) || read_value(r, p, f, kind, at) || json_finish(&inner);
    json_done(&inner);
    r->j = outer;
    r->at = outer_at;
    return failed ? -1 : 0;
}

/* A plain number is out of range; anything else may be an attempt at a unit. */
static int reject_units(struct reader *r, const struct shape_place *p, const struct field *f,
                        const char *got, size_t n)
{
    struct buf shown = { 0 };
    long long min = f->min, max = f->max;

    if (!got[strspn(got, "-+.0123456789")])
        return reject_value(r, p, f, got, n);
    shape_show(got, utf8_whole(got, n < 40 ? n : 40), &shown);
    if (f->flags & FIELD_SECONDS)
        reject(r, p,
               "must be a duration such as 30s, 5m or 1h30m, of %lld to %lld seconds, not %.*s",
               min, max, (int)shown.len, buf_text(&shown));
    else
        reject(r, p, "must be a size such as 512K, 64M or 2G, of %lld to %lld bytes, not %.*s", min,
               max, (int)shown.len, buf_text(&shown));
    buf_free(&shown);
    return -1;
}

static int read_units(struct reader *r, const struct shape_place *p, const struct field *f,
                      int64_t *out)
{
    struct json_text t;
    const char *text;
    int64_t number;
    size_t n;

    if (json_read_string(r->j, &t))
        return -1;
    text = json_text_copy(&t, r->j->arena, &n);
    if (!field_read_units(f->flags, text, &number))
        return reject_units(r, p, f, text, n);
    if (!number && (f->flags & FIELD_ZERO_UNSET))
        number = f->fallback;
    if ((f->min || f->max) && (number < f->min || number > f->max))
        return reject_units(r, p, f, text, n);
    *out = number;
    return 0;
}

static int read_from_text(struct reader *r, const struct shape_place *p, const struct field *f,
                          void *at)
{
    struct json_text t;
    struct buf json = { 0 };
    const char *text;
    size_t n;
    bool can_be;
    int failed;

    if (json_read_string(r->j, &t))
        return -1;
    text = json_text_copy(&t, r->j->arena, &n);
    can_be = field_text_to_json(f, text, &json);
    failed = can_be ? read_inner(r, p, f, &json, at) : -1;
    buf_free(&json);
    if (!failed || r->told)
        return failed;
    if (can_be && (*text == '{' || *text == '['))
        return reject(r, p, "not valid JSON: %s", err_msg(r->j->err));
    return reject_value(r, p, f, text, n);
}

static int read_value(struct reader *r, const struct shape_place *p, const struct field *f,
                      enum json_kind kind, void *at)
{
    if (!(accepts[f->type] >> kind & 1)) {
        if (kind == JSON_KIND_STRING && (r->flags & SHAPE_UNITS) &&
            (f->flags & (FIELD_SECONDS | FIELD_BYTES)))
            return read_units(r, p, f, at);
        if (kind == JSON_KIND_STRING && (r->flags & SHAPE_TEXT))
            return read_from_text(r, p, f, at);
        return reject_type(r, p, f, kind);
    }
    switch (f->type) {
    case FIELD_STR: return read_str(r, p, f, at);
    case FIELD_INT: return read_int(r, p, f, at);
    case FIELD_FLOAT: return read_float(r, p, f, at);
    case FIELD_BOOL: return json_read_bool(r->j, at);
    case FIELD_ENUM: return read_enum(r, p, f, kind, at);
    case FIELD_OBJ: return read_object(r, p, f->sub, at);
    case FIELD_LIST:
    case FIELD_MAP: return read_many(r, p, f, kind, at);
    case FIELD_SCALAR: return read_scalar(r, p, f, kind, at);
    case FIELD_RAW: return read_raw(r, p, f, at);
    }
    return reject(r, p, "has no type");
}

/* Most texts have fields in the order of the table, with gaps: so the rows behind the last match
 * are tried first. */
static const struct field *find_field(const struct shape *s, const struct field *guess,
                                      const char *key, size_t n)
{
    for (const struct field *f = guess; f->name; f++) {
        if (field_is_called(f->name, key, n))
            return f;
    }
    for (const struct field *f = s->fields; f->name; f++) {
        if (field_is_called(f->name, key, n) || (f->also && field_is_also(f->also, key, n)))
            return f;
    }
    return NULL;
}

/* Reads the member of an object that the row `f` describes.  null is the same as absent. */
static int read_member(struct reader *r, const struct shape_place *p, const struct field *f,
                       void *out)
{
    enum json_kind kind;

    if (peek(r, &kind))
        return -1;
    if (kind == JSON_KIND_NULL) {
        if ((f->flags & FIELD_REQUIRED) && !(r->flags & SHAPE_OVERLAY))
            return reject_type(r, p, f, kind);
        if (f->has || !(r->flags & SHAPE_OVERLAY))
            set_default(f, at_offset(out, f->offset));
        set_presence(f, out, PRESENCE_NULL);
        return json_read_null(r->j);
    }
    set_presence(f, out, PRESENCE_GIVEN);
    return read_value(r, p, f, kind, at_offset(out, f->offset));
}

/* Sets the defaults of absent fields, and fails for a required one. */
static int fill_absent(struct reader *r, const struct shape_place *p, const struct shape *s,
                       uint64_t seen, void *out)
{
    if (r->flags & SHAPE_OVERLAY)
        return 0;
    for (const struct field *f = s->fields; f->name; f++, seen >>= 1) {
        if (seen & 1)
            continue;
        if (f->flags & FIELD_REQUIRED)
            return reject(r, &(struct shape_place){ p, f->name, strlen(f->name) }, "required");
        set_default(f, at_offset(out, f->offset));
        set_presence(f, out, PRESENCE_ABSENT);
    }
    return 0;
}

static int pass_over(struct reader *r, const struct shape_place *p, const struct shape *s,
                     const struct json_walk *w)
{
    char why[SHAPE_EXPECT_SIZE];

    r->at = w->key.p - 1;
    if (r->flags & (SHAPE_ASKED | SHAPE_STRICT)) {
        shape_no_such(s, p->name, p->n, r->flags & SHAPE_ASKED, why);
        return reject(r, p, "%s", why);
    }
    if (json_note_key(r->j, w))
        return r->j->err->code == ERR_LIMIT ? -1 : reject(r, p, "given twice");
    return json_skip(r->j);
}

static int reject_twice(struct reader *r, const struct shape_place *p, const struct field *f)
{
    if (field_is_called(f->name, p->name, p->n))
        return reject(r, p, "given twice");
    return reject(r, p, "given twice, it is another name of %s", f->name);
}

static int read_object(struct reader *r, const struct shape_place *p, const struct shape *s,
                       void *out)
{
    const struct field *next = s->fields, *f;
    const char *start = r->j->p;
    struct json_walk w;
    uint64_t seen = 0;
    bool more;

    if (json_enter(r->j, JSON_KIND_OBJECT, &w))
        return -1;
    for (;;) {
        struct shape_place here = { .up = p };

        if (json_next(r->j, &w, &more))
            return -1;
        if (!more)
            break;
        here.name = w.key.p;
        here.n = w.key.n;
        if (w.key.escaped)
            here.name = json_text_copy(&w.key, r->j->arena, &here.n);
        f = find_field(s, next, here.name, here.n);
        if (!f) {
            if (pass_over(r, &here, s, &w))
                return -1;
            continue;
        }
        r->at = w.key.p - 1;
        if (seen >> (f - s->fields) & 1)
            return reject_twice(r, &here, f);
        seen |= (uint64_t)1 << (f - s->fields);
        next = f + 1;
        if (read_member(r, &here, f, out))
            return -1;
    }
    r->at = start;
    return fill_absent(r, p, s, seen, out);
}

int shape_read_json(const struct shape *s, struct json *j, unsigned flags, void *out)
{
    struct reader r = { .j = j, .flags = flags };
    enum json_kind kind;

    if (peek(&r, &kind))
        return -1;
    if (kind != JSON_KIND_OBJECT)
        return reject(&r, NULL, "must be an object, not %s", json_kind_name(kind));
    if (read_object(&r, NULL, s, out)) {
        if (r.told)
            j->p = r.at;
        return -1;
    }
    return json_finish(j);
}

int shape_read(const struct shape *s, const char *json, size_t n, unsigned flags, struct arena *a,
               void *out, struct err *err)
{
    struct json j;
    int failed;

    json_init(&j, json, n, a, err);
    failed = shape_read_json(s, &j, flags, out);
    json_done(&j);
    return failed ? -1 : 0;
}
