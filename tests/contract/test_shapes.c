/* SPDX-License-Identifier: MIT */
/* Every shape of the model: its rows make sense, what is written reads back as
 * it was, and whatever is wrong with one field is said of that field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "model/shapes.h"
#include "tests/lib/random.h"
#include "wire/json/field.h"

enum { DEPTH_MAX = 16 };

static bool is_many(const struct field *f)
{
    return f->type == FIELD_LIST || f->type == FIELD_MAP;
}

/* ---- Rows make sense. */

/* How a shape is used decides what its rows need. */
enum use { USE_OBJECT, USE_BARE, USE_ENTRY };

static size_t member_size(const struct field *f)
{
    switch (f->type) {
    case FIELD_STR:
    case FIELD_RAW: return sizeof(const char *);
    case FIELD_INT:
    case FIELD_ENUM: return sizeof(int64_t);
    case FIELD_FLOAT: return sizeof(double);
    case FIELD_BOOL: return sizeof(bool);
    case FIELD_OBJ: return f->sub->size;
    case FIELD_LIST:
    case FIELD_MAP: return sizeof(struct list);
    case FIELD_SCALAR: return sizeof(struct scalar);
    }
    return 0;
}

static void must(bool holds, const struct shape *s, const struct field *f, const char *what)
{
    if (!holds)
        fail_msg("%s.%s: %s", s->name, f->name, what);
}

static void check_limits(const struct shape *s, const struct field *f)
{
    switch (f->type) {
    case FIELD_STR:
    case FIELD_RAW:
    case FIELD_SCALAR:
    case FIELD_LIST:
    case FIELD_MAP:
        must(f->max > 0, s, f, "has no limit");
        must(f->min >= 0 && f->min <= f->max, s, f, "its least is above its most");
        return;
    case FIELD_INT:
    case FIELD_FLOAT: must(f->min <= f->max, s, f, "its least is above its most"); return;
    case FIELD_BOOL:
    case FIELD_ENUM:
    case FIELD_OBJ: must(!f->min && !f->max, s, f, "has limits that are not checked"); return;
    }
}

static void check_parts(const struct shape *s, const struct field *f)
{
    must(!f->names == (f->type != FIELD_ENUM), s, f, "an ENUM and no other has names");
    must(!f->names || f->names->name, s, f, "has an empty list of names");
    must(!f->sub == (f->type != FIELD_OBJ && !is_many(f)), s, f,
         "an OBJ, LIST or MAP and no other has a sub");
    must(!f->check || f->type == FIELD_STR, s, f, "only a STR is checked");
    must(!(f->flags & FIELD_BY_NAME) || f->type == FIELD_ENUM, s, f, "only an ENUM has names");
    must(!(f->flags & FIELD_ZERO_UNSET) || f->type == FIELD_INT || f->type == FIELD_FLOAT, s, f,
         "only a number may be 0 for its default");
    must(!(f->flags & FIELD_REQUIRED) || !(f->flags & FIELD_OMIT_EMPTY), s, f,
         "is required and left out");
    must(!f->sub || !f->sub->bare || f->type == FIELD_LIST, s, f, "only a LIST has bare items");
    must(!(f->flags & FIELD_MSG) ||
             (f != s->fields && f->type == FIELD_STR && f[-1].type == FIELD_STR &&
              f[-1].offset == f->offset && !f->has && !f->check && !f->min),
         s, f, "is the message of no text in the row above");
}

/* What an absent field holds must be something it could have been given. */
static void check_default(const struct shape *s, const struct field *f)
{
    const char *text = f->fallback_text ? f->fallback_text : "";
    bool written = !f->has && !(f->flags & (FIELD_REQUIRED | FIELD_SECRET | FIELD_OMIT_EMPTY));
    bool limited = f->min || f->max;

    if (f->type == FIELD_STR && (written || f->fallback_text)) {
        must((int64_t)strlen(text) >= f->min && (int64_t)strlen(text) <= f->max, s, f,
             "its default is too short or long");
        must(!f->check || !f->check(text), s, f, "its default fails its check");
    }
    if (is_many(f))
        must(!written || !f->min, s, f, "is empty by default, and may not be");
    if ((f->type == FIELD_INT || f->type == FIELD_FLOAT) && !(f->flags & FIELD_REQUIRED) && limited)
        must(f->fallback >= f->min && f->fallback <= f->max, s, f, "its default is out of range");
    if (f->type == FIELD_ENUM && !(f->flags & FIELD_REQUIRED))
        must(field_enum_name(f, f->fallback), s, f, "its default has no name");
    if (f->flags & FIELD_OMIT_EMPTY)
        must(!f->has && !f->fallback && !*text, s, f, "left out, it would read as something else");
}

static void check_names(const struct shape *s, const struct field *f)
{
    struct buf quoted = { 0 };
    const char *also = f->also;

    must(*f->name, s, f, "has no name");
    buf_quote(&quoted, f->name, strlen(f->name));
    must(quoted.len == strlen(f->name) + 2, s, f, "its name needs escapes");
    buf_free(&quoted);
    must(!also || (*also && *also != ' '), s, f, "its older names begin with a blank");
    for (const struct field *g = s->fields; g->name; g++) {
        if (g != f)
            must(strcmp(g->name, f->name) != 0, s, f, "its name is there twice");
        must(!g->also || !field_is_also(g->also, f->name, strlen(f->name)), s, f,
             "its name is an older one too");
        for (const char *p = f->also; p && *p && g > f && g->also;) {
            size_t n = strcspn(p, " ");

            must(!field_is_also(g->also, p, n), s, f, "an older name is there twice");
            p += n + strspn(p + n, " ");
        }
    }
}

/* Marks what the field takes of the struct; nothing is taken twice. */
static void take(const struct shape *s, const struct field *f, unsigned char *taken, size_t at,
                 size_t n)
{
    must(at + n <= s->size, s, f, "is outside of its struct");
    for (size_t i = at; i < at + n; i++)
        must(!taken[i]++, s, f, "overlaps another");
}

static void check_shape(const struct shape *s, enum use use, int depth)
{
    unsigned char *taken = calloc(1, s->size + 1);
    size_t n = 0;

    assert_true(depth < DEPTH_MAX);
    assert_true(s->bare == (use == USE_BARE));
    for (const struct field *f = s->fields; f->name; f++, n++) {
        if (!(f->flags & FIELD_MSG))
            take(s, f, taken, f->offset, member_size(f));
        if (f->has)
            take(s, f, taken, f->has, sizeof(enum presence));
        must(use == USE_OBJECT ||
                 (!f->has && !(f->flags & ~(unsigned)(FIELD_BY_NAME | FIELD_AS_TEXT))),
             s, f, "a bare value has no presence");
        must(use != USE_OBJECT || (f->doc && *f->doc), s, f, "is not explained");
        check_names(s, f);
        check_limits(s, f);
        check_parts(s, f);
        if (use == USE_OBJECT)
            check_default(s, f);
        if (f->sub)
            check_shape(f->sub,
                        f->sub->bare           ? USE_BARE
                        : f->type == FIELD_MAP ? USE_ENTRY
                                               : USE_OBJECT,
                        depth + 1);
    }
    assert_in_range(n, 1, SHAPE_FIELDS_MAX);
    if (use == USE_BARE)
        assert_int_equal(n, 1);
    if (use == USE_ENTRY)
        assert_true(n == 2 && s->fields[0].type == FIELD_STR);
    free(taken);
}

static void rows_make_sense(void **state)
{
    (void)state;
    for (const struct shape *const *s = model_shapes; *s; s++)
        check_shape(*s, USE_OBJECT, 0);
}

/* ---- Values by chance, within the limits of their rows. */

static const char *random_text_of(uint64_t *seed, size_t n, int style, struct arena *a)
{
    static const char *const pieces[] = { "a",
                                          "b",
                                          "Z",
                                          "0",
                                          "_",
                                          "-",
                                          ".",
                                          "/",
                                          " ",
                                          "'",
                                          ",",
                                          "=",
                                          "\"",
                                          "\\",
                                          "$",
                                          "\xC3\xA9",
                                          "\xE4\xB8\xAD",
                                          "\xF0\x9F\x98\x80",
                                          ":",
                                          "\n",
                                          "\x01",
                                          "\x7F" };
    static const size_t kinds[] = { ARRAY_LEN(pieces), 18, 8, 8 };
    char *text = arena_bytes(a, n + 1);
    size_t at = 0;

    while (at < n) {
        const char *piece = pieces[random_below(seed, kinds[style])];
        size_t len = strlen(piece);

        if (style == 3 && at == 0)
            piece = "/";
        if (len > n - at)
            continue;
        memcpy(text + at, piece, len);
        at += len;
    }
    text[n] = '\0';
    return text;
}

/* Where only certain words pass, chance does not find them. */
static const char *word_that_passes(const struct field *f, uint64_t which)
{
    static const char *const words[] = { "nofile", "core",  "cpu",      "data",
                                         "stack",  "nproc", "10.0.0.1", "sh" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *word = words[(which + i) % ARRAY_LEN(words)];

        if (!f->check(word))
            return word;
    }
    fail_msg("%s: no text passes its check", f->name);
    return NULL;
}

static const char *random_text(uint64_t *seed, const struct field *f, struct arena *a)
{
    for (int attempt = 0; attempt < 400; attempt++) {
        uint64_t most = (uint64_t)(f->max < 40 ? f->max : 40);
        size_t n = (size_t)f->min + random_below(seed, most - (uint64_t)f->min + 1);
        const char *text;

        if (random_below(seed, 50) == 0)
            n = (size_t)(random_below(seed, 2) ? f->max : f->min);
        text = random_text_of(seed, n, attempt / 100, a);
        if (!f->check || !f->check(text))
            return text;
    }
    return word_that_passes(f, random_below(seed, 100));
}

static int64_t random_int(uint64_t *seed, const struct field *f)
{
    int64_t n = (int64_t)random_next(seed) >> random_below(seed, 64);
    uint64_t range = (uint64_t)f->max - (uint64_t)f->min;

    if (f->min || f->max) {
        switch (random_below(seed, 4)) {
        case 0: n = f->min; break;
        case 1: n = f->max; break;
        default: n = (int64_t)((uint64_t)f->min + random_next(seed) % (range + 1)); break;
        }
    }
    return n == 0 && (f->flags & FIELD_ZERO_UNSET) ? f->fallback : n;
}

static double random_float(uint64_t *seed, const struct field *f)
{
    double part = (double)(random_next(seed) >> 11) / 0x1p53, d;

    if (f->min || f->max)
        d = (double)f->min + part * (double)(f->max - f->min);
    else
        d = ldexp(part - 0.5, (int)random_below(seed, 2000) - 1000);
    return d == 0 && (f->flags & FIELD_ZERO_UNSET) ? (double)f->fallback : d;
}

static int64_t random_enum(uint64_t *seed, const struct field *f)
{
    size_t n = 0;

    while (f->names[n].name)
        n++;
    return f->names[random_below(seed, n)].value;
}

static struct scalar random_scalar(uint64_t *seed, const struct field *f, struct arena *a)
{
    static const char *const words[] = { "0", "-1", "1.50", "1E5", "-0.0", "true", "false" };
    uint64_t which = random_below(seed, ARRAY_LEN(words) + 4);

    if (which >= ARRAY_LEN(words) + 1 || (f->flags & FIELD_AS_TEXT))
        return (struct scalar){ SCALAR_TEXT, random_text(seed, f, a) };
    if (which == ARRAY_LEN(words) || (int64_t)strlen(words[which]) > f->max)
        return (struct scalar){ SCALAR_NULL, NULL };
    return (struct scalar){ which < 5 ? SCALAR_NUMBER : SCALAR_BOOL, words[which] };
}

static const char *random_raw(uint64_t *seed, const struct field *f)
{
    static const char *const texts[] = { "{ \"a\" : [1.0, \"\\u0041\"] }", "[]", "1E5", "\"\\/\"",
                                         "0" };
    const char *text = texts[random_below(seed, ARRAY_LEN(texts))];

    return (int64_t)strlen(text) <= f->max ? text : "0";
}

static void fill_shape(uint64_t *seed, const struct shape *s, struct arena *a, void *out);
static void fill_value(uint64_t *seed, const struct field *f, struct arena *a, void *at);

static bool has_entry(const struct list *l, const struct shape *sub, const char *key)
{
    for (size_t i = 0; i + 1 < l->n; i++) {
        const char *item = (const char *)l->items + i * sub->size + sub->fields[0].offset;

        if (!strcmp(*(const char *const *)(const void *)item, key))
            return true;
    }
    return false;
}

static void fill_entry(uint64_t *seed, const struct shape *sub, struct arena *a, struct list *l,
                       char *item)
{
    const char **key = (const char **)(void *)(item + sub->fields[0].offset);

    do {
        *key = random_text(seed, &sub->fields[0], a);
    } while (has_entry(l, sub, *key));
    fill_value(seed, &sub->fields[1], a, item + sub->fields[1].offset);
}

static void fill_many(uint64_t *seed, const struct field *f, struct arena *a, struct list *out)
{
    size_t most = (size_t)(f->max - f->min < 4 ? f->max - f->min : 4);
    size_t n = (size_t)f->min + random_below(seed, most + 1);

    *out = (struct list){ arena_alloc(a, n * f->sub->size), 0 };
    for (size_t i = 0; i < n; i++) {
        char *item = (char *)out->items + i * f->sub->size;

        out->n++;
        if (f->type == FIELD_MAP)
            fill_entry(seed, f->sub, a, out, item);
        else if (f->sub->bare)
            fill_value(seed, f->sub->fields, a, item + f->sub->fields->offset);
        else
            fill_shape(seed, f->sub, a, item);
    }
}

/* The row of a message follows the one with its English text. */
static void fill_text(uint64_t *seed, const struct field *f, struct arena *a, const char **at)
{
    if (!(f->flags & FIELD_MSG))
        *at = random_text(seed, f, a);
    else if (random_below(seed, 2))
        *at = arena_msg(a, "%s has %lld", random_text_of(seed, 20, 0, a), (long long)*seed);
}

static void fill_value(uint64_t *seed, const struct field *f, struct arena *a, void *at)
{
    switch (f->type) {
    case FIELD_STR: fill_text(seed, f, a, at); return;
    case FIELD_RAW: *(const char **)at = random_raw(seed, f); return;
    case FIELD_INT: *(int64_t *)at = random_int(seed, f); return;
    case FIELD_ENUM: *(int64_t *)at = random_enum(seed, f); return;
    case FIELD_FLOAT: *(double *)at = random_float(seed, f); return;
    case FIELD_BOOL: *(bool *)at = random_below(seed, 2); return;
    case FIELD_OBJ: fill_shape(seed, f->sub, a, at); return;
    case FIELD_LIST:
    case FIELD_MAP: fill_many(seed, f, a, at); return;
    case FIELD_SCALAR: *(struct scalar *)at = random_scalar(seed, f, a); return;
    }
}

static void fill_shape(uint64_t *seed, const struct shape *s, struct arena *a, void *out)
{
    shape_defaults(s, out);
    for (const struct field *f = s->fields; f->name; f++) {
        enum presence presence = (enum presence)random_below(seed, 3);

        if (f->has && (f->flags & FIELD_REQUIRED))
            presence = PRESENCE_GIVEN;
        if (f->has)
            *(enum presence *)(void *)((char *)out + f->has) = presence;
        if (!f->has || presence == PRESENCE_GIVEN)
            fill_value(seed, f, a, (char *)out + f->offset);
    }
}

/* A secret is not written, so where it is required nothing can be read back. */
static bool keeps_all(const struct shape *s)
{
    for (const struct field *f = s->fields; f->name; f++) {
        if ((f->flags & FIELD_SECRET) && (f->flags & FIELD_REQUIRED))
            return false;
        if (f->sub && !keeps_all(f->sub))
            return false;
    }
    return true;
}

static void round_trip(const struct shape *s, uint64_t seed)
{
    uint64_t first_seed = seed;
    struct arena a = { 0 };
    struct buf one = { 0 }, two = { 0 };
    void *made = arena_alloc(&a, s->size), *read = arena_alloc(&a, s->size);
    struct err err = { 0 };

    fill_shape(&seed, s, &a, made);
    shape_write(s, made, &one);
    if (shape_read(s, buf_data(&one), one.len, SHAPE_STRICT, &a, read, &err))
        fail_msg("%s, seed %llu: %s in %s", s->name, (unsigned long long)first_seed, err.text,
                 buf_text(&one));
    shape_write(s, read, &two);
    if (one.len != two.len || memcmp(buf_data(&one), buf_data(&two), one.len) != 0)
        fail_msg("%s, seed %llu:\n%s\nis read as\n%s", s->name, (unsigned long long)first_seed,
                 buf_text(&one), buf_text(&two));
    buf_free(&one);
    buf_free(&two);
    arena_free(&a);
}

static void what_is_written_reads_back_the_same(void **state)
{
    (void)state;
    for (const struct shape *const *s = model_shapes; *s; s++) {
        for (uint64_t seed = 0; seed < 500 && keeps_all(*s); seed++)
            round_trip(*s, seed);
    }
}

/* ---- One wrong field in a document that is right otherwise. */

enum fault {
    FAULT_REMOVED,
    FAULT_NULL,
    FAULT_BOOL,
    FAULT_NUMBER,
    FAULT_STRING,
    FAULT_LIST,
    FAULT_OBJECT,
    FAULT_SMALL, /* too small, short or few; or no such name */
    FAULT_LARGE, /* too large, long or many; or no such number */
    FAULTS
};

/* A value's place: what it may be depends on it. */
enum where { WHERE_MEMBER, WHERE_ITEM };

struct document {
    struct buf json, path;
    size_t count, target; /* values so far; the one to be wrong */
    enum fault fault;
    bool older; /* use older names where there are any */
    bool hit;   /* the fault was put in */
    struct arena *arena;
    char wrong_path[512];
};

static void put_object(struct document *d, const struct shape *s);
static void put_value(struct document *d, const struct field *f, enum where where);

static void put_text(struct document *d, int64_t n)
{
    buf_puts(&d->json, "\"/");
    for (int64_t i = 1; i < n; i++)
        buf_addc(&d->json, 'a');
    buf_addc(&d->json, '"');
}

static void put_list(struct document *d, const struct field *f, int64_t n)
{
    size_t mark = d->path.len;

    buf_addc(&d->json, '[');
    for (int64_t i = 0; i < n; i++) {
        buf_truncate(&d->path, mark);
        buf_printf(&d->path, "[%lld]", (long long)i);
        if (i)
            buf_addc(&d->json, ',');
        if (f->sub->bare)
            put_value(d, f->sub->fields, WHERE_ITEM);
        else
            put_object(d, f->sub);
    }
    buf_truncate(&d->path, mark);
    buf_addc(&d->json, ']');
}

static bool takes_any_key(const struct field *map)
{
    const struct field *key = &map->sub->fields[0];

    return !key->check || !key->check("k0");
}

static void put_map(struct document *d, const struct field *f, int64_t n)
{
    size_t mark = d->path.len;
    bool is_any = takes_any_key(f);

    buf_addc(&d->json, '{');
    for (int64_t i = 0; i < n; i++) {
        const char *key = is_any ? arena_printf(d->arena, "k%lld", (long long)i)
                                 : word_that_passes(&f->sub->fields[0], (uint64_t)i);

        buf_truncate(&d->path, mark);
        buf_printf(&d->path, ".%s", key);
        buf_printf(&d->json, "%s\"%s\":", i ? "," : "", key);
        put_value(d, &f->sub->fields[1], WHERE_ITEM);
    }
    buf_truncate(&d->path, mark);
    buf_addc(&d->json, '}');
}

static void put_good(struct document *d, const struct field *f)
{
    uint64_t seed = d->count;
    bool zero = f->min <= 0 && (f->max >= 0 || !f->min);

    switch (f->type) {
    case FIELD_STR: {
        const char *text = random_text(&seed, f, d->arena);

        buf_quote(&d->json, text, strlen(text));
        return;
    }
    case FIELD_INT:
    case FIELD_FLOAT: buf_put_int(&d->json, zero ? 0 : f->min); return;
    case FIELD_BOOL: buf_puts(&d->json, "true"); return;
    case FIELD_ENUM: buf_put_int(&d->json, f->names->value); return;
    case FIELD_OBJ: put_object(d, f->sub); return;
    case FIELD_LIST: put_list(d, f, f->min ? f->min : 1); return;
    case FIELD_MAP: put_map(d, f, f->min ? f->min : 1); return;
    case FIELD_SCALAR:
    case FIELD_RAW: buf_puts(&d->json, "1"); return;
    }
}

static unsigned kinds_of(const struct field *f)
{
    switch (f->type) {
    case FIELD_STR: return 1u << FAULT_STRING;
    case FIELD_INT:
    case FIELD_FLOAT: return 1u << FAULT_NUMBER;
    case FIELD_BOOL: return 1u << FAULT_BOOL;
    case FIELD_ENUM: return 1u << FAULT_NUMBER | 1u << FAULT_STRING;
    case FIELD_OBJ:
    case FIELD_MAP: return 1u << FAULT_OBJECT;
    case FIELD_LIST: return 1u << FAULT_LIST;
    case FIELD_SCALAR:
        return 1u << FAULT_STRING | 1u << FAULT_NUMBER | 1u << FAULT_BOOL | 1u << FAULT_NULL;
    case FIELD_RAW: return ~0u;
    }
    return 0;
}

static bool put_too_small(struct document *d, const struct field *f)
{
    int64_t below = f->min - 1;

    switch (f->type) {
    case FIELD_INT:
    case FIELD_FLOAT:
        if ((!f->min && !f->max) || f->min == INT64_MIN)
            return false;
        buf_put_int(&d->json, below == 0 && (f->flags & FIELD_ZERO_UNSET) ? -1 : below);
        return true;
    case FIELD_ENUM: buf_puts(&d->json, "\"no such name\""); return true;
    case FIELD_STR: buf_puts(&d->json, "\"\""); return f->min > 0;
    case FIELD_LIST: buf_puts(&d->json, "[]"); return f->min > 0;
    case FIELD_MAP: buf_puts(&d->json, "{}"); return f->min > 0;
    case FIELD_BOOL:
    case FIELD_OBJ:
    case FIELD_SCALAR:
    case FIELD_RAW: return false;
    }
    return false;
}

static bool put_too_large(struct document *d, const struct field *f)
{
    switch (f->type) {
    case FIELD_INT:
    case FIELD_FLOAT:
        if ((!f->min && !f->max) || f->max == INT64_MAX)
            return false;
        buf_put_int(&d->json, f->max + 1);
        return true;
    case FIELD_ENUM: buf_puts(&d->json, "987654321"); return true;
    case FIELD_STR:
    case FIELD_SCALAR: put_text(d, f->max + 1); return true;
    case FIELD_RAW: put_text(d, f->max - 1); return true; /* and the quotes */
    case FIELD_LIST:
    case FIELD_MAP:
        if (f->max > 100) /* such a document is built by another test */
            return false;
        if (f->type == FIELD_MAP && !takes_any_key(f))
            return false; /* there are not as many */
        if (f->type == FIELD_LIST)
            put_list(d, f, f->max + 1);
        else
            put_map(d, f, f->max + 1);
        return true;
    case FIELD_BOOL:
    case FIELD_OBJ: return false;
    }
    return false;
}

/* Puts the fault in, unless it is none for this field. */
static bool put_wrong(struct document *d, const struct field *f, enum where where)
{
    static const char *const words[] = {
        [FAULT_NULL] = "null",    [FAULT_BOOL] = "true", [FAULT_NUMBER] = "1",
        [FAULT_STRING] = "\"x\"", [FAULT_LIST] = "[]",   [FAULT_OBJECT] = "{}",
    };
    size_t mark = d->json.len;
    bool is_wrong = true;

    switch (d->fault) {
    case FAULT_REMOVED: return false; /* done where the member's name is */
    case FAULT_NULL:
        is_wrong =
            where == WHERE_ITEM ? !(kinds_of(f) >> FAULT_NULL & 1) : f->flags & FIELD_REQUIRED;
        buf_puts(&d->json, words[FAULT_NULL]);
        break;
    case FAULT_BOOL:
    case FAULT_NUMBER:
    case FAULT_STRING:
    case FAULT_LIST:
    case FAULT_OBJECT:
        is_wrong = !(kinds_of(f) >> d->fault & 1);
        buf_puts(&d->json, words[d->fault]);
        break;
    case FAULT_SMALL: is_wrong = put_too_small(d, f); break;
    case FAULT_LARGE: is_wrong = put_too_large(d, f); break;
    case FAULTS: break;
    }
    if (!is_wrong)
        buf_truncate(&d->json, mark);
    return is_wrong;
}

static void note_hit(struct document *d)
{
    const char *path = buf_text(&d->path);

    d->hit = true;
    snprintf(d->wrong_path, sizeof(d->wrong_path), "%s: ", *path == '.' ? path + 1 : path);
}

static void put_value(struct document *d, const struct field *f, enum where where)
{
    if (d->count++ == d->target && put_wrong(d, f, where))
        note_hit(d);
    else
        put_good(d, f);
}

static void put_member(struct document *d, const struct field *f)
{
    const char *name = d->older && f->also ? f->also : f->name;
    int n = (int)strcspn(name, " ");
    size_t mark = d->path.len;

    if (d->count == d->target && d->fault == FAULT_REMOVED && (f->flags & FIELD_REQUIRED)) {
        buf_printf(&d->path, ".%s", f->name);
        note_hit(d);
        d->count++;
    } else {
        buf_printf(&d->path, ".%.*s", n, name);
        if (buf_data(&d->json)[d->json.len - 1] != '{')
            buf_addc(&d->json, ',');
        buf_printf(&d->json, "\"%.*s\":", n, name);
        put_value(d, f, WHERE_MEMBER);
    }
    buf_truncate(&d->path, mark);
}

static void put_object(struct document *d, const struct shape *s)
{
    buf_addc(&d->json, '{');
    for (const struct field *f = s->fields; f->name; f++)
        put_member(d, f);
    buf_addc(&d->json, '}');
}

/* The number of values in the document; *hits is raised if it had the fault. */
static size_t try_document(const struct shape *s, size_t target, enum fault fault, bool older,
                           size_t *hits)
{
    struct arena a = { 0 };
    struct document d = { .target = target, .fault = fault, .older = older, .arena = &a };
    void *out = arena_alloc(&a, s->size);
    struct err err = { 0 };
    int failed;

    put_object(&d, s);
    failed = shape_read(s, buf_data(&d.json), d.json.len, SHAPE_STRICT, &a, out, &err);
    if (failed != (d.hit ? -1 : 0))
        fail_msg("%s, fault %d in %s%s: %s", s->name, fault, d.wrong_path, buf_text(&d.json),
                 failed ? err.text : "accepted");
    if (d.hit && strncmp(err.text, d.wrong_path, strlen(d.wrong_path)) != 0)
        fail_msg("%s, fault %d in %s: %s", s->name, fault, d.wrong_path, err.text);
    buf_free(&d.json);
    buf_free(&d.path);
    arena_free(&a);
    *hits += d.hit;
    return d.count;
}

static void what_is_wrong_is_said_of_the_field(void **state)
{
    (void)state;
    for (const struct shape *const *s = model_shapes; *s; s++) {
        size_t hits = 0, n = try_document(*s, SIZE_MAX, FAULTS, false, &hits);

        assert_int_equal(hits, 0);
        for (size_t target = 0; target < n; target++) {
            for (enum fault fault = 0; fault < FAULTS; fault++) {
                try_document(*s, target, fault, false, &hits);
                try_document(*s, target, fault, true, &hits);
            }
        }
        assert_true(hits >= 6 * n); /* most faults are faults for most fields */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_make_sense),
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test(what_is_wrong_is_said_of_the_field),
    };

    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
