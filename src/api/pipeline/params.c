/* SPDX-License-Identifier: MIT */
/* params.c - see params.h. */
#include "api/pipeline/params.h"

#include <string.h>

#include "wire/http/http_uri.h"
#include "wire/json/json.h"

struct params params_of_query(const struct http_req *req)
{
    return (struct params){ false, req->head.query, strlen(req->head.query) };
}

static struct params params_of_body(const struct http_req *req)
{
    const char *text = req->body.len ? buf_data(&req->body) : "";
    size_t i = 0;

    while (i < req->body.len && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return (struct params){ i < req->body.len && text[i] == '{', text, req->body.len };
}

struct params params_of_any(const struct http_req *req)
{
    return req->body.len ? params_of_body(req) : params_of_query(req);
}

struct params params_of(const struct http_req *req)
{
    return strcmp(req->head.method, "GET") ? params_of_body(req) : params_of_query(req);
}

/* ---- pairs */

/* The limit is that of keys in a JSON object. */
static int next_pair(struct http_pairs *pairs, struct arena *arena, struct http_pair *ret,
                     struct err *err)
{
    if (http_pairs_next(pairs, arena, ret, err))
        return -1;
    if (pairs->number > JSON_KEYS_MAX)
        return err_set(err, ERR_INVALID, "more than %d pairs", JSON_KEYS_MAX);
    return 0;
}

static struct json_want *find_want(struct json_want *wants, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(wants[i].key, key))
            return &wants[i];
    }
    return NULL;
}

static int take_pair(const struct http_pair *pair, struct json_want *want, struct err *err)
{
    size_t n = strlen(pair->value);

    if (want->found)
        return err_set(err, ERR_INVALID, "%s: stands twice", pair->key);
    if (n >= want->size)
        return err_set(err, ERR_INVALID, "%s: longer than %zu bytes", pair->key, want->size - 1);
    memcpy(want->to, pair->value, n + 1);
    want->found = true;
    return 0;
}

static int scan_pairs(const struct params *p, struct json_want *wants, size_t n_wants,
                      struct arena *arena, struct err *err)
{
    struct http_pairs pairs;
    struct http_pair pair;

    http_pairs_init(&pairs, p->text, p->n);
    for (;;) {
        struct json_want *want;

        if (next_pair(&pairs, arena, &pair, err))
            return -1;
        if (!pair.key)
            return 0;
        want = find_want(wants, n_wants, pair.key);
        if (want && take_pair(&pair, want, err))
            return -1;
    }
}

int params_scan(const struct params *p, struct json_want *wants, size_t n_wants,
                struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < n_wants; i++)
        wants[i].found = false;
    if (p->is_json)
        return json_scan(p->text, p->n, wants, n_wants, err);
    return scan_pairs(p, wants, n_wants, arena, err);
}

/* Converts pairs to a JSON object of strings, so that one reader serves both. */
static int pairs_to_json(const struct params *p, struct arena *arena, struct buf *to,
                         struct err *err)
{
    struct http_pairs pairs;
    struct http_pair pair;

    http_pairs_init(&pairs, p->text, p->n);
    buf_addc(to, '{');
    for (;;) {
        if (next_pair(&pairs, arena, &pair, err))
            return -1;
        if (!pair.key)
            break;
        buf_puts(to, pairs.number > 1 ? "," : "");
        buf_quote(to, pair.key, strlen(pair.key));
        buf_addc(to, ':');
        buf_quote(to, pair.value, strlen(pair.value));
    }
    buf_addc(to, '}');
    return 0;
}

int params_read(const struct params *p, const struct shape *s, unsigned flags, struct arena *arena,
                void *out, struct err *err)
{
    struct buf json = { 0 };
    int failed;

    if (p->is_json)
        return shape_read(s, p->text, p->n, flags, arena, out, err);
    failed = pairs_to_json(p, arena, &json, err) ||
             shape_read(s, buf_data(&json), json.len, flags | SHAPE_TEXT, arena, out, err);
    buf_free(&json);
    return failed ? -1 : 0;
}
