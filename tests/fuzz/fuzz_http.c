/* SPDX-License-Identifier: MIT */
/* The request head and the chunked body, in one piece and cut at a point of the
 * input's choice: both must end alike, and what is accepted must keep what
 * wire/http/http_parse.h promises.  The first two bytes of the input say where to cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/text/utf8.h"
#include "wire/http/http_chars.h"
#include "wire/http/http_chunks.h"
#include "wire/http/http_parse.h"
#include "wire/http/http_uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const char *s, unsigned kind)
{
    size_t n = strlen(s);

    must(http_run(s, n, kind) == n);
    must(utf8_valid(s, n) == n);
}

static void check_path(const char *path)
{
    if (!strcmp(path, "*"))
        return;
    must(path[0] == '/');
    check_text(path, HTTP_VALUE);
    must(!strchr(path, '\t'));
    must(!strstr(path, "/../") && !strstr(path, "/./"));
}

static void check_accepted(const struct http_head *h)
{
    must(h->method[0] != '\0');
    check_text(h->method, HTTP_TOKEN);
    check_path(h->path);
    check_text(h->query, HTTP_TARGET);
    check_text(h->host, HTTP_HOST);
    must(h->minor == 0 || h->minor == 1);
    must(!(h->chunked && (h->has_length || h->minor == 0)));
    must(h->length >= 0 && (h->has_length || h->length == 0));
    must(h->n_fields <= HTTP_FIELDS_MAX);
    must(h->minor == 0 || http_head_find(h, "host"));
    for (size_t i = 0; i < h->n_fields; i++) {
        must(http_head_name(h, i)[0] != '\0');
        check_text(http_head_name(h, i), HTTP_TOKEN);
        check_text(http_head_value(h, i), HTTP_VALUE);
    }
}

struct outcome {
    struct http_head head;
    struct arena arena;
    struct err err;
    int failed;
    size_t taken;
};

/* Shows the first n bytes from a block of just that size. */
static void show(struct outcome *o, const char *in, size_t n)
{
    char *block = malloc(n ? n : 1);

    must(block != NULL);
    memcpy(block, in, n);
    o->failed = http_head_read(&o->head, block, n, &o->arena, &o->taken, &o->err);
    free(block);
}

static void compare(const struct outcome *a, const struct outcome *b)
{
    must(a->failed == b->failed);
    if (a->failed) {
        must(a->head.status == b->head.status && a->head.status >= 400);
        must(!strcmp(a->err.text, b->err.text));
        return;
    }
    must(a->taken == b->taken);
    if (!a->taken)
        return;
    must(a->taken <= HTTP_HEAD_MAX);
    must(!strcmp(a->head.method, b->head.method) && !strcmp(a->head.path, b->head.path));
    must(a->head.n_fields == b->head.n_fields && a->head.length == b->head.length);
    check_accepted(&a->head);
}

static size_t try_head(const char *in, size_t n, size_t cut)
{
    struct outcome whole = { 0 }, parts = { 0 };
    size_t taken;

    show(&whole, in, n);
    show(&parts, in, cut);
    if (!parts.failed && !parts.taken)
        show(&parts, in, n);
    compare(&whole, &parts);
    taken = whole.failed ? 0 : whole.taken;
    arena_free(&whole.arena);
    arena_free(&parts.arena);
    return taken;
}

/* Returns the status, 0 while all is well; the body is added to ret_body. */
static int decode(struct http_chunks *c, const char *in, size_t n, struct buf *ret_body)
{
    struct http_span span;
    struct err err;
    size_t at = 0, taken;

    while (at < n && c->state != CHUNK_DONE) {
        if (http_chunks_read(c, in + at, n - at, &taken, &span, &err))
            return c->status;
        must(taken > 0 && taken <= n - at && span.n <= taken);
        buf_add(ret_body, span.bytes, span.n);
        at += taken;
    }
    return 0;
}

static void try_chunks(const char *in, size_t n, size_t cut)
{
    struct http_chunks whole = { 0 }, parts = { 0 };
    struct buf a = { 0 }, b = { 0 };
    int one = decode(&whole, in, n, &a), two = decode(&parts, in, cut, &b);

    if (!two)
        two = decode(&parts, in + cut, n - cut, &b);
    must(one == two && (one == 0 || one == 400 || one == 431));
    must(whole.state == parts.state && whole.left == parts.left);
    must(a.len == b.len && a.len <= n);
    must(a.len == 0 || !memcmp(buf_data(&a), buf_data(&b), a.len));
    buf_free(&a);
    buf_free(&b);
}

static void try_pairs(const char *in, size_t n)
{
    struct arena arena = { 0 };
    struct http_pair pair = { "", "" };
    struct http_pairs p;
    struct err err;

    http_pairs_init(&p, in, n);
    while (pair.key && !http_pairs_next(&p, &arena, &pair, &err)) {
        must(!pair.key || utf8_valid(pair.key, strlen(pair.key)) == strlen(pair.key));
        must(p.number <= n);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *in = (const char *)data + 2;
    size_t cut, taken, n = size - 2;

    if (size < 2)
        return 0;
    cut = (size_t)(data[0] << 8 | data[1]) % (n + 1);
    taken = try_head(in, n, cut);
    try_chunks(in, n, cut);
    try_chunks(in + taken, n - taken, cut < taken ? 0 : cut - taken);
    try_pairs(in, n);
    return 0;
}
