/* SPDX-License-Identifier: MIT */
/* json_scan.c - see json_scan.h. */
#include "wire/json/json_scan.h"

#include <assert.h>
#include <stdint.h>

#include "wire/json/json.h"

enum { WANTS_MAX = 64 };

/* The text of a number is copied unchanged. */
static int json_scan_read_text(struct json *j, enum json_kind kind, struct json_text *ret)
{
    struct json_number number;

    if (kind == JSON_KIND_STRING)
        return json_read_string(j, ret);
    if (json_read_number(j, &number))
        return -1;
    *ret = (struct json_text){ number.p, number.n, false };
    return 0;
}

static int take_wanted(struct json *j, struct json_want *want)
{
    const char *at;
    enum json_kind kind;
    struct json_text text;

    if (json_peek(j, &kind))
        return -1;
    if (kind == JSON_KIND_NULL)
        return json_read_null(j);
    if (kind != JSON_KIND_STRING && kind != JSON_KIND_NUMBER)
        return json_fail(j, j->p, "%s must be a string, not %s", want->key, json_kind_name(kind));
    at = j->p;
    if (json_scan_read_text(j, kind, &text))
        return -1;
    if (json_text_len(&text) >= want->size)
        return json_fail(j, at, "%s is longer than %zu bytes", want->key, want->size - 1);
    want->to[json_unescape(&text, want->to)] = '\0';
    want->found = true;
    return 0;
}

/* n if the key is not wanted. */
static size_t which(const struct json_want *wants, size_t n, const struct json_text *key)
{
    size_t i = 0;

    while (i < n && !json_text_is(key, wants[i].key))
        i++;
    return i;
}

static int scan_object(struct json *j, struct json_want *wants, size_t n_wants)
{
    struct json_walk w;
    uint64_t seen = 0;
    bool more;

    if (json_enter(j, JSON_KIND_OBJECT, &w))
        return -1;
    for (;;) {
        size_t i;

        if (json_next(j, &w, &more))
            return -1;
        if (!more)
            return json_finish(j);
        i = which(wants, n_wants, &w.key);
        if (i < n_wants && seen >> i & 1)
            return json_fail(j, w.key.p - 1, "%s stands twice", wants[i].key);
        if (i < n_wants)
            seen |= (uint64_t)1 << i;
        if (i < n_wants ? take_wanted(j, &wants[i]) : json_skip(j))
            return -1;
    }
}

int json_scan(const char *text, size_t n, struct json_want *wants, size_t n_wants, struct err *err)
{
    struct json j;
    enum json_kind kind;
    int failed;

    assert(n_wants <= WANTS_MAX);
    for (size_t i = 0; i < n_wants; i++)
        wants[i].found = false;
    json_init(&j, text, n, NULL, err);
    if (json_peek(&j, &kind))
        return -1;
    if (kind != JSON_KIND_OBJECT)
        return json_fail(&j, j.p, "must be an object, not %s", json_kind_name(kind));
    failed = scan_object(&j, wants, n_wants);
    for (size_t i = 0; i < n_wants && failed; i++)
        wants[i].found = false;
    return failed ? -1 : 0;
}
