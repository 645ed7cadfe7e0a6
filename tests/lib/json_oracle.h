/* SPDX-License-Identifier: MIT */
/* json_oracle.h - our JSON reader and jansson, asked about the same text.
 *
 * Both must accept it, or both refuse it; and what our reader and writer make of
 * an accepted text must mean the same to jansson.  We refuse three things that
 * jansson (2.14, without JSON_ALLOW_NUL, with JSON_REJECT_DUPLICATES) accepts:
 *   - nesting deeper than JSON_DEPTH_MAX, where its limit is 2048;
 *   - numbers of more than JSON_NUMBER_MAX bytes;
 *   - a NUL byte right behind a number or word, which it drops.
 * Nothing is known that jansson alone refuses. */
#ifndef TESTS_LIB_JSON_ORACLE_H
#define TESTS_LIB_JSON_ORACLE_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/json/json.h"

static inline int oracle_rewrite(struct json *j, struct buf *out);

static inline void oracle_put_text(const struct json_text *t, struct buf *out)
{
    char *plain = malloc(t->n + 1);

    buf_quote(out, plain, json_unescape(t, plain));
    free(plain);
}

static inline int oracle_rewrite_many(struct json *j, enum json_kind kind, struct buf *out)
{
    struct json_walk w;
    bool more;

    if (json_enter(j, kind, &w))
        return -1;
    buf_addc(out, kind == JSON_KIND_LIST ? '[' : '{');
    for (bool first = true;; first = false) {
        if (json_next(j, &w, &more))
            return -1;
        if (!more)
            break;
        if (!first)
            buf_addc(out, ',');
        if (kind == JSON_KIND_OBJECT) {
            if (json_note_key(j, &w))
                return -1;
            oracle_put_text(&w.key, out);
            buf_addc(out, ':');
        }
        if (oracle_rewrite(j, out))
            return -1;
    }
    buf_addc(out, kind == JSON_KIND_LIST ? ']' : '}');
    return 0;
}

/* One value, read piece by piece and written again. */
static inline int oracle_rewrite(struct json *j, struct buf *out)
{
    enum json_kind kind;
    struct json_number number;
    struct json_text text;
    bool yes;

    if (json_peek(j, &kind))
        return -1;
    switch (kind) {
    case JSON_KIND_NULL: buf_puts(out, "null"); return json_read_null(j);
    case JSON_KIND_BOOL:
        if (json_read_bool(j, &yes))
            return -1;
        buf_puts(out, yes ? "true" : "false");
        return 0;
    case JSON_KIND_NUMBER:
        if (json_read_number(j, &number))
            return -1;
        if (number.is_int)
            buf_put_int(out, number.i);
        else
            json_put_double(out, number.d);
        return 0;
    case JSON_KIND_STRING:
        if (json_read_string(j, &text))
            return -1;
        oracle_put_text(&text, out);
        return 0;
    case JSON_KIND_LIST:
    case JSON_KIND_OBJECT: return oracle_rewrite_many(j, kind, out);
    case JSON_KINDS: break;
    }
    abort();
}

/* A double that is a whole number is written as an integer, so the type of a
 * number is not compared. */
static inline bool oracle_same(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;

    if (json_is_number(a) && json_is_number(b)) {
        if (json_is_integer(a) && json_is_integer(b))
            return json_integer_value(a) == json_integer_value(b);
        return json_number_value(a) == json_number_value(b);
    }
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_array(a)) {
        if (json_array_size(a) != json_array_size(b))
            return false;
        for (size_t i = 0; i < json_array_size(a); i++) {
            if (!oracle_same(json_array_get(a, i), json_array_get(b, i)))
                return false;
        }
        return true;
    }
    if (!json_is_object(a))
        return json_equal(a, b) == 1;
    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach((json_t *)a, key, value)
    {
        const json_t *other = json_object_get(b, key);

        if (!other || !oracle_same(value, other))
            return false;
    }
    return true;
}

static inline json_t *oracle_load(const char *text, size_t n)
{
    json_error_t error;

    return json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
}

static inline bool oracle_may_differ(const struct err *err)
{
    static const char *const reasons[] = { ": nested deeper than ", ": a number of more than ",
                                           ": 0x00 where " };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (strstr(err->text, reasons[i]))
            return true;
    }
    return false;
}

/* What json_skip() and the piecewise reader say; they must say the same. */
static inline const char *oracle_read(const char *text, size_t n, struct buf *out, bool *ret_valid,
                                      struct err *err)
{
    struct arena a = { 0 };
    struct err skip_err = { 0 };
    struct json j;
    bool skipped;

    json_init(&j, text, n, &a, &skip_err);
    skipped = !json_skip(&j) && !json_finish(&j);
    json_done(&j);
    json_init(&j, text, n, &a, err);
    *ret_valid = !oracle_rewrite(&j, out) && !json_finish(&j);
    json_done(&j);
    arena_free(&a);
    if (skipped != *ret_valid)
        return "json_skip() and the reader differ";
    if (!skipped && strcmp(skip_err.text, err->text) != 0)
        return "json_skip() and the reader fail differently";
    if (!skipped && strncmp(err->text, "byte ", 5) != 0)
        return "the error names no byte";
    return NULL;
}

static inline const char *oracle_compare(const char *text, size_t n, const struct buf *rewritten)
{
    json_t *theirs = oracle_load(text, n), *again = NULL;
    const char *wrong = NULL;

    if (!theirs)
        return "we accept what jansson refuses";
    again = oracle_load(buf_data(rewritten), rewritten->len);
    if (!again)
        wrong = "what we wrote is not JSON";
    else if (!oracle_same(theirs, again))
        wrong = "what we wrote means something else";
    json_decref(theirs);
    json_decref(again);
    return wrong;
}

/* NULL, or what does not hold. */
static inline const char *oracle_check(const char *text, size_t n)
{
    struct buf out = { 0 };
    struct err err = { 0 };
    const char *wrong;
    bool valid;

    wrong = oracle_read(text, n, &out, &valid, &err);
    if (!wrong && valid) {
        wrong = oracle_compare(text, n, &out);
    } else if (!wrong && !oracle_may_differ(&err)) {
        json_t *theirs = oracle_load(text, n);

        wrong = theirs ? "we refuse what jansson accepts" : NULL;
        json_decref(theirs);
    }
    buf_free(&out);
    return wrong;
}

#endif
