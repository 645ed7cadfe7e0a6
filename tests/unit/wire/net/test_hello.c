/* SPDX-License-Identifier: MIT */
/* Promises of wire/net/hello.h: the first record of a client is recognized and stays unread. */
#include "wire/net/hello.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/rig.h"

struct world {
    struct rig rig;
    struct hello *hello;
    int fds[2]; /* client, server */
    int calls;
    enum hello_kind kind;
    bool frees; /* the callback calls hello_free() */
};

static void on_hello(void *arg, enum hello_kind kind)
{
    struct world *w = arg;

    w->calls++;
    w->kind = kind;
    if (w->frees) {
        hello_free(w->hello);
        w->hello = NULL;
    }
}

static void open_pair(int fds[2])
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fds[0], (struct sockaddr *)&at, len), 0);
    fds[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(fds[1] >= 0);
    close(listener);
}

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));
    struct err err;

    rig_init(&w->rig);
    open_pair(w->fds);
    assert_int_equal(hello_new(w->rig.loop, w->fds[1], on_hello, w, &w->hello, &err), 0);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    hello_free(w->hello);
    close(w->fds[0]);
    close(w->fds[1]);
    rig_done(&w->rig);
    free(w);
    return 0;
}

static void say(struct world *w, const char *bytes, size_t n)
{
    assert_int_equal(send(w->fds[0], bytes, n, MSG_NOSIGNAL), n);
    rig_turns(&w->rig, 5);
}

static void a_record_is_waited_for_whatever_its_pieces(void **state)
{
    static const char record[] = "\x16\x03\x01\x00\x07 abcdef";
    struct world *w = *state;
    char got[64];
    int low = 0;
    socklen_t len = sizeof(low);

    for (size_t i = 0; i < sizeof(record) - 1; i++) {
        assert_int_equal(w->calls, 0);
        say(w, record + i, 1);
    }
    assert_int_equal(w->calls, 1);
    assert_int_equal(w->kind, HELLO_TLS);
    /* All bytes are still in the socket. */
    assert_int_equal(recv(w->fds[1], got, sizeof(got), 0), sizeof(record) - 1);
    assert_memory_equal(got, record, sizeof(record) - 1);
    assert_int_equal(getsockopt(w->fds[1], SOL_SOCKET, SO_RCVLOWAT, &low, &len), 0);
    assert_int_equal(low, 1);
    say(w, "more", 4);
    assert_int_equal(w->calls, 1);
}

/* A record that is never completed wakes the loop a few times, not once per byte. */
static void single_bytes_do_not_wake_the_loop(void **state)
{
    struct world *w = *state;

    say(w, "\x16\x03\x01\x40\x00", 5);
    sys_fault("recv", 1, EIO); /* the next recv() would report HELLO_GONE */
    for (int i = 0; i < 1000; i++)
        say(w, "x", 1);
    assert_int_equal(w->calls, 0);
    assert_false(sys_fault_hit());
}

static void each_is_known_by_its_first_bytes(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        enum hello_kind kind;
    } cases[] = {
        { "GET / HTTP/1.1\r\n", 16, HELLO_HTTP }, { "P", 1, HELLO_HTTP },
        { "\x16\x03\x01\x00\x00", 5, HELLO_TLS }, { "\x80\x2e\x01", 3, HELLO_TLS },
        { "\x16\x03\x01\xff\xff", 5, HELLO_TLS }, { "\x15\x03\x01\x00\x02", 5, HELLO_TLS },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *w = *state;

        say(w, cases[i].bytes, cases[i].n);
        assert_int_equal(w->calls, 1);
        assert_int_equal(w->kind, cases[i].kind);
        teardown(state);
        setup(state);
    }
}

static void one_that_goes_before_its_record_is_there_is_told(void **state)
{
    static const size_t said[] = { 0, 1, 4, 5, 7 };

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct world *w = *state;

        say(w, "\x16\x03\x01\x00\x07 abcdef", said[i]);
        assert_int_equal(w->calls, 0);
        shutdown(w->fds[0], SHUT_WR);
        TURN_UNTIL(&w->rig, w->calls);
        assert_int_equal(w->kind, HELLO_GONE);
        rig_turns(&w->rig, 5);
        assert_int_equal(w->calls, 1);
        teardown(state);
        setup(state);
    }
}

static void it_may_be_freed_in_its_callback(void **state)
{
    struct world *w = *state;

    w->frees = true;
    say(w, "GET", 3);
    assert_null(w->hello);
    assert_int_equal(w->calls, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_record_is_waited_for_whatever_its_pieces),
        TEST(single_bytes_do_not_wake_the_loop),
        TEST(each_is_known_by_its_first_bytes),
        TEST(one_that_goes_before_its_record_is_there_is_told),
        TEST(it_may_be_freed_in_its_callback),
    };

    return cmocka_run_group_tests_name("hello", tests, NULL, NULL);
}
