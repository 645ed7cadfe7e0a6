/* SPDX-License-Identifier: MIT */
/* Promises of wire/http/http.h about time, memory, limits and shutdown. */
#include "base/os/sys.h"
#include "tests/unit/wire/http_world.h"
#include "wire/net/stream.h"

#define HOST " HTTP/1.1\r\nHost: a\r\n"

/* ---- deadlines ---- */

static void a_client_that_says_nothing_is_closed_silently(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    pass_time(w, 9999);
    assert_false(client_take(&c) || c.ended);
    pass_time(w, 1);
    assert_string_equal(client_read(w, &c, ""), "");
    assert_int_equal(http_server_counters(w->server)->connections, 1);
    client_close(&c);
    turns(w, 3);
    assert_int_equal(http_server_counters(w->server)->connections, 0);
    world_free(w);
}

/* A closing connection counts until the peer has closed too, or its time is up. */
static void a_connection_being_closed_counts_until_it_is(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "nonsense\r\n\r\n");
    assert_true(has(client_read(w, &c, ""), "400"));
    pass_time(w, http_limits_default.linger_ms - 1);
    assert_int_equal(http_server_counters(w->server)->connections, 1);
    pass_time(w, 1);
    assert_int_equal(http_server_counters(w->server)->connections, 0);
    client_close(&c);
    world_free(w);
}

/* A byte from time to time does not extend the deadline. */
static void a_slow_head_is_refused(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < 9; i++) {
        pass_time(w, 1000);
        client_send(&c, "X: y\r\n");
    }
    pass_time(w, 999);
    assert_false(client_take(&c) || c.ended);
    pass_time(w, 1);
    assert_true(has(client_read(w, &c, ""), " 408 "));
    assert_int_equal(refused(w, HTTP_LATE_HEAD), 1);
    client_close(&c);
    world_free(w);
}

static void a_later_head_has_its_time_from_its_first_byte(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    ask(w, &c, "GET /" HOST "\r\n", "\r\n\r\n");
    pass_time(w, 60000);
    client_send(&c, "GET ");
    turns(w, 5);
    pass_time(w, 9999);
    assert_true(has(ask(w, &c, "/" HOST "\r\n", "\r\n\r\n"), " 200 "));
    pass_time(w, 60000);
    client_send(&c, "GET ");
    turns(w, 5);
    pass_time(w, 10000);
    buf_free(&c.in);
    assert_true(has(client_read(w, &c, ""), " 408 "));
    client_close(&c);
    world_free(w);
}

static void an_idle_connection_is_closed_after_75_s(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    ask(w, &c, "GET /" HOST "\r\n", "\r\n\r\n");
    buf_free(&c.in);
    pass_time(w, 74999);
    assert_false(client_take(&c) || c.ended);
    pass_time(w, 1);
    assert_string_equal(client_read(w, &c, ""), "");
    client_close(&c);
    world_free(w);
}

static void a_request_in_work_has_all_the_time_its_owner_takes(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /later" HOST "\r\n");
    wait_held(w, 1);
    pass_time(w, 3600 * 1000);
    answer_text(w->held[0], "at last");
    assert_true(has(client_read(w, &c, "at last"), " 200 "));
    client_close(&c);
    world_free(w);
}

static void a_slow_body_is_refused_after_its_grace(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "POST /" HOST "Content-Length: 4000\r\n\r\nx");
    turns(w, 5);
    pass_time(w, 10000); /* the grace period */
    assert_false(client_take(&c) || c.ended);
    client_send(&c, "xxxxxxxxxx");
    pass_time(w, 10000);
    assert_true(has(client_read(w, &c, ""), " 408 "));
    assert_true(has(buf_text(&c.in), "body: too slow"));
    assert_int_equal(refused(w, HTTP_SLOW_BODY), 1);
    assert_int_equal(w->gone_unowned, 1);
    client_close(&c);
    world_free(w);
}

static void a_steady_body_may_take_long(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    char piece[10240] = { 0 }; /* 1 KiB/s over 10 s */

    (void)state;
    client_send(&c, "POST /huge" HOST "Content-Length: 102400\r\n\r\n");
    turns(w, 5);
    for (int i = 0; i < 10; i++) {
        pass_time(w, 9000);
        assert_int_equal(send(c.fd, piece, sizeof(piece), 0), sizeof(piece));
        turns(w, 5);
        pass_time(w, 1000);
    }
    wait_held(w, 1);
    assert_int_equal(w->held[0]->body.len, 102400);
    answer_text(w->held[0], "done");
    assert_true(has(client_read(w, &c, "done"), " 200 "));
    client_close(&c);
    world_free(w);
}

/* More than the socket buffers hold. */
static void emptied(void *arg)
{
    struct world *w = arg;

    w->emptied++;
}

static struct world *world_with_large_answer(const struct http_limits *limits)
{
    struct world *w = world_new(limits);

    w->large.len = 32 << 20;
    w->large.block = xalloc(w->large.len);
    w->large.cap = w->large.len;
    return w;
}

static void a_client_that_does_not_read_its_answer_is_cut_off(void **state)
{
    struct world *w = world_with_large_answer(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /large" HOST "\r\n");
    turns(w, 100);
    pass_time(w, 29999);
    assert_int_equal(http_server_counters(w->server)->connections, 1);
    pass_time(w, 1);
    wait_connections(w, 0);
    assert_int_equal(refused(w, HTTP_SLOW_READER), 1);
    client_close(&c);
    world_free(w);
}

static void a_client_that_reads_slowly_gets_its_answer(void **state)
{
    struct world *w = world_with_large_answer(NULL);
    struct client c = client_open(w);
    int pauses = 0;

    (void)state;
    client_send(&c, "GET /large" HOST "Connection: close\r\n\r\n");
    for (int i = 0; i < TURNS_MAX && !c.ended; i++) {
        turns(w, 20);
        for (int k = 0; k < 80 && client_take(&c); k++)
            ;
        turns(w, 20);
        if (c.in.len < w->large.len) {
            pass_time(w, 29000);
            pauses++;
        }
    }
    assert_true(c.ended && pauses > 2);
    assert_true(c.in.len > w->large.len);
    assert_int_equal(refused(w, HTTP_SLOW_READER), 0);
    client_close(&c);
    world_free(w);
}

/* Reading a byte from time to time is not enough progress. */
static void a_client_that_dribbles_is_cut_off(void **state)
{
    struct world *w = world_with_large_answer(NULL);
    struct client c = client_open(w);
    char byte;

    (void)state;
    client_send(&c, "GET /large" HOST "\r\n");
    turns(w, 50);
    for (int i = 0; i < 4 && !refused(w, HTTP_SLOW_READER); i++) {
        assert_int_equal(read(c.fd, &byte, 1), 1);
        turns(w, 5);
        pass_time(w, http_limits_default.write_ms);
    }
    assert_int_equal(refused(w, HTTP_SLOW_READER), 1);
    client_close(&c);
    world_free(w);
}

static void answers_share_one_budget(void **state)
{
    struct http_limits limits = http_limits_default;
    struct world *w;
    struct client a, b;

    (void)state;
    limits.answer_budget_bytes = 48 * 1024 * 1024;
    w = world_with_large_answer(&limits);
    a = client_open(w);
    b = client_open(w);
    client_send(&a, "GET /copy" HOST "\r\n");
    turns(w, 50);
    assert_true(http_server_counters(w->server)->answer_bytes >= w->large.len);
    assert_true(has(ask(w, &b, "GET /copy" HOST "\r\n", "\r\n\r\n"), " 503 "));
    client_close(&a);
    turns(w, 5);
    assert_int_equal(http_server_counters(w->server)->answer_bytes, 0);
    client_close(&b);
    world_free(w);
}

/* Requests that were received before the drain do not delay it. */
static void a_connection_that_was_being_answered_does_not_hold_up_a_drain(void **state)
{
    struct world *w = world_with_large_answer(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "GET /large" HOST "\r\n");
    turns(w, 50);
    http_server_drain(w->server, emptied, w);
    while (!c.ended && c.in.len < w->large.len + 4096) {
        client_take(&c);
        turns(w, 1);
    }
    client_close(&c);
    turns(w, 5);
    assert_int_equal(w->emptied, 1);
    world_free(w);
}

static void a_slow_reader_of_a_posts_answer_has_no_more_time(void **state)
{
    struct world *w = world_with_large_answer(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "POST /large" HOST "Content-Length: 4000\r\n\r\n");
    for (int i = 0; i < 4000; i++)
        client_send(&c, "x");
    turns(w, 50);
    pass_time(w, http_limits_default.write_ms);
    assert_int_equal(refused(w, HTTP_SLOW_READER), 1);
    client_close(&c);
    world_free(w);
}

static void a_follower_that_stops_reading_is_cut_off_in_time(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);
    char piece[4096] = { 0 };

    (void)state;
    client_send(&c, "GET /stream" HOST "\r\n");
    wait_held(w, 1);
    pass_time(w, 3600 * 1000); /* an idle stream is not closed */
    for (int i = 0; i < 10000 && !http_stream_pending(w->held[0]); i++)
        assert_true(http_stream_send(w->held[0], piece, sizeof(piece)));
    assert_true(http_stream_pending(w->held[0]) > 0);
    pass_time(w, 29999);
    assert_false(http_is_gone(w->held[0]));
    pass_time(w, 1);
    assert_true(http_is_gone(w->held[0]));
    assert_int_equal(w->gone, 1);
    http_stream_end(w->held[0]);
    client_close(&c);
    world_free(w);
}

/* ---- limits ---- */

static void connections_are_capped(void **state)
{
    struct http_limits limits = http_limits_default;
    struct client c[3];
    struct world *w;

    (void)state;
    limits.connections_max = 2;
    w = world_new(&limits);
    for (int i = 0; i < 3; i++)
        c[i] = client_open(w);
    assert_true(has(client_read(w, &c[2], ""), "503 Service Unavailable\r\nConnection: close\r\n"));
    assert_int_equal(refused(w, HTTP_CONNECTIONS), 1);
    assert_true(has(ask(w, &c[1], "GET /" HOST "\r\n", "\r\n\r\n"), " 200 "));
    client_close(&c[0]);
    wait_connections(w, 1);
    client_close(&c[2]);
    c[2] = client_open(w);
    assert_true(has(ask(w, &c[2], "GET /" HOST "\r\n", "\r\n\r\n"), " 200 "));
    client_close(&c[1]);
    client_close(&c[2]);
    world_free(w);
}

static void connections_of_one_address_are_capped(void **state)
{
    struct http_limits limits = http_limits_default;
    struct client a, b, other;
    struct world *w;

    (void)state;
    limits.per_address_max = 1;
    w = world_new(&limits);
    a = client_open_from(w, "127.0.0.2:0");
    b = client_open_from(w, "127.0.0.2:0");
    other = client_open_from(w, "127.0.0.3:0");
    assert_true(has(client_read(w, &b, ""), " 503 "));
    assert_int_equal(refused(w, HTTP_PER_ADDRESS), 1);
    assert_true(has(ask(w, &other, "GET /" HOST "\r\n", "\r\n\r\n"), " 200 "));
    client_close(&a);
    client_close(&b);
    wait_connections(w, 1);
    a = client_open_from(w, "127.0.0.2:0");
    assert_true(has(ask(w, &a, "GET /" HOST "\r\n", "\r\n\r\n"), " 200 "));
    client_close(&a);
    client_close(&other);
    world_free(w);
}

static void bodies_share_one_budget(void **state)
{
    struct http_limits limits = http_limits_default;
    struct client a, b;
    struct world *w;

    (void)state;
    limits.body_budget_bytes = 10;
    w = world_new(&limits);
    a = client_open(w);
    b = client_open(w);
    client_send(&a, "POST /later" HOST "Content-Length: 8\r\n\r\n12345678");
    wait_held(w, 1);
    assert_int_equal(http_server_counters(w->server)->body_bytes, 8);
    assert_true(has(ask(w, &b, "POST /" HOST "Content-Length: 3\r\n\r\n123", ""), " 503 "));
    assert_int_equal(refused(w, HTTP_OVER_BUDGET), 1);
    answer_text(w->held[0], "done");
    assert_int_equal(http_server_counters(w->server)->body_bytes, 0);
    client_close(&b);
    b = client_open(w);
    assert_true(has(ask(w, &b, "POST /" HOST "Content-Length: 3\r\n\r\n123", "\r\n\r\n"), " 200 "));
    client_close(&a);
    client_close(&b);
    world_free(w);
}

static void memory_grows_with_what_has_come(void **state)
{
    struct world *w = world_new(NULL);
    struct client c = client_open(w);

    (void)state;
    client_send(&c, "POST /huge" HOST "Content-Length: 41943040\r\n\r\nabc");
    turns(w, 10);
    assert_int_equal(http_server_counters(w->server)->body_bytes, 3);
    client_close(&c);
    wait_connections(w, 0);
    assert_int_equal(http_server_counters(w->server)->body_bytes, 0);
    world_free(w);
}

/* ---- shutdown ---- */

static void draining_lets_requests_finish(void **state)
{
    struct world *w = world_new(NULL);
    struct client idle = client_open(w), busy = client_open(w), late = client_open(w);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    ask(w, &idle, "GET /" HOST "\r\n", "\r\n\r\n");
    client_send(&busy, "GET /later" HOST "\r\n");
    client_send(&late, "GET /echo" HOST);
    wait_held(w, 1);
    turns(w, 5);
    http_server_drain(w->server, emptied, w);
    client_read(w, &idle, "");
    assert_int_equal(connect(fd, &w->at.u.any, w->at.len), -1);
    close(fd);
    assert_true(has(ask(w, &late, "\r\n", ""), "Connection: close\r\n"));
    assert_int_equal(w->emptied, 0);
    answer_text(w->held[0], "done");
    assert_true(has(client_read(w, &busy, ""), "Connection: close\r\n"));
    turns(w, 3);
    assert_int_equal(w->emptied, 0); /* the answers may not be sent yet */
    client_close(&idle);
    client_close(&busy);
    client_close(&late);
    turns(w, 3);
    assert_int_equal(w->emptied, 1);
    world_free(w);
}

static void draining_an_empty_server_says_so(void **state)
{
    struct world *w = world_new(NULL);

    (void)state;
    http_server_drain(w->server, emptied, w);
    assert_int_equal(w->emptied, 0); /* by the loop, not by http_server_drain() */
    turns(w, 3);
    assert_int_equal(w->emptied, 1);
    world_free(w);
}

static void requests_outlive_their_server(void **state)
{
    struct world *w = world_new(NULL);
    struct client a = client_open(w), b = client_open(w), c = client_open(w);

    (void)state;
    client_send(&a, "GET /later" HOST "\r\n");
    client_send(&b, "GET /stream" HOST "\r\n");
    client_send(&c, "POST /later" HOST "Content-Length: 9\r\n\r\nabc");
    wait_held(w, 2);
    turns(w, 5);
    http_server_free(w->server);
    w->server = NULL;
    assert_int_equal(w->gone, 3);
    assert_int_equal(w->gone_unowned, 1);
    for (size_t i = 0; i < w->n_held; i++) {
        assert_true(http_is_gone(w->held[i]));
        if (!strcmp(w->held[i]->head.path, "/later"))
            answer_text(w->held[i], "to nobody");
        else
            http_stream_end(w->held[i]);
    }
    client_close(&a);
    client_close(&b);
    client_close(&c);
    world_free(w);
}

/* ---- TLS ---- */

struct tls_client {
    struct stream *stream;
    struct buf in;
    bool ended;
};

static size_t tls_bytes(void *arg, const char *bytes, size_t n)
{
    struct tls_client *c = arg;

    buf_add(&c->in, bytes, n);
    return n;
}

static void tls_end(void *arg, const struct err *why)
{
    struct tls_client *c = arg;

    assert_null(why);
    c->ended = true;
}

static void make_tls(struct tls **ret_server, struct tls **ret_client)
{
    static const char *const names[] = { "localhost", NULL };
    char dir[] = "/tmp/holdfast-http-XXXXXX", cert[64], key[64];
    struct tls_config config = { .cert_path = cert, .key_path = key };
    struct tls_config trust = { .ca_path = cert };
    struct err err = { 0 };

    assert_non_null(mkdtemp(dir));
    snprintf(cert, sizeof(cert), "%s/cert", dir);
    snprintf(key, sizeof(key), "%s/key", dir);
    assert_int_equal(tls_make_self_signed(cert, key, names, 1, &err), 0);
    assert_int_equal(tls_server_new(&config, ret_server, &err), 0);
    assert_int_equal(tls_client_new(&trust, ret_client, &err), 0);
    unlink(cert);
    unlink(key);
    rmdir(dir);
}

static void requests_come_over_tls_too(void **state)
{
    static const struct stream_owner owner = { tls_bytes, NULL, tls_end, NULL };
    static const struct stream_limits limits = { 1 << 20, 1 << 20, 10000, 1000 };
    static const char text[] = "POST /echo" HOST "Content-Length: 5\r\n\r\nhello"
                               "GET /large" HOST "Connection: close\r\n\r\n";
    struct world *w = xalloc(sizeof(*w));
    struct tls_client c = { 0 };
    struct tls *server, *client;
    struct err err;
    int fd;

    (void)state;
    make_tls(&server, &client);
    listen_with(w, NULL, server);
    for (int i = 0; i < 500000; i++)
        buf_add(&w->large, &i, sizeof(i));
    fd = sys_socket(AF_INET, SOCK_STREAM, 0);
    (void)sys_connect(fd, &w->at.u.any, w->at.len);
    assert_int_equal(
        stream_new(w->loop, fd, client, "localhost", &limits, &owner, &c, &c.stream, &err), 0);
    stream_write(c.stream, text, sizeof(text) - 1);
    for (int i = 0; i < TURNS_MAX && !c.ended; i++)
        pass_time(w, 1);
    assert_true(c.ended && has(buf_text(&c.in), "\r\n\r\nhelloHTTP/1.1 200 OK"));
    assert_memory_equal(buf_data(&c.in) + c.in.len - w->large.len, buf_data(&w->large),
                        w->large.len);
    stream_free(c.stream);
    buf_free(&c.in);
    world_free(w);
    tls_free(server);
    tls_free(client);
}

static bool is_closed(const struct client *c)
{
    char byte;

    return recv(c->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

/* The connections that the server has closed, as "0101". */
static const char *closed(const struct client *c, size_t n, char to[16])
{
    for (size_t i = 0; i < n; i++)
        to[i] = is_closed(&c[i]) ? '1' : '0';
    to[n] = '\0';
    return to;
}

/* When all connections are in use, callers without a ClientHello make room for others: the
 * oldest caller of the host with the most of them first. */
static void the_host_with_most_silent_callers_makes_room(void **state)
{
    static const char *const from[] = { "127.0.0.2:0", "127.0.0.3:0", "127.0.0.3:0",
                                        "127.0.0.3:0", "127.0.0.4:0", "127.0.0.5:0",
                                        "127.0.0.6:0", "127.0.0.7:0", "127.0.0.8:0" };
    static const char *const left[] = { "000000000", "010000000", "011000000", "111000000" };
    enum { ROOM = 6, ALL = ARRAY_LEN(from) };
    struct http_limits limits = http_limits_default;
    struct world *w = xalloc(sizeof(*w));
    struct tls *server, *client;
    struct client c[ALL];
    char text[16];

    (void)state;
    limits.connections_max = ROOM;
    make_tls(&server, &client);
    listen_with(w, &limits, server);
    for (size_t i = 0; i < ALL; i++) {
        size_t n = i < ROOM ? 0 : i - ROOM + 1;

        if (i == ROOM) { /* before that their ClientHello may be on the way */
            struct client late = client_open_from(w, "127.0.0.9:0");

            assert_int_equal(refused(w, HTTP_CONNECTIONS), 1);
            client_close(&late);
            pass_time(w, 100);
        }
        c[i] = client_open_from(w, from[i]);
        assert_int_equal(http_server_counters(w->server)->accepted, i + 1);
        assert_memory_equal(closed(c, i + 1, text), left[n], i + 1);
    }
    for (size_t i = 0; i < ALL; i++)
        client_close(&c[i]);
    world_free(w);
    tls_free(server);
    tls_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_that_says_nothing_is_closed_silently),
        cmocka_unit_test(a_connection_being_closed_counts_until_it_is),
        cmocka_unit_test(a_slow_head_is_refused),
        cmocka_unit_test(a_later_head_has_its_time_from_its_first_byte),
        cmocka_unit_test(an_idle_connection_is_closed_after_75_s),
        cmocka_unit_test(a_request_in_work_has_all_the_time_its_owner_takes),
        cmocka_unit_test(a_slow_body_is_refused_after_its_grace),
        cmocka_unit_test(a_steady_body_may_take_long),
        cmocka_unit_test(a_client_that_does_not_read_its_answer_is_cut_off),
        cmocka_unit_test(a_client_that_reads_slowly_gets_its_answer),
        cmocka_unit_test(a_client_that_dribbles_is_cut_off),
        cmocka_unit_test(answers_share_one_budget),
        cmocka_unit_test(a_connection_that_was_being_answered_does_not_hold_up_a_drain),
        cmocka_unit_test(a_slow_reader_of_a_posts_answer_has_no_more_time),
        cmocka_unit_test(a_follower_that_stops_reading_is_cut_off_in_time),
        cmocka_unit_test(connections_are_capped),
        cmocka_unit_test(connections_of_one_address_are_capped),
        cmocka_unit_test(bodies_share_one_budget),
        cmocka_unit_test(memory_grows_with_what_has_come),
        cmocka_unit_test(draining_lets_requests_finish),
        cmocka_unit_test(draining_an_empty_server_says_so),
        cmocka_unit_test(requests_outlive_their_server),
        cmocka_unit_test(requests_come_over_tls_too),
        cmocka_unit_test(the_host_with_most_silent_callers_makes_room),
    };

    return cmocka_run_group_tests_name("wire/http_limits", tests, NULL, NULL);
}
