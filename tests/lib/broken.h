/* SPDX-License-Identifier: MIT */
/* broken.h - requests built from a shape: the least that is valid, and the same with one thing
 * wrong.  Nothing here knows an endpoint; a new field is met by itself.
 *
 * What is wrong is put in as text, where a mark stands in the request, so that it may be
 * something that no JSON library would write. */
#ifndef TESTS_LIB_BROKEN_H
#define TESTS_LIB_BROKEN_H

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "wire/json/shape.h"

enum { BROKEN_DEPTH = 12 };
#define BROKEN_MARK "@broken@"

/* A value that says something, by the field's name; `always`: the least has it too, because
 * what the table can not say needs it. */
struct broken_hint {
    const char *name, *json;
    bool always;
};

/* ---- the least */

static inline const struct broken_hint *broken_hint(const struct broken_hint *hints,
                                                    const char *name)
{
    for (; hints->name; hints++) {
        if (!strcmp(hints->name, name))
            return hints;
    }
    return NULL;
}

/* One that the row's own check lets pass. */
static inline const char *broken_text(const struct field *f)
{
    static const char *const words[] = { "x", "/x", "10.0.0.1", "sh", "stop", "nofile", "@daily" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!f->check || !f->check(words[i]))
            return words[i];
    }
    return "";
}

static inline int64_t broken_number(const struct field *f)
{
    if (f->min > 0)
        return f->min;
    return !f->max || f->max >= 1 ? 1 : 0;
}

static inline json_t *broken_least(const struct shape *s, const struct broken_hint *hints);

static inline json_t *broken_value(const struct field *f, const struct broken_hint *hints)
{
    const struct broken_hint *h = broken_hint(hints, f->name);
    json_t *list;

    if (h && h->json)
        return json_loads(h->json, JSON_DECODE_ANY, NULL);
    switch (f->type) {
    case FIELD_STR:
    case FIELD_SCALAR: return json_string(broken_text(f));
    case FIELD_INT: return json_integer(broken_number(f));
    case FIELD_FLOAT: return json_real((double)broken_number(f));
    case FIELD_BOOL: return json_true();
    case FIELD_ENUM: return json_string(f->names->name);
    case FIELD_RAW: return json_object();
    case FIELD_OBJ: return broken_least(f->sub, hints);
    case FIELD_MAP:
        return json_pack("{s:o}", broken_text(&f->sub->fields[0]),
                         broken_value(&f->sub->fields[1], hints));
    case FIELD_LIST: break;
    }
    list = json_array();
    json_array_append_new(list, f->sub->bare ? broken_value(f->sub->fields, hints)
                                             : broken_least(f->sub, hints));
    return list;
}

static inline json_t *broken_least(const struct shape *s, const struct broken_hint *hints)
{
    json_t *o = json_object();

    for (const struct field *f = s->fields; f->name; f++) {
        const struct broken_hint *h = broken_hint(hints, f->name);

        if ((f->flags & FIELD_REQUIRED) || (h && h->always))
            json_object_set_new(o, f->name, broken_value(f, hints));
    }
    return o;
}

/* ---- where */

/* The way to a field: of a list its first item, of a map its only entry. */
struct broken_way {
    const struct field *fields[BROKEN_DEPTH];
    size_t n;
};

static inline struct broken_way broken_to(const struct broken_way *up, const struct field *f)
{
    struct broken_way w = *up;

    w.fields[w.n++] = f;
    return w;
}

static inline const struct field *broken_field(const struct broken_way *w)
{
    return w->fields[w->n - 1];
}

/* As a message names it: "proc_operate_req[0].meta.labels.x" */
static inline const char *broken_path(const struct broken_way *w, char to[512])
{
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < w->n; i++) {
        const struct field *up = i ? w->fields[i - 1] : NULL;
        const char *name = w->fields[i]->name;

        if (up && up->type == FIELD_LIST && up->sub->bare)
            at += (size_t)snprintf(to + at, 512 - at, "[0]");
        else if (up && up->type == FIELD_LIST)
            at += (size_t)snprintf(to + at, 512 - at, "[0].%s", name);
        else if (up && up->type == FIELD_MAP)
            at += (size_t)snprintf(to + at, 512 - at, ".%s", broken_text(up->sub->fields));
        else
            at += (size_t)snprintf(to + at, 512 - at, "%s%s", up ? "." : "", name);
    }
    return to;
}

/* What the field stands in, made if it is not there. */
static inline json_t *broken_holder(json_t *root, const struct broken_way *w,
                                    const struct broken_hint *hints)
{
    json_t *at = root;

    for (size_t i = 0; i + 1 < w->n; i++) {
        const struct field *f = w->fields[i];
        json_t *next = json_object_get(at, f->name);

        if (!next || !(json_is_object(next) || json_array_size(next))) {
            next = broken_value(f, hints);
            json_object_set_new(at, f->name, next);
        }
        at = f->type == FIELD_LIST && !f->sub->bare ? json_array_get(next, 0) : next;
    }
    return at;
}

/* NULL: it is taken out. */
static inline void broken_set(json_t *root, const struct broken_way *w,
                              const struct broken_hint *hints, json_t *value)
{
    const struct field *f = broken_field(w), *up = w->n > 1 ? w->fields[w->n - 2] : NULL;
    json_t *holder = broken_holder(root, w, hints);

    if (json_is_array(holder))
        json_array_set_new(holder, 0, value);
    else if (up && up->type == FIELD_MAP)
        json_object_set_new(holder, broken_text(up->sub->fields), value);
    else if (value)
        json_object_set_new(holder, f->name, value);
    else
        json_object_del(holder, f->name);
}

/* ---- as a request has it */

static inline void broken_escape(struct buf *to, const char *text)
{
    for (; *text; text++) {
        if (isalnum((unsigned char)*text))
            buf_addc(to, *text);
        else
            buf_printf(to, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

/* A flat one as a query; the mark becomes `raw`. */
static inline void broken_query(const json_t *root, const char *raw, struct buf *to)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)root, key, value)
    {
        const char *text = json_string_value(value);
        char *other = text ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

        buf_addc(to, to->len ? '&' : '?');
        broken_escape(to, key);
        buf_addc(to, '=');
        broken_escape(to, other ? other : strcmp(text, BROKEN_MARK) ? text : raw);
        free(other);
    }
}

/* As JSON; the mark becomes `raw`. */
static inline void broken_body(const json_t *root, const char *raw, struct buf *to)
{
    char *text = json_dumps(root, JSON_COMPACT);
    char *at = strstr(text, "\"" BROKEN_MARK "\"");

    if (at) {
        buf_add(to, text, (size_t)(at - text));
        buf_puts(to, raw);
        buf_puts(to, at + strlen("\"" BROKEN_MARK "\""));
    } else {
        buf_puts(to, text);
    }
    free(text);
}

#endif
