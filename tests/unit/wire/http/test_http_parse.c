/* SPDX-License-Identifier: MIT */
/* Promises of wire/http/http_parse.h, http_chunks.h and http_uri.h: one interpretation of a
 * request or a refusal with its reason, however the bytes are split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "wire/http/http_chunks.h"
#include "wire/http/http_parse.h"
#include "wire/http/http_uri.h"

/* ---- heads ---- */

struct head_case {
    const char *in;
    size_t n; /* 0: strlen() of the text */
    int status;
    const char *text; /* of a refusal; for an accepted head see describe() */
};

#define N(s)     s, sizeof(s) - 1
#define G        "GET / HTTP/1.1\r\n"
#define H        G "Host: a\r\n"
#define E        "\r\n"
#define OK(s)    .n = 0, .status = 0, .text = s
#define NO(c, s) .n = 0, .status = c, .text = s

/* clang-format off */
static const struct head_case heads[] = {
    /* Accepted. */
    { H E, OK("GET / ? host=a 1.1 keep") },
    { "\r\n" H E, OK("GET / ? host=a 1.1 keep") },
    { "GET / HTTP/1.0\r\n\r\n", OK("GET / ? host= 1.0 close") },
    { "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", OK("GET / ? host= 1.0 keep Connection=Keep-Alive") },
    { "GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", OK("GET / ? host= 1.0 close Expect=100-continue") },
    { H "Connection: close\r\n" E, OK("GET / ? host=a 1.1 close Connection=close") },
    { H "Connection: x, CLOSE ,y\r\n" E, OK("GET / ? host=a 1.1 close Connection=x, CLOSE ,y") },
    { H "Connection: keep-alive, close\r\n" E, OK("GET / ? host=a 1.1 close Connection=keep-alive, close") },
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
      OK("GET / ? host= 1.0 close Connection=keep-alive Connection=close") },
    { "POST /api/x?a=1&b=%zz HTTP/1.1\r\nhOsT: h:80\r\nContent-Length: 12\r\n\r\n",
      OK("POST /api/x ?a=1&b=%zz host=h:80 1.1 keep length=12 Content-Length=12") },
    { H "Content-Length: 9223372036854775799\r\n" E,
      OK("GET / ? host=a 1.1 keep length=9223372036854775799 Content-Length=9223372036854775799") },
    { H "Content-Length: 000\r\n" E, OK("GET / ? host=a 1.1 keep length=0 Content-Length=000") },
    { H "Transfer-Encoding: ChUnKeD\r\n" E, OK("GET / ? host=a 1.1 keep chunked Transfer-Encoding=ChUnKeD") },
    { H "Expect: 100-Continue\r\n" E, OK("GET / ? host=a 1.1 keep continue Expect=100-Continue") },
    { H "X:\t a\tb \t\r\nY:\r\nZ: \r\n" E, OK("GET / ? host=a 1.1 keep X=a\tb Y= Z=") },
    { H "X: \xE4\xB8\xAD\r\n" E, OK("GET / ? host=a 1.1 keep X=\xE4\xB8\xAD") },
    { G "Host:\r\n" E, OK("GET / ? host= 1.1 keep") },
    { G "Host: [::1]:7020\r\n" E, OK("GET / ? host=[::1]:7020 1.1 keep") },
    { "BREW-2 / HTTP/1.1\r\nHost: a\r\n\r\n", OK("BREW-2 / ? host=a 1.1 keep") },
    { "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", OK("OPTIONS * ? host=a 1.1 keep") },
    { "GET http://b:1/p?q HTTP/1.1\r\nHost: a\r\n\r\n", OK("GET /p ?q host=b:1 1.1 keep") },
    { "GET HTTPS://b HTTP/1.1\r\nHost: a\r\n\r\n", OK("GET / ? host=b 1.1 keep") },
    { "GET http://b?q HTTP/1.1\r\nHost: a\r\n\r\n", OK("GET / ?q host=b 1.1 keep") },
    { "GET http://[::1]/ HTTP/1.1\r\nHost: a\r\n\r\n", OK("GET / ? host=[::1] 1.1 keep") },
    { "GET /%E4%b8%AD/%20%25/a+b%2Fc HTTP/1.1\r\nHost: a\r\n\r\n",
      OK("GET /\xE4\xB8\xAD/ %/a+b/c ? host=a 1.1 keep") },
    { "GET /..a/b../.../.x?/../ HTTP/1.1\r\nHost: a\r\n\r\n", OK("GET /..a/b../.../.x ?/../ host=a 1.1 keep") },
    { "GET /%252e%252e/ HTTP/1.1\r\nHost: a\r\n\r\n", OK("GET /%2e%2e/ ? host=a 1.1 keep") },
    { "GET //a?? HTTP/1.1\r\nHost: a\r\n\r\n", OK("GET //a ?? host=a 1.1 keep") },

    /* The request line. */
    { "\r\n\r\n" H E, NO(400, "request line: empty") },
    { "\n" H E, NO(400, "request line: LF without CR") },
    { "GET / HTTP/1.1\nHost: a\n\n", NO(400, "request line: LF without CR") },
    { "GET /\r\n", NO(400, "request line: no HTTP version") },
    { "GET\r\n", NO(400, "request line: no method") },
    { " GET / HTTP/1.1\r\n", NO(400, "request line: no method") },
    { "\x16\x03\x01\x02", NO(400, "request line: no method") },
    { "\r\n\x16", NO(400, "request line: no method") },
    { "G(T / HTTP/1.1\r\n", NO(400, "request line: no method") },
    { "GET\t/ HTTP/1.1\r\n", NO(400, "request line: no method") },
    { "GET /\tHTTP/1.1\r\n", NO(400, "request line: no HTTP version") },
    { "GET / \tHTTP/1.1\r\n", NO(400, "request line: no HTTP version") },
    { "GET  / HTTP/1.1\r\n", NO(400, "request line: target has a wrong character") },
    { "GET /  HTTP/1.1\r\n", NO(400, "request line: target has a wrong character") },
    { "GET /a b HTTP/1.1\r\n", NO(400, "request line: target has a wrong character") },
    { "GET  HTTP/1.1\r\n", NO(400, "request line: no target") },
    { "GET / HTTP/1.1 \r\n", NO(400, "request line: no HTTP version") },
    { "GET / HTTP/1.1\r\r\n", NO(400, "request line: no HTTP version") },
    { "GET /\r HTTP/1.1\r\n", NO(400, "request line: target has a wrong character") },
    { .in = N("GET /\0 HTTP/1.1\r\n"), 400, "request line: target has a wrong character" },
    { .in = N("GET\0 / HTTP/1.1\r\n"), 400, "request line: no method" },
    { "GET /\x7f HTTP/1.1\r\n", NO(400, "request line: target has a wrong character") },
    { "GET /\xE4\xB8\xAD HTTP/1.1\r\n", NO(400, "request line: target has a wrong character") },
    { "GET /a#b HTTP/1.1\r\n", NO(400, "request line: target has a wrong character") },
    { "GET / http/1.1\r\n", NO(400, "request line: no HTTP version") },
    { "GET / HTTP/11\r\n", NO(400, "request line: no HTTP version") },
    { "GET / HTTP/1.10\r\n", NO(400, "request line: no HTTP version") },
    { "GET / HTTP/1,1\r\n", NO(400, "request line: no HTTP version") },
    { "GET / HTTP/0.9\r\n", NO(505, "request line: HTTP version is not 1.0 or 1.1") },
    { "GET / HTTP/1.2\r\n", NO(505, "request line: HTTP version is not 1.0 or 1.1") },
    { "GET / HTTP/3.0\r\n", NO(505, "request line: HTTP version is not 1.0 or 1.1") },
    { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", NO(505, "request line: HTTP version is not 1.0 or 1.1") },
    { "GET * HTTP/1.1\r\n", NO(400, "request line: target * is for OPTIONS") },
    { "options * HTTP/1.1\r\n", NO(400, "request line: target * is for OPTIONS") },
    { "OPTIONS ** HTTP/1.1\r\n", NO(400, "request line: target is no path and no URL") },
    { "GET a/b HTTP/1.1\r\n", NO(400, "request line: target is no path and no URL") },
    { "GET ?x HTTP/1.1\r\n", NO(400, "request line: target is no path and no URL") },
    { "CONNECT a:80 HTTP/1.1\r\n", NO(400, "request line: target is no path and no URL") },
    { "GET ftp://a/ HTTP/1.1\r\n", NO(400, "request line: target is no path and no URL") },
    { "GET http:// HTTP/1.1\r\n", NO(400, "request line: target is no path and no URL") },
    { "GET http:///x HTTP/1.1\r\n", NO(400, "request line: target has no host") },
    { "GET http://u@h/ HTTP/1.1\r\n", NO(400, "request line: target's host has a wrong character") },
    { "GET http://h\\x/ HTTP/1.1\r\n", NO(400, "request line: target's host has a wrong character") },

    /* Paths. */
    { "GET /% HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: invalid % escape at byte 2") },
    { "GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: invalid % escape at byte 2") },
    { "GET /%4?a HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: invalid % escape at byte 2") },
    { "GET /a%g0 HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: invalid % escape at byte 3") },
    { "GET /%u0041 HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: invalid % escape at byte 2") },
    { "GET /%+4 HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: invalid % escape at byte 2") },
    { "GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: NUL at byte 3") },
    { "GET /%0d%0a HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: control character") },
    { "GET /%7f HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: control character") },
    { "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: not UTF-8") },
    { "GET /%c0%ae%c0%ae/ HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: not UTF-8") },
    { "GET /%ed%a0%80 HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: not UTF-8") },
    { "GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },
    { "GET /./b HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },
    { "GET /a/.. HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },
    { "GET /. HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },
    { "GET /%2e%2E/b HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },
    { "GET /a/.%2e?q HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },
    { "GET /a%2f..%2fb HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },
    { "GET http://h/../x HTTP/1.1\r\nHost: a\r\n\r\n", NO(400, "path: dot segment") },

    /* Headers. */
    { G "Host : a\r\n" E, NO(400, "header 1: space before the colon") },
    { H "X\t: a\r\n" E, NO(400, "header 2: space before the colon") },
    { H "Transfer-Encoding : chunked\r\n" E, NO(400, "header 2: space before the colon") },
    { H " folded\r\n" E, NO(400, "header 2: folded line") },
    { H "X: a\r\n\tb\r\n" E, NO(400, "header 3: folded line") },
    { G " X: a\r\n" E, NO(400, "header 1: folded line") },
    { H ": a\r\n" E, NO(400, "header 2: no name") },
    { H "abc\r\n" E, NO(400, "header 2: no colon") },
    { H "a b: c\r\n" E, NO(400, "header 2: space before the colon") },
    { H "a(b: c\r\n" E, NO(400, "header 2: wrong character in the name") },
    { H "\xE4: c\r\n" E, NO(400, "header 2: wrong character in the name") },
    { H "\r\r\n" E, NO(400, "header 2: wrong character in the name") },
    { .in = N(H "X\0: a\r\n" E), 400, "header 2: wrong character in the name" },
    { .in = N(H "X: a\0b\r\n" E), 400, "header 2: control character in the value" },
    { H "X: a\rb\r\n" E, NO(400, "header 2: control character in the value") },
    { H "X: a\rContent-Length: 3\r\n" E, NO(400, "header 2: control character in the value") },
    { H "X: a\r\r\n" E, NO(400, "header 2: control character in the value") },
    { H "X: a\x01\r\n" E, NO(400, "header 2: control character in the value") },
    { H "X: a\x7f\r\n" E, NO(400, "header 2: control character in the value") },
    { H "X: a\v\r\n" E, NO(400, "header 2: control character in the value") },
    { H "X: \xff\r\n" E, NO(400, "header 2: value is not UTF-8") },
    { H "X: a\nY: b\r\n" E, NO(400, "header 2: LF without CR") },
    { H "\n", NO(400, "header 2: LF without CR") },
    { G E, NO(400, "headers: no Host") },
    { "GET http://a/ HTTP/1.1\r\n\r\n", NO(400, "headers: no Host") },
    { H "Host: a\r\n" E, NO(400, "header 2: Host is repeated") },
    { "GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n", NO(400, "header 2: Host is repeated") },
    { G "Host: a b\r\n" E, NO(400, "header 1: Host has a wrong character") },
    { G "Host: a/b\r\n" E, NO(400, "header 1: Host has a wrong character") },
    { G "Host: u@a\r\n" E, NO(400, "header 1: Host has a wrong character") },
    { H "Connection: a b\r\n" E, NO(400, "header 2: Connection has a wrong character") },
    { H "Expect: 200-ok\r\n" E, NO(417, "header 2: Expect is not 100-continue") },
    { H "Expect:\r\n" E, NO(417, "header 2: Expect is not 100-continue") },

    /* Framing. */
    { H "Content-Length: +5\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: -1\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: 5,5\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: 5, 5\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: 5 5\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: 0x5\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: 5.0\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: \xD9\xA5\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length:\r\n" E, NO(400, "header 2: Content-Length is not a number") },
    { H "Content-Length: 9223372036854775808\r\n" E, NO(400, "header 2: Content-Length is too large") },
    { H "Content-Length: 18446744073709551621\r\n" E, NO(400, "header 2: Content-Length is too large") },
    { H "Content-Length: 5\r\nContent-Length: 5\r\n" E, NO(400, "header 3: Content-Length is repeated") },
    { H "Content-Length: 5\r\ncontent-length: 6\r\n" E, NO(400, "header 3: Content-Length is repeated") },
    { H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" E,
      NO(400, "headers: Content-Length together with Transfer-Encoding") },
    { H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" E,
      NO(400, "headers: Content-Length together with Transfer-Encoding") },
    { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", NO(400, "headers: Transfer-Encoding in HTTP/1.0") },
    { H "Transfer-Encoding: xchunked\r\n" E, NO(501, "header 2: Transfer-Encoding is not chunked") },
    { H "Transfer-Encoding: gzip, chunked\r\n" E, NO(501, "header 2: Transfer-Encoding is not chunked") },
    { H "Transfer-Encoding: chunked, identity\r\n" E, NO(501, "header 2: Transfer-Encoding is not chunked") },
    { H "Transfer-Encoding: identity\r\n" E, NO(501, "header 2: Transfer-Encoding is not chunked") },
    { H "Transfer-Encoding: chunked;q=1\r\n" E, NO(501, "header 2: Transfer-Encoding is not chunked") },
    { H "Transfer-Encoding: \"chunked\"\r\n" E, NO(501, "header 2: Transfer-Encoding is not chunked") },
    { H "Transfer-Encoding: chunked,\r\n" E, NO(501, "header 2: Transfer-Encoding is not chunked") },
    { H "Transfer-Encoding: chunked, chunked\r\n" E, NO(400, "header 2: Transfer-Encoding is repeated") },
    { H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" E,
      NO(400, "header 3: Transfer-Encoding is repeated") },
    { H "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" E,
      NO(400, "header 3: Transfer-Encoding is repeated") },
    { H "Transfer-Encoding: \vchunked\r\n" E, NO(400, "header 2: control character in the value") },
    { H "Transfer-Encoding:\r\n" E, NO(400, "header 2: Transfer-Encoding is empty") },
};
/* clang-format on */

/* An accepted head as one line with all its values. */
static void describe(const struct http_head *h, struct buf *to)
{
    buf_printf(to, "%s %s ?%s host=%s 1.%d %s", h->method, h->path, h->query, h->host, h->minor,
               h->keep_alive ? "keep" : "close");
    if (h->has_length)
        buf_printf(to, " length=%lld", (long long)h->length);
    buf_puts(to, h->chunked ? " chunked" : "");
    buf_puts(to, h->expects_continue ? " continue" : "");
    for (size_t i = 0; i < h->n_fields; i++) {
        if (strcasecmp(http_head_name(h, i), "host") != 0)
            buf_printf(to, " %s=%s", http_head_name(h, i), http_head_value(h, i));
    }
}

/* Feeds n bytes, `piece` more at a time, each time from a block of exactly that size, so that
 * the sanitizer reports reads beyond it. */
static int feed(const char *in, size_t n, size_t piece, struct buf *ret_text)
{
    struct http_head h = { 0 };
    struct arena arena = { 0 };
    struct err err = { 0 };
    size_t taken = 0, shown = 0;
    int failed = 0;

    while (!failed && !taken && shown < n) {
        char *block;

        shown = n - shown < piece ? n : shown + piece;
        block = malloc(shown);
        assert_non_null(block);
        memcpy(block, in, shown);
        failed = http_head_read(&h, block, shown, &arena, &taken, &err);
        free(block);
    }
    if (failed) {
        buf_puts(ret_text, err.text);
    } else {
        assert_int_equal(taken, n);
        describe(&h, ret_text);
    }
    arena_free(&arena);
    return failed ? h.status : 0;
}

static void check_head(const struct head_case *c, size_t piece)
{
    struct buf text = { 0 };
    int status = feed(c->in, c->n ? c->n : strlen(c->in), piece, &text);

    if (status != c->status || strcmp(buf_text(&text), c->text) != 0)
        fail_msg("case %td, pieces of %zu: %d '%s', expected %d '%s'", c - heads, piece, status,
                 buf_text(&text), c->status, c->text);
    buf_free(&text);
}

static void a_head_has_one_reading_or_a_refusal(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        check_head(&heads[i], 1 << 20);
}

static void how_a_head_is_cut_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        check_head(&heads[i], 1);
        check_head(&heads[i], 7);
    }
}

static void what_follows_a_head_is_not_taken(void **state)
{
    static const char in[] = H E "POST /next";
    struct http_head h = { 0 };
    struct arena arena = { 0 };
    struct err err;
    size_t taken;

    (void)state;
    assert_int_equal(http_head_read(&h, N(in), &arena, &taken, &err), 0);
    assert_int_equal(taken, strlen(H E));
    arena_free(&arena);
}

static void an_unfinished_head_waits(void **state)
{
    static const char in[] = H "X: y\r\n\r\n";
    struct arena arena = { 0 };

    (void)state;
    for (size_t n = 0; n < sizeof(in) - 1; n++) {
        struct http_head h = { 0 };
        struct err err;
        size_t taken = 99;

        assert_int_equal(http_head_read(&h, in, n, &arena, &taken, &err), 0);
        assert_int_equal(taken, 0);
    }
    assert_null(arena.head); /* an incomplete head allocates nothing */
}

static void headers_are_found_in_any_case(void **state)
{
    static const char in[] = H "X-One: 1\r\nx-one: 2\r\n" E;
    struct http_head h = { 0 };
    struct arena arena = { 0 };
    struct err err;
    size_t taken;

    (void)state;
    assert_int_equal(http_head_read(&h, N(in), &arena, &taken, &err), 0);
    assert_string_equal(http_head_find(&h, "x-ONE"), "1");
    assert_null(http_head_find(&h, "x-on"));
    assert_int_equal(h.n_fields, 3);
    arena_free(&arena);
}

static void expect_refusal(const struct buf *in, size_t piece, int status, const char *text)
{
    struct buf got = { 0 };

    assert_int_equal(feed(buf_data(in), in->len, piece, &got), status);
    assert_string_equal(buf_text(&got), text);
    buf_free(&got);
}

static void a_head_has_at_most_64_headers(void **state)
{
    struct buf in = { 0 }, got = { 0 };

    (void)state;
    buf_puts(&in, H);
    for (int i = 1; i < HTTP_FIELDS_MAX; i++)
        buf_puts(&in, "X: y\r\n");
    buf_puts(&in, E);
    assert_int_equal(feed(buf_data(&in), in.len, 1 << 20, &got), 0);
    buf_free(&got);
    buf_truncate(&in, in.len - 2);
    for (int i = 0; i < 10000; i++)
        buf_puts(&in, "X: y\r\n");
    expect_refusal(&in, 1 << 20, 431, "more than 64 headers");
    expect_refusal(&in, 100, 431, "more than 64 headers");
    buf_free(&in);
}

static void a_head_has_at_most_16_kib(void **state)
{
    struct buf in = { 0 }, got = { 0 };

    (void)state;
    buf_puts(&in, H "X: ");
    while (in.len < HTTP_HEAD_MAX - 4)
        buf_addc(&in, 'y');
    buf_puts(&in, E E);
    assert_int_equal(in.len, HTTP_HEAD_MAX);
    assert_int_equal(feed(buf_data(&in), in.len, 4096, &got), 0);
    buf_free(&got);
    buf_truncate(&in, in.len - 4);
    buf_puts(&in, "y" E E);
    expect_refusal(&in, 1 << 20, 431, "head: more than 16384 bytes");
    expect_refusal(&in, 1000, 431, "head: more than 16384 bytes");
    buf_free(&in);
}

static void a_header_of_a_megabyte_is_refused(void **state)
{
    struct buf in = { 0 };

    (void)state;
    buf_puts(&in, H "X: ");
    while (in.len < 1 << 20)
        buf_addc(&in, 'y');
    expect_refusal(&in, 1 << 21, 431, "head: more than 16384 bytes");
    expect_refusal(&in, 4000, 431, "head: more than 16384 bytes");
    buf_free(&in);
}

/* ---- chunks ---- */

static const struct chunk_case {
    const char *in;
    size_t n;
    int status;
    const char *text; /* the body, or the text of a refusal */
} chunked[] = {
    { "0\r\n\r\n", OK("") },
    { "5\r\nhello\r\n0\r\n\r\n", OK("hello") },
    { "1\r\na\r\n00A\r\n0123456789\r\n000\r\n\r\n", OK("a0123456789") },
    { "5;a=b;c=\"d e\"\r\nhello\r\n0;x\r\n\r\n", OK("hello") },
    { "0000000000000003\r\nabc\r\n0\r\n\r\n", OK("abc") },
    { "3\r\n\r\n\n\r\n0\r\n\r\n", OK("\r\n\n") },
    { "1\r\na\r\n0\r\nX: y\r\nEmpty:\r\n\r\n", OK("a") },

    { "\r\n", NO(400, "chunk 1: no size") },
    { "g\r\n", NO(400, "chunk 1: no size") },
    { " 5\r\n", NO(400, "chunk 1: no size") },
    { "+5\r\n", NO(400, "chunk 1: no size") },
    { "-5\r\n", NO(400, "chunk 1: no size") },
    { ";a\r\n", NO(400, "chunk 1: no size") },
    { "0x5\r\n", NO(400, "chunk 1: wrong character in the size") },
    { "5 \r\n", NO(400, "chunk 1: wrong character in the size") },
    { "5 ;a\r\n", NO(400, "chunk 1: wrong character in the size") },
    { "5\nhello", NO(400, "chunk 1: wrong character in the size") },
    { "5_0\r\n", NO(400, "chunk 1: wrong character in the size") },
    { .in = N("5\0\r\n"), 400, "chunk 1: wrong character in the size" },
    { "5\rhello", NO(400, "chunk 1: CR without LF") },
    { "5\r\r\n", NO(400, "chunk 1: CR without LF") },
    { "8000000000000000\r\n", NO(400, "chunk 1: size is too large") },
    { "FFFFFFFFFFFFFFFF\r\n", NO(400, "chunk 1: size is too large") },
    { "00000000000000005\r\n", NO(400, "chunk 1: size has more than 16 digits") },
    { "5;a\tb\r\n", NO(400, "chunk 1: control character in the extension") },
    { "5;a\nb\r\n", NO(400, "chunk 1: control character in the extension") },
    { "5;a\rb\r\n", NO(400, "chunk 1: CR without LF") },
    { "1\r\nab\r\n", NO(400, "chunk 1: data is longer than its size") },
    { "1\r\na\n0\r\n\r\n", NO(400, "chunk 1: data is longer than its size") },
    { "1\r\na\rb", NO(400, "chunk 1: CR without LF") },
    { "1\r\na\r\n2\r\nabc", NO(400, "chunk 2: data is longer than its size") },
    { "1\r\na\r\n\r\n", NO(400, "chunk 2: no size") },
    { "0\r\n: x\r\n\r\n", NO(400, "trailer 1: no name") },
    { "0\r\nX: y\r\n folded\r\n\r\n", NO(400, "trailer 2: no name") },
    { "0\r\nX : y\r\n\r\n", NO(400, "trailer 1: wrong character in the name") },
    { "0\r\nX\r\n\r\n", NO(400, "trailer 1: wrong character in the name") },
    { "0\r\nX: \x01\r\n\r\n", NO(400, "trailer 1: control character in the value") },
    { "0\r\nX: y\n\r\n", NO(400, "trailer 1: control character in the value") },
    { "0\r\nX: y\rz", NO(400, "trailer 1: CR without LF") },
    { "0\r\n\rX", NO(400, "trailer 0: CR without LF") },
    { "0\r\n\n", NO(400, "trailer 1: no name") },
};

/* Decodes n bytes, at most `piece` at a time. */
static int unchunk(const char *in, size_t n, size_t piece, struct buf *ret_text)
{
    struct http_chunks c = { 0 };
    struct http_span body;
    struct err err;
    size_t at = 0, taken;

    while (at < n && c.state != CHUNK_DONE) {
        size_t shown = n - at < piece ? n - at : piece;

        if (http_chunks_read(&c, in + at, shown, &taken, &body, &err)) {
            buf_free(ret_text);
            buf_puts(ret_text, err.text);
            return c.status;
        }
        assert_true(taken > 0 && taken <= shown && body.n <= taken);
        buf_add(ret_text, body.bytes, body.n);
        at += taken;
    }
    return c.state == CHUNK_DONE && at == n ? 0 : -1;
}

static void check_chunks(const struct chunk_case *c, size_t piece)
{
    struct buf text = { 0 };
    int status = unchunk(c->in, c->n ? c->n : strlen(c->in), piece, &text);

    if (status != c->status || strcmp(buf_text(&text), c->text) != 0)
        fail_msg("case %td, pieces of %zu: %d '%s', expected %d '%s'", c - chunked, piece, status,
                 buf_text(&text), c->status, c->text);
    buf_free(&text);
}

static void chunks_have_one_reading_however_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chunked); i++) {
        check_chunks(&chunked[i], 1 << 20);
        check_chunks(&chunked[i], 1);
        check_chunks(&chunked[i], 3);
    }
}

static void a_chunked_body_ends_where_it_ends(void **state)
{
    struct http_chunks c = { 0 };
    struct http_span body;
    struct err err;
    size_t taken;

    (void)state;
    assert_int_equal(http_chunks_read(&c, N("0\r\n\r\nGET /"), &taken, &body, &err), 0);
    assert_int_equal(taken, 5);
    assert_int_equal(c.state, CHUNK_DONE);
}

static void expect_chunks(const struct buf *in, int status, const char *text)
{
    struct buf got = { 0 };

    assert_int_equal(unchunk(buf_data(in), in->len, 1000, &got), status);
    assert_string_equal(buf_text(&got), text);
    buf_free(&got);
}

static void fill(struct buf *b, size_t to, char c)
{
    while (b->len < to)
        buf_addc(b, c);
}

static void an_extension_is_bounded(void **state)
{
    struct buf in = { 0 };

    (void)state;
    buf_puts(&in, "0;");
    fill(&in, 2 + HTTP_EXTENSION_MAX, 'x');
    buf_puts(&in, "\r\n\r\n");
    expect_chunks(&in, 0, "");
    buf_truncate(&in, 2 + HTTP_EXTENSION_MAX);
    in.block[0] = '1'; /* the next chunk may have an extension of the same length */
    buf_puts(&in, "\r\na\r\n0;x\r\n\r\n");
    expect_chunks(&in, 0, "a");
    buf_truncate(&in, 2 + HTTP_EXTENSION_MAX);
    buf_puts(&in, "x");
    expect_chunks(&in, 400, "chunk 1: extension is too long");
    buf_free(&in);
}

static void trailers_are_bounded(void **state)
{
    struct buf in = { 0 };

    (void)state;
    buf_puts(&in, "0\r\n");
    for (int i = 0; i < HTTP_FIELDS_MAX; i++)
        buf_puts(&in, "X: y\r\n");
    buf_puts(&in, "\r\n");
    expect_chunks(&in, 0, "");
    buf_truncate(&in, in.len - 2);
    buf_puts(&in, "X: y\r\n\r\n");
    expect_chunks(&in, 431, "trailer 65: too many");
    buf_truncate(&in, 3);
    buf_puts(&in, "X: ");
    fill(&in, 3 + HTTP_HEAD_MAX + 1, 'y');
    expect_chunks(&in, 431, "trailer 1: trailers are too long");
    buf_free(&in);
}

/* ---- pairs ---- */

static const struct {
    const char *in, *out; /* out: "key=value;" for each pair, or the text of a refusal */
} pairs[] = {
    { "", "" },
    { "a", "a=;" },
    { "a=1&b=two+words&c=%E4%B8%AD", "a=1;b=two words;c=\xE4\xB8\xAD;" },
    { "&&a=1&&", "a=1;" },
    { "=x", "=x;" },
    { "a=b=c&a=d", "a=b=c;a=d;" },
    { "a%3D%26=%2b+", "a=&=+ ;" },
    { "t=a%0d%0ab", "t=a\r\nb;" },
    { "a=1&b=%", "a=1;pair 2: value: invalid % escape at byte 1" },
    { "a=1&%zz=1", "a=1;pair 2: key: invalid % escape at byte 1" },
    { "a=x%00", "pair 1: value: NUL at byte 2" },
    { "a=%ff", "pair 1: value: not UTF-8" },
    { "a=%c3%", "pair 1: value: invalid % escape at byte 4" },
};

static void read_pairs(const char *in, struct buf *out)
{
    struct arena arena = { 0 };
    struct http_pairs p;
    struct http_pair pair = { "", "" };
    struct err err;

    http_pairs_init(&p, in, strlen(in));
    while (pair.key) {
        if (http_pairs_next(&p, &arena, &pair, &err)) {
            buf_puts(out, err.text);
            break;
        }
        if (pair.key)
            buf_printf(out, "%s=%s;", pair.key, pair.value);
    }
    arena_free(&arena);
}

static void pairs_are_decoded_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct buf out = { 0 };

        read_pairs(pairs[i].in, &out);
        assert_string_equal(buf_text(&out), pairs[i].out);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_has_one_reading_or_a_refusal),
        cmocka_unit_test(how_a_head_is_cut_changes_nothing),
        cmocka_unit_test(what_follows_a_head_is_not_taken),
        cmocka_unit_test(an_unfinished_head_waits),
        cmocka_unit_test(headers_are_found_in_any_case),
        cmocka_unit_test(a_head_has_at_most_64_headers),
        cmocka_unit_test(a_head_has_at_most_16_kib),
        cmocka_unit_test(a_header_of_a_megabyte_is_refused),
        cmocka_unit_test(chunks_have_one_reading_however_cut),
        cmocka_unit_test(a_chunked_body_ends_where_it_ends),
        cmocka_unit_test(an_extension_is_bounded),
        cmocka_unit_test(trailers_are_bounded),
        cmocka_unit_test(pairs_are_decoded_in_order),
    };

    return cmocka_run_group_tests_name("wire/http_parse", tests, NULL, NULL);
}
