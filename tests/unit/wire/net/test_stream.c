/* SPDX-License-Identifier: MIT */
#include "wire/net/stream.h"

#include "tests/lib/ends.h"

enum { MB = 1 << 20 };

static bool got_text(const struct end *e, const char *text)
{
    return e->got.len == strlen(text) && !memcmp(buf_data(&e->got), text, e->got.len);
}

static void assert_pattern(const struct end *e, size_t n)
{
    assert_int_equal(e->got.len, n);
    for (size_t i = 0; i < n; i++) {
        if (buf_data(&e->got)[i] != ends_pattern(i))
            fail_msg("byte %zu is wrong", i);
    }
}

static void small_messages_are_echoed(void **state)
{
    struct ends *w = *state;

    w->b.echo = true;
    ends_join_and_open(w);
    for (int i = 1; i <= 3; i++) {
        stream_write(w->a.s, "hello", 5);
        TURN_UNTIL(&w->rig, w->a.got.len == (size_t)i * 5);
    }
    assert_true(got_text(&w->a, "hellohellohello"));
    assert_int_equal(w->a.ends + w->a.breaks + w->b.ends + w->b.breaks, 0);
}

static void what_is_written_before_ready_is_sent_then(void **state)
{
    struct ends *w = *state;

    w->b.echo = true;
    ends_join(w);
    stream_write(w->a.s, "early ", 6);
    stream_write(w->a.s, "bird", 4);
    stream_write(w->b.s, "hello ", 6);
    assert_int_equal(stream_pending(w->a.s), 10);
    TURN_UNTIL(&w->rig, w->a.got.len == 16);
    assert_true(got_text(&w->a, "hello early bird"));
    assert_int_equal(w->a.drains, 1);
    assert_int_equal(w->a.readies, 1);
}

static void ten_megabytes_go_both_ways_at_once(void **state)
{
    struct ends *w = *state;

    w->a.to_send = w->b.to_send = 10 * MB;
    ends_join(w);
    TURN_UNTIL(&w->rig, w->a.got.len == 10 * MB && w->b.got.len == 10 * MB);
    assert_pattern(&w->a, 10 * MB);
    assert_pattern(&w->b, 10 * MB);
    assert_true(w->a.drains > 0);
    assert_int_equal(w->a.breaks + w->b.breaks, 0);
}

/* About so much fits between the two ends; b does not read. */
static void join_with_room(struct ends *w, int bytes)
{
    int fds[2];

    ends_sockets(w, fds);
    (void)setsockopt(fds[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
    (void)setsockopt(fds[1], SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
    ends_make_stream(w, &w->a, fds[0]);
    ends_make_stream(w, &w->b, fds[1]);
    TURN_UNTIL(&w->rig, w->a.readies && w->b.readies);
    stream_pause(w->b.s);
}

static void a_slow_reader_holds_the_writer_back(void **state)
{
    struct ends *w = *state;

    w->limits.out_max = 32768;
    join_with_room(w, 1 * MB);
    w->a.to_send = 10 * MB;
    end_produce(&w->a);
    rig_turns(&w->rig, 200);
    assert_true(w->a.sent < 5 * MB); /* what the kernel's buffers take */
    assert_true(stream_pending(w->a.s) > 0);
    assert_int_equal(w->b.shows, 0);
    stream_resume(w->b.s);
    TURN_UNTIL(&w->rig, w->b.got.len == 10 * MB);
    assert_pattern(&w->b, 10 * MB);
    assert_true(w->a.pending_max <= w->limits.out_max);
}

static void too_much_unread_breaks_the_stream(void **state)
{
    struct ends *w = *state;

    w->limits.in_max = 1000;
    w->b.take_max = 0;
    ends_join_and_open(w);
    w->a.to_send = 999;
    end_produce(&w->a);
    TURN_UNTIL(&w->rig, w->b.shown_max == 999);
    rig_turns(&w->rig, 3);
    assert_int_equal(w->b.breaks, 0);
    w->a.to_send = 5000;
    end_produce(&w->a);
    TURN_UNTIL(&w->rig, w->b.breaks);
    assert_int_equal(w->b.why.code, ERR_LIMIT);
    assert_string_equal(w->b.why.text, "the peer sent 1000 bytes without the end of a message");
    assert_int_equal(w->b.shown_max, 1000);
}

static void what_is_not_taken_is_shown_again_with_more(void **state)
{
    struct ends *w = *state;

    w->limits.in_max = 1000;
    w->b.take_max = 700;
    ends_join_and_open(w);
    w->a.to_send = 100000;
    end_produce(&w->a);
    TURN_UNTIL(&w->rig, w->b.got.len > 98000);
    assert_true(w->b.shown_max <= 1000);
    for (size_t i = 0; i < w->b.got.len; i++)
        assert_int_equal(buf_data(&w->b.got)[i], ends_pattern(i));
    assert_int_equal(w->b.breaks, 0);
}

static void too_much_unsent_breaks_the_stream_but_not_in_the_call(void **state)
{
    struct ends *w = *state;
    char *piece = xalloc(100000);

    w->limits.out_max = 200000;
    ends_join_and_open(w);
    stream_pause(w->b.s);
    for (int i = 0; i < 200; i++) {
        stream_write(w->a.s, piece, 100000);
        assert_true(stream_pending(w->a.s) <= 200000);
        assert_int_equal(w->a.breaks, 0);
    }
    rig_turn(&w->rig);
    assert_int_equal(w->a.breaks, 1);
    assert_int_equal(w->a.why.code, ERR_LIMIT);
    assert_non_null(strstr(w->a.why.text, "more than 200000 bytes wait"));
    free(piece);
}

static void a_paused_stream_is_shown_the_rest_in_the_turn_after_resume(void **state)
{
    struct ends *w = *state;

    w->b.take_max = 2;
    w->b.at = IN_BYTES;
    w->b.deed = DO_PAUSE;
    ends_join_and_open(w);
    stream_write(w->a.s, "abcdef", 6);
    TURN_UNTIL(&w->rig, w->b.got.len == 2);
    stream_write(w->a.s, "gh", 2);
    rig_turns(&w->rig, 5);
    assert_int_equal(w->b.shows, 1);
    w->b.deed = DO_PAUSE;
    stream_resume(w->b.s);
    assert_int_equal(w->b.shows, 1); /* not inside the call */
    TURN_UNTIL(&w->rig, w->b.got.len == 4);
    rig_turns(&w->rig, 5);
    assert_int_equal(w->b.shows, 2);
    w->b.take_max = SIZE_MAX;
    stream_resume(w->b.s);
    TURN_UNTIL(&w->rig, got_text(&w->b, "abcdefgh"));
}

/* One request at a time out of many that came together. */
static void pause_and_resume_in_a_callback_shows_the_rest(void **state)
{
    struct ends *w = *state;

    w->b.take_max = 2;
    w->b.at = IN_BYTES;
    w->b.deed = DO_RESUME;
    w->b.again = true;
    ends_join_and_open(w);
    stream_write(w->a.s, "abcdef", 6);
    TURN_UNTIL(&w->rig, got_text(&w->b, "abcdef"));
    assert_int_equal(w->b.shows, 3);
}

static void a_full_input_that_was_paused_is_shown_before_more_is_read(void **state)
{
    struct ends *w = *state;

    w->limits.in_max = 1000;
    w->b.take_max = 0;
    w->b.at = IN_BYTES;
    w->b.deed = DO_PAUSE;
    ends_join_and_open(w);
    w->a.to_send = 1000;
    end_produce(&w->a);
    for (int i = 0; i < 20 && w->b.shown_max < 1000; i++) {
        rig_turn(&w->rig);
        stream_resume(w->b.s);
        w->b.deed = DO_PAUSE;
    }
    w->a.to_send = 3000;
    end_produce(&w->a);
    rig_turns(&w->rig, 5);
    w->b.take_max = SIZE_MAX;
    w->b.deed = DO_NOTHING;
    stream_resume(w->b.s);
    TURN_UNTIL(&w->rig, w->b.got.len == 3000);
    assert_pattern(&w->b, 3000);
    assert_int_equal(w->b.ends + w->b.breaks, 0);
}

static void the_end_comes_after_all_bytes(void **state)
{
    struct ends *w = *state;

    w->limits.out_max = 20 * MB;
    ends_join_and_open(w);
    w->a.to_send = 5 * MB;
    while (w->a.sent < w->a.to_send) {
        char piece[4096];

        for (size_t i = 0; i < sizeof(piece); i++)
            piece[i] = ends_pattern(w->a.sent + i);
        stream_write(w->a.s, piece, sizeof(piece));
        w->a.sent += sizeof(piece);
    }
    stream_end(w->a.s);
    w->a.s = NULL;
    TURN_UNTIL(&w->rig, w->b.ends);
    assert_pattern(&w->b, 5 * MB);
    assert_int_equal(w->b.breaks, 0);
    assert_true(fd_is_open(w->a.fd)); /* it waits for our end */
    stream_free(w->b.s);
    w->b.s = NULL;
    TURN_UNTIL(&w->rig, !fd_is_open(w->a.fd));
}

static void ending_before_ready_still_delivers(void **state)
{
    struct ends *w = *state;

    ends_join(w);
    stream_write(w->a.s, "last words", 10);
    stream_end(w->a.s);
    w->a.s = NULL;
    TURN_UNTIL(&w->rig, w->b.ends);
    assert_true(got_text(&w->b, "last words"));
    assert_int_equal(w->a.readies, 0);
    stream_end(w->b.s);
    w->b.s = NULL;
    TURN_UNTIL(&w->rig, !fd_is_open(w->b.fd) && !fd_is_open(w->a.fd));
}

static void an_end_that_nobody_answers_is_bounded_in_time(void **state)
{
    struct ends *w = *state;

    ends_join_and_open(w);
    stream_pause(w->b.s);
    stream_end(w->a.s);
    w->a.s = NULL;
    rig_turns(&w->rig, 5);
    assert_true(fd_is_open(w->a.fd));
    rig_pass_ms(&w->rig, w->limits.linger_ms);
    assert_false(fd_is_open(w->a.fd));
}

static void an_end_throws_away_a_bounded_number_of_bytes(void **state)
{
    struct ends *w = *state;

    ends_join_and_open(w);
    w->a.to_send = SIZE_MAX;
    stream_end(w->b.s);
    w->b.s = NULL;
    end_produce(&w->a);
    TURN_UNTIL(&w->rig, w->a.breaks);
    assert_false(fd_is_open(w->b.fd));
    assert_true(w->a.sent > 40 * MB); /* a refused body of that size still gets its answer */
    assert_true(w->a.sent < 80 * MB);
}

/* Closing with bytes unread would reset the connection, and the reset would
 * overtake the answer. */
static void an_answer_survives_a_request_that_was_not_read(void **state)
{
    struct ends *w = *state;

    w->limits.in_max = 1000;
    w->b.at = IN_BYTES;
    w->b.deed = DO_WRITE_AND_END;
    ends_join_and_open(w);
    w->a.to_send = 300000;
    end_produce(&w->a);
    TURN_UNTIL(&w->rig, w->a.ends + w->a.breaks);
    assert_true(got_text(&w->a, "deed"));
    assert_int_equal(w->a.breaks, 0);
}

static void a_reset_breaks_the_stream(void **state)
{
    struct ends *w = *state;
    struct linger hard = { 1, 0 };

    ends_join_and_open(w);
    assert_int_equal(setsockopt(w->a.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)), 0);
    stream_free(w->a.s);
    w->a.s = NULL;
    TURN_UNTIL(&w->rig, w->b.breaks);
    assert_int_equal(w->b.why.sys, ECONNRESET);
    assert_non_null(strstr(w->b.why.text, "read"));
    assert_non_null(strstr(w->b.why.text, "Connection reset by peer"));
}

static void writing_to_a_closed_peer_breaks_also_after_its_end(void **state)
{
    struct ends *w = *state;

    ends_join_and_open(w);
    stream_end(w->a.s);
    w->a.s = NULL;
    TURN_UNTIL(&w->rig, w->b.ends);
    rig_pass_ms(&w->rig, w->limits.linger_ms);
    assert_false(fd_is_open(w->a.fd));
    for (int i = 0; i < 5 && !w->b.breaks; i++) {
        stream_write(w->b.s, "x", 1);
        rig_turn(&w->rig);
    }
    assert_int_equal(w->b.breaks, 1);
    stream_write(w->b.s, "x", 1); /* is ignored */
    assert_int_equal(stream_pending(w->b.s), 0);
}

static void after_the_peer_has_ended_an_answer_is_delivered(void **state)
{
    struct ends *w = *state;
    int fd = ends_join_bare(w);
    char got[8] = "";

    w->b.at = IN_END;
    w->b.deed = DO_WRITE_AND_END;
    assert_int_equal(send(fd, "request", 7, MSG_NOSIGNAL), 7);
    shutdown(fd, SHUT_WR);
    TURN_UNTIL(&w->rig, !fd_is_open(w->b.fd)); /* both ends have ended: nothing to wait for */
    assert_true(got_text(&w->b, "request"));
    assert_int_equal(w->b.ends, 1);
    assert_int_equal(recv(fd, got, sizeof(got), 0), 4);
    assert_string_equal(got, "deed");
    assert_int_equal(recv(fd, got, sizeof(got), 0), 0);
    close(fd);
}

/* Arranges that the callback comes to b. */
static void provoke(struct ends *w, enum place at, bool in_order)
{
    if (at == IN_BYTES)
        stream_write(w->a.s, "some bytes", 10);
    if (at == IN_DRAINED) {
        w->b.to_send = 10 * MB;
        end_produce(&w->b);
    }
    if (at == IN_END && in_order)
        stream_end(w->a.s);
    else if (at == IN_END)
        stream_free(w->a.s);
    if (at == IN_END)
        w->a.s = NULL;
}

static void do_inside(struct ends *w, enum place at, enum deed deed, bool in_order)
{
    w->b.at = at;
    w->b.deed = deed;
    ends_join(w);
    TURN_UNTIL(&w->rig, w->a.readies);
    TURN_UNTIL(&w->rig, w->b.readies);
    if (at == IN_END && !in_order) {
        stream_pause(w->a.s);
        stream_write(w->b.s, "unread", 6); /* so that closing resets */
        rig_turns(&w->rig, 2);
    }
    provoke(w, at, in_order);
    TURN_UNTIL(&w->rig, w->b.gone_inside || w->b.deed == DO_NOTHING);
    rig_turns(&w->rig, 10);
    if (deed == DO_FREE)
        assert_false(fd_is_open(w->b.fd));
    if (deed == DO_WRITE && at != IN_END && at != IN_DRAINED)
        TURN_UNTIL(&w->rig, got_text(&w->a, "deed"));
    if (deed == DO_WRITE_AND_END && at != IN_END && at != IN_DRAINED)
        TURN_UNTIL(&w->rig, got_text(&w->a, "deed") && w->a.ends);
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1);
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1);
    if (w->b.gone_inside)
        assert_false(fd_is_open(w->b.fd));
    end_free(&w->a);
    end_free(&w->b);
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1);
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1);
}

static void a_callback_may_do_anything(void **state)
{
    struct ends *w = *state;

    for (enum place at = IN_READY; at <= IN_END; at++) {
        for (enum deed deed = DO_FREE; deed < DEEDS; deed++) {
            do_inside(w, at, deed, true);
            if (at == IN_END)
                do_inside(w, at, deed, false);
        }
    }
}

/* For each of the two ends; the 21st call would belong to the 11th exchange. */
static void a_small_message_costs_one_read_and_one_write(void **state)
{
    struct ends *w = *state;
    static const char *const calls[] = { "recv", "send" };

    w->b.echo = true;
    ends_join_and_open(w);
    rig_turns(&w->rig, 5); /* TLS hands out its ticket */
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        sys_fault(calls[i], 21, EAGAIN);
        for (size_t k = 1; k <= 11; k++) {
            assert_false(sys_fault_hit());
            buf_free(&w->a.got);
            stream_write(w->a.s, "request", 7);
            TURN_UNTIL(&w->rig, got_text(&w->a, "request"));
        }
        assert_true(sys_fault_hit());
    }
}

/* Two callbacks of a turn, the socket's and the timer's, may each handle the
 * measure, and a record more. */
static void a_busy_stream_leaves_the_others_their_turn(void **state)
{
    struct ends *w = *state;
    size_t seen = 0;

    join_with_room(w, 4 * MB);
    w->a.to_send = 4 * MB;
    end_produce(&w->a);
    TURN_UNTIL(&w->rig, w->a.sent > 1 * MB);
    stream_resume(w->b.s);
    while (w->b.got.len < 2 * MB && w->b.got.len < w->a.sent) {
        rig_turn(&w->rig);
        assert_true(w->b.got.len - seen <= 2 * (256 + 64) * 1024);
        seen = w->b.got.len;
    }
    TURN_UNTIL(&w->rig, w->b.got.len == 4 * MB);
}

/* A record of one byte is as much work as a long one. */
static void many_small_records_leave_the_others_their_turn(void **state)
{
    enum { N = 3000 };
    struct ends *w = *state;
    size_t seen = 0;

    join_with_room(w, 4 * MB);
    for (int i = 0; i < N; i++)
        stream_write(w->a.s, "x", 1);
    TURN_UNTIL(&w->rig, stream_pending(w->a.s) == 0);
    stream_resume(w->b.s);
    for (int i = 0; i < N && w->b.got.len < N; i++) {
        rig_turn(&w->rig);
        assert_true(w->b.got.len - seen < N / 3);
        seen = w->b.got.len;
    }
    assert_int_equal(w->b.got.len, N);
}

/* Wherever the measure ends, what TLS has read ahead by then is shown though
 * nothing more comes. */
static void the_measure_of_a_turn_forgets_nothing(void **state)
{
    struct ends *w = *state;

    w->b.discard = true;
    join_with_room(w, 4 * MB);
    for (size_t more = 0; more < 40000; more += 1600) {
        w->b.taken = w->a.sent = 0;
        w->a.to_send = 256 * 1024 + more;
        end_produce(&w->a);
        TURN_UNTIL(&w->rig, w->a.sent == w->a.to_send && stream_pending(w->a.s) == 0);
        stream_resume(w->b.s);
        TURN_UNTIL(&w->rig, w->b.taken == w->a.to_send);
        stream_pause(w->b.s);
    }
}

/* The socket has room again, but what is kept has to go first. */
static void what_is_written_later_is_sent_later(void **state)
{
    struct ends *w = *state;
    int fd = ends_join_bare(w);
    char got[4096];
    size_t seen = 0;

    w->limits.out_max = 4 * MB;
    TURN_UNTIL(&w->rig, w->b.readies);
    while (stream_pending(w->b.s) == 0) {
        for (size_t i = 0; i < sizeof(got); i++)
            got[i] = ends_pattern(w->b.sent + i);
        stream_write(w->b.s, got, sizeof(got));
        w->b.sent += sizeof(got);
    }
    for (int round = 0; round < 1000 && seen < w->b.sent + 1; round++) {
        ssize_t n = recv(fd, got, sizeof(got), 0);

        for (ssize_t i = 0; i < n; i++, seen++)
            assert_true(got[i] == (seen < w->b.sent ? ends_pattern(seen) : '!'));
        if (round == 100)
            stream_write(w->b.s, "!", 1);
        if (round > 100)
            rig_turn_in(&w->rig, 1, n < 0 ? 1 : 0);
    }
    assert_int_equal(seen, w->b.sent + 1);
    close(fd);
}

/* A whole conversation with the n-th call failing: each end finishes or breaks,
 * and nothing hangs. */
static void converse(struct ends *w)
{
    w->b.echo = true;
    w->b.at = IN_END;
    w->b.deed = DO_END;
    ends_join(w);
    stream_write(w->a.s, "one", 3);
    for (int i = 0; i < 2000 && !w->a.breaks && !w->b.breaks && w->a.got.len < 3; i++)
        rig_turn(&w->rig);
    assert_true(w->a.breaks || w->b.breaks || got_text(&w->a, "one"));
    stream_end(w->a.s);
    w->a.s = NULL;
    for (int i = 0; i < 2000 && !w->b.gone_inside; i++)
        rig_turn(&w->rig);
    assert_true(w->b.gone_inside);
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1);
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1);
    assert_false(fd_is_open(w->a.fd));
    assert_false(fd_is_open(w->b.fd));
    end_free(&w->a);
    end_free(&w->b);
}

static void every_failing_call_has_a_definite_end(void **state)
{
    struct ends *w = *state;
    static const char *const calls[] = { "recv", "send", "getsockopt", "setsockopt", "shutdown" };
    static const int errors[] = { EIO, ECONNRESET, EPIPE, EAGAIN, ENOMEM };

    for (size_t c = 0; c < ARRAY_LEN(calls); c++) {
        for (size_t e = 0; e < ARRAY_LEN(errors); e++) {
            long nth = 0;

            do {
                sys_fault(calls[c], ++nth, errors[e]);
                converse(w);
            } while (sys_fault_hit() && nth < 100);
            assert_true(nth > 1 && nth < 100);
        }
    }
}

#define OVER(transport, name)                                                                      \
    {                                                                                              \
#name " over " transport, name, ends_setup, ends_teardown, (void *)(uintptr_t)transport    \
    }
#define PLAIN(name) OVER("unix", name), OVER("tcp", name)
#define EACH(name)  PLAIN(name), OVER("TLS", name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(small_messages_are_echoed),
        EACH(what_is_written_before_ready_is_sent_then),
        EACH(ten_megabytes_go_both_ways_at_once),
        EACH(a_slow_reader_holds_the_writer_back),
        EACH(too_much_unread_breaks_the_stream),
        EACH(what_is_not_taken_is_shown_again_with_more),
        EACH(too_much_unsent_breaks_the_stream_but_not_in_the_call),
        EACH(a_paused_stream_is_shown_the_rest_in_the_turn_after_resume),
        EACH(pause_and_resume_in_a_callback_shows_the_rest),
        EACH(a_full_input_that_was_paused_is_shown_before_more_is_read),
        EACH(the_end_comes_after_all_bytes),
        EACH(ending_before_ready_still_delivers),
        EACH(an_end_that_nobody_answers_is_bounded_in_time),
        EACH(an_end_throws_away_a_bounded_number_of_bytes),
        EACH(an_answer_survives_a_request_that_was_not_read),
        OVER("tcp", a_reset_breaks_the_stream),
        OVER("TLS", a_reset_breaks_the_stream),
        EACH(writing_to_a_closed_peer_breaks_also_after_its_end),
        PLAIN(after_the_peer_has_ended_an_answer_is_delivered),
        EACH(a_callback_may_do_anything),
        EACH(a_small_message_costs_one_read_and_one_write),
        EACH(a_busy_stream_leaves_the_others_their_turn),
        OVER("TLS", many_small_records_leave_the_others_their_turn),
        EACH(the_measure_of_a_turn_forgets_nothing),
        PLAIN(what_is_written_later_is_sent_later),
        EACH(every_failing_call_has_a_definite_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
