/* SPDX-License-Identifier: MIT */
/* shape.h - reads and writes the structs that field tables (field.h) describe.
 *
 * What shape_read() guarantees:
 *   - on success every field holds a checked value or its default;
 *   - text and lists live in the caller's arena, none of it in the JSON text;
 *   - null is the same as absent, unless the field has a `has` member;
 *   - on failure the error names the field by its full path, in the caller's
 *     spelling ("proc_operate_req[2].spec.user: required"), with ERR_INVALID, or for
 *     a text that is not JSON the byte ("byte 17: ..."), with ERR_MALFORMED; *out
 *     may be half filled then. */
#ifndef WIRE_JSON_SHAPE_H
#define WIRE_JSON_SHAPE_H

#include <stddef.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/json/field.h"
#include "wire/json/json.h"

enum shape_flag {
    SHAPE_STRICT = 1 << 0, /* unknown fields are errors; otherwise they are ignored */
    SHAPE_TEXT = 1 << 1,   /* a string is accepted for any type: "7020", "true", "a,b", "{...}" */
    SHAPE_OVERLAY =
        1 << 2,           /* absent fields keep their value and are not required, except in items */
    SHAPE_ASKED = 1 << 3, /* as SHAPE_STRICT, for a request: the error does not mention --help */
    SHAPE_UNITS = 1 << 4, /* durations and sizes may be texts with a unit: "30s", "64M" */
};

/* *out has s->size bytes and is aligned for its struct. */
int shape_read(const struct shape *s, const char *json, size_t n, unsigned flags, struct arena *a,
               void *out, struct err *err);

/* The same from a reader; on failure j->p is the position of the error. */
int shape_read_json(const struct shape *s, struct json *j, unsigned flags, void *out);

void shape_defaults(const struct shape *s, void *out);
void shape_write(const struct shape *s, const void *in, struct buf *out);

/* Deep copy, including secrets, into the arena.  *out must not be *in. */
void shape_copy(const struct shape *s, const void *in, struct arena *a, void *out);

/* Appends the fields as a Markdown table; nested shapes are linked by name, on `page`. */
void shape_doc(const struct shape *s, const char *page, struct buf *out);

#endif
