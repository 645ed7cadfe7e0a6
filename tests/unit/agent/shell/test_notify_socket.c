/* SPDX-License-Identifier: MIT */
#include "agent/shell/notify_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/sys_old.h"
#include "base/os/sys_unix.h"
#include "base/os/time.h"

enum {
    TURN_MS = 20,
    SOON_MS = 10 * 1000, /* on a busy machine; the loop itself is never held up */
    LINGER_S = 600,      /* so long the close of a descriptor takes */
    FILL = 16,           /* messages that wait for the loop */
    LINGERING = NOTIFY_SOCKET_RECEIVERS + 1, /* each socket has room for ten messages */
};

static struct {
    struct loop *loop;
    struct notify_socket *socket;
    int listener, sender;
    struct sockaddr_in at;
    int heard;
    pid_t pid;
    int64_t main_pid;
} world;

static void on_message(void *arg, pid_t pid, int64_t main_pid)
{
    assert_ptr_equal(arg, &world);
    world.heard++;
    world.pid = pid;
    world.main_pid = main_pid;
}

static void open_socket(unsigned without)
{
    char dir[64];
    struct err err = { 0 };

    sys_do_without(without);
    snprintf(dir, sizeof(dir), "/test_notify_socket/%d", (int)getpid());
    if (notify_socket_new(world.loop, dir, on_message, &world, &world.socket, &err))
        fail_msg("%s", err.text);
}

static bool can_refuse(void)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool can;

    sys_do_without(0);
    can = !sys_refuse_descriptors(fd);
    close(fd);
    return can;
}

static void turn_until_heard(int n)
{
    int64_t end_ms = clock_mono_ms(&clock_system) + SOON_MS;
    struct err err;

    while (world.heard < n) {
        assert_true(clock_mono_ms(&clock_system) < end_ms);
        assert_int_equal(loop_turn(world.loop, TURN_MS, &err), 0);
    }
}

/* ---- senders */

/* fd -1: without a descriptor.  False: there is no room, or it is refused. */
static bool send_text(const char *text, int fd, int flags)
{
    const char *name = notify_socket_name(world.socket);
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(fd))] = { 0 };
    struct iovec piece = { (char *)(uintptr_t)text, strlen(text) };
    struct msghdr m = { .msg_name = &to, .msg_iov = &piece, .msg_iovlen = 1 };
    struct cmsghdr *c;

    memcpy(to.sun_path, name, strlen(name));
    to.sun_path[0] = '\0';
    m.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    if (fd >= 0) {
        m.msg_control = room;
        m.msg_controllen = sizeof(room);
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    }
    return sendmsg(world.sender, &m, flags) >= 0;
}

/* A connection whose peer does not read, with data that waits: its last close takes LINGER_S. */
static int lingering_socket(void)
{
    static char data[1 << 16];
    struct linger linger = { 1, LINGER_S };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&world.at, sizeof(world.at)), 0);
    while (send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    return fd;
}

/* The last reference to each is in the socket then: what waits before them fills the queue to the
 * loop, so the receiver takes none of them before the loop turns.  If it did, the last close would
 * be the one here. */
static void send_lingering(void)
{
    for (int i = 0; i < FILL; i++)
        assert_true(send_text("READY=1", -1, 0));
    for (int i = 0; i < LINGERING; i++) {
        int fd = lingering_socket();

        assert_true(send_text("READY=1", fd, 0));
        close(fd);
    }
}

/* ---- tests */

static void what_counts_in_a_message(void **state)
{
    static const struct {
        const char *text;
        bool is_ready;
        int64_t main_pid;
    } rows[] = {
        { "READY=1", true, 0 },
        { "READY=1\n", true, 0 },
        { "STATUS=x\nMAINPID=12\nREADY=1", true, 12 },
        { "READY=1\nMAINPID=x", true, 0 },
        { "READY=10", false, 0 },
        { " READY=1", false, 0 },
        { "MAINPID=12", false, 12 },
        { "", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[64];
        int64_t main_pid = -1;

        snprintf(text, sizeof(text), "%s", rows[i].text);
        assert_int_equal(notify_socket_parse(text, &main_pid), rows[i].is_ready);
        assert_int_equal(main_pid, rows[i].main_pid);
    }
}

static void the_kernel_names_the_sender(void **state)
{
    (void)state;
    open_socket(0);
    assert_true(send_text("STATUS=not yet", -1, 0));
    assert_true(send_text("MAINPID=42\nREADY=1", -1, 0));
    turn_until_heard(1);
    assert_int_equal(world.pid, getpid());
    assert_int_equal(world.main_pid, 42);
}

/* More than the queue to the loop holds: the rest waits in the socket, and is not lost. */
static void a_flood_is_heard_to_its_end(void **state)
{
    int n = 0;
    struct err err;

    (void)state;
    open_socket(0);
    while (n < 500) {
        if (send_text("READY=1", -1, MSG_DONTWAIT))
            n++;
        else
            assert_int_equal(loop_turn(world.loop, TURN_MS, &err), 0);
    }
    turn_until_heard(n);
}

static void descriptors_are_refused_where_the_kernel_can(void **state)
{
    (void)state;
    if (!can_refuse())
        skip();
    open_socket(0);
    errno = 0;
    assert_false(send_text("READY=1", STDIN_FILENO, 0));
    assert_int_equal(errno, EPERM);
}

static void a_message_with_descriptors_is_ignored_where_it_can_not(void **state)
{
    (void)state;
    open_socket(SYS_PASSRIGHTS);
    assert_true(send_text("READY=1\nMAINPID=1", STDIN_FILENO, 0));
    assert_true(send_text("READY=1\nMAINPID=2", -1, 0));
    turn_until_heard(1);
    assert_int_equal(world.main_pid, 2);
}

static void descriptors_that_take_long_to_close_hold_up_no_other_sender(void **state)
{
    (void)state;
    open_socket(SYS_PASSRIGHTS);
    send_lingering();
    turn_until_heard(FILL);
    assert_true(send_text("READY=1", -1, 0));
    turn_until_heard(FILL + 1);
    assert_int_equal(world.heard, FILL + 1);
}

/* They are closed with the socket, and that is not waited for either. */
static void descriptors_that_wait_in_the_socket_hold_up_no_end(void **state)
{
    int64_t began_ms;

    (void)state;
    open_socket(SYS_PASSRIGHTS);
    send_lingering();
    began_ms = clock_mono_ms(&clock_system);
    assert_true(notify_socket_free(world.socket, SOON_MS));
    world.socket = NULL;
    assert_true(clock_mono_ms(&clock_system) - began_ms < SOON_MS);
}

/* ---- */

static int set_up(void **state)
{
    socklen_t n = sizeof(world.at);
    struct err err;

    (void)state;
    memset(&world, 0, sizeof(world));
    assert_int_equal(loop_new(&clock_system, &world.loop, &err), 0);
    world.at =
        (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    world.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(world.listener, (struct sockaddr *)&world.at, n), 0);
    assert_int_equal(listen(world.listener, 1000), 0);
    assert_int_equal(getsockname(world.listener, (struct sockaddr *)&world.at, &n), 0);
    world.sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(notify_socket_free(world.socket, SOON_MS));
    close(world.listener);
    close(world.sender);
    loop_free(world.loop);
    sys_do_without(0);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_counts_in_a_message),
        TEST(the_kernel_names_the_sender),
        TEST(a_flood_is_heard_to_its_end),
        TEST(descriptors_are_refused_where_the_kernel_can),
        TEST(a_message_with_descriptors_is_ignored_where_it_can_not),
        TEST(descriptors_that_take_long_to_close_hold_up_no_other_sender),
        TEST(descriptors_that_wait_in_the_socket_hold_up_no_end),
    };

    return cmocka_run_group_tests_name("notify_socket", tests, NULL, NULL);
}
