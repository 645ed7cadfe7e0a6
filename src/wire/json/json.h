/* SPDX-License-Identifier: MIT */
/* json.h - a strict JSON reader without a tree.
 *
 * A reader walks over a text that it does not own.  The caller asks for what it expects next;
 * anything else is an error that names the byte.  It refuses invalid UTF-8, lone surrogates,
 * \u0000, control characters in strings, the same key twice in one object, numbers that fit
 * neither int64 nor double (with ERR_LIMIT; all else with ERR_MALFORMED) or have more than
 * JSON_NUMBER_MAX bytes, nesting deeper than JSON_DEPTH_MAX, and anything behind the value.
 *
 * shape.h binds JSON to structs with this reader; few others need it.  JSON is written with
 * buf_quote(), buf_put_int() and json_put_double(). */
#ifndef WIRE_JSON_JSON_H
#define WIRE_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/json/json_keys.h"

enum {
    JSON_DEPTH_MAX = 64,
    JSON_NUMBER_MAX = 1100, /* bytes; the exact decimal value of every double is shorter */
    JSON_KEYS_MAX = 10000,  /* per object; limits the memory that a hostile body can cost */
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
    struct json_keys keys; /* of the objects that are open */
    struct arena *arena;
    struct err *err;
};

/* A checked string: the bytes between its quotes. */
struct json_text {
    const char *p;
    size_t n;
    bool escaped; /* it contains escapes: use json_unescape() */
};

struct json_number {
    const char *p; /* not terminated */
    size_t n;
    bool is_int;
    int64_t i; /* valid if is_int */
    double d;  /* always valid */
};

/* Without an arena nothing is allocated, and repeated keys are not noticed.  json_done() frees
 * the memory of that check. */
void json_init(struct json *j, const char *text, size_t n, struct arena *arena, struct err *err);
void json_done(struct json *j);

/* The kind of the next value; -1 if no value begins here. */
int json_peek(struct json *j, enum json_kind *ret);

/* Scalars.  Each reads a value of the kind that json_peek() returned. */
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
 * In an object json_next() also reads the key. */
struct json_walk {
    enum json_kind kind;
    bool begun;
    size_t mark; /* height of j->keys when the object began */
    struct json_text key;
};
int json_enter(struct json *j, enum json_kind kind, struct json_walk *ret);
int json_next(struct json *j, struct json_walk *w, bool *ret_more);

/* Fails if the key that json_next() just read occurred before in this object.  For callers that
 * do not notice a repeated key themselves. */
int json_note_key(struct json *j, const struct json_walk *w);

/* Checks and skips one value; its text is what *j moved over. */
int json_skip(struct json *j);

/* Fails if anything except blanks is left. */
int json_finish(struct json *j);

/* Writes the text to `to`, which has room for t->n bytes; returns its length. */
size_t json_unescape(const struct json_text *t, char *to);
size_t json_text_len(const struct json_text *t); /* only that length */
const char *json_text_copy(const struct json_text *t, struct arena *a, size_t *ret_n);
bool json_text_is(const struct json_text *t, const char *word);

const char *json_kind_name(enum json_kind kind); /* a message: "a string" */

/* Always -1; the error is "byte N: ...". */
int json_fail(struct json *j, const char *at, const char *fmt, ...) MSG_FORMAT(3, 4);

/* Writes a short text that reads back as the same number (-0 becomes 0).  JSON has no infinities
 * and NaNs: they become null. */
void json_put_double(struct buf *b, double d);

#endif
