/* SPDX-License-Identifier: MIT */
/* How streams begin: connecting, the handshake, and what goes wrong there. */
#include "tests/lib/ends.h"
#include "wire/net/stream.h"
#include "wire/net/timeslice.h"

/* Connects without waiting; the port of `l` or, with l < 0, one without a listener. */
static int begin_connect(int l)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_int_equal(bind(held, (struct sockaddr *)&at, sizeof(at)), 0); /* does not listen */
    assert_int_equal(getsockname(l < 0 ? held : l, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, len), -1);
    assert_int_equal(errno, EINPROGRESS);
    close(held);
    return fd;
}

static void a_refused_connection_breaks(void **state)
{
    struct ends *w = *state;

    ends_make_stream(w, &w->a, begin_connect(-1));
    stream_write(w->a.s, "hello?", 6);
    TURN_UNTIL(&w->rig, w->a.breaks);
    assert_int_equal(w->a.readies, 0);
    assert_int_equal(w->a.why.sys, ECONNREFUSED);
    assert_string_equal(w->a.why.text, "connect: Connection refused");
}

/* A listener whose queue is full does not answer. */
static void a_connection_that_is_not_answered_times_out(void **state)
{
    struct ends *w = *state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fill[3];

    assert_int_equal(bind(l, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(l, 0), 0);
    for (size_t i = 0; i < ARRAY_LEN(fill); i++)
        fill[i] = begin_connect(l);
    ends_make_stream(w, &w->a, begin_connect(l));
    rig_turns(&w->rig, 5);
    assert_int_equal(w->a.readies + w->a.breaks, 0);
    rig_pass_ms(&w->rig, w->limits.handshake_ms - 10);
    assert_int_equal(w->a.breaks, 0);
    rig_pass_ms(&w->rig, 10);
    TURN_UNTIL(&w->rig, w->a.breaks);
    assert_int_equal(w->a.why.code, ERR_TIMEOUT);
    assert_string_equal(w->a.why.text, "connect: not done within 60000 ms");
    for (size_t i = 0; i < ARRAY_LEN(fill); i++)
        close(fill[i]);
    close(l);
}

static void a_handshake_that_is_not_answered_times_out(void **state)
{
    struct ends *w = *state;
    int fd = ends_join_bare(w);

    rig_turns(&w->rig, 5);
    rig_pass_ms(&w->rig, w->limits.handshake_ms - 10);
    assert_int_equal(w->b.breaks, 0);
    rig_pass_ms(&w->rig, 10);
    TURN_UNTIL(&w->rig, w->b.breaks);
    assert_int_equal(w->b.why.code, ERR_TIMEOUT);
    assert_string_equal(w->b.why.text, "TLS handshake: not done within 60000 ms");
    close(fd);
}

static void a_handshake_that_drips_is_not_given_more_time(void **state)
{
    struct ends *w = *state;
    static const char hello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    int fd = ends_join_bare(w);

    for (size_t i = 0; i + 1 < sizeof(hello); i++) {
        assert_int_equal(send(fd, hello + i, 1, MSG_NOSIGNAL), 1);
        rig_pass_ms(&w->rig, w->limits.handshake_ms / 10);
    }
    TURN_UNTIL(&w->rig, w->b.breaks);
    assert_int_equal(w->b.why.code, ERR_TIMEOUT);
    close(fd);
}

static void an_open_stream_has_no_deadline(void **state)
{
    struct ends *w = *state;

    w->b.echo = true;
    ends_join_and_open(w);
    rig_pass_ms(&w->rig, w->limits.handshake_ms * 10);
    rig_turns(&w->rig, 3);
    stream_write(w->a.s, "still here", 10);
    TURN_UNTIL(&w->rig, w->a.got.len == 10);
}

static void plain_bytes_at_a_tls_port_are_named(void **state)
{
    struct ends *w = *state;
    int fd = ends_join_bare(w);

    assert_int_equal(send(fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    TURN_UNTIL(&w->rig, w->b.breaks);
    assert_int_equal(w->b.readies, 0);
    assert_int_equal(w->b.why.code, ERR_INVALID);
    assert_non_null(strstr(w->b.why.text, "the peer speaks plain HTTP, not TLS"));
    close(fd);
}

static void a_peer_that_leaves_during_the_handshake_breaks_it(void **state)
{
    struct ends *w = *state;

    close(ends_join_bare(w));
    TURN_UNTIL(&w->rig, w->b.breaks);
    assert_int_equal(w->b.why.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(w->b.why.text, "TLS handshake: the peer closed"));
}

static void a_cut_is_told_from_an_end(void **state)
{
    struct ends *w = *state;

    ends_join_and_open(w);
    stream_write(w->a.s, "half of a", 9);
    shutdown(w->a.fd, SHUT_WR); /* behind the stream's back */
    TURN_UNTIL(&w->rig, w->b.breaks);
    assert_int_equal(w->b.got.len, 9);
    assert_int_equal(w->b.ends, 0);
    assert_non_null(strstr(w->b.why.text, "without ending TLS; bytes may be missing"));
}

static void a_wrong_host_is_refused_before_anything_is_sent(void **state)
{
    struct ends *w = *state;
    struct err err = { 0 };
    int fds[2];

    ends_sockets(w, fds);
    ends_make_stream(w, &w->b, fds[1]);
    assert_int_equal(stream_new(w->rig.loop, fds[0], w->client_tls, "other.example", &w->limits,
                                &end_owner, &w->a, &w->a.s, &err),
                     0);
    stream_write(w->a.s, "a secret", 8);
    TURN_UNTIL(&w->rig, w->a.breaks && w->b.breaks);
    assert_int_equal(w->a.why.code, ERR_DENIED);
    assert_non_null(strstr(w->a.why.text, "hostname mismatch"));
    assert_int_equal(w->a.readies + w->b.readies, 0);
    assert_int_equal(w->b.got.len, 0);
}

/* More decrypted bytes than are shown at once must not be forgotten inside. */
static void what_waits_inside_tls_is_shown_without_more_coming(void **state)
{
    struct ends *w = *state;

    w->limits.in_max = 100;
    w->b.take_max = 60;
    w->b.at = IN_BYTES;
    w->b.deed = DO_RESUME;
    w->b.again = true;
    ends_join_and_open(w);
    w->a.to_send = 16000; /* one record */
    end_produce(&w->a);
    TURN_UNTIL(&w->rig, w->b.got.len == 16000);
    assert_true(w->b.shown_max <= 100);
}

static void a_stream_ended_before_it_opened_goes_at_once(void **state)
{
    struct ends *w = *state;

    ends_join(w);
    stream_end(w->a.s);
    w->a.s = NULL;
    assert_false(fd_is_open(w->a.fd));
    rig_turns(&w->rig, 3);
    assert_int_equal(w->a.readies, 0);
}

static void a_stream_that_cannot_be_made_leaves_the_socket(void **state)
{
    struct ends *w = *state;
    struct err err = { 0 };
    int fds[2];

    ends_sockets(w, fds);
    assert_int_equal(stream_new(w->rig.loop, fds[0], w->client_tls, NULL, &w->limits, &end_owner,
                                &w->a, &w->a.s, &err),
                     -1);
    assert_true(fd_is_open(fds[0]));
    assert_null(w->a.s);
    close(fds[0]);
    close(fds[1]);
}

/* The server's side is in line, and its turn comes when the slices have room for one. */
static void a_handshake_waits_for_its_turn(void **state)
{
    static const size_t room[] = { 1, 0 };
    struct ends *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(room); i++) {
        struct timeslice *p =
            timeslice_new(w->rig.loop, &(struct timeslice_limit){ 1000, room[i] });
        int fds[2];

        ends_sockets(w, fds);
        w->limits.timeslice = p;
        ends_make_stream(w, &w->b, fds[1]);
        w->limits.timeslice = NULL;
        ends_make_stream(w, &w->a, fds[0]);
        if (room[i]) {
            TURN_UNTIL(&w->rig, w->a.readies && w->b.readies);
        } else {
            TURN_UNTIL(&w->rig, timeslice_waiting(p) == 1);
            rig_turns(&w->rig, 5);
            assert_int_equal(w->b.readies + w->b.breaks, 0);
            rig_pass_ms(&w->rig, w->limits.handshake_ms); /* time passes in line too */
            TURN_UNTIL(&w->rig, w->b.breaks);
            assert_int_equal(w->b.why.code, ERR_TIMEOUT);
        }
        end_free(&w->a);
        end_free(&w->b);
        assert_int_equal(timeslice_waiting(p), 0);
        timeslice_free(p);
    }
}

static void what_is_not_taken_is_stuck(void **state)
{
    struct ends *w = *state;
    char some[20000] = { 0 };

    ends_join_and_open(w);
    w->b.discard = true;
    stream_pause(w->b.s);
    assert_int_equal(stream_stuck_ms(w->a.s), 0);
    while (stream_pending(w->a.s) == 0) {
        stream_write(w->a.s, some, sizeof(some));
        rig_turn_in(&w->rig, 0, 0);
    }
    TURN_UNTIL(&w->rig, stream_stuck_ms(w->a.s) >= 20); /* and no more of it goes out */
    rig_pass_ms(&w->rig, 5000);
    assert_true(stream_stuck_ms(w->a.s) >= 5000);
    stream_resume(w->b.s);
    TURN_UNTIL(&w->rig, stream_pending(w->a.s) == 0);
    assert_int_equal(stream_stuck_ms(w->a.s), 0);
}

#define OVER(transport, name)                                                                      \
    {                                                                                              \
#name " over " transport, name, ends_setup, ends_teardown, (void *)(uintptr_t)transport    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER("tcp", a_refused_connection_breaks),
        OVER("TLS", a_refused_connection_breaks),
        OVER("tcp", a_connection_that_is_not_answered_times_out),
        OVER("TLS", a_handshake_that_is_not_answered_times_out),
        OVER("TLS", a_handshake_that_drips_is_not_given_more_time),
        OVER("tcp", an_open_stream_has_no_deadline),
        OVER("TLS", an_open_stream_has_no_deadline),
        OVER("TLS", plain_bytes_at_a_tls_port_are_named),
        OVER("TLS", a_peer_that_leaves_during_the_handshake_breaks_it),
        OVER("TLS", a_cut_is_told_from_an_end),
        OVER("TLS", a_wrong_host_is_refused_before_anything_is_sent),
        OVER("TLS", what_waits_inside_tls_is_shown_without_more_coming),
        OVER("tcp", a_stream_ended_before_it_opened_goes_at_once),
        OVER("TLS", a_stream_ended_before_it_opened_goes_at_once),
        OVER("TLS", a_stream_that_cannot_be_made_leaves_the_socket),
        OVER("TLS", a_handshake_waits_for_its_turn),
        OVER("tcp", what_is_not_taken_is_stuck),
        OVER("TLS", what_is_not_taken_is_stuck),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
