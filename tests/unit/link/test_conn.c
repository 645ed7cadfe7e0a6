/* SPDX-License-Identifier: MIT */
#include "link/conn.h"

#include "tests/lib/ends.h"
#include "wire/net/frame.h"

enum { SEEN_MAX = 4096 };

enum side_deed { SIDE_NOTHING, SIDE_FREE, SIDE_END, SIDE_ANSWER };

/* One end of a connection, and what it has received. */
struct side {
    struct conn *c; /* NULL: freed */
    int readies, ends, closes;
    struct err why;
    bool has_why;
    size_t n;
    unsigned types[SEEN_MAX];
    int64_t numbers[SEEN_MAX]; /* of pings; of errors: the type they are about */
    struct message_error error;
    char error_text[256];
    bool drop_at_end;    /* conn_free() rather than conn_end() in on_end() */
    size_t at;           /* index of a message, from 1; 0: when the connection is ready */
    enum side_deed deed; /* what to do then */
};

struct world {
    struct ends *ends;
    struct side a, b; /* client, server */
};

static void act(struct side *s, size_t at)
{
    struct conn *c = s->c;

    if (s->deed == SIDE_NOTHING || s->at != at)
        return;
    if (s->deed == SIDE_ANSWER) {
        conn_refuse(c, MESSAGE_PING, ERR_DENIED, 7, "no");
        return;
    }
    s->c = NULL;
    if (s->deed == SIDE_FREE)
        conn_free(c);
    else
        conn_end(c);
}

static void on_ready(void *arg)
{
    struct side *s = arg;

    s->readies++;
    act(s, 0);
}

static void on_message(void *arg, unsigned type, const void *message)
{
    struct side *s = arg;

    assert_non_null(s->c); /* no callback after it was freed */
    assert_int_equal(s->ends, 0);
    assert_true(s->n < SEEN_MAX);
    s->types[s->n] = type;
    if (type == MESSAGE_ERROR) {
        s->error = *(const struct message_error *)message;
        snprintf(s->error_text, sizeof(s->error_text), "%s", s->error.text);
        s->numbers[s->n] = s->error.type;
    } else {
        s->numbers[s->n] = ((const struct message_ping *)message)->server_ms;
    }
    s->n++;
    act(s, s->n);
}

static void on_end(void *arg, const struct err *why)
{
    struct side *s = arg;
    struct conn *c = s->c;

    assert_non_null(c);
    s->ends++;
    s->has_why = why != NULL;
    if (why)
        s->why = *why;
    s->c = NULL;
    if (s->drop_at_end)
        conn_free(c);
    else
        conn_end(c);
}

static void on_closed(void *arg)
{
    ((struct side *)arg)->closes++;
}

static const struct conn_owner owner = { on_ready, on_message, on_end, on_closed };

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));
    void *ends = *state;

    ends_setup(&ends);
    w->ends = ends;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *ends = w->ends;

    conn_free(w->a.c);
    conn_free(w->b.c);
    rig_turns(&w->ends->rig, 3);
    ends_teardown(&ends);
    free(w);
    return 0;
}

static struct rig *rig_of(struct world *w)
{
    return &w->ends->rig;
}

static void make_side(struct world *w, struct side *s, int fd)
{
    bool is_client = s == &w->a;
    struct tls *tls = is_client ? w->ends->client_tls : w->ends->server_tls;
    const struct conn_means means = { 0 };
    struct err err = { 0 };

    if (is_client ? conn_new(rig_of(w)->loop, fd, tls, "localhost", &owner, s, &s->c, &err)
                  : conn_new_by(rig_of(w)->loop, fd, tls, &means, &owner, s, &s->c, &err))
        fail_msg("%s", err.text);
}

static void join(struct world *w)
{
    int fds[2];

    ends_sockets(w->ends, fds);
    make_side(w, &w->a, fds[0]);
    make_side(w, &w->b, fds[1]);
}

/* The server's side, with a plain socket as its peer. */
static int join_bare(struct world *w)
{
    int fds[2];

    ends_sockets(w->ends, fds);
    make_side(w, &w->b, fds[1]);
    TURN_UNTIL(rig_of(w), w->b.readies);
    return fds[0];
}

static void send_ping(struct conn *c, int64_t number)
{
    const struct message_ping p = { number, 0 };

    conn_send(c, MESSAGE_PING, &message_ping_shape, &p);
}

/* ---- messages ---- */

static void messages_arrive_as_they_were_sent(void **state)
{
    struct world *w = *state;

    join(w);
    send_ping(w->a.c, 11); /* queued until the handshake is done */
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies && w->b.n == 1);
    assert_int_equal(w->b.numbers[0], 11);
    conn_refuse(w->b.c, MESSAGE_HELLO, ERR_DENIED, -1, "not you");
    TURN_UNTIL(rig_of(w), w->a.n == 1);
    assert_int_equal(w->a.types[0], MESSAGE_ERROR);
    assert_int_equal(w->a.error.type, MESSAGE_HELLO);
    assert_int_equal(w->a.error.code, ERR_DENIED);
    assert_int_equal(w->a.error.retry_ms, -1);
    assert_string_equal(w->a.error_text, "not you");
    assert_int_equal(w->a.ends + w->b.ends, 0);
}

/* All unknown types of a peer are counted as one. */
static void messages_are_counted_by_type(void **state)
{
    struct conn_counters at_a = { 0 }, at_b = { 0 };
    const struct message_ping p = { 0 };
    struct world *w = *state;

    join(w);
    conn_set_counters(w->a.c, &at_a);
    conn_set_counters(w->b.c, &at_b);
    send_ping(w->a.c, 1);
    send_ping(w->a.c, 2);
    conn_send(w->a.c, 31, &message_ping_shape, &p);
    conn_send(w->a.c, 200, &message_ping_shape, &p);
    TURN_UNTIL(rig_of(w), w->b.n == 2 && w->a.n == 2);
    assert_int_equal(at_a.frames[CONN_OUT][MESSAGE_PING], 2);
    assert_int_equal(at_b.frames[CONN_IN][MESSAGE_PING], 2);
    assert_int_equal(at_a.bytes[CONN_OUT][MESSAGE_PING], at_b.bytes[CONN_IN][MESSAGE_PING]);
    assert_true(at_b.bytes[CONN_IN][MESSAGE_PING] > 2 * FRAME_HEAD_SIZE);
    assert_int_equal(at_b.frames[CONN_IN][0], 2);
    assert_int_equal(at_b.frames[CONN_OUT][MESSAGE_ERROR], 2);
    assert_int_equal(at_a.frames[CONN_IN][MESSAGE_ERROR], 2);
    conn_free(w->a.c); /* before the counters are freed */
    conn_free(w->b.c);
    w->a.c = w->b.c = NULL;
}

static void many_arrive_in_their_order(void **state)
{
    struct world *w = *state;

    join(w);
    for (int i = 0; i < 4000; i++)
        send_ping(w->a.c, i);
    TURN_UNTIL(rig_of(w), w->b.n == 4000);
    for (int i = 0; i < 4000; i++)
        assert_int_equal(w->b.numbers[i], i);
}

/* One send() call for all messages of a turn. */
static void messages_of_one_turn_are_sent_together(void **state)
{
    struct world *w = *state;

    join(w);
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies);
    send_ping(w->a.c, 1);
    assert_true(conn_pending(w->a.c) > 0);
    for (int i = 2; i <= 100; i++)
        send_ping(w->a.c, i);
    sys_fault("send", 2, EPIPE);
    TURN_UNTIL(rig_of(w), w->b.n == 100);
    assert_false(sys_fault_hit());
    sys_fault("send", 0, 0);
    assert_int_equal(conn_pending(w->a.c), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(w->b.numbers[i], i + 1);
}

static void a_type_that_is_not_known_is_answered_and_passed_over(void **state)
{
    struct world *w = *state;
    const struct message_ping p = { 0 };

    join(w);
    conn_send(w->a.c, 0, &message_ping_shape, &p);
    conn_send(w->a.c, 200, &message_ping_shape, &p);
    send_ping(w->a.c, 3);
    TURN_UNTIL(rig_of(w), w->b.n == 1 && w->a.n == 2);
    assert_int_equal(w->b.numbers[0], 3);
    assert_int_equal(w->a.types[0], MESSAGE_ERROR);
    assert_int_equal(w->a.numbers[0], 0);
    assert_int_equal(w->a.numbers[1], 200);
    assert_int_equal(w->a.error.code, ERR_NOT_FOUND);
    assert_int_equal(w->a.error.retry_ms, 0);
    assert_string_equal(w->a.error_text, "messages of type 200 are not known here");
    assert_int_equal(w->a.ends + w->b.ends, 0);
}

static void it_knows_when_it_last_heard_something(void **state)
{
    struct world *w = *state;
    int64_t before_ms;

    join(w);
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies);
    before_ms = conn_heard_ms(w->b.c);
    rig_pass_ms(rig_of(w), 5000);
    assert_int_equal(conn_heard_ms(w->b.c), before_ms);
    send_ping(w->a.c, 1);
    TURN_UNTIL(rig_of(w), w->b.n == 1);
    assert_true(conn_heard_ms(w->b.c) >= before_ms + 5000);
}

static void the_peer_is_known_by_its_certificate(void **state)
{
    struct world *w = *state;
    struct cert_facts facts;
    struct err err = { 0 };

    join(w);
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies);
    assert_int_equal(conn_peer(w->a.c, &facts, &err), w->ends->over == OVER_TLS ? 0 : -1);
    assert_int_equal(conn_peer(w->b.c, &facts, &err), -1); /* the peer has no certificate */
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

/* ---- bytes ---- */

static void add_frame(struct buf *to, uint8_t type, uint64_t seq, const char *body)
{
    struct err err;
    size_t mark = frame_begin(to, type, 0, seq);

    buf_puts(to, body);
    assert_int_equal(frame_end(to, mark, &err), 0);
}

static void put(int fd, const void *bytes, size_t n)
{
    assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* What the plain peer has received: one error, then the end. */
static struct message_error told(struct world *w, int fd, struct arena *a)
{
    struct message_error e = { 0 };
    struct buf got = { 0 };
    struct err err = { 0 };
    struct frame f;
    size_t used;
    ssize_t n = -1;
    char piece[4096];

    for (int i = 0; i < 1000 && n != 0; i++) {
        n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
        if (n > 0)
            buf_add(&got, piece, (size_t)n);
        rig_turn(rig_of(w));
    }
    assert_int_equal(n, 0);
    assert_int_equal(frame_read(buf_data(&got), got.len, &f, &used, &err), FRAME_READY);
    assert_int_equal(used, got.len);
    assert_int_equal(f.type, MESSAGE_ERROR);
    assert_int_equal(f.seq, 1);
    if (shape_read(&message_error_shape, f.body, f.body_n, SHAPE_STRICT, a, &e, &err))
        fail_msg("%s", err.text);
    buf_free(&got);
    return e;
}

static void a_frame_may_come_byte_by_byte(void **state)
{
    struct world *w = *state;
    struct buf bytes = { 0 };
    int fd = join_bare(w);

    add_frame(&bytes, MESSAGE_PING, 1, "{\"server_ms\":5,\"of_later\":[1]}");
    add_frame(&bytes, MESSAGE_PONG, 2, "{}");
    for (size_t i = 0; i < bytes.len; i++) {
        if (i == FRAME_HEAD_SIZE + 30)
            TURN_UNTIL(rig_of(w), w->b.n > 0); /* another thread may have read it */
        assert_int_equal(w->b.n, i < FRAME_HEAD_SIZE + 30 ? 0 : 1);
        put(fd, buf_data(&bytes) + i, 1);
        rig_turn(rig_of(w));
    }
    TURN_UNTIL(rig_of(w), w->b.n == 2);
    assert_int_equal(w->b.numbers[0], 5);
    assert_int_equal(w->b.types[1], MESSAGE_PONG);
    assert_int_equal(w->b.ends, 0);
    buf_free(&bytes);
    close(fd);
}

static void the_largest_frame_fits(void **state)
{
    static const char head[] = "{\"server_ms\":9,\"later\":\"", tail[] = "\"}";
    struct world *w = *state;
    struct buf bytes = { 0 };
    size_t mark = frame_begin(&bytes, MESSAGE_PING, 0, 1), sent = 0;
    struct err err;
    int fd = join_bare(w);

    buf_puts(&bytes, head);
    while (bytes.len < FRAME_HEAD_SIZE + FRAME_BODY_MAX - strlen(tail))
        buf_addc(&bytes, 'x');
    buf_puts(&bytes, tail);
    assert_int_equal(frame_end(&bytes, mark, &err), 0);
    add_frame(&bytes, MESSAGE_PING, 2, "{}");
    while (sent < bytes.len) {
        ssize_t n = send(fd, buf_data(&bytes) + sent, bytes.len - sent, MSG_DONTWAIT);

        sent += n > 0 ? (size_t)n : 0;
        rig_turn(rig_of(w));
    }
    TURN_UNTIL(rig_of(w), w->b.n == 2);
    assert_int_equal(w->b.numbers[0], 9);
    buf_free(&bytes);
    close(fd);
}

/* Each is followed by a valid frame, which must be ignored. */
static void an_invalid_frame_is_answered_and_ends_the_connection(void **state)
{
    static const char good[] = "{\"server_ms\":1}";
    static const struct {
        const char *head; /* raw bytes, if there is no body */
        size_t head_n;
        uint8_t type;
        uint64_t seq;
        const char *body;
        int code;
        const char *text;
    } cases[] = {
        /* clang-format off */
        { "GET / HTTP/1.1\r\n\r\n", 18, 0, 0, NULL, ERR_MALFORMED, "a frame of version 47, this side speaks 1" },
        { "\0\0\0\0\2\3\0\0\0\0\0\0\0\0\0\1", 16, 0, 0, NULL, ERR_MALFORMED,
          "a frame of version 2, this side speaks 1" },
        { "\0\x10\0\1\1\3\0\0\0\0\0\0\0\0\0\1", 16, 0, 0, NULL, ERR_LIMIT,
          "a frame's body of 1048577 bytes, at most 1048576 go in one" },
        { "\xff\xff\xff\xff\1\3\0\0\0\0\0\0\0\0\0\1", 16, 0, 0, NULL, ERR_LIMIT,
          "a frame's body of 4294967295 bytes, at most 1048576 go in one" },
        { NULL, 0, MESSAGE_PING, 0, good, ERR_MALFORMED, "a frame with the number 0, the next one is 1" },
        { NULL, 0, MESSAGE_PING, 2, good, ERR_MALFORMED, "a frame with the number 2, the next one is 1" },
        { NULL, 0, 200, 2, good, ERR_MALFORMED, "a frame with the number 2, the next one is 1" },
        { NULL, 0, MESSAGE_PING, 1, "", ERR_MALFORMED, "message ping: byte 0: the text ends where a value should be" },
        { NULL, 0, MESSAGE_PING, 1, "{\"server_ms\":1", ERR_MALFORMED, NULL },
        { NULL, 0, MESSAGE_PING, 1, "[]", ERR_INVALID, NULL },
        { NULL, 0, MESSAGE_TAKEN, 1, "{\"task\":\"t\"}", ERR_INVALID, "message taken: item: required" },
        { NULL, 0, MESSAGE_TAKEN, 1, "{\"task\":7,\"item\":1}", ERR_INVALID, NULL },
        { NULL, 0, MESSAGE_ERROR, 1, "{\"code\":[]}", ERR_INVALID, NULL },
        /* clang-format on */
    };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct buf bytes = { 0 };
        struct message_error e;
        int fd;

        w->b = (struct side){ 0 };
        fd = join_bare(w);
        if (cases[i].body)
            add_frame(&bytes, cases[i].type, cases[i].seq, cases[i].body);
        else
            buf_add(&bytes, cases[i].head, cases[i].head_n);
        add_frame(&bytes, MESSAGE_PING, cases[i].seq + 1, good);
        put(fd, buf_data(&bytes), bytes.len);
        TURN_UNTIL(rig_of(w), w->b.ends == 1);
        e = told(w, fd, &a);
        assert_int_equal(w->b.n, 0);
        assert_true(w->b.has_why);
        assert_int_equal(w->b.why.code, cases[i].code);
        assert_int_equal(e.code, cases[i].code);
        assert_int_equal(e.type, cases[i].type);
        assert_string_equal(e.text, w->b.why.text);
        if (cases[i].text && strcmp(e.text, cases[i].text) != 0)
            fail_msg("case %zu: %s", i, e.text);
        close(fd);
        TURN_UNTIL(rig_of(w), w->b.closes == 1);
        buf_free(&bytes);
        arena_free(&a);
    }
}

static void a_number_that_comes_twice_makes_no_sense(void **state)
{
    struct world *w = *state;
    struct buf bytes = { 0 };
    int fd = join_bare(w);

    add_frame(&bytes, MESSAGE_PING, 1, "{}");
    add_frame(&bytes, MESSAGE_PING, 2, "{}");
    add_frame(&bytes, MESSAGE_PING, 2, "{}");
    put(fd, buf_data(&bytes), bytes.len);
    TURN_UNTIL(rig_of(w), w->b.ends == 1);
    assert_int_equal(w->b.n, 2);
    assert_string_equal(w->b.why.text, "a frame with the number 2, the next one is 3");
    buf_free(&bytes);
    close(fd);
}

/* ---- ends ---- */

static void an_end_in_order_has_no_reason(void **state)
{
    struct world *w = *state;

    join(w);
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies);
    send_ping(w->a.c, 1);
    conn_end(w->a.c);
    w->a.c = NULL;
    TURN_UNTIL(rig_of(w), w->b.ends == 1 && w->a.closes == 1);
    assert_int_equal(w->b.n, 1);
    assert_false(w->b.has_why);
    assert_int_equal(w->a.ends, 0);
}

static void an_end_in_the_middle_of_a_frame_has_one(void **state)
{
    struct world *w = *state;
    int fd = join_bare(w);

    put(fd, "\0\0\0", 3);
    rig_turns(rig_of(w), 3);
    close(fd);
    TURN_UNTIL(rig_of(w), w->b.ends == 1);
    assert_true(w->b.has_why);
    assert_int_equal(w->b.why.code, ERR_MALFORMED);
    assert_string_equal(w->b.why.text, "the peer ended in the middle of a frame");
}

static void a_message_that_is_too_large_ends_the_connection(void **state)
{
    struct world *w = *state;
    char *text = xalloc(FRAME_BODY_MAX + 1);

    memset(text, 'x', FRAME_BODY_MAX);
    join(w);
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies);
    conn_refuse(w->a.c, 1, 1, 0, text);
    assert_int_equal(w->a.ends, 0); /* not from within the call */
    send_ping(w->a.c, 1);
    TURN_UNTIL(rig_of(w), w->a.ends == 1 && w->b.ends == 1);
    assert_int_equal(w->a.why.code, ERR_LIMIT);
    assert_int_equal(w->b.n, 0);
    assert_false(w->b.has_why);
    free(text);
}

static void a_peer_that_does_not_read_is_given_up(void **state)
{
    struct world *w = *state;
    struct message_error e = { .text = "" };
    char *text = xalloc(1 << 19);
    int fd = join_bare(w);

    memset(text, 'x', (1 << 19) - 1);
    e.text = text;
    w->b.drop_at_end = true;
    for (int i = 0; i < 200 && !w->b.ends; i++) {
        assert_true(conn_pending(w->b.c) <= 16 << 20);
        conn_send(w->b.c, MESSAGE_ERROR, &message_error_shape, &e);
        rig_pass_ms(rig_of(w), 1);
    }
    assert_int_equal(w->b.ends, 1);
    assert_int_equal(w->b.why.code, ERR_LIMIT);
    free(text);
    close(fd);
}

/* Five messages are in the buffer; the conn is freed in the middle of them. */
static void it_may_be_freed_in_any_callback(void **state)
{
    static const enum side_deed deeds[] = { SIDE_FREE, SIDE_END };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(deeds) * 6; i++) {
        size_t at = i % 6;

        w->a = w->b = (struct side){ 0 };
        w->b.at = at;
        w->b.deed = deeds[i / 6];
        join(w);
        for (int k = 1; k <= 5; k++)
            send_ping(w->a.c, k);
        TURN_UNTIL(rig_of(w), w->a.ends == 1 && (w->b.deed == SIDE_FREE || w->b.closes == 1));
        assert_int_equal(w->b.n, at);
        assert_int_equal(w->b.ends, 0);
        TURN_UNTIL(rig_of(w), w->a.closes == 1);
    }
}

static void an_answer_from_inside_goes_out(void **state)
{
    struct world *w = *state;

    w->b.at = 2;
    w->b.deed = SIDE_ANSWER;
    join(w);
    for (int k = 1; k <= 3; k++)
        send_ping(w->a.c, k);
    TURN_UNTIL(rig_of(w), w->a.n == 1 && w->b.n == 3);
    assert_int_equal(w->a.error.retry_ms, 7);
}

static void an_ending_connection_may_be_freed(void **state)
{
    struct world *w = *state;
    struct conn *c;

    join(w);
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies);
    c = w->a.c;
    w->a.c = NULL;
    send_ping(c, 1);
    conn_end(c);
    conn_end(c);     /* has no effect */
    send_ping(c, 2); /* has no effect */
    conn_free(c);
    TURN_UNTIL(rig_of(w), w->b.ends == 1);
    assert_int_equal(w->b.n, 1);
    assert_false(w->b.has_why); /* the goodbye was sent */
    assert_int_equal(w->a.closes, 0);
}

static void a_socket_that_breaks_says_why(void **state)
{
    struct world *w = *state;

    w->b.drop_at_end = true;
    join(w);
    TURN_UNTIL(rig_of(w), w->a.readies && w->b.readies);
    sys_fault("recv", 1, ECONNRESET);
    send_ping(w->a.c, 1);
    TURN_UNTIL(rig_of(w), w->b.ends == 1);
    assert_true(sys_fault_hit());
    assert_true(w->b.has_why);
    assert_int_equal(w->b.why.sys, ECONNRESET);
}

static void a_socket_that_cannot_be_watched_stays_the_callers(void **state)
{
    struct world *w = *state;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC); /* epoll refuses it */
    struct err err = { 0 };
    struct conn *c = NULL;

    assert_int_equal(conn_new(rig_of(w)->loop, fd, NULL, "x", &owner, &w->a, &c, &err), -1);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_null(c);
    assert_int_equal(close(fd), 0);
    conn_free(NULL);
}

#define HERE(f) cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, (void *)"tcp")
#define OVER(f, how)                                                                               \
    {                                                                                              \
#f " over " how, f, setup, teardown, (void *)how                                           \
    }
#define BOTH(f) HERE(f), OVER(f, "TLS")

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(messages_arrive_as_they_were_sent),
        BOTH(messages_are_counted_by_type),
        BOTH(many_arrive_in_their_order),
        BOTH(messages_of_one_turn_are_sent_together),
        BOTH(a_type_that_is_not_known_is_answered_and_passed_over),
        BOTH(it_knows_when_it_last_heard_something),
        BOTH(the_peer_is_known_by_its_certificate),
        HERE(a_frame_may_come_byte_by_byte),
        HERE(the_largest_frame_fits),
        HERE(an_invalid_frame_is_answered_and_ends_the_connection),
        HERE(a_number_that_comes_twice_makes_no_sense),
        BOTH(an_end_in_order_has_no_reason),
        HERE(an_end_in_the_middle_of_a_frame_has_one),
        BOTH(a_message_that_is_too_large_ends_the_connection),
        HERE(a_peer_that_does_not_read_is_given_up),
        BOTH(it_may_be_freed_in_any_callback),
        BOTH(an_answer_from_inside_goes_out),
        BOTH(an_ending_connection_may_be_freed),
        HERE(a_socket_that_breaks_says_why),
        HERE(a_socket_that_cannot_be_watched_stays_the_callers),
    };

    return cmocka_run_group_tests_name("link/conn", tests, NULL, NULL);
}
