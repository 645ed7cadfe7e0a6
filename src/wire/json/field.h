/* SPDX-License-Identifier: MIT */
/* field.h - field tables: one description of a message for all uses, and its texts for people.
 *
 * A shape lists the fields of one C struct.  From that list alone come the JSON
 * reader, its checks and error messages, the JSON writer (shape.h), configuration files,
 * flags and environment variables (config.h), the reference and the round-trip tests.
 * No parser is written by hand. */
#ifndef WIRE_JSON_FIELD_H
#define WIRE_JSON_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem/buf.h"

/* The comment of each type is the C type of the member. */
enum field_type {
    FIELD_STR,    /* const char *: never NULL, absent is "" */
    FIELD_INT,    /* int64_t */
    FIELD_FLOAT,  /* double: any JSON number */
    FIELD_BOOL,   /* bool */
    FIELD_ENUM,   /* int64_t: one of `names`, given by name or number */
    FIELD_OBJ,    /* the struct of `sub` */
    FIELD_LIST,   /* struct list of the struct of `sub`; if `sub` is bare, of its only field */
    FIELD_MAP,    /* struct list of the struct of `sub`, which has the fields key and value */
    FIELD_SCALAR, /* struct scalar: text, number or boolean, unchanged */
    FIELD_RAW,    /* const char *: any JSON, unchanged; NULL if absent */
};

enum field_flag {
    FIELD_REQUIRED = 1 << 0,
    FIELD_SECRET = 1 << 1,     /* read, never written */
    FIELD_ZERO_UNSET = 1 << 2, /* 0 means the default, like absent */
    FIELD_BY_NAME = 1 << 3,    /* an ENUM is written by its name */
    FIELD_OMIT_EMPTY = 1 << 4, /* not written if it is "", 0, false or has no items */
    FIELD_AS_TEXT = 1 << 5,    /* a SCALAR is read as text: 7 as "7", true as "true", null as "" */
    FIELD_NO_EFFECT = 1 << 6,  /* a setting of older versions, see config.h; it needs `has` */
    FIELD_MSG = 1 << 7,     /* the message (base/text/msg.h) of the row above, which has its English
                               text: the same member, a STR; absent if that is not a message */
    FIELD_ENGLISH = 1 << 8, /* a STR that may be a message: written as its English text */
    FIELD_SECONDS =
        1 << 9,            /* an INT of seconds: with SHAPE_UNITS also "90s", "5m", "1h30m", "2d" */
    FIELD_BYTES = 1 << 10, /* an INT of bytes: with SHAPE_UNITS also "512K", "64M", "2G", "1T" */
};

struct enum_name {
    int64_t value;
    const char *name; /* NULL ends the list */
};

struct field {
    const char *name;
    const char *also; /* older names that are still accepted, separated by blanks */
    enum field_type type;
    unsigned flags;
    size_t offset;
    size_t has;       /* offset of an enum presence; 0: none */
    int64_t min, max; /* of the number, the bytes of text or the items.  0, 0: any number */
    int64_t fallback; /* default of INT, FLOAT, BOOL, ENUM */
    const char *fallback_text;     /* default of STR, RAW */
    const struct enum_name *names; /* for ENUM */
    const struct shape *sub;       /* for OBJ, LIST, MAP */
    /* For STR: returns NULL, or what is wrong: MSG("must be ..."). */
    const char *(*check)(const char *text);
    const char *doc;
};

enum { SHAPE_FIELDS_MAX = 64 };

struct shape {
    const char *name;
    size_t size;
    const struct field *fields; /* terminated by a NULL name; at most SHAPE_FIELDS_MAX */
    bool bare; /* items of a LIST of this are values of its only field, not objects */
    const char *doc;
};

struct list {
    void *items;
    size_t n;
};

enum scalar_kind { SCALAR_NULL, SCALAR_TEXT, SCALAR_NUMBER, SCALAR_BOOL };

struct scalar {
    enum scalar_kind kind;
    const char *text; /* as plain text: abc, 1.50, true; NULL for null */
};

/* One byte, because specs have many of them, and agents many specs. */
enum __attribute__((packed)) presence { PRESENCE_ABSENT, PRESENCE_NULL, PRESENCE_GIVEN };

/* ---- descriptions of a field ---- */

enum { SHAPE_EXPECT_SIZE = 256 };

/* A message: "an integer from 1 to 3600", "a list of 1 to 10 items". */
void field_expect(const struct field *f, char to[SHAPE_EXPECT_SIZE]);

/* Writes the JSON that a plain text stands for; false if the text cannot be of this type.  The
 * JSON is not checked further. */
bool field_text_to_json(const struct field *f, const char *text, struct buf *out);

/* Reads a number with a unit, by FIELD_SECONDS or FIELD_BYTES; without a unit it is the number.
 * False: it is neither, or does not fit. */
bool field_read_units(unsigned flags, const char *text, int64_t *ret);

static inline bool field_is_called(const char *name, const char *key, size_t n)
{
    return (n == 0 || *name == *key) && strncmp(name, key, n) == 0 && name[n] == '\0';
}

bool field_is_also(const char *also, const char *key, size_t n);

/* The default for the reference: "`60`", "required", or nothing. */
void field_default(const struct field *f, struct buf *out);

/* The message for an unknown name; the author of a request (`is_request`) finds the valid names
 * elsewhere than the author of a configuration file. */
void shape_no_such(const struct shape *s, const char *key, size_t n, bool is_request,
                   char to[SHAPE_EXPECT_SIZE]);

const char *field_enum_name(const struct field *f, int64_t value); /* NULL if none */

#endif
