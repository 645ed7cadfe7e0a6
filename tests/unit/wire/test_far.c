/* SPDX-License-Identifier: MIT */
/* Streams on other threads: what link/test_conn.c does not ask of them. */
#include "wire/far.h"

#include <poll.h>
#include <sys/ioctl.h>

#include "tests/lib/ends.h"

/* The owner of a far, and what it has seen. */
struct far_side {
    struct far *far; /* NULL: gone */
    struct buf got;
    size_t leaves, shown_max; /* the last bytes of all it is shown; the most that was shown */
    int readies, ends, breaks, drains, closes;
    struct err why;
};

struct world {
    struct ends *ends;
    struct far_crew *crew;
    struct far_side b; /* the server's side; the client's is ends->a */
};

static size_t on_bytes(void *arg, const char *bytes, size_t n)
{
    struct far_side *s = arg;
    size_t done = n > s->leaves ? n - s->leaves : 0;

    assert_int_equal(s->readies, 1);
    s->shown_max = n > s->shown_max ? n : s->shown_max;
    buf_add(&s->got, bytes, done);
    return done;
}

static void on_drained(void *arg)
{
    struct far_side *s = arg;

    assert_int_equal(far_pending(s->far), 0);
    s->drains++;
}

static void on_end(void *arg, const struct err *why)
{
    struct far_side *s = arg;

    s->ends += !why;
    s->breaks += why != NULL;
    if (why)
        s->why = *why;
}

static void on_ready(void *arg)
{
    ((struct far_side *)arg)->readies++;
}

static void on_closed(void *arg)
{
    ((struct far_side *)arg)->closes++;
}

static const struct stream_owner owner = { on_bytes, on_drained, on_end, on_ready, on_closed };

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));
    void *ends = *state;
    struct err err = { 0 };

    ends_setup(&ends);
    w->ends = ends;
    if (far_crew_new(w->ends->rig.loop, 2, &w->crew, &err))
        fail_msg("%s", err.text);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *ends = w->ends;

    far_free(w->b.far);
    far_crew_free(w->crew);
    buf_free(&w->b.got);
    ends_teardown(&ends);
    free(w);
    return 0;
}

static void open_far(struct world *w, int fd)
{
    far_new(w->crew, fd, w->ends->server_tls, &w->ends->limits, &owner, &w->b, &w->b.far);
}

static void join(struct world *w)
{
    int fds[2];

    ends_sockets(w->ends, fds);
    ends_make_stream(w->ends, &w->ends->a, fds[0]);
    open_far(w, fds[1]);
    TURN_UNTIL(&w->ends->rig, w->ends->a.readies && w->b.readies);
}

/* More than may be on its way at once, to an owner that does not take all it is shown. */
static void much_goes_both_ways_in_order(void **state)
{
    enum { MUCH = 3 << 20 };
    struct world *w = *state;
    char piece[4096];
    size_t sent = 0;

    w->b.leaves = 30000;
    join(w);
    w->ends->a.to_send = MUCH;
    end_produce(&w->ends->a);
    TURN_UNTIL(&w->ends->rig, w->b.got.len == MUCH - w->b.leaves);
    for (size_t i = 0; i < w->b.got.len; i++)
        assert_int_equal(buf_data(&w->b.got)[i], ends_pattern(i));
    assert_true(w->b.shown_max <= w->ends->limits.in_max + 65536);
    while (sent < MUCH) {
        for (size_t i = 0; i < sizeof(piece); i++)
            piece[i] = ends_pattern(sent + i);
        TURN_UNTIL(&w->ends->rig, far_pending(w->b.far) + sizeof(piece) < w->ends->limits.out_max);
        far_write(w->b.far, piece, sizeof(piece));
        sent += sizeof(piece);
    }
    TURN_UNTIL(&w->ends->rig, w->ends->a.got.len == MUCH && far_pending(w->b.far) == 0);
    for (size_t i = 0; i < MUCH; i++)
        assert_int_equal(buf_data(&w->ends->a.got)[i], ends_pattern(i));
    assert_true(w->b.drains > 0);
    assert_int_equal(w->b.breaks, 0);
}

/* However much it would take in the end: a crowd of strangers may do so at once. */
static void little_is_on_its_way_to_a_busy_owner(void **state)
{
    enum { MUCH = 1 << 20, STILL = 50 };
    static const char zeroes[MUCH];
    struct world *w = *state;
    int fds[2], left = 0, still = 0;
    size_t sent = 0;

    w->ends->limits.in_max = 4 * MUCH;
    ends_sockets(w->ends, fds);
    open_far(w, fds[1]);
    TURN_UNTIL(&w->ends->rig, w->b.readies);
    while (still < STILL) { /* as much as the sockets keep, and until nobody reads any more */
        ssize_t put = send(fds[0], zeroes + sent, MUCH - sent, MSG_DONTWAIT);
        int before = left;

        sent += put > 0 ? (size_t)put : 0;
        poll(NULL, 0, 1);
        assert_int_equal(ioctl(fds[1], FIONREAD, &left), 0);
        still = put <= 0 && left == before ? still + 1 : 0;
    }
    assert_true(left > 0);
    TURN_UNTIL(&w->ends->rig, w->b.got.len == sent);
    close(fds[0]);
}

static void an_owner_that_takes_nothing_breaks_it(void **state)
{
    struct world *w = *state;

    w->b.leaves = SIZE_MAX;
    join(w);
    w->ends->a.to_send = 1 << 20;
    end_produce(&w->ends->a);
    TURN_UNTIL(&w->ends->rig, w->b.breaks);
    assert_int_equal(w->b.why.code, ERR_LIMIT);
    rig_turns(&w->ends->rig, 5);
    assert_int_equal(w->b.breaks, 1);
}

static void bytes_that_are_not_taken_are_stuck(void **state)
{
    struct world *w = *state;
    static const char some[20000];

    join(w);
    stream_pause(w->ends->a.s);
    assert_int_equal(far_stuck_ms(w->b.far), 0);
    while (!w->b.breaks) { /* more is written than the peer, the sockets and we may have */
        far_write(w->b.far, some, sizeof(some));
        rig_turn_in(&w->ends->rig, 0, 0);
    }
    assert_int_equal(w->b.why.code, ERR_LIMIT);
    assert_true(far_pending(w->b.far) <= w->ends->limits.out_max);
    rig_pass_ms(&w->ends->rig, 5000);
    assert_true(far_stuck_ms(w->b.far) > 0);
}

static void a_socket_that_can_not_be_watched_says_so(void **state)
{
    struct world *w = *state;

    open_far(w, open("/dev/null", O_RDONLY | O_CLOEXEC)); /* epoll refuses it */
    TURN_UNTIL(&w->ends->rig, w->b.breaks);
    assert_int_equal(w->b.why.code, ERR_SYSTEM);
    far_end(w->b.far);
    TURN_UNTIL(&w->ends->rig, w->b.closes == 1 && far_crew_load(w->crew) == 0);
    w->b.far = NULL;
}

/* All that was said before it goes out, and nobody is called. */
static void one_may_be_dropped_at_any_time(void **state)
{
    struct world *w = *state;

    for (int turns = 0; turns < 12; turns++) {
        int fds[2];

        ends_sockets(w->ends, fds);
        open_far(w, fds[1]);
        far_write(w->b.far, "hello", 5);
        for (int i = 0; i < turns; i++)
            rig_turn(&w->ends->rig);
        if (turns % 3 == 0)
            far_end(w->b.far);
        far_free(w->b.far);
        w->b.far = NULL;
        TURN_UNTIL(&w->ends->rig, far_crew_load(w->crew) == 0);
        close(fds[0]);
    }
    assert_int_equal(w->b.closes + w->b.breaks, 0);
}

static void a_crew_that_can_not_be_says_why(void **state)
{
    struct world *w = *state;
    struct far_crew *crew = NULL;
    bool hit = true;
    int n;

    for (n = 1; hit; n++) {
        struct err err = { 0 };
        int bad;

        sys_fault("eventfd", n, EMFILE);
        bad = far_crew_new(w->ends->rig.loop, 2, &crew, &err);
        hit = sys_fault_hit();
        sys_fault("any", 0, 0);
        assert_int_equal(bad, hit ? -1 : 0);
        assert_true(!bad || err.text[0]);
    }
    assert_in_range(n, 4, 20);
    far_crew_free(crew);
    far_crew_free(NULL);
}

#define OVER(how, f)                                                                               \
    {                                                                                              \
#f " over " how, f, setup, teardown, (void *)how                                           \
    }

int main(void)
{
    /* clang-format off */
    const struct CMUnitTest tests[] = {
        OVER("tcp", much_goes_both_ways_in_order),
        OVER("TLS", much_goes_both_ways_in_order),
        OVER("tcp", little_is_on_its_way_to_a_busy_owner),
        OVER("TLS", an_owner_that_takes_nothing_breaks_it),
        OVER("tcp", bytes_that_are_not_taken_are_stuck),
        OVER("tcp", a_socket_that_can_not_be_watched_says_so),
        OVER("tcp", one_may_be_dropped_at_any_time),
        OVER("TLS", one_may_be_dropped_at_any_time),
        OVER("tcp", a_crew_that_can_not_be_says_why),
    };
    /* clang-format on */

    return cmocka_run_group_tests_name("wire/far", tests, NULL, NULL);
}
