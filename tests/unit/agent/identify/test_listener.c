/* SPDX-License-Identifier: MIT */
/* test_listener.c - whose listener is on a port: of the family, of another, or not to be said. */
#include "agent/identify/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/lib/agent_world.h"

static void a_line_of_the_kernels_table_is_read(void **state)
{
    static const char four[] = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 "
                               "00000000     0        0 46537 1 0000000000000000 100 0 0 10 0";
    static const char six[] =
        "   1: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A "
        "00000000:00000000 00:00000000 00000000     0        0 12 1 0000000000000000 100 0 0 10 0";
    static const char connected[] =
        "   2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        "
        "0 7 1 0000000000000000 20 4 30 10 -1";
    static const char *const wrong[] = { "",
                                         "x",
                                         "0: 0100007F",
                                         "0: 0100007G:1F90 0:0 0A",
                                         "0: 0100007F:1F90 00000000:0000 0A 0:0",
                                         "  sl  local_address rem_address   st" };
    struct listener_line l;

    (void)state;
    assert_true(listener_read_line(four, true, &l));
    assert_int_equal(l.port, 8080);
    assert_int_equal(l.inode, 46537);
    assert_true(l.is_listening);
    assert_memory_equal(l.address + 12, "\x7f\0\0\1", 4);
    assert_true(listener_read_line(six, false, &l));
    assert_int_equal(l.port, 22);
    assert_int_equal(l.inode, 12);
    assert_memory_equal(l.address, &in6addr_loopback, 16);
    assert_true(listener_read_line(connected, true, &l));
    assert_false(l.is_listening);
    assert_false(listener_read_line(four, false, &l));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(listener_read_line(wrong[i], true, &l));
}

static int listen_at(const char *host, int64_t *ret_port)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, host, &at.sin_addr);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

static enum listener_owner find(const char *host, int64_t port, int64_t member,
                                struct listener *ret)
{
    const struct listener_want want = { host, port, member, &member, member ? 1 : 0, false };

    listener_find(&want, ret);
    return ret->owner;
}

static void the_owner_is_found_by_the_address_and_the_port(void **state)
{
    struct listener found;
    int64_t port;
    int fd = listen_at("127.0.0.1", &port);

    (void)state;
    assert_int_equal(find("", port, getpid(), &found), LISTENER_FAMILY);
    assert_int_equal(find("127.0.0.1", port, getpid(), &found), LISTENER_FAMILY);
    assert_int_equal(find("127.0.0.2", port, getpid(), &found), LISTENER_UNKNOWN);
    assert_int_equal(find("::1", port, getpid(), &found), LISTENER_UNKNOWN);
    assert_int_equal(find("", port, 0, &found), LISTENER_OTHER);
    assert_int_equal(found.pid, getpid());
    assert_true(strlen(found.program) > 0);
    listener_find(&(struct listener_want){ .host = "", .port = port, .is_brief = true }, &found);
    assert_int_equal(found.owner, LISTENER_UNKNOWN);
    close(fd);
    assert_int_equal(find("", port, getpid(), &found), LISTENER_UNKNOWN);
}

static void a_listener_on_all_addresses_is_on_each(void **state)
{
    struct listener found;
    int64_t port;
    int fd = listen_at("0.0.0.0", &port);

    (void)state;
    assert_int_equal(find("", port, getpid(), &found), LISTENER_FAMILY);
    assert_int_equal(find("127.0.0.9", port, 0, &found), LISTENER_OTHER);
    close(fd);
}

/* As of a service manager that has passed its socket on. */
static void a_listener_of_several_belongs_to_the_family_if_one_is_of_it(void **state)
{
    struct listener found;
    int64_t port;
    int fd = listen_at("127.0.0.1", &port);
    pid_t child = fork();

    (void)state;
    if (!child) {
        pause();
        _exit(0);
    }
    assert_int_equal(find("", port, child, &found), LISTENER_FAMILY);
    close(fd);
    assert_int_equal(find("", port, child, &found), LISTENER_FAMILY);
    assert_int_equal(find("", port, getpid(), &found), LISTENER_OTHER);
    assert_int_equal(found.pid, child);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_the_kernels_table_is_read),
        cmocka_unit_test(the_owner_is_found_by_the_address_and_the_port),
        cmocka_unit_test(a_listener_on_all_addresses_is_on_each),
        cmocka_unit_test(a_listener_of_several_belongs_to_the_family_if_one_is_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
