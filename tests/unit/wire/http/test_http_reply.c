/* SPDX-License-Identifier: MIT */
/* test_http_reply.c - answers of well and badly behaved servers, in one piece and byte by byte. */
#include "wire/http/http_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "wire/http/http_parse.h"

#define OK "HTTP/1.1 200 OK\r\n"

/* Feeds `step` bytes at a time, each piece from a block of just its size; then the server closes
 * the connection, unless the answer is complete. */
static int feed(struct http_reply *r, const char *in, size_t n, size_t step, struct err *err)
{
    for (size_t at = 0; at < n; at += step) {
        size_t piece = n - at < step ? n - at : step;
        char *block = xalloc(piece);
        int failed;

        memcpy(block, in + at, piece);
        failed = http_reply_read(r, block, piece, err);
        free(block);
        if (failed)
            return -1;
    }
    return http_reply_end(r, err);
}

static void an_answer_is_read_however_it_is_split(void **state)
{
    static const struct {
        const char *in, *text;
        int status;
        bool has_text;
    } cases[] = {
        { OK "\r\n", NULL, 200, false },
        { "HTTP/1.0 404 Not Found\nA: b\n\n", NULL, 404, false },
        { "HTTP/1.1 503\r\n\r\n", NULL, 503, false },
        { "HTTP/1.1 100 Continue\r\n\r\n" OK "\r\n", NULL, 200, false },
        { OK "\r\nall is fine", "is fine", 200, true },
        { OK "\r\nall is fin", "is fine", 200, false },
        { OK "Content-Length: 11\r\n\r\nall is fine and more", "fine and", 200, false },
        { OK "content-length:  11 \r\n\r\nall is fine", "all", 200, true },
        { OK "Content-Length: 0\r\n\r\n", "all", 200, false },
        { OK "Transfer-Encoding: chunked\r\n\r\n4\r\nis f\r\n3\r\nine\r\n0\r\n\r\n", "is fine", 200,
          true },
        { OK "Transfer-Encoding: chunked\r\n\r\n4\r\nis f\r\n3\r\nine\r\n0\r\n\r\n", "is well", 200,
          false },
        { "HTTP/1.1 204 No Content\r\n\r\n", "x", 204, false },
        { OK "\r\naaaaaaab", "aaab", 200, true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step < 64; step = step < 5 ? step + 1 : step * 3) {
            struct http_reply r = { .text = cases[i].text };
            struct err err;

            if (feed(&r, cases[i].in, strlen(cases[i].in), step, &err))
                fail_msg("case %zu: %s", i, err.text);
            assert_int_equal(r.state, REPLY_DONE);
            assert_int_equal(r.status, cases[i].status);
            assert_int_equal(r.has_text, cases[i].has_text);
        }
    }
}

static void what_is_no_answer_is_refused(void **state)
{
    static const struct {
        const char *in, *why;
    } cases[] = {
        { "", "the connection was closed without an answer" },
        { "HTTP/1.1 200 OK\r\nA: b\r\n", "the connection was closed within the answer" },
        { "SSH-2.0-OpenSSH", "the answer is not HTTP" },
        { "HTTP/2 200\r\n\r\n", "the answer is not HTTP" },
        { "HTTP/1.1 20x OK\r\n\r\n", "the answer is not HTTP" },
        { "HTTP/1.1 999 OK\r\n\r\n", "the answer is not HTTP" },
        { "\r\n", "the answer is not HTTP" },
        { OK "Content-Length: -1\r\n\r\n", "the answer has a wrong Content-Length" },
        { OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
          "the answer has a wrong Content-Length" },
        { OK "Content-Length: 9999999999999999999\r\n\r\n",
          "the answer has a wrong Content-Length" },
        { OK "Transfer-Encoding: gzip\r\n\r\n",
          "the answer has a Transfer-Encoding other than chunked" },
        { OK "Content-Length: 20\r\n\r\nshort", "the connection was closed within the answer" },
        { OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "chunk 1: " },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step < 64; step *= 3) {
            struct http_reply r = { .text = "text" };
            struct err err;

            assert_int_equal(feed(&r, cases[i].in, strlen(cases[i].in), step, &err), -1);
            if (!strstr(err.text, cases[i].why))
                fail_msg("case %zu: %s", i, err.text);
        }
    }
}

static void a_nul_is_no_answer(void **state)
{
    struct http_reply r = { 0 };
    struct err err;

    (void)state;
    assert_int_equal(http_reply_read(&r, OK "A: \0", sizeof(OK "A: \0") - 1, &err), -1);
}

/* Lines that are longer than what is stored of them are no harm; the whole head is bounded. */
static void a_head_without_end_is_refused(void **state)
{
    struct http_reply r = { 0 }, more = { 0 };
    char line[5000];
    struct err err;
    int i = 0;

    (void)state;
    memset(line, 'x', sizeof(line));
    line[1] = ':';
    line[sizeof(line) - 1] = '\n';
    assert_int_equal(http_reply_read(&r, OK, strlen(OK), &err), 0);
    while (i < 10 && !http_reply_read(&r, line, sizeof(line), &err))
        i++;
    assert_int_equal(i, HTTP_HEAD_MAX / sizeof(line));
    assert_string_equal(err.text, "the head of the answer has more than 16384 bytes");
    assert_int_equal(http_reply_read(&more, OK, strlen(OK), &err), 0);
    assert_int_equal(http_reply_read(&more, line, sizeof(line), &err), 0);
    assert_int_equal(http_reply_read(&more, "\n", 1, &err), 0);
    assert_int_equal(more.state, REPLY_DONE);
}

static void of_a_body_without_end_64_kib_are_read(void **state)
{
    struct http_reply r = { .text = "needle" };
    char block[1000];
    struct err err;
    size_t n = 0;

    (void)state;
    memset(block, 'n', sizeof(block));
    assert_int_equal(http_reply_read(&r, OK "\r\n", strlen(OK "\r\n"), &err), 0);
    for (; r.state != REPLY_DONE; n += sizeof(block))
        assert_int_equal(http_reply_read(&r, block, sizeof(block), &err), 0);
    assert_true(n >= HTTP_REPLY_BODY_MAX && n < HTTP_REPLY_BODY_MAX + sizeof(block));
    assert_false(r.has_text);
    assert_int_equal(http_reply_read(&r, "needle", 6, &err), 0); /* too late */
    assert_false(r.has_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_read_however_it_is_split),
        cmocka_unit_test(what_is_no_answer_is_refused),
        cmocka_unit_test(a_nul_is_no_answer),
        cmocka_unit_test(a_head_without_end_is_refused),
        cmocka_unit_test(of_a_body_without_end_64_kib_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
