/* SPDX-License-Identifier: MIT */
#include "agent/identify/ident.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/confine/facility.h"
#include "base/os/sys_old.h"
#include "tests/lib/agent_world.h"

static void an_identity_finds_its_process_and_no_other(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim");
    struct ident id, other;
    struct err err;
    int fd;

    assert_int_equal(ident_of(r.id.pid, w->boot_id, &id, &fd, &err), 0);
    close(fd);
    assert_true(ident_equal(&id, &r.id));
    assert_int_equal(ident_open(&id, w->boot_id, &fd, &err), 0);
    close(fd);
    other = id;
    other.start_ticks--;
    assert_false(ident_equal(&id, &other));
    assert_int_equal(ident_open(&other, w->boot_id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "is another process now"));
    other = id;
    other.boot_id[0] ^= 1;
    assert_false(ident_equal(&id, &other));
    assert_int_equal(ident_open(&other, w->boot_id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "earlier boot"));
}

static void *wait_in_thread(void *arg)
{
    int *tid = arg;

    __atomic_store_n(tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    while (__atomic_load_n(tid, __ATOMIC_SEQ_CST) > 0)
        poll(NULL, 0, 1);
    return NULL;
}

static void nobody_gets_a_handle_on_init_or_us(void **state)
{
    struct world *w = *state;
    int64_t refused[] = { 1, 0, -1, INT64_MIN, getpid() }, absent[] = { 4194304, INT64_MAX };
    struct ident id;
    struct err err;
    pthread_t thread;
    int fd, tid = 0;

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_int_equal(ident_of(refused[i], w->boot_id, &id, &fd, &err), -1);
        assert_int_equal(err.code, ERR_DENIED);
    }
    for (size_t i = 0; i < ARRAY_LEN(absent); i++) {
        assert_int_equal(ident_of(absent[i], w->boot_id, &id, &fd, &err), -1);
        assert_int_equal(err.code, ERR_NOT_FOUND);
    }
    pthread_create(&thread, NULL, wait_in_thread, &tid);
    WAIT_UNTIL(__atomic_load_n(&tid, __ATOMIC_SEQ_CST) > 0);
    assert_int_equal(ident_of(tid, w->boot_id, &id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    __atomic_store_n(&tid, 0, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
}

static void the_end_of_a_child_is_told_once_and_exactly(void **state)
{
    static const struct {
        const char *command;
        enum end_kind kind;
        int code;
    } cases[] = {
        { "./victim --exit 0", END_EXIT, 0 },
        { "./victim --exit 255", END_EXIT, 255 },
        { "./victim --crash-ms 0 --crash-signal 11", END_SIGNAL, SIGSEGV },
        { "./victim --crash-ms 5 --crash-signal 9", END_SIGNAL, SIGKILL },
        { "./victim --life-ms 1", END_EXIT, 0 },
    };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spawn_result r = world_start(w, w->nobody, cases[i].command);
        struct end end = world_end(&r);
        struct err err;
        int fd;

        if (end.kind != cases[i].kind || end.code != cases[i].code)
            fail_msg("%s: %d %d", cases[i].command, (int)end.kind, end.code);
        assert_int_equal(ident_signal(r.pidfd, SIGKILL, &err), -1);
        assert_int_equal(err.code, ERR_NOT_FOUND);
        assert_int_equal(ident_open(&r.id, w->boot_id, &fd, &err), -1);
        assert_int_equal(err.code, ERR_NOT_FOUND);
    }
}

static void one_that_lives_has_no_end_yet(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --stop-self");
    struct end end = { .kind = END_EXIT };
    struct err err;

    assert_int_equal(ident_end(r.pidfd, &end, &err), 0);
    assert_int_equal(end.kind, END_NOT_YET);
    assert_int_equal(ident_signal(r.pidfd, 0, &err), 0);
    assert_int_equal(ident_signal(r.pidfd, SIGKILL, &err), 0); /* stopped ones die too */
    assert_int_equal(world_end(&r).code, SIGKILL);
}

static void an_end_can_be_looked_at_before_it_is_taken(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --exit 3");
    struct pollfd ended = { .fd = r.pidfd, .events = POLLIN };
    struct end end;
    struct err err;
    bool is_left;

    assert_int_equal(poll(&ended, 1, 30000), 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ident_look_at_end(r.pidfd, &end, &is_left, &err), 0);
        assert_int_equal(end.kind, END_EXIT);
        assert_int_equal(end.code, 3);
        assert_true(is_left);
    }
    assert_int_equal(ident_end(r.pidfd, &end, &err), 0);
    assert_int_equal(end.code, 3);
    assert_int_equal(ident_look_at_end(r.pidfd, &end, &is_left, &err), 0);
    assert_false(is_left);
}

static void a_zombie_is_not_taken_for_a_process(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --exit 3");
    struct ident id;
    struct err err;
    int fd;

    WAIT_UNTIL(world_ended(r.pidfd));
    assert_int_equal(ident_of(r.id.pid, w->boot_id, &id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "zombie"));
    assert_int_equal(ident_open(&r.id, w->boot_id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void a_child_that_has_ended_can_be_adopted(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --exit 3");
    struct ident other = r.id;
    struct end end;
    struct err err;
    int fd;

    WAIT_UNTIL(world_ended(r.pidfd));
    other.start_ticks++;
    assert_int_equal(ident_adopt(&other, w->boot_id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(ident_adopt(&r.id, w->boot_id, &fd, &err), 0);
    assert_int_equal(ident_end(fd, &end, &err), 0);
    assert_int_equal(end.kind, END_EXIT);
    assert_int_equal(end.code, 3);
    close(fd);
    assert_int_equal(ident_adopt(&r.id, w->boot_id, &fd, &err), -1); /* once */
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

/* The grandchild of a daemon: not ours until its parent is gone, and then ours. */
static void a_subreaper_is_told_how_daemons_end(void **state)
{
    struct world *w = *state;
    struct spawn_result first, daemon = { .pidfd = -1 };
    struct end end;
    struct err err;
    int64_t pid;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    first = world_start(w, w->nobody,
                        world_text("./victim --daemonize --crash-ms 300 "
                                   "--crash-signal 6"));
    assert_int_equal(world_end(&first).kind, END_EXIT);
    WAIT_UNTIL((pid = strtol(world_read(w->out), NULL, 10)) > 0);
    assert_true(pid != first.id.pid);
    assert_int_equal(ident_of(pid, w->boot_id, &daemon.id, &daemon.pidfd, &err), 0);
    end = world_end(&daemon);
    close(daemon.pidfd);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    assert_int_equal(end.kind, END_SIGNAL);
    assert_int_equal(end.code, SIGABRT);
}

/* A child of a shell: not ours to reap, so the kernel must tell (Linux 6.15). */
static void how_others_end_is_told_where_the_kernel_knows(void **state)
{
    struct world *w = *state;
    struct pollfd p = { .events = POLLIN };
    struct ident id;
    struct end end;
    struct err err;
    int64_t pid;
    int fd;

    world_start(w, w->nobody, "./victim & sleep 30 & wait $!");
    WAIT_UNTIL((pid = strtol(world_read(w->out), NULL, 10)) > 0);
    assert_int_equal(ident_of(pid, w->boot_id, &id, &fd, &err), 0);
    assert_int_equal(ident_end(fd, &end, &err), 0);
    assert_int_equal(end.kind, END_NOT_YET);
    assert_int_equal(ident_signal(fd, SIGUSR1, &err), 0);
    p.fd = fd;
    WAIT_UNTIL(poll(&p, 1, 0) == 1 && (p.revents & POLLHUP)); /* the shell has reaped it */
    assert_int_equal(ident_end(fd, &end, &err), 0);
    close(fd);
    if (end.kind == END_UNKNOWN)
        skip(); /* an older kernel */
    assert_int_equal(end.kind, END_SIGNAL);
    assert_int_equal(end.code, SIGUSR1);
}

/* The parent of this one never waits for it: then there is no answer, but there may be one. */
static void one_that_nobody_has_reaped_can_be_asked_again(void **state)
{
    static const struct {
        unsigned without;
        bool is_unreaped;
    } cases[] = { { 0, true }, { SYS_PIDFD_INFO, false } };
    struct world *w = *state;
    struct facilities f = { 0 };
    struct ident id;
    struct end end;
    struct err err;
    int64_t pid;
    bool is_left;
    int fd;

    facilities_probe(&f, "");
    if (!f.has[HAS_PIDFD_INFO])
        skip();
    world_start(w, w->nobody, "./victim & exec sleep 30");
    WAIT_UNTIL((pid = strtol(world_read(w->out), NULL, 10)) > 0);
    assert_int_equal(ident_of(pid, w->boot_id, &id, &fd, &err), 0);
    assert_int_equal(ident_look_at_end(fd, &end, &is_left, &err), 0);
    assert_int_equal(end.kind, END_NOT_YET);
    assert_false(end.is_unreaped);
    assert_int_equal(ident_signal(fd, SIGKILL, &err), 0);
    WAIT_UNTIL(world_ended(fd));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sys_do_without(cases[i].without);
        assert_int_equal(ident_look_at_end(fd, &end, &is_left, &err), 0);
        sys_do_without(0);
        assert_int_equal(end.kind, END_UNKNOWN);
        assert_int_equal(end.is_unreaped, cases[i].is_unreaped);
        assert_false(is_left);
    }
    close(fd);
}

static bool is_held(void *arg, pid_t pid)
{
    int64_t *held = arg;

    return pid == *held;
}

static bool strays_are_gone(struct world *w, int64_t *held)
{
    struct err err;
    siginfo_t info = { .si_pid = 0 };
    bool any;

    (void)w;
    assert_int_equal(ident_reap_strays(is_held, held, &any, &err), 0);
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == *held ||
           info.si_pid == 0;
}

static void strays_are_reaped_and_held_ones_left(void **state)
{
    struct world *w = *state;
    struct spawn_result held, stray;
    siginfo_t info = { .si_pid = 0 };
    int64_t pid = 0;

    stray = world_start(w, w->nobody, "./victim --exit 1");
    WAIT_UNTIL(world_ended(stray.pidfd));
    held = world_start(w, w->nobody, "./victim --exit 2");
    WAIT_UNTIL(world_ended(held.pidfd));
    pid = held.id.pid;
    WAIT_UNTIL(strays_are_gone(w, &pid));
    assert_int_equal(waitid(P_PID, (id_t)stray.id.pid, &info, WEXITED | WNOHANG), -1);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(info.si_pid, pid);
    assert_int_equal(world_end(&held).code, 2);
}

/* In a pid namespace of our own the next pid can be chosen: the process dies, another
 * gets its pid, and nothing ever reaches that one.  The number of what went wrong. */
static int reuse_a_pid(struct world *w)
{
    struct spawn_request r = { .command = "./victim",
                               .setup_path = w->dir,
                               .user = w->nobody,
                               .out_fd = w->out_fd,
                               .cgroup_fd = -1 };
    struct spawn_result a, b;
    struct err err;
    struct end end;
    char text[32];
    int fd;

    if (spawn(w->spawner, &r, &a, &err))
        return 1;
    if (ident_signal(a.pidfd, SIGKILL, &err))
        return 2;
    while (!world_ended(a.pidfd))
        poll(NULL, 0, 1);
    if (ident_end(a.pidfd, &end, &err) || end.code != SIGKILL)
        return 3;
    poll(NULL, 0, 30); /* start ticks count hundredths of a second */
    snprintf(text, sizeof(text), "%d", (int)a.id.pid - 1);
    fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        return 77;
    if (spawn(w->spawner, &r, &b, &err))
        return 4;
    if (b.id.pid != a.id.pid)
        return 77;
    if (!ident_open(&a.id, w->boot_id, &fd, &err) || err.code != ERR_NOT_FOUND)
        return 5;
    if (!ident_signal(a.pidfd, SIGKILL, &err) || err.code != ERR_NOT_FOUND)
        return 6;
    if (ident_open(&b.id, w->boot_id, &fd, &err) || world_ended(b.pidfd))
        return 7;
    return 0;
}

static int in_own_namespace(struct world *w)
{
    int status;
    pid_t pid;

    if (unshare(CLONE_NEWPID | CLONE_NEWNS))
        return 77;
    pid = fork();
    if (pid == 0) {
        /* This one is init of the namespace; /proc must be of it too. */
        if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
            mount("proc", "/proc", "proc", 0, NULL))
            _exit(77);
        _exit(reuse_a_pid(w));
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void a_pid_that_is_used_again_does_no_harm(void **state)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(in_own_namespace(*state));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* not allowed here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void every_call_that_fails_is_an_error(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim");
    struct ident id;
    struct err err;
    struct end end;
    int fd, nth;

    for (nth = 1;; nth++) {
        sys_fault("any", nth, EIO);
        if (!ident_of(r.id.pid, w->boot_id, &id, &fd, &err))
            break;
        assert_int_equal(err.code, ERR_SYSTEM);
        assert_int_equal(err.sys, EIO);
    }
    close(fd);
    assert_false(sys_fault_hit());
    assert_int_equal(nth, 5);    /* pidfd_open, open, read, poll */
    sys_fault("poll", 1, EINTR); /* others are dying meanwhile: that is no failure */
    assert_int_equal(ident_of(r.id.pid, w->boot_id, &id, &fd, &err), 0);
    assert_true(sys_fault_hit());
    close(fd);
    sys_fault("pidfd_send_signal", 1, EPERM);
    assert_int_equal(ident_signal(r.pidfd, SIGTERM, &err), -1);
    assert_int_equal(err.sys, EPERM);
    sys_fault("waitid", 1, EINVAL);
    assert_int_equal(ident_end(r.pidfd, &end, &err), -1);
    assert_int_equal(err.sys, EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_identity_finds_its_process_and_no_other),
        TEST(nobody_gets_a_handle_on_init_or_us),
        TEST(the_end_of_a_child_is_told_once_and_exactly),
        TEST(one_that_lives_has_no_end_yet),
        TEST(an_end_can_be_looked_at_before_it_is_taken),
        TEST(a_zombie_is_not_taken_for_a_process),
        TEST(a_child_that_has_ended_can_be_adopted),
        TEST(a_subreaper_is_told_how_daemons_end),
        TEST(how_others_end_is_told_where_the_kernel_knows),
        TEST(one_that_nobody_has_reaped_can_be_asked_again),
        TEST(strays_are_reaped_and_held_ones_left),
        TEST(a_pid_that_is_used_again_does_no_harm),
        TEST(every_call_that_fails_is_an_error),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("ident", tests, NULL, NULL);
}
