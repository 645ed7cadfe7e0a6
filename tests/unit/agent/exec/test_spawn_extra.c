/* SPDX-License-Identifier: MIT */
/* What a spec asks for beyond the ordinary, and starts on an older kernel. */
#include <sched.h>
#include <sys/prctl.h>

#include "agent/exec/spawn.h"
#include "base/os/sys_old.h"
#include "tests/lib/agent_world.h"

static int start(struct world *w, const struct spawn_request *more, const char *command,
                 struct spawn_result *ret, struct err *err)
{
    struct spawn_request r = *more;

    r.command = command;
    r.setup_path = w->dir;
    r.out_fd = w->out_fd;
    r.cgroup_fd = -1;
    if (!r.user)
        r.user = w->root;
    if (spawn(w->spawner, &r, ret, err))
        return -1;
    w->started[w->n++] = *ret;
    return 0;
}

static void says(struct world *w, const struct spawn_request *more, const char *command,
                 const char *text)
{
    struct spawn_result r;
    struct err err = { 0 };

    assert_int_equal(truncate(w->out, 0), 0);
    if (start(w, more, command, &r, &err))
        fail_msg("%s: %s", command, err.text);
    WAIT_UNTIL(!strcmp(world_read(w->out), text));
    assert_int_equal(world_end(&r).code, 0);
}

static void limits_and_nice_are_as_asked_for(void **state)
{
    static const struct spawn_limit limits[] = {
        { "nofile", RLIMIT_NOFILE, { 77, 77 } },
        { "core", RLIMIT_CORE, { 0, 0 } },
        { "fsize", RLIMIT_FSIZE, { RLIM_INFINITY, RLIM_INFINITY } },
    };
    struct world *w = *state;
    struct spawn_request r = { .limits = limits, .n_limits = ARRAY_LEN(limits), .nice = 7 };

    says(w, &r, "ulimit -n; ulimit -Hn; ulimit -c; ulimit -f; nice", "77\n77\n0\nunlimited\n7\n");
    r.user = w->nobody; /* set while it may */
    r.nice = -3;
    says(w, &r, "ulimit -n; nice; id -u", world_text("77\n-3\n%u\n", (unsigned)w->nobody->uid));
    r = (struct spawn_request){ .nice = 0 };
    says(w, &r, "nice", world_text("%d\n", getpriority(PRIO_PROCESS, 0))); /* as ours */
}

static void what_can_not_be_set_is_named(void **state)
{
    static const struct spawn_limit limits[] = {
        { "core", RLIMIT_CORE, { 0, 0 } },
        { "nofile", RLIMIT_NOFILE, { RLIM_INFINITY, RLIM_INFINITY } }, /* never allowed */
    };
    struct world *w = *state;
    struct spawn_request r = { .limits = limits, .n_limits = ARRAY_LEN(limits) };
    struct spawn_result got;
    struct err err = { 0 };

    assert_int_equal(start(w, &r, "true", &got, &err), -1);
    assert_string_equal(err.text, "resource limit nofile: Operation not permitted");
    r = (struct spawn_request){ .nice = 5 };
    sys_fault("setpriority", 1, EACCES);
    assert_int_equal(start(w, &r, "true", &got, &err), -1);
    assert_string_equal(err.text, "nice: Permission denied");
    sys_fault("any", 0, 0);
    r = (struct spawn_request){ .join = (const int[]){ -1 }, .n_join = 1 };
    assert_int_equal(start(w, &r, "true", &got, &err), -1);
    assert_string_equal(err.text, "cgroup: Bad file descriptor");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* all of them were buried */
    assert_int_equal(errno, ECHILD);
}

/* Without pidfd, clone3 and close_range a start is the same, and so is its end. */
static void an_old_kernel_starts_them_too(void **state)
{
    struct world *w = *state;
    struct spawn_request r = { .nice = 1 };
    struct spawn_result got;
    struct err err = { 0 };
    bool is_over = true;
    struct end end;
    int leaks[8];

    sys_do_without(SYS_PIDFD);
    for (size_t i = 0; i < ARRAY_LEN(leaks); i++)
        leaks[i] = open("/dev/null", O_RDONLY); /* on purpose without O_CLOEXEC */
    assert_int_equal(start(w, &r, "ls /proc/self/fd", &got, &err), 0);
    WAIT_UNTIL(!ident_end(got.pidfd, &end, &err) && end.kind == END_EXIT);
    assert_int_equal(end.code, 0);
    assert_string_equal(world_read(w->out), "0\n1\n2\n3\n");
    assert_int_equal(fcntl(leaks[7], F_GETFD), 0); /* ours are open still */
    for (size_t i = 0; i < ARRAY_LEN(leaks); i++)
        close(leaks[i]);

    assert_int_equal(start(w, &r, "./victim", &got, &err), 0);
    assert_int_equal(ident_check_ended(got.pidfd, &is_over, &err), 0);
    assert_false(is_over);
    assert_int_equal(ident_end(got.pidfd, &end, &err), 0);
    assert_int_equal(end.kind, END_NOT_YET);
    assert_int_equal(ident_signal(got.pidfd, SIGTERM, &err), 0);
    WAIT_UNTIL(!ident_end(got.pidfd, &end, &err) && end.kind == END_SIGNAL);
    assert_int_equal(end.code, SIGTERM);
    assert_int_equal(ident_signal(got.pidfd, SIGTERM, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(ident_end(got.pidfd, &end, &err), 0); /* once alone it is told */
    assert_int_equal(end.kind, END_UNKNOWN);

    assert_int_equal(start(w, &(struct spawn_request){ .nice = 0 }, "./victim", &got, &err), 0);
    sys_fault("execve", 1, ENOEXEC);
    assert_int_equal(start(w, &r, "./victim", &got, &err), -1);
    assert_non_null(strstr(err.text, "Exec format error"));
    for (int nth = 1;; nth++) {
        sys_fault("open", nth, EMFILE);
        if (!start(w, &r, "./victim", &got, &err))
            break;
        assert_true(nth < 20);
        assert_int_equal(err.sys, EMFILE);
    }
    sys_fault("any", 0, 0);
}

/* The kernel reports that another's child has ended, but not how. */
static void an_old_kernel_tells_that_others_have_ended(void **state)
{
    struct world *w = *state;
    struct spawn_result shell;
    struct ident id;
    struct err err = { 0 };
    struct end end;
    long long pid;
    int fd = -1;

    shell = world_start(w, w->root, "./victim --exit 3 --start-ms 300 & echo $!; wait; sleep 60");
    WAIT_UNTIL((pid = strtoll(world_read(w->out), NULL, 10)) > 1);
    sys_do_without(SYS_PIDFD);
    assert_int_equal(ident_of(pid, w->boot_id, &id, &fd, &err), 0);
    assert_int_equal(ident_end(fd, &end, &err), 0);
    assert_int_equal(end.kind, END_NOT_YET);
    WAIT_UNTIL(!ident_end(fd, &end, &err) && end.kind != END_NOT_YET);
    assert_int_equal(end.kind, END_UNKNOWN);
    close(fd);
    assert_int_equal(ident_open(&id, w->boot_id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(ident_of(1, w->boot_id, &id, &fd, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    sys_do_without(0);
    world_kill(shell.id.pid);
}

static int teardown(void **state)
{
    sys_do_without(0);
    return world_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(limits_and_nice_are_as_asked_for),
        TEST(what_can_not_be_set_is_named),
        TEST(an_old_kernel_starts_them_too),
        TEST(an_old_kernel_tells_that_others_have_ended),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("spawn_extra", tests, NULL, NULL);
}
