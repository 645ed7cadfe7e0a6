/* SPDX-License-Identifier: MIT */
/* shape.h - what a message looks like, written once.
 *
 * A shape lists the fields of one C struct.  From that list alone come the JSON
 * reader, its checks and error messages, the JSON writer, configuration files,
 * flags and environment variables, the reference and the round-trip tests.
 * Nobody writes a parser by hand.
 *
 * What shape_read() promises:
 *   - on success every field holds a checked value or its default;
 *   - text and lists live in the caller's arena, none of it in the JSON text;
 *   - null is the same as absent, unless the field has a `has` member;
 *   - on failure the error names the field by its full path, in the caller's
 *     spelling ("proc_operate_req[2].spec.user: required"), with ERR_INVALID, or for
 *     a text that is not JSON the byte ("byte 17: ..."), with ERR_MALFORMED; *out
 *     may be half filled then. */
#ifndef WIRE_SHAPE_H
#define WIRE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "wire/json.h"

/* Beside each type: the C type of the member. */
enum field_type {
    FIELD_STR,    /* const char *: never NULL, absent is "" */
    FIELD_INT,    /* int64_t */
    FIELD_FLOAT,  /* double: any JSON number */
    FIELD_BOOL,   /* bool */
    FIELD_ENUM,   /* int64_t: one of `names`, given by name or number */
    FIELD_OBJ,    /* the struct of `sub` */
    FIELD_LIST,   /* struct list of the struct of `sub`; a bare `sub`: of its one field */
    FIELD_MAP,    /* struct list of the struct of `sub`, whose fields are key and value */
    FIELD_SCALAR, /* struct scalar: text, number or boolean, kept as given */
    FIELD_RAW,    /* const char *: any JSON, kept as it stands; NULL when absent */
};

enum field_flag {
    FIELD_REQUIRED = 1 << 0,
    FIELD_SECRET = 1 << 1,     /* accepted, never written back */
    FIELD_ZERO_UNSET = 1 << 2, /* 0 means the default, as absent does */
    FIELD_BY_NAME = 1 << 3,    /* an ENUM is written by its name */
    FIELD_OMIT_EMPTY = 1 << 4, /* not written when "", 0, false or without items */
};

struct enum_name {
    int64_t value;
    const char *name; /* NULL ends the list */
};

struct field {
    const char *name;
    const char *also; /* older names still accepted, with blanks between */
    enum field_type type;
    unsigned flags;
    size_t offset;
    size_t has;                    /* offset of an enum presence, or 0 for none */
    int64_t min, max;              /* of the number; bytes of text; items.  0, 0: any number */
    int64_t fallback;              /* when absent: INT, FLOAT, BOOL, ENUM */
    const char *fallback_text;     /* when absent: STR, RAW */
    const struct enum_name *names; /* ENUM */
    const struct shape *sub;       /* OBJ, LIST, MAP */
    const char *(*check)(const char *text); /* STR: NULL, or what is wrong ("must be ...") */
    const char *doc;
};

enum { SHAPE_FIELDS_MAX = 64 };

struct shape {
    const char *name;
    size_t size;
    const struct field *fields; /* ends with a NULL name; at most SHAPE_FIELDS_MAX */
    bool bare;                  /* a LIST of this: items are values of the one field, not objects */
    const char *doc;
};

struct list {
    void *items;
    size_t n;
};

enum scalar_kind { SCALAR_NULL, SCALAR_TEXT, SCALAR_NUMBER, SCALAR_BOOL };

struct scalar {
    enum scalar_kind kind;
    const char *text; /* as it would be read aloud: abc, 1.50, true; NULL for null */
};

/* In one byte: specs have many of them, and agents many specs. */
enum __attribute__((packed)) presence { PRESENCE_ABSENT, PRESENCE_NULL, PRESENCE_GIVEN };

enum shape_flag {
    SHAPE_STRICT = 1 << 0,  /* unknown fields are refused; else ignored */
    SHAPE_TEXT = 1 << 1,    /* a string may stand for any value: "7020", "true", "a,b", "{...}" */
    SHAPE_OVERLAY = 1 << 2, /* what is absent stays as it is; nothing is required but in items */
    SHAPE_ASKED = 1 << 3,   /* as SHAPE_STRICT, of a request: its sender has no --help */
};

/* *out is s->size bytes, aligned for its struct. */
int shape_read(const struct shape *s, const char *json, size_t n, unsigned flags, struct arena *a,
               void *out, struct err *err);

/* The same from a reader; on failure j->p is where it happened. */
int shape_read_json(const struct shape *s, struct json *j, unsigned flags, void *out);

void shape_defaults(const struct shape *s, void *out);
void shape_write(const struct shape *s, const void *in, struct buf *out);

/* Text and lists are the arena's; secrets are copied too.  *out must not be *in. */
void shape_copy(const struct shape *s, const void *in, struct arena *a, void *out);

/* Appends the fields as a Markdown table; shapes inside are linked by name, on `page`. */
void shape_doc(const struct shape *s, const char *page, struct buf *out);

#endif
