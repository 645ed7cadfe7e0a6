/* SPDX-License-Identifier: MIT */
/* Promises of wire/http/http.h about requests and answers.  Streams and limits have test files
 * of their own. */
#include "base/os/sys.h"
#include "tests/unit/wire/http_world.h"

#define HOST  " HTTP/1.1\r\nHost: a\r\n"
#define DATE  "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
#define PLAIN "Content-Type: text/plain\r\n"

static void a_request_is_answered_and_the_connection_kept(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    assert_string_equal(ask(w, &c, "POST /echo" HOST "Content-Length: 5\r\n\r\nhello", "hello"),
                        "HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 5\r\n\r\nhello");
    assert_string_equal(ask(w, &c, "GET /echo" HOST "\r\n", "\r\n\r\n"),
                        "HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 0\r\n\r\n");
    w->clock.wall += 1000;
    assert_true(has(ask(w, &c, "GET /echo" HOST "\r\n", "\r\n\r\n"), "22:13:21 GMT"));
    assert_int_equal(http_server_counters(w->server)->requests, 3);
    assert_int_equal(http_server_counters(w->server)->accepted, 1);
    assert_int_equal(http_server_counters(w->server)->open_requests, 0);
    client_close(&c);
    wait_connections(w, 0);
    world_free(w);
}

static void a_request_may_come_byte_by_byte(void **state)
{
    static const char text[] = "POST /echo" HOST "Content-Length: 5\r\n\r\nhello";
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        assert_int_equal(send(c.fd, text + i, 1, 0), 1);
        turns(w, 2);
    }
    assert_true(has(client_read(w, &c, "hello"), "Content-Length: 5\r\n"));
    client_close(&c);
    world_free(w);
}

static void an_answer_has_its_peer_and_extra_headers(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    const char *got = ask(w, &c, "GET /peer" HOST "\r\n", "\r\n\r\n127.");

    (void)state;
    assert_true(has(got, "\r\nX-Extra: 1\r\n"));
    assert_true(has(got, "\r\n\r\n127.0.0.1:"));
    client_close(&c);
    world_free(w);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    const char *got;

    (void)state;
    client_send(&c, "GET /later" HOST "\r\nPOST /echo" HOST "Content-Length: 3\r\n\r\ntwo"
                    "GET /later" HOST "\r\n");
    wait_held(w, 1);
    turns(w, 20);
    assert_int_equal(w->heads, 1); /* the others wait unread */
    answer_text(w->held[0], "one");
    wait_held(w, 2);
    answer_text(w->held[1], "three");
    got = client_read(w, &c, "three");
    assert_true(strstr(got, "one") < strstr(got, "two") && strstr(got, "two"));
    assert_int_equal(w->requests, 3);
    client_close(&c);
    world_free(w);
}

static void many_pipelined_requests_all_get_their_answer(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    struct buf text = { 0 };

    (void)state;
    for (int i = 0; i < 300; i++)
        buf_puts(&text, "GET /echo" HOST "\r\n");
    w->tick_ms = 1;
    buf_puts(&text, "POST /echo" HOST "Connection: close\r\nContent-Length: 4\r\n\r\nlast");
    client_send(&c, buf_text(&text));
    for (int i = 0; i < TURNS_MAX && w->requests == 0; i++)
        await(w);
    assert_in_range(w->requests, 1, 200); /* other events are handled in between */
    assert_true(has(client_read(w, &c, ""), "\r\n\r\nlast"));
    assert_int_equal(w->requests, 301);
    buf_free(&text);
    client_close(&c);
    world_free(w);
}

static void pipelined_answers_wait_for_the_reader(void **state)
{
    enum { N = 2000, SIZE = 10000 };
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    for (int i = 0; i < SIZE; i++)
        buf_addc(&w->large, 'x');
    for (int i = 0; i < N; i++)
        client_send(&c, "GET /large" HOST "\r\n");
    turns(w, 500);
    assert_in_range(w->requests, 1, N - 1);
    for (int i = 0; i < TURNS_MAX && c.in.len < N * SIZE; i++) {
        pass_time(w, 1);
        client_take(&c);
    }
    assert_true(c.in.len > N * SIZE);
    assert_int_equal(w->requests, N);
    client_close(&c);
    world_free(w);
}

static void a_peer_that_ended_its_side_gets_all_answers(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    const char *got;

    (void)state;
    client_send(&c, "GET /later" HOST "\r\nPOST /echo" HOST "Content-Length: 3\r\n\r\ntwo");
    shutdown(c.fd, SHUT_WR);
    wait_held(w, 1);
    turns(w, 10);
    assert_false(http_is_gone(w->held[0]));
    answer_text(w->held[0], "one");
    got = client_read(w, &c, "");
    assert_true(has(got, "one") && has(got, "two"));
    client_close(&c);
    wait_connections(w, 0);
    world_free(w);
}

static void a_peer_that_ended_its_side_is_closed_after_its_answer(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /later" HOST "\r\n");
    shutdown(c.fd, SHUT_WR);
    wait_held(w, 1);
    turns(w, 10); /* the server notices the end before the answer */
    answer_text(w->held[0], "one");
    assert_true(has(client_read(w, &c, ""), "one"));
    assert_int_equal(http_server_counters(w->server)->connections, 0);
    client_close(&c);
    world_free(w);
}

static const struct {
    const char *request, *connection; /* NULL: the connection is kept without a Connection header */
} connections[] = {
    { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", NULL },
    { "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "close" },
    { "GET / HTTP/1.0\r\n\r\n", "close" },
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive" },
};

static void a_connection_is_kept_or_closed_as_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(connections); i++) {
        const char *want = connections[i].connection;
        struct world *w = world_new(NULL);
        struct client c = client_open(w);
        const char *got = ask(w, &c, connections[i].request, "\r\n\r\n");

        assert_true(has(got, "HTTP/1.1 200 OK\r\n"));
        assert_int_equal(has(got, "Connection:"), want != NULL);
        assert_true(!want || has(got, want));
        if (want && !strcmp(want, "close"))
            client_read(w, &c, "");
        else
            assert_true(has(ask(w, &c, "GET /" HOST "\r\n", "\r\n\r\n"), "200"));
        client_close(&c);
        world_free(w);
    }
}

static void head_gets_the_length_and_no_body(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    const char *got;

    (void)state;
    buf_puts(&w->large, "0123456789");
    got = ask(w, &c, "HEAD /large" HOST "\r\nGET /peer" HOST "\r\n", "127.");
    assert_true(has(got, "Content-Length: 10\r\n\r\nHTTP/1.1 200 OK"));
    assert_false(has(got, "0123456789"));
    client_close(&c);
    world_free(w);
}

static void an_answer_without_content_has_no_length(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    assert_string_equal(ask(w, &c, "GET /empty" HOST "\r\n", "\r\n\r\n"),
                        "HTTP/1.1 204 No Content\r\n" DATE "\r\n");
    assert_true(has(ask(w, &c, "GET /" HOST "\r\n", "\r\n\r\n"), "200"));
    client_close(&c);
    world_free(w);
}

static void a_chunked_body_is_put_together(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    assert_true(has(ask(w, &c,
                        "POST /echo" HOST "Transfer-Encoding: chunked\r\n\r\n"
                        "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: x\r\n\r\n",
                        "abcde"),
                    "Content-Length: 5\r\n"));
    assert_true(has(ask(w, &c, "GET /" HOST "\r\n", "\r\n\r\n"), "200"));
    client_close(&c);
    world_free(w);
}

static const struct {
    const char *request, *status, *text;
    enum http_reason reason;
} refusals[] = {
    { "GET / HTTP/1.1\r\nHost : a\r\n\r\n", " 400 ", "header 1: space before the colon\"}\n",
      HTTP_BAD_HEAD },
    { "GET / HTTP/2.0\r\n", " 505 ", "not 1.0 or 1.1\"}\n", HTTP_BAD_HEAD },
    { "\x16\x03\x01", " 400 ", "no method\"}\n", HTTP_BAD_HEAD },
    { "POST /" HOST "Transfer-Encoding: gzip\r\n\r\n", " 501 ", "is not chunked\"}\n",
      HTTP_BAD_HEAD },
    { "POST /" HOST "Expect: x\r\n\r\n", " 417 ", "is not 100-continue\"}\n", HTTP_BAD_HEAD },
    { "POST /" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nab", " 400 ",
      "chunk 1: data is longer than its size\"}\n", HTTP_BAD_BODY },
    { "POST /none" HOST "Content-Length: 1\r\n\r\n", " 413 ", "larger than is allowed here\"}\n",
      HTTP_LARGE_BODY },
    { "POST /none" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", " 413 ",
      "larger than is allowed here\"}\n", HTTP_LARGE_BODY },
    { "POST /" HOST "Content-Length: 4097\r\nExpect: 100-continue\r\n\r\n", " 413 ",
      "larger than is allowed here\"}\n", HTTP_LARGE_BODY },
    { "POST /" HOST "Content-Length: 9223372036854775799\r\n\r\n", " 413 ",
      "larger than is allowed here\"}\n", HTTP_LARGE_BODY },
};

static void a_refusal_says_why_and_closes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct world *w = world_new(NULL);
        struct client c = client_open(w);
        const char *got = ask(w, &c, refusals[i].request, "");

        assert_memory_equal(got, "HTTP/1.1 ", 9);
        assert_true(has(got, refusals[i].status) && has(got, refusals[i].text));
        assert_true(has(got, "Connection: close\r\n"));
        assert_false(has(got, " 100 "));
        assert_int_equal(refused(w, refusals[i].reason), 1);
        assert_int_equal(w->requests, 0);
        /* On_gone() is called for each request that on_head() saw. */
        assert_int_equal(w->gone, w->heads);
        assert_int_equal(http_server_counters(w->server)->open_requests, 0);
        client_close(&c);
        world_free(w);
    }
}

static void an_empty_chunked_body_needs_no_permission(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    assert_true(
        has(ask(w, &c, "POST /none" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "\r\n\r\n"),
            " 200 "));
    client_close(&c);
    world_free(w);
}

static void continue_is_sent_once_the_body_is_wanted(void **state)
{
    static const char expect[] = "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    struct buf text = { 0 };

    (void)state;
    buf_printf(&text, "POST /echo" HOST "%s", expect);
    assert_string_equal(ask(w, &c, buf_text(&text), "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    assert_true(has(ask(w, &c, "ok", "\r\n\r\nok"), " 200 "));
    /* The body comes at once, so the client does not wait for 100 Continue. */
    buf_puts(&text, "ok");
    assert_false(has(ask(w, &c, buf_text(&text), "\r\n\r\nok"), " 100 "));
    buf_free(&text);
    buf_printf(&text, "POST /early" HOST "%s", expect);
    assert_false(has(ask(w, &c, buf_text(&text), ""), " 100 "));
    assert_true(has(buf_text(&c.in), " 401 "));
    buf_free(&text);
    client_close(&c);
    world_free(w);
}

static void an_answer_before_the_body_closes(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    assert_false(has(ask(w, &c, "GET /early" HOST "\r\n", "\r\n\r\n"), "Connection"));
    assert_true(has(ask(w, &c, "POST /early" HOST "Content-Length: 3\r\n\r\nabc", ""),
                    "Connection: close\r\n"));
    assert_int_equal(w->requests, 0);
    client_close(&c);
    world_free(w);
}

static void a_refusal_reaches_a_client_that_goes_on_sending(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    char junk[65536] = { 0 };

    (void)state;
    client_send(&c, "POST /none" HOST "Content-Length: 1000000\r\n\r\n");
    for (int i = 0; i < 16; i++) {
        assert_true(send(c.fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0);
        turns(w, 3);
    }
    assert_true(has(client_read(w, &c, ""), " 413 "));
    client_close(&c);
    world_free(w);
}

static void a_large_answer_arrives_whole(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    const char *body;

    (void)state;
    for (int i = 0; i < 2000000; i++)
        buf_add(&w->large, &i, sizeof(i));
    client_send(&c, "GET /large" HOST "Connection: close\r\n\r\n");
    client_read(w, &c, "");
    buf_text(&c.in);
    body = strstr(buf_data(&c.in), "\r\n\r\n") + 4;
    assert_int_equal(buf_data(&c.in) + c.in.len - body, w->large.len);
    assert_memory_equal(body, buf_data(&w->large), w->large.len);
    client_close(&c);
    world_free(w);
}

static void headers_cannot_be_injected(void **state)
{
    static const char *const paths[] = { "/evil", "/ours", "/evil-type" };
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    char text[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        snprintf(text, sizeof(text), "GET %s" HOST "\r\n", paths[i]);
        assert_string_equal(ask(w, &c, text, "\r\n\r\n"),
                            "HTTP/1.1 500 Internal Server Error\r\n" DATE
                            "Content-Length: 0\r\n\r\n");
    }
    assert_true(has(ask(w, &c, "GET /evil-stream" HOST "\r\n", "\r\n\r\n"), " 500 "));
    assert_true(http_stream_send(w->held[0], "x", 1));
    http_stream_end(w->held[0]);
    assert_true(has(ask(w, &c, "GET /" HOST "\r\n", "\r\n\r\n"), " 200 "));
    assert_int_equal(refused(w, HTTP_BAD_ANSWER), 4);
    client_close(&c);
    world_free(w);
}

static void an_answer_to_a_client_that_has_gone_is_dropped(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "POST /later" HOST "Content-Length: 2\r\n\r\nab");
    wait_held(w, 1);
    client_reset(&c);
    wait_connections(w, 0);
    assert_int_equal(w->gone, 1);
    assert_int_equal(w->gone_unowned, 0);
    assert_true(http_is_gone(w->held[0]));
    assert_string_equal(w->held[0]->head.path, "/later");
    assert_memory_equal(buf_data(&w->held[0]->body), "ab", 2);
    assert_int_equal(http_server_counters(w->server)->open_requests, 1);
    answer_text(w->held[0], "too late");
    assert_int_equal(http_server_counters(w->server)->open_requests, 0);
    assert_int_equal(http_server_counters(w->server)->body_bytes, 0);
    world_free(w);
}

static void on_gone_may_answer(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w), d = client_open(w);

    (void)state;
    w->answers_gone = true;
    client_send(&c, "GET /later" HOST "\r\n");
    client_send(&d, "POST /later" HOST "Content-Length: 20\r\n\r\nab");
    wait_held(w, 1);
    turns(w, 5);
    client_reset(&c);
    client_reset(&d);
    wait_connections(w, 0);
    assert_int_equal(w->gone, 2);
    assert_int_equal(w->gone_unowned, 1);
    assert_int_equal(http_server_counters(w->server)->open_requests, 0);
    world_free(w);
}

static void a_client_that_goes_within_its_body_is_told_of(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "POST /later" HOST "Content-Length: 20\r\n\r\nab");
    turns(w, 5);
    client_close(&c);
    wait_connections(w, 0);
    assert_int_equal(w->gone_unowned, 1);
    assert_int_equal(w->requests, 0);
    assert_int_equal(http_server_counters(w->server)->open_requests, 0);
    assert_int_equal(http_server_counters(w->server)->body_bytes, 0);
    world_free(w);
}

#ifdef HOLDFAST_FAULT
static void a_failing_socket_ends_its_connection_only(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w), d = client_open(w);

    (void)state;
    client_send(&c, "GET /later" HOST "\r\n");
    wait_held(w, 1);
    sys_fault("send", 1, ECONNRESET);
    answer_text(w->held[0], "lost");
    assert_true(sys_fault_hit());
    wait_connections(w, 1);
    assert_true(has(ask(w, &d, "GET /" HOST "\r\n", "\r\n\r\n"), " 200 "));
    client_close(&c);
    client_close(&d);
    world_free(w);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_answered_and_the_connection_kept),
        cmocka_unit_test(a_request_may_come_byte_by_byte),
        cmocka_unit_test(an_answer_has_its_peer_and_extra_headers),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(many_pipelined_requests_all_get_their_answer),
        cmocka_unit_test(pipelined_answers_wait_for_the_reader),
        cmocka_unit_test(a_peer_that_ended_its_side_gets_all_answers),
        cmocka_unit_test(a_peer_that_ended_its_side_is_closed_after_its_answer),
        cmocka_unit_test(a_connection_is_kept_or_closed_as_asked),
        cmocka_unit_test(head_gets_the_length_and_no_body),
        cmocka_unit_test(an_answer_without_content_has_no_length),
        cmocka_unit_test(a_chunked_body_is_put_together),
        cmocka_unit_test(a_refusal_says_why_and_closes),
        cmocka_unit_test(an_empty_chunked_body_needs_no_permission),
        cmocka_unit_test(continue_is_sent_once_the_body_is_wanted),
        cmocka_unit_test(an_answer_before_the_body_closes),
        cmocka_unit_test(a_refusal_reaches_a_client_that_goes_on_sending),
        cmocka_unit_test(a_large_answer_arrives_whole),
        cmocka_unit_test(headers_cannot_be_injected),
        cmocka_unit_test(an_answer_to_a_client_that_has_gone_is_dropped),
        cmocka_unit_test(on_gone_may_answer),
        cmocka_unit_test(a_client_that_goes_within_its_body_is_told_of),
#ifdef HOLDFAST_FAULT
        cmocka_unit_test(a_failing_socket_ends_its_connection_only),
#endif
    };

    return cmocka_run_group_tests_name("wire/http", tests, NULL, NULL);
}
