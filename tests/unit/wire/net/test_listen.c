/* SPDX-License-Identifier: MIT */
#include "wire/net/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_unix.h"
#include "tests/lib/rig.h"

enum { ACCEPTED_MAX = 256 };

struct world {
    struct rig rig;
    struct listener *l;
    int fds[ACCEPTED_MAX];
    size_t n;
    int troubles;
    struct err trouble;
    struct address peer;
    bool free_in_accept, free_in_trouble, pause_in_accept;
    char dir[32], path[64];
};

static void on_accept(void *arg, int fd, const struct address *peer)
{
    struct world *w = arg;

    assert_true(w->n < ACCEPTED_MAX);
    w->fds[w->n++] = fd;
    w->peer = *peer;
    if (w->pause_in_accept)
        listener_pause(w->l);
    if (w->free_in_accept) {
        listener_free(w->l);
        w->l = NULL;
    }
}

static void on_trouble(void *arg, const struct err *err)
{
    struct world *w = arg;

    w->troubles++;
    w->trouble = *err;
    if (w->free_in_trouble) {
        listener_free(w->l);
        w->l = NULL;
    }
}

static const struct listener_owner owner = { on_accept, on_trouble };

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    rig_init(&w->rig);
    snprintf(w->dir, sizeof(w->dir), "/tmp/listen-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->path, sizeof(w->path), "%s/socket", w->dir);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    for (size_t i = 0; i < w->n; i++)
        close(w->fds[i]);
    listener_free(w->l);
    rig_done(&w->rig);
    unlink(w->path);
    assert_int_equal(rmdir(w->dir), 0);
    free(w);
    return 0;
}

static int listen_on(struct world *w, const char *text, struct listener **ret, struct err *err)
{
    struct address at;

    assert_int_equal(address_parse(text, &at, err), 0);
    return listener_new(w->rig.loop, &at, &owner, w, ret, err);
}

static void start(struct world *w, const char *text)
{
    struct err err = { 0 };

    if (listen_on(w, text, &w->l, &err))
        fail_msg("%s", err.text);
}

static const char *unix_text(const struct world *w)
{
    static char text[80];

    snprintf(text, sizeof(text), "unix:%s", w->path);
    return text;
}

/* Connects a client to the listener; the kernel's queue is long enough. */
static int dial(const struct world *w)
{
    struct address at;
    int fd;

    listener_address(w->l, &at);
    fd = socket(at.u.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &at.u.any, at.len), 0);
    return fd;
}

static int dial_v4(const struct world *w)
{
    struct address at;
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    listener_address(w->l, &at);
    to.sin_port = at.u.v6.sin6_port; /* the same port in the other family */
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void addresses_are_read_and_printed(void **state)
{
    static const struct {
        const char *text, *printed, *host;
        bool is_loopback;
    } cases[] = {
        { "127.0.0.1:7020", "127.0.0.1:7020", "127.0.0.1", true },
        { "127.9.9.9:0", "127.9.9.9:0", "127.9.9.9", true },
        { "localhost:65535", "127.0.0.1:65535", "127.0.0.1", true },
        { "0.0.0.0:1", "0.0.0.0:1", "0.0.0.0", false },
        { "10.0.0.7:80", "10.0.0.7:80", "10.0.0.7", false },
        { "[::1]:7020", "[::1]:7020", "::1", true },
        { "[2001:db8::5]:7020", "[2001:db8::5]:7020", "2001:db8::5", false },
        { ":7020", ":7020", "::", false },
        { "[::]:7020", ":7020", "::", false },
        { "[::ffff:127.0.0.1]:9", "127.0.0.1:9", "127.0.0.1", true },
        { "[::ffff:8.8.8.8]:9", "8.8.8.8:9", "8.8.8.8", false },
        { "unix:/run/x.sock", "unix:/run/x.sock", "unix:/run/x.sock", true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct address a, again;
        struct err err = { 0 };
        char text[ADDRESS_TEXT_SIZE];

        if (address_parse(cases[i].text, &a, &err))
            fail_msg("%s", err.text);
        address_print(&a, text);
        assert_string_equal(text, cases[i].printed);
        assert_int_equal(address_parse(text, &again, &err), 0);
        assert_memory_equal(&a, &again, sizeof(a));
        address_print_host(&a, text);
        assert_string_equal(text, cases[i].host);
        assert_int_equal(address_is_loopback(&a), cases[i].is_loopback);
    }
}

static void what_is_no_address_is_refused_with_a_reason(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", ": no address and port" },
        { "127.0.0.1", "127.0.0.1: no address and port, as in 127.0.0.1:7020" },
        { "127.0.0.1:70200", "127.0.0.1:70200: the port must be 0 to 65535" },
        { "127.0.0.1:65536", "the port must be 0 to 65535" },
        { "127.0.0.1:", "the port must be" },
        { "127.0.0.1:-1", "the port must be" },
        { "127.0.0.1: 80", "the port must be" },
        { "127.0.0.1:80x", "the port must be" },
        { "127.0.0.1:000080", "the port must be" },
        { "127.0.0.1:99999999999999999999", "the port must be" },
        { "127.1:80", "'127.1' is not a numeric address" },
        { "127.0.0.1 :80", "is not a numeric address" },
        { "example.org:80", "'example.org' is not a numeric address" },
        { "Localhost:80", "is not a numeric address" },
        { "::1:7020", "an IPv6 address stands in brackets" },
        { "[::1]", "no address and port" },
        { "[::1:7020", "no address and port" },
        { "[:7020", "no address and port" },
        { "[]:7020", "'' is not an IPv6 address" },
        { "[::1]x:7020", "no address and port" },
        { "[127.0.0.1]:7020", "is not an IPv6 address" },
        { "[fe80::1%lo]:7020", "is not an IPv6 address" },
        { "1111111111111111111111111111111111111111111111111111:1", "not a numeric address" },
        { "unix:relative", "the path must begin with /" },
        { "unix:", "the path must begin with /" },
        { "unix:/23456789012345678901234567890123456789012345678901234567890123456789"
          "0123456789012345678901234567890123456789",
          "must not be over 107 bytes" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct address a;
        struct err err = { 0 };

        assert_int_equal(address_parse(cases[i].text, &a, &err), -1);
        assert_int_equal(err.code, ERR_INVALID);
        if (!strstr(err.text, cases[i].error))
            fail_msg("\"%s\" gave: %s", cases[i].text, err.text);
    }
}

static void a_client_is_accepted_at_every_kind_of_address(void **state)
{
    struct world *w = *state;
    const char *const places[] = { "127.0.0.1:0", "[::1]:0", ":0", unix_text(w) };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        int fd;

        start(w, places[i]);
        fd = dial(w);
        TURN_UNTIL(&w->rig, w->n == i + 1);
        assert_true(fcntl(w->fds[i], F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(w->fds[i], F_GETFD) & FD_CLOEXEC);
        assert_true(address_is_loopback(&w->peer));
        close(fd);
        listener_free(w->l);
        w->l = NULL;
    }
}

static void a_client_of_ipv4_looks_so_on_a_socket_of_both_families(void **state)
{
    struct world *w = *state;
    char text[ADDRESS_TEXT_SIZE];
    int fd;

    start(w, ":0");
    fd = dial_v4(w);
    TURN_UNTIL(&w->rig, w->n == 1);
    address_print_host(&w->peer, text);
    assert_string_equal(text, "127.0.0.1");
    assert_int_equal(w->peer.u.any.sa_family, AF_INET);
    close(fd);
}

static void a_host_without_ipv6_listens_on_ipv4(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *call;
        int error;
    } cases[] = { { "socket", EAFNOSUPPORT }, { "bind", EADDRNOTAVAIL } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int fd;

        sys_fault(cases[i].call, 1, cases[i].error);
        start(w, ":0");
        assert_true(sys_fault_hit());
        fd = dial_v4(w);
        TURN_UNTIL(&w->rig, w->n == i + 1);
        close(fd);
        listener_free(w->l);
        w->l = NULL;
    }
}

static void a_taken_address_is_named_in_the_error(void **state)
{
    struct world *w = *state;
    struct listener *second;
    struct address at;
    struct err err = { 0 };
    char text[ADDRESS_TEXT_SIZE], expected[256];

    start(w, "127.0.0.1:0");
    listener_address(w->l, &at);
    assert_int_not_equal(at.u.v4.sin_port, 0);
    address_print(&at, text);
    assert_int_equal(listen_on(w, text, &second, &err), -1);
    snprintf(expected, sizeof(expected), "listen on %s: Address already in use", text);
    assert_string_equal(err.text, expected);
    assert_int_equal(err.sys, EADDRINUSE);
}

static void a_stale_socket_file_is_replaced_and_ours_removed(void **state)
{
    struct world *w = *state;
    struct stat st;
    struct address at;
    struct err err;
    int old = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

    assert_int_equal(address_parse(unix_text(w), &at, &err), 0);
    assert_int_equal(bind(old, &at.u.any, at.len), 0);
    close(old); /* leaves the file */
    assert_int_equal(stat(w->path, &st), 0);
    start(w, unix_text(w));
    fd = dial(w);
    TURN_UNTIL(&w->rig, w->n == 1);
    close(fd);
    listener_free(w->l);
    w->l = NULL;
    assert_int_equal(stat(w->path, &st), -1);
}

static void a_live_socket_or_a_file_is_not_touched(void **state)
{
    struct world *w = *state;
    struct listener *second;
    struct err err = { 0 };
    FILE *f;
    int fd;

    start(w, unix_text(w));
    assert_int_equal(listen_on(w, unix_text(w), &second, &err), -1);
    assert_non_null(strstr(err.text, "another process listens there"));
    assert_non_null(strstr(err.text, w->path));
    fd = dial(w); /* the first one still works */
    TURN_UNTIL(&w->rig, w->n == 2);
    close(fd);

    unlink(w->path);
    f = fopen(w->path, "w");
    fclose(f);
    assert_int_equal(listen_on(w, unix_text(w), &second, &err), -1);
    assert_non_null(strstr(err.text, "a file that is not a socket is there"));
    listener_free(w->l);
    w->l = NULL;
    /* The file that replaced our socket is not removed. */
    assert_int_equal(access(w->path, F_OK), 0);
}

static void a_wake_up_accepts_a_bounded_number(void **state)
{
    struct world *w = *state;
    int fds[100];

    start(w, "127.0.0.1:0");
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = dial(w);
    rig_turn(&w->rig);
    assert_int_equal(w->n, 64);
    TURN_UNTIL(&w->rig, w->n == ARRAY_LEN(fds));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

static void out_of_descriptors_it_rests_tells_once_and_goes_on(void **state)
{
    struct world *w = *state;
    struct rlimit old, low;
    int fd, top;

    start(w, "127.0.0.1:0");
    fd = dial(w);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    top = dup(0); /* the lowest free descriptor */
    close(top);
    low = (struct rlimit){ (rlim_t)top, old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    TURN_UNTIL(&w->rig, w->troubles == 1);
    for (int i = 0; i < 5; i++)
        rig_pass_ms(&w->rig, 100); /* tries again and fails */
    rig_turn(&w->rig);             /* and pauses */
    assert_int_equal(w->n, 0);
    assert_int_equal(w->troubles, 1);
    assert_non_null(strstr(w->trouble.text, "accept on 127.0.0.1:"));
    assert_non_null(strstr(w->trouble.text, strerror(EMFILE)));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    rig_turns(&w->rig, 50);
    assert_int_equal(w->n, 0); /* it still pauses */
    rig_pass_ms(&w->rig, 100);
    TURN_UNTIL(&w->rig, w->n == 1);
    close(fd);
}

static void each_spell_of_trouble_is_told(void **state)
{
    struct world *w = *state;
    static const int errors[] = { EMFILE, ENFILE, ENOMEM, ENOBUFS, EIO };

    start(w, "127.0.0.1:0");
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        int fd = dial(w);

        sys_fault("accept", 1, errors[i]);
        TURN_UNTIL(&w->rig, w->troubles == (int)i + 1);
        assert_int_equal(w->trouble.sys, errors[i]);
        assert_int_equal(w->n, i);
        rig_pass_ms(&w->rig, 100);
        TURN_UNTIL(&w->rig, w->n == i + 1);
        close(fd);
    }
}

static void a_connection_that_went_away_is_no_trouble(void **state)
{
    struct world *w = *state;
    static const int errors[] = { ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, EAGAIN, EPERM };

    start(w, "127.0.0.1:0");
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        int fd = dial(w);

        sys_fault("accept", 1, errors[i]);
        TURN_UNTIL(&w->rig, w->n == i + 1);
        assert_true(sys_fault_hit());
        close(fd);
    }
    assert_int_equal(w->troubles, 0);
}

static void a_callback_may_free_the_listener(void **state)
{
    struct world *w = *state;
    int fds[3];

    start(w, unix_text(w));
    w->free_in_accept = true;
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = dial(w);
    TURN_UNTIL(&w->rig, w->n == 1);
    rig_turns(&w->rig, 3);
    assert_int_equal(w->n, 1);
    assert_int_equal(access(w->path, F_OK), -1);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);

    start(w, "127.0.0.1:0");
    w->free_in_trouble = true;
    fds[0] = dial(w);
    sys_fault("accept", 1, EMFILE);
    TURN_UNTIL(&w->rig, w->troubles == 1);
    rig_pass_ms(&w->rig, 200);
    assert_null(w->l);
    close(fds[0]);
}

/* Whatever fails while a listener is created: the error names the address, no descriptor or file
 * is left behind, and the next attempt succeeds. */
static void every_failure_while_listening_is_clean(void **state)
{
    struct world *w = *state;
    const char *const places[] = { "127.0.0.1:0", ":0", unix_text(w) };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        for (long nth = 1;; nth++) {
            struct err err = { 0 };
            int before = dup(0), after;

            close(before);
            sys_fault("any", nth, EIO);
            if (listen_on(w, places[i], &w->l, &err) == 0)
                break;
            sys_fault("any", 0, 0);
            assert_non_null(strstr(err.text, "listen on "));
            assert_non_null(strstr(err.text, places[i][0] == 'u' ? w->path : ":0"));
            after = dup(0);
            close(after);
            assert_int_equal(before, after);
            assert_true(nth < 20);
        }
        sys_fault("any", 0, 0);
        listener_free(w->l);
        w->l = NULL;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void one_client_of_ipv6_is_its_64_bits(void **state)
{
    static const struct {
        const char *text, *net;
    } cases[] = {
        { "127.0.0.1:1", "127.0.0.1" },
        { "[2001:db8:1:2:3:4:5:6]:1", "2001:db8:1:2::" },
        { "[2001:db8:1:2::1]:2", "2001:db8:1:2::" },
        { "[::ffff:10.0.0.7]:1", "10.0.0.7" },
    };
    struct address a;
    struct err err;
    char net[ADDRESS_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(address_parse(cases[i].text, &a, &err), 0);
        address_print_net(&a, net);
        assert_string_equal(net, cases[i].net);
    }
}

/* The mode is asked of the file, and the file is made before anything could change its mode. */
static void the_file_of_a_socket_has_its_mode_from_the_beginning(void **state)
{
    static const struct listener_owner closed = { on_accept, on_trouble, .file_mode = 0600 };
    struct world *w = *state;
    struct address at;
    struct stat st;
    struct err err;
    mode_t old = umask(0);

    assert_int_equal(address_parse(unix_text(w), &at, &err), 0);
    assert_int_equal(listener_new(w->rig.loop, &at, &closed, w, &w->l, &err), 0);
    umask(old);
    assert_int_equal(stat(w->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static int send_descriptor(int to, int fd)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(fd))] = { 0 };
    struct iovec piece = { (char[]){ 'x' }, 1 };
    struct msghdr m = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
    };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    return sendmsg(to, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static void descriptors_are_refused_where_the_kernel_can(void **state)
{
    struct world *w = *state;
    int fd, probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool can = !sys_refuse_descriptors(probe);

    close(probe);
    if (!can)
        skip();
    start(w, unix_text(w));
    fd = dial(w);
    assert_int_equal(send_descriptor(fd, STDIN_FILENO), -1); /* not accepted yet */
    assert_int_equal(errno, EPERM);
    TURN_UNTIL(&w->rig, w->n == 1);
    assert_int_equal(send_descriptor(fd, STDIN_FILENO), -1);
    assert_int_equal(errno, EPERM);
    close(fd);
}

/* Both in the middle of a rest and out of on_accept(). */
static void connections_during_a_pause_are_accepted_after_it(void **state)
{
    struct world *w = *state;
    int fds[4];

    start(w, unix_text(w));
    listener_resume(w->l); /* not paused */
    w->pause_in_accept = true;
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = dial(w);
    TURN_UNTIL(&w->rig, w->n == 1);
    rig_turns(&w->rig, 300);
    assert_int_equal(w->n, 1);
    w->pause_in_accept = false;
    sys_fault("accept", 1, EMFILE);
    listener_resume(w->l);
    TURN_UNTIL(&w->rig, w->troubles == 1);
    listener_pause(w->l);
    rig_turns(&w->rig, 300); /* longer than the rest after a failure */
    assert_int_equal(w->n, 1);
    listener_resume(w->l);
    TURN_UNTIL(&w->rig, w->n == ARRAY_LEN(fds));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_client_of_ipv6_is_its_64_bits),
        cmocka_unit_test(addresses_are_read_and_printed),
        cmocka_unit_test(what_is_no_address_is_refused_with_a_reason),
        TEST(a_client_is_accepted_at_every_kind_of_address),
        TEST(a_client_of_ipv4_looks_so_on_a_socket_of_both_families),
        TEST(a_host_without_ipv6_listens_on_ipv4),
        TEST(a_taken_address_is_named_in_the_error),
        TEST(a_stale_socket_file_is_replaced_and_ours_removed),
        TEST(a_live_socket_or_a_file_is_not_touched),
        TEST(a_wake_up_accepts_a_bounded_number),
        TEST(out_of_descriptors_it_rests_tells_once_and_goes_on),
        TEST(each_spell_of_trouble_is_told),
        TEST(a_connection_that_went_away_is_no_trouble),
        TEST(a_callback_may_free_the_listener),
        TEST(connections_during_a_pause_are_accepted_after_it),
        TEST(the_file_of_a_socket_has_its_mode_from_the_beginning),
        TEST(descriptors_are_refused_where_the_kernel_can),
        TEST(every_failure_while_listening_is_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
