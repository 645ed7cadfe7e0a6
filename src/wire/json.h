/* SPDX-License-Identifier: MIT */
/* json.h - reading JSON, strictly and without a tree.
 *
 * A reader walks over a text it does not own.  The caller asks for what it
 * expects next; anything else is an error that names the byte.  Refused are:
 * invalid UTF-8, lone surrogates, \u0000, control characters in strings, the
 * same key twice in one object, numbers that int64 or double can not hold (with
 * ERR_LIMIT; all else with ERR_MALFORMED) or of more than JSON_NUMBER_MAX bytes,
 * nesting deeper than JSON_DEPTH_MAX, and anything behind the value.
 *
 * shape.h binds JSON to structs with this; few others need it.  Writing is
 * buf_quote(), buf_put_int() and json_put_double(). */
#ifndef WIRE_JSON_H
#define WIRE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "wire/json_keys.h"

enum {
    JSON_DEPTH_MAX = 64,
    JSON_NUMBER_MAX = 1100, /* bytes; the exact value of every double takes fewer */
    JSON_KEYS_MAX = 10000,  /* of one object; more would cost a hostile body little and us much */
};

enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_BOOL,
    JSON_KIND_NUMBER,
    JSON_KIND_STRING,
    JSON_KIND_LIST,
    JSON_KIND_OBJECT,
    JSON_KINDS
};

struct json {
    const char *start, *p, *end;
    unsigned depth;
    struct json_keys keys; /* noted in the objects that are open */
    struct arena *arena;
    struct err *err;
};

/* A string as it stands in the text, between its quotes, checked. */
struct json_text {
    const char *p;
    size_t n;
    bool escaped; /* json_unescape() is needed to know what it says */
};

struct json_number {
    const char *p; /* as it stands in the text */
    size_t n;
    bool is_int;
    int64_t i; /* when is_int */
    double d;  /* always */
};

/* Without an arena nothing is ever allocated, and repeated keys are not noticed.
 * json_done() gives back what noticing them took. */
void json_init(struct json *j, const char *text, size_t n, struct arena *arena, struct err *err);
void json_done(struct json *j);

/* What comes next; -1 where no value begins. */
int json_peek(struct json *j, enum json_kind *ret);

/* Scalars.  Each takes what json_peek() has announced. */
int json_read_null(struct json *j);
int json_read_bool(struct json *j, bool *ret);
int json_read_string(struct json *j, struct json_text *ret);
int json_read_number(struct json *j, struct json_number *ret);

/* Lists and objects:
 *
 *     struct json_walk w;
 *     json_enter(j, JSON_KIND_LIST, &w)
 *     while (json_next(j, &w, &more) == 0 && more) ... read one value ...
 *
 * In an object json_next() has read the key as well. */
struct json_walk {
    enum json_kind kind;
    bool begun;
    size_t mark; /* of j->keys */
    struct json_text key;
};
int json_enter(struct json *j, enum json_kind kind, struct json_walk *ret);
int json_next(struct json *j, struct json_walk *w, bool *ret_more);

/* Fails if this object has had the key json_next() just read.  For callers that
 * do not see a repeated key by themselves. */
int json_note_key(struct json *j, const struct json_walk *w);

/* Checks and passes over one value; its text is what *j moved over. */
int json_skip(struct json *j);

/* Nothing but blanks may be left. */
int json_finish(struct json *j);

/* Writes the text to `to`, which has room for t->n bytes; returns its length. */
size_t json_unescape(const struct json_text *t, char *to);
size_t json_text_len(const struct json_text *t); /* that length alone */
const char *json_text_copy(const struct json_text *t, struct arena *a, size_t *ret_n);
bool json_text_is(const struct json_text *t, const char *word);

const char *json_kind_name(enum json_kind kind); /* "a string" */

/* Always -1; the error is "byte N: ...". */
int json_fail(struct json *j, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A short text that reads back as the same number (of 0 without its sign); what
 * is not finite has none in JSON and becomes null. */
void json_put_double(struct buf *b, double d);

#endif
