/* SPDX-License-Identifier: MIT */
/* on_closed(): the owner learns when what it ended is through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/sys.h"
#include "wire/net/stream.h"

static struct {
    struct clock_fake clock;
    struct loop *loop;
    struct stream *s;
    int peer;
    int closed, other;
} here;

static size_t on_bytes(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    (void)bytes;
    here.other++;
    return n;
}

static void on_end(void *arg, const struct err *why)
{
    (void)arg;
    (void)why;
    here.other++;
}

static void on_closed(void *arg)
{
    assert_ptr_equal(arg, &here);
    here.closed++;
}

static const struct stream_owner owner = { on_bytes, NULL, on_end, NULL, on_closed };

static int set_up(void **state)
{
    const struct stream_limits limits = { 4096, 1 << 20, 1000, 500 };
    struct err err;
    int fds[2];

    (void)state;
    memset(&here, 0, sizeof(here));
    clock_fake_init(&here.clock, 1000, 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    here.peer = fds[1];
    assert_int_equal(loop_new(&here.clock.clock, &here.loop, &err), 0);
    assert_int_equal(
        stream_new(here.loop, fds[0], NULL, NULL, &limits, &owner, &here, &here.s, &err), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sys_close(here.peer);
    loop_free(here.loop);
    return 0;
}

static void turn(int64_t pass_ms)
{
    struct err err;

    here.clock.mono += pass_ms;
    for (int i = 0; i < 3; i++)
        assert_int_equal(loop_turn(here.loop, 0, &err), 0);
}

static void it_is_told_once_the_peer_has_closed_too(void **state)
{
    (void)state;
    stream_end(here.s);
    turn(0);
    assert_int_equal(here.closed, 0);
    assert_int_equal(shutdown(here.peer, SHUT_WR), 0);
    turn(0);
    turn(1000);
    assert_int_equal(here.closed, 1);
    assert_int_equal(here.other, 0);
}

static void it_is_told_when_the_peer_has_had_its_time(void **state)
{
    (void)state;
    stream_end(here.s);
    turn(499);
    assert_int_equal(here.closed, 0);
    turn(1);
    assert_int_equal(here.closed, 1);
    turn(1000);
    assert_int_equal(here.closed, 1);
}

static void it_is_told_from_the_loop_and_not_out_of_stream_end(void **state)
{
    (void)state;
    sys_close(here.peer);
    here.peer = -1;
    turn(0); /* it has ended its side: stream_end() does not wait */
    assert_int_equal(here.other, 1);
    stream_end(here.s);
    assert_int_equal(here.closed, 0);
    turn(0);
    assert_int_equal(here.closed, 1);
}

static void it_is_not_told_of_what_was_dropped(void **state)
{
    (void)state;
    stream_free(here.s);
    turn(1000);
    assert_int_equal(here.closed, 0);
}

static void dropping_after_ending_tells_nothing(void **state)
{
    (void)state;
    stream_end(here.s);
    turn(0);
    stream_free(here.s);
    turn(1000);
    assert_int_equal(here.closed, 0);
}

static void dropping_in_the_turn_before_the_news_tells_nothing(void **state)
{
    (void)state;
    sys_close(here.peer);
    here.peer = -1;
    turn(0);
    stream_end(here.s); /* dead already, to be told in the next turn */
    stream_free(here.s);
    turn(1000);
    assert_int_equal(here.closed, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_told_once_the_peer_has_closed_too),
        TEST(it_is_told_when_the_peer_has_had_its_time),
        TEST(it_is_told_from_the_loop_and_not_out_of_stream_end),
        TEST(it_is_not_told_of_what_was_dropped),
        TEST(dropping_after_ending_tells_nothing),
        TEST(dropping_in_the_turn_before_the_news_tells_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
