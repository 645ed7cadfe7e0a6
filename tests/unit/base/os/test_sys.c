/* SPDX-License-Identifier: MIT */
#include "base/os/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem/mem.h"

/* An error that none of the calls below returns by itself. */
enum { PLANTED = ESTALE };

static char byte;
static struct stat st;
static struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/nowhere/at/all" };
static socklen_t address_len = sizeof(address);

#define ADDRESS (struct sockaddr *)&address

/* Closes a descriptor that a call returned. */
static long given(int fd)
{
    int saved = errno;

    sys_close(fd);
    errno = saved;
    return fd;
}

/* Calls each function once with harmless arguments.  It may fail, but not with PLANTED. */
/* clang-format off */
static long do_open(void) { return given(sys_open("/dev/null", O_RDONLY, 0)); }
static long do_openat(void) { return given(sys_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0)); }
static long do_fdopendir(void) { return sys_fdopendir(-1) ? 0 : -1; }
static long do_read(void) { return sys_read(-1, &byte, 1); }
static long do_write(void) { return sys_write(-1, &byte, 1); }
static long do_pread(void) { return sys_pread(-1, &byte, 1, 0); }
static long do_pwrite(void) { return sys_pwrite(-1, &byte, 1, 0); }
static long do_ftruncate(void) { return sys_ftruncate(-1, 0); }
static long do_flock(void) { return sys_flock(-1, LOCK_UN); }
static long do_dup3(void) { return sys_dup3(-1, -1); }
static long do_fsync(void) { return sys_fsync(-1); }
static long do_fstat(void) { return sys_fstat(STDIN_FILENO, &st); }
static long do_stat(void) { return sys_stat("/", &st); }
static long do_lstat(void) { return sys_lstat(AT_FDCWD, "/", &st); }
static long do_rename(void) { return sys_rename("/nowhere/a", "/nowhere/b"); }
static long do_link(void) { return sys_link("/nowhere/a", "/nowhere/b"); }
static long do_unlink(void) { return sys_unlink("/nowhere/a"); }
static long do_mkdir(void) { return sys_mkdir("/", 0700); }
static long do_socket(void) { return given(sys_socket(AF_UNIX, SOCK_STREAM, 0)); }
static long do_bind(void) { return sys_bind(-1, ADDRESS, sizeof(address)); }
static long do_listen(void) { return sys_listen(-1, 1); }
static long do_accept(void) { return sys_accept(-1, NULL, NULL); }
static long do_connect(void) { return sys_connect(-1, ADDRESS, sizeof(address)); }
static long do_setsockopt(void) { return sys_setsockopt(-1, SOL_SOCKET, SO_REUSEADDR, 1); }
static long do_getsockopt(void) { int value; return sys_getsockopt(-1, SOL_SOCKET, SO_ERROR, &value); }
static long do_getsockname(void) { return sys_getsockname(-1, ADDRESS, &address_len); }
static long do_shutdown(void) { return sys_shutdown(-1, SHUT_WR); }
static long do_send(void) { return sys_send(-1, &byte, 1); }
static long do_recv(void) { return sys_recv(-1, &byte, 1); }
static long do_eventfd(void) { return given(sys_eventfd()); }
static long do_readlinkat(void) { return sys_readlinkat(AT_FDCWD, "/", &byte, 1); }
static long do_renameat(void) { return sys_renameat(AT_FDCWD, "/nowhere/a", "/nowhere/b"); }
static long do_unlinkat(void) { return sys_unlinkat(AT_FDCWD, "/nowhere/a"); }
static long do_fallocate(void) { return sys_fallocate(-1, 0, 0, 1); }
static long do_fdatasync(void) { return sys_fdatasync(-1); }
static long do_fchown(void) { return sys_fchown(-1, 0, 0); }
static long do_dupfd(void) { return sys_dupfd(-1, 0); }
static long do_poll(void) { return sys_poll(NULL, 0, 0); }
static long do_ioctl(void) { return sys_ioctl(-1, 0, NULL); }
static long do_pidfd_open(void) { return given(sys_pidfd_open(getpid())); }
static long do_pidfd_send_signal(void) { return sys_pidfd_send_signal(-1, 0); }
static long do_waitid(void) { siginfo_t info; return sys_waitid(P_PID, (id_t)getpid(), &info, WEXITED); }
static long do_prlimit(void) { return sys_prlimit(RLIMIT_CORE, NULL, NULL); }
static long do_clone3(void) { int fd; return sys_clone3(&(struct sys_child){ .stack_size = 1 }, &fd); }
static long do_close_range(void) { return sys_close_range(~0U); }
static long do_dup2(void) { return sys_dup2(-1, -1); }
static long do_setsid(void) { return sys_setsid() < 0 ? -1 : 0; }
static long do_chdir(void) { return sys_chdir("/nowhere/at/all"); }
static long do_setgroups(void) { return sys_setgroups((size_t)-1, NULL); }
static long do_setresgid(void) { return sys_setresgid((gid_t)-1); }
static long do_setresuid(void) { return sys_setresuid((uid_t)-1); }
static long do_execve(void) { char *none[] = { NULL }; return sys_execve("/nowhere/a", none, none); }

static const struct {
    const char *name;
    long (*make)(void);
} calls[] = {
    { "open", do_open },             { "read", do_read },       { "write", do_write },
    { "dup3", do_dup3 },             { "fsync", do_fsync },     { "fstat", do_fstat },
    { "stat", do_stat },             { "lstat", do_lstat },     { "rename", do_rename },
    { "unlink", do_unlink },         { "mkdir", do_mkdir },     { "socket", do_socket },
    { "bind", do_bind },             { "listen", do_listen },   { "accept", do_accept },
    { "connect", do_connect },       { "send", do_send },       { "recv", do_recv },
    { "setsockopt", do_setsockopt }, { "eventfd", do_eventfd }, { "getsockopt", do_getsockopt },
    { "getsockname", do_getsockname }, { "shutdown", do_shutdown },
    { "openat", do_openat },         { "fdopendir", do_fdopendir }, { "link", do_link },
    { "pread", do_pread },           { "pwrite", do_pwrite },   { "ftruncate", do_ftruncate },
    { "flock", do_flock },
    { "readlinkat", do_readlinkat }, { "renameat", do_renameat }, { "unlinkat", do_unlinkat },
    { "fallocate", do_fallocate },   { "fdatasync", do_fdatasync }, { "fchown", do_fchown },
    { "dupfd", do_dupfd },           { "poll", do_poll },       { "ioctl", do_ioctl },
    { "pidfd_open", do_pidfd_open }, { "pidfd_send_signal", do_pidfd_send_signal },
    { "waitid", do_waitid },         { "prlimit", do_prlimit }, { "clone3", do_clone3 },
    { "close_range", do_close_range }, { "dup2", do_dup2 },     { "setsid", do_setsid },
    { "chdir", do_chdir },           { "setgroups", do_setgroups }, { "setresgid", do_setresgid },
    { "setresuid", do_setresuid },   { "execve", do_execve },
};
/* clang-format on */

static bool is_planted(long (*make)(void))
{
    errno = 0;
    return make() == -1 && errno == PLANTED;
}

static void only_the_named_call_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        sys_fault(calls[i].name, 1, PLANTED);
        for (size_t k = 0; k < ARRAY_LEN(calls); k++) {
            if (k != i && (is_planted(calls[k].make) || sys_fault_hit()))
                fail_msg("%s failed instead of %s", calls[k].name, calls[i].name);
        }
        if (!is_planted(calls[i].make) || !sys_fault_hit())
            fail_msg("%s did not fail", calls[i].name);
        if (is_planted(calls[i].make))
            fail_msg("%s failed twice", calls[i].name);
        assert_true(sys_fault_hit());
    }
    sys_fault("any", 0, 0);
}

static void only_the_nth_call_fails(void **state)
{
    (void)state;
    for (int nth = 1; nth < 10; nth++) {
        sys_fault("stat", nth, PLANTED);
        for (int n = 1; n < 20; n++) {
            assert_int_equal(is_planted(do_stat), n == nth);
            assert_int_equal(sys_fault_hit(), n >= nth);
        }
    }
}

static void any_counts_all_calls(void **state)
{
    (void)state;
    for (size_t nth = 0; nth < ARRAY_LEN(calls); nth++) {
        sys_fault("any", (long)nth + 1, PLANTED);
        for (size_t n = 0; n < ARRAY_LEN(calls); n++)
            assert_int_equal(is_planted(calls[n].make), n == nth);
    }
}

static void a_new_fault_replaces_the_old(void **state)
{
    (void)state;
    sys_fault("stat", 1, PLANTED);
    sys_fault("open", 1, PLANTED);
    assert_false(is_planted(do_stat));
    assert_true(is_planted(do_open));
    assert_true(sys_fault_hit());
    sys_fault("open", 1, PLANTED);
    assert_false(sys_fault_hit());
    sys_fault("open", 0, PLANTED);
    assert_false(is_planted(do_open));
    assert_false(sys_fault_hit());
}

/* The program under test: this one, started again with an argument.  It makes five stats and
 * exits with 10 plus the number of the failed one. */
static int child_main(void)
{
    for (int n = 1; n <= 5; n++) {
        if (sys_stat("/", &st))
            return errno == EIO ? 10 + n : 30;
    }
    return 10;
}

static int run_child(const char *fault)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        setenv("HOLDFAST_FAULT", fault, 1);
        execl("/proc/self/exe", "test_sys", "child", NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void a_whole_program_can_be_given_a_fault(void **state)
{
    static const struct {
        const char *fault;
        int end;
    } cases[] = {
        { "stat:1:EIO", 11 },
        { "stat:3:EIO", 13 },
        { "any:5:EIO", 15 },
        { "stat:6:EIO", 10 },
        { "open:1:EIO", 10 },
        { "stat:2:ENOENT", 30 }, /* any errno by its name */
        { "stat:2:ECONNREFUSED", 30 },
        { "stat:5:kill", -SIGKILL },
        { "any:1:kill", -SIGKILL },
        { "any:6:kill", 10 },
        { "setsockopt:1:kill", 10 },
        { "getsockname:1:kill", 10 },
        { "pidfd_send_signal:1:kill", 10 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (run_child(cases[i].fault) != cases[i].end)
            fail_msg("%s: not %d", cases[i].fault, cases[i].end);
    }
}

static void an_unknown_word_ends_the_program(void **state)
{
    static const char *const cases[] = {
        "",
        "stat",
        "stat:1",
        "stat:1:",
        ":1:EIO",
        "stat::EIO",
        "stat:x:EIO",
        "stat:1x:EIO",
        "stat:1:EWHAT",
        "stat:1:Kill",
        "stat:0:EIO",
        "stat:-1:EIO",
        "sata:1:EIO",
        "Any:1:EIO",
        "stat:1:EIO more",
        "stat:1:5",
        "stat:1:EIO:2",
        "stat :1:EIO",
        "sys_stat:1:EIO",
        "stat,open:1:EIO",
        "st:1:EIO",
        "stat:1:killed",
        "state:1:kill",
        "setsockoptions:1:EIO",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (run_child(cases[i]) != 2)
            fail_msg("\"%s\" was accepted", cases[i]);
    }
}

static bool is_flagged(int fd)
{
    return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

static bool is_nonblocking(int fd)
{
    return fcntl(fd, F_GETFL) & O_NONBLOCK;
}

static void descriptors_are_closed_on_exec_and_sockets_do_not_block(void **state)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    socklen_t len = sizeof(at.sun_family); /* the kernel picks an abstract name */
    int listener = sys_socket(AF_UNIX, SOCK_STREAM, 0),
        client = sys_socket(AF_UNIX, SOCK_STREAM, 0);
    int file = sys_open("/dev/null", O_RDONLY, 0), event = sys_eventfd(), peer;

    (void)state;
    assert_int_equal(sys_bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(sys_listen(listener, 1), 0);
    assert_int_equal(sys_accept(listener, NULL, NULL), -1);
    assert_true(sys_again());
    len = sizeof(at);
    assert_int_equal(sys_getsockname(listener, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(sys_connect(client, (struct sockaddr *)&at, len), 0);
    peer = sys_accept(listener, NULL, NULL);
    assert_true(peer >= 0);
    assert_true(is_flagged(listener) && is_flagged(peer) && is_flagged(file) && is_flagged(event));
    assert_true(is_nonblocking(listener) && is_nonblocking(peer) && is_nonblocking(event));
    assert_int_equal(sys_recv(peer, &byte, 1), -1);
    assert_true(sys_again());
    assert_int_equal(sys_dup3(peer, event), event);
    assert_true(is_flagged(event));
    sys_close(client);
    assert_int_equal(sys_send(peer, &byte, 1), -1); /* without SIGPIPE */
    assert_int_equal(errno, EPIPE);
    assert_false(sys_again());
    sys_close(listener);
    sys_close(peer);
    sys_close(file);
    sys_close(event);
    sys_close(-1);
}

static int alarm_to;

static void on_alarm(int number)
{
    (void)number;
    if (write(alarm_to, "x", 1) != 1)
        abort();
}

/* The signal handler that interrupts the read also writes the byte to read. */
static void a_read_goes_on_after_a_signal(void **state)
{
    struct sigaction act = { .sa_handler = on_alarm }, old;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    alarm_to = ends[1];
    sigaction(SIGALRM, &act, &old);
    ualarm(1000, 0);
    assert_int_equal(sys_read(ends[0], &byte, 1), 1);
    sigaction(SIGALRM, &old, NULL);
    sys_close(ends[0]);
    sys_close(ends[1]);
}

static void random_bytes_fill_all_that_was_asked(void **state)
{
    unsigned char bytes[4096] = { 0 };
    unsigned seen[256] = { 0 };

    (void)state;
    sys_random(bytes, 0);
    assert_int_equal(bytes[0], 0);
    sys_random(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        seen[bytes[i]]++;
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        assert_in_range(seen[i], 0, 100); /* 16 expected; 4096 if it were constant */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_named_call_fails),
        cmocka_unit_test(only_the_nth_call_fails),
        cmocka_unit_test(any_counts_all_calls),
        cmocka_unit_test(a_new_fault_replaces_the_old),
        cmocka_unit_test(a_whole_program_can_be_given_a_fault),
        cmocka_unit_test(an_unknown_word_ends_the_program),
        cmocka_unit_test(descriptors_are_closed_on_exec_and_sockets_do_not_block),
        cmocka_unit_test(a_read_goes_on_after_a_signal),
        cmocka_unit_test(random_bytes_fill_all_that_was_asked),
    };

    if (argc == 2 && !strcmp(argv[1], "child"))
        return child_main();
    return cmocka_run_group_tests_name("sys", tests, NULL, NULL);
}
