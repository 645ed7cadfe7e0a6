/* SPDX-License-Identifier: MIT */
/* Promises of wire/http/http_req.h about streamed answers. */
#include "tests/unit/wire/http_world.h"

#include "wire/http/http_sse.h"

#define HOST  " HTTP/1.1\r\nHost: a\r\n"
#define DATE  "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
#define PLAIN "Content-Type: text/plain\r\n"

static void a_stream_is_chunked_and_the_connection_kept(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /stream" HOST "\r\nPOST /echo" HOST "Content-Length: 4\r\n\r\nnext");
    wait_held(w, 1);
    assert_true(http_stream_send(w->held[0], "data: 1\n\n", 9));
    assert_true(http_stream_send(w->held[0], "", 0)); /* an empty piece must not end the stream */
    assert_true(http_stream_send(w->held[0], "0123456789abcdef", 16));
    http_stream_end(w->held[0]);
    assert_string_equal(client_read(w, &c, "next"),
                        "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/event-stream\r\n"
                        "Transfer-Encoding: chunked\r\nX-Extra: 1\r\n\r\n"
                        "9\r\ndata: 1\n\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"
                        "HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 4\r\n\r\nnext");
    client_close(&c);
    world_free(w);
}

static void events_are_framed_line_by_line(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    const char *got;

    (void)state;
    client_send(&c, "GET /later HTTP/1.0\r\n\r\n");
    wait_held(w, 1);
    http_sse_begin(w->held[0]);
    assert_true(http_sse_send(w->held[0], "task", "7", "one\ntwo\r\nthree\rfour"));
    assert_true(http_sse_send(w->held[0], NULL, NULL, ""));
    assert_true(http_sse_beat(w->held[0]));
    http_stream_end(w->held[0]);
    got = client_read(w, &c, "");
    assert_true(has(got, "Content-Type: text/event-stream; charset=utf-8\r\n"));
    assert_true(has(got,
                    "\r\n\r\nevent: task\nid: 7\ndata: one\ndata: two\ndata: three\ndata: four\n\n"
                    "data: \n\n:\n\n"));
    client_close(&c);
    world_free(w);
}

static void a_stream_in_http_1_0_ends_by_closing(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    wait_held(w, 1);
    assert_true(http_stream_send(w->held[0], "data", 4));
    http_stream_end(w->held[0]);
    assert_string_equal(client_read(w, &c, ""),
                        "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/event-stream\r\n"
                        "Connection: close\r\nX-Extra: 1\r\n\r\ndata");
    client_close(&c);
    world_free(w);
}

static void head_of_a_stream_has_no_body(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "HEAD /stream" HOST "\r\n");
    wait_held(w, 1);
    assert_true(http_stream_send(w->held[0], "data", 4));
    http_stream_end(w->held[0]);
    assert_true(
        has(ask(w, &c, "GET /" HOST "\r\n", "text/plain"), "X-Extra: 1\r\n\r\nHTTP/1.1 200 OK"));
    client_close(&c);
    world_free(w);
}

static void a_stream_may_begin_before_the_body(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /early-stream" HOST "\r\n");
    wait_held(w, 1);
    assert_int_equal(w->requests, 0);
    assert_true(http_stream_send(w->held[0], "data", 4));
    client_reset(&c);
    wait_connections(w, 0);
    assert_int_equal(w->gone, 1);
    assert_int_equal(w->gone_unowned, 0);
    assert_false(http_stream_send(w->held[0], "data", 4));
    http_stream_end(w->held[0]);
    world_free(w);
}

static void a_follower_that_leaves_is_gone(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    ask(w, &c, "GET /stream" HOST "\r\n", "\r\n\r\n");
    client_close(&c); /* an orderly close: everything was read */
    wait_connections(w, 0);
    assert_int_equal(w->gone, 1);
    assert_false(http_stream_send(w->held[0], "x", 1));
    http_stream_end(w->held[0]);
    assert_int_equal(http_server_counters(w->server)->open_requests, 0);
    world_free(w);
}

static void a_half_closed_connection_ends_its_stream(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /later" HOST "\r\n");
    shutdown(c.fd, SHUT_WR);
    wait_held(w, 1);
    turns(w, 10);
    http_stream_begin(w->held[0], 200, NULL, "text/event-stream");
    assert_false(http_stream_send(w->held[0], "x", 1));
    http_stream_end(w->held[0]);
    assert_int_equal(http_server_counters(w->server)->connections, 0);
    client_close(&c);
    world_free(w);
}

static void a_follower_that_does_not_read_is_cut_off(void **state)
{
    struct http_limits limits = http_limits_default;
    struct world *w;
    struct client c;
    char piece[4096] = { 0 };
    int sent = 0;

    (void)state;
    limits.stream_max_bytes = 64 * 1024;
    w = world_new(&limits);
    c = client_open(w);
    client_send(&c, "GET /stream" HOST "\r\n");
    wait_held(w, 1);
    while (sent < 10000 && http_stream_send(w->held[0], piece, sizeof(piece))) {
        assert_true(http_stream_pending(w->held[0]) <= limits.stream_max_bytes + 16);
        turns(w, 1);
        sent++;
    }
    assert_in_range(sent, 16, 9999);
    assert_true(http_is_gone(w->held[0]));
    assert_int_equal(refused(w, HTTP_SLOW_READER), 1);
    assert_int_equal(http_server_counters(w->server)->connections, 0);
    assert_int_equal(w->gone, 0); /* the false result has reported it already */
    http_stream_end(w->held[0]);
    client_close(&c);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_chunked_and_the_connection_kept),
        cmocka_unit_test(events_are_framed_line_by_line),
        cmocka_unit_test(a_stream_in_http_1_0_ends_by_closing),
        cmocka_unit_test(head_of_a_stream_has_no_body),
        cmocka_unit_test(a_stream_may_begin_before_the_body),
        cmocka_unit_test(a_follower_that_leaves_is_gone),
        cmocka_unit_test(a_half_closed_connection_ends_its_stream),
        cmocka_unit_test(a_follower_that_does_not_read_is_cut_off),
    };

    return cmocka_run_group_tests_name("wire/http_streams", tests, NULL, NULL);
}
