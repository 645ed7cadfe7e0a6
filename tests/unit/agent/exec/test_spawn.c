/* SPDX-License-Identifier: MIT */
#include "agent/exec/spawn.h"

#include <grp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "model/code.h"
#include "tests/lib/agent_world.h"

static void run(struct world *w, const struct user *user, const char *command, int code)
{
    struct spawn_result r = world_start(w, user, command);
    struct end end = world_end(&r);

    if (end.kind != END_EXIT || end.code != code)
        fail_msg("%s: ended %d %d with %s", command, (int)end.kind, end.code, world_read(w->out));
}

static void a_command_runs_and_is_known(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->root, "./victim");
    struct procfs_stat st;
    struct err err;

    assert_true(r.is_direct);
    assert_string_equal(r.id.boot_id, w->boot_id);
    WAIT_UNTIL(strtol(world_read(w->out), NULL, 10) == r.id.pid);
    assert_int_equal(procfs_stat((pid_t)r.id.pid, &st, &err), 0);
    assert_int_equal(st.start_ticks, r.id.start_ticks);
    assert_int_equal(st.session, r.id.pid);
    assert_int_equal(st.ppid, getpid());
    assert_string_equal(st.comm, "victim");
    assert_int_equal(ident_signal(r.pidfd, SIGTERM, &err), 0);
    assert_int_equal(world_end(&r).code, SIGTERM);
}

static void the_shell_is_used_only_where_it_is_needed(void **state)
{
    static const struct {
        const char *command;
        bool is_direct;
        const char *output; /* NULL: not looked at */
    } cases[] = {
        { "./victim --print a", true, "a\na\n" },
        { " \t./victim  --print\ta ", true, "a\na\n" },
        { "echo a b", true, "a b\n" },
        { "echo 'a  b'", false, "a  b\n" },
        { "echo $((1+1))", false, "2\n" },
        { "X=1 ./victim --print a", false, "a\na\n" },
        { "./script x=y", true, "./script:x=y\n" },
        { "./plain a", false, "plain:a\n" }, /* no #!: only a shell can */
        { "sub/../script a", true, "sub/../script:a\n" },
        { "cd /; pwd", false, "/\n" },
        { "pwd", true, NULL },
        { "exit 0", false, "" },
        { "true && echo yes", false, "yes\n" },
        { "echo a\necho b", false, "a\nb\n" },
        { "echo \xC3\xA9", false, "\xC3\xA9\n" },
    };
    struct world *w = *state;

    world_write(world_text("%s/script", w->dir), "#!/bin/sh\necho \"$0:$1\"\n");
    world_write(world_text("%s/plain", w->dir), "echo \"plain:$1\"\n");
    mkdir(world_text("%s/sub", w->dir), 0755);
    assert_int_equal(chmod(world_text("%s/script", w->dir), 0755), 0);
    assert_int_equal(chmod(world_text("%s/plain", w->dir), 0755), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spawn_result r;

        assert_int_equal(truncate(w->out, 0), 0);
        if (strstr(cases[i].command, "victim"))
            r = world_start(w, w->root, world_text("%s --exit 0", cases[i].command));
        else
            r = world_start(w, w->root, cases[i].command);
        if (r.is_direct != cases[i].is_direct)
            fail_msg("%s: direct %d", cases[i].command, r.is_direct);
        assert_int_equal(world_end(&r).kind, END_EXIT);
        if (cases[i].output && strcmp(world_read(w->out), cases[i].output) != 0)
            fail_msg("%s: %s", cases[i].command, world_read(w->out));
    }
}

static void what_is_not_there_is_the_shells_to_report(void **state)
{
    struct world *w = *state;

    run(w, w->root, "./nowhere at all", 127);
    assert_non_null(strstr(world_read(w->out), "not found"));
    run(w, w->root, "nosuchprogramanywhere", 127);
    world_write(world_text("%s/data", w->dir), "#!/bin/sh\nexit 3\n");
    run(w, w->root, "./data", 126); /* not executable */
}

/* By a shell, and directly. */
static void without_a_setup_path_commands_run_in_the_root(void **state)
{
    static const char *const commands[] = { "pwd; true", "bin/pwd" };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const struct spawn_request r = { .command = commands[i],
                                         .setup_path = "",
                                         .user = w->root,
                                         .out_fd = w->out_fd,
                                         .cgroup_fd = -1 };
        struct spawn_result got;
        struct err err;

        assert_int_equal(truncate(w->out, 0), 0);
        if (spawn(w->spawner, &r, &got, &err))
            fail_msg("%s", err.text);
        w->started[w->n++] = got;
        assert_int_equal(world_end(&got).code, 0);
        assert_string_equal(world_read(w->out), "/\n");
    }
}

static void one_that_is_killed_before_it_is_begun_does_not_run_later(void **state)
{
    struct world *w = *state;
    struct spawn_progress progress;
    const struct spawn_request r = { .command = "echo ran",
                                     .setup_path = w->dir,
                                     .user = w->root,
                                     .out_fd = w->out_fd,
                                     .cgroup_fd = -1,
                                     .progress = &progress };
    struct spawn_result got;
    struct err err;

    spawn_progress_init(&progress);
    spawn_kill(&progress);
    assert_int_equal(spawn(w->spawner, &r, &got, &err), -1);
    assert_int_equal(spawn_progress_pid(&progress), 0);
    assert_string_equal(world_read(w->out), "");
}

static void the_environment_is_the_users_and_nothing_of_ours(void **state)
{
    static const char *const extra[] = { "LANG=de_DE", "A=b c", "A=d", "EMPTY=", NULL };
    struct world *w = *state;
    struct spawn_request r = { .command = "env",
                               .setup_path = w->dir,
                               .user = w->root,
                               .env = extra,
                               .out_fd = w->out_fd,
                               .cgroup_fd = -1 };
    struct spawn_result got;
    struct err err;

    setenv("SECRET_OF_OURS", "1", 1);
    assert_int_equal(spawn(w->spawner, &r, &got, &err), 0);
    w->started[w->n++] = got;
    assert_int_equal(world_end(&got).code, 0);
    assert_string_equal(world_read(w->out),
                        world_text("HOME=%s\nUSER=%s\nLOGNAME=%s\nSHELL=%s\nPATH=" SPAWN_PATH
                                   "\nLANG=de_DE\nA=d\nEMPTY=\n",
                                   w->root->home, w->root->name, w->root->name, w->root->shell));
}

static void nothing_of_the_agents_state_is_inherited(void **state)
{
    struct world *w = *state;
    struct rlimit found, low;
    struct err err;
    sigset_t mask, old;
    mode_t umask_was = umask(077);
    int leak = open("/dev/null", O_RDONLY); /* on purpose without O_CLOEXEC */

    signal(SIGUSR1, SIG_IGN); /* as the parent process may have left it */
    spawner_free(w->spawner);
    assert_int_equal(spawner_new(w->boot_id, &w->spawner, &err), 0);
    getrlimit(RLIMIT_NOFILE, &found);
    low = (struct rlimit){ found.rlim_cur - 7, found.rlim_max };
    assert_int_equal(spawner_own_limit(w->spawner, RLIMIT_NOFILE, &low, &err), 0);
    low.rlim_cur--; /* a second time: it is the first that was found */
    assert_int_equal(spawner_own_limit(w->spawner, RLIMIT_NOFILE, &low, &err), 0);
    sigfillset(&mask);
    sigprocmask(SIG_SETMASK, &mask, &old);
    signal(SIGPIPE, SIG_IGN); /* at any time */
    world_write(world_text("%s/look", w->dir),
                "#!/bin/sh\n"
                "umask\nulimit -n\npwd\nreadlink /proc/$$/fd/0\nreadlink /proc/$$/fd/2\n"
                "cut -d' ' -f6 /proc/$$/stat\n");
    assert_int_equal(chmod(world_text("%s/look", w->dir), 0755), 0);
    run(w, w->root, "grep Sig /proc/self/status", 0); /* itself: a shell would change them */
    run(w, w->root, "ls /proc/self/fd", 0);
    run(w, w->root, "./look", 0);
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
    umask(umask_was);
    setrlimit(RLIMIT_NOFILE, &found);
    close(leak);
    assert_non_null(strstr(world_read(w->out), "SigBlk:\t0000000000000000\n"
                                               "SigIgn:\t0000000000000000\n"));
    assert_non_null(
        strstr(world_read(w->out), world_text("\n0\n1\n2\n3\n0022\n%llu\n%s\n/dev/null\n%s\n%lld\n",
                                              (unsigned long long)found.rlim_cur, w->dir, w->out,
                                              (long long)w->started[2].id.pid)));
}

static void the_agents_own_oom_score_is_not_touched(void **state)
{
    struct world *w = *state;

    world_write("/proc/self/oom_score_adj", "300");
    run(w, w->nobody, "cat /proc/self/oom_score_adj", 0);
    assert_string_equal(world_read(w->out), "0\n");
    assert_string_equal(world_read("/proc/self/oom_score_adj"), "300\n");
    sys_fault("pread", 1, EIO); /* our own can not be read */
    run(w, w->nobody, "cat /proc/self/oom_score_adj", 0);
    sys_fault("pread", 0, 0);
    assert_string_equal(world_read(w->out), "0\n0\n");
    world_write("/proc/self/oom_score_adj", "0");
}

static void ids_and_all_groups_are_the_users(void **state)
{
    struct world *w = *state;
    gid_t groups[] = { 12345, w->nobody->gid, 54321 };
    struct user u = *w->nobody;

    u.groups = groups;
    u.groups_n = ARRAY_LEN(groups);
    run(w, &u, "grep -E 'Uid|Gid|Groups|CapEff' /proc/self/status", 0);
    assert_string_equal(world_read(w->out), "Uid:\t65534\t65534\t65534\t65534\n"
                                            "Gid:\t65534\t65534\t65534\t65534\n"
                                            "Groups:\t12345 54321 65534 \n"
                                            "CapEff:\t0000000000000000\n");
    assert_int_equal(geteuid(), 0); /* our user has not changed */
}

static void a_start_that_fails_says_at_which_step(void **state)
{
    static const struct {
        const char *command, *setup_path, *text;
        int sys;
    } cases[] = {
        { "true", "/nowhere/x", "chdir /nowhere/x: No such file or directory", ENOENT },
        { "true", "/etc/passwd", "chdir /etc/passwd: Not a directory", ENOTDIR },
        { "./noexec", NULL, "exec ./noexec: Exec format error", ENOEXEC },
        { "./nointerp", NULL, "exec ./nointerp: No such file or directory", ENOENT },
        { "./root_only", NULL, "exec ./root_only: Permission denied", EACCES },
        { "", NULL, "the command is empty", 0 },
        { " \n\t ", NULL, "the command is empty", 0 },
    };
    struct world *w = *state;

    world_write(world_text("%s/noexec", w->dir), "\177ELF and then no more of it");
    world_write(world_text("%s/nointerp", w->dir), "#!/nowhere/sh\n");
    world_write(world_text("%s/root_only", w->dir), "#!/bin/sh\n");
    assert_int_equal(chmod(world_text("%s/noexec", w->dir), 0755), 0);
    assert_int_equal(chmod(world_text("%s/nointerp", w->dir), 0755), 0);
    assert_int_equal(chmod(world_text("%s/root_only", w->dir), 0700), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spawn_request r = { .command = cases[i].command,
                                   .setup_path = cases[i].setup_path ? cases[i].setup_path : w->dir,
                                   .user = w->nobody,
                                   .out_fd = w->out_fd,
                                   .cgroup_fd = -1 };
        struct spawn_result got;
        struct err err = { 0 };

        assert_int_equal(spawn(w->spawner, &r, &got, &err), -1);
        assert_string_equal(err.text, cases[i].text);
        assert_int_equal(err.sys, cases[i].sys);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and leaves no child */
    }
}

static void an_unknown_user_has_a_code_of_his_own(void **state)
{
    struct world *w = *state;
    const struct user *u;
    struct err err;

    assert_int_equal(users_get(&w->users, "nobody2", 0, &u, &err), -1);
    assert_int_equal(err.code, CODE_USER);
    assert_string_equal(err.text, "user nobody2: no such user");
}

static int count_fds(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Every call, in the parent and in the child, refused once: an error that says so, no
 * process, no descriptor more than before; then it works again. */
static void every_call_that_fails_is_a_definite_error(void **state)
{
    struct world *w = *state;
    int before = count_fds(), failures = 0;

    for (int nth = 1;; nth++) {
        struct spawn_result got;
        struct err err = { 0 };
        int result;

        sys_fault("any", nth, EDQUOT);
        result = world_try(w, w->nobody, "./victim --exit 0", &got, &err);
        if (!sys_fault_hit()) {
            sys_fault("any", 0, 0);
            assert_int_equal(result, 0);
            break;
        }
        sys_fault("any", 0, 0);
        if (!result) { /* looking at the program failed, or it was after the start */
            close(w->started[--w->n].pidfd);
            assert_int_equal(waitpid((pid_t)got.id.pid, NULL, 0), got.id.pid);
        } else {
            failures++;
            assert_int_equal(err.code, ERR_SYSTEM);
            assert_int_equal(err.sys, EDQUOT);
            assert_non_null(strstr(err.text, strerror(EDQUOT)));
            (void)waitpid(-1, NULL, 0); /* where the wait itself was made to fail */
        }
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(count_fds(), before);
    }
    assert_true(failures > 12);
}

static void a_clone_that_is_refused_is_not_tried_again(void **state)
{
    struct world *w = *state;
    struct spawn_result got;
    struct err err;

    sys_fault("clone3", 1, EAGAIN);
    assert_int_equal(world_try(w, w->root, "true", &got, &err), -1);
    assert_int_equal(err.sys, EAGAIN);
    assert_string_equal(err.text, "clone: Resource temporarily unavailable");
}

/* For real: a user that may have no more processes. */
static void a_user_without_room_for_a_process_gets_an_error(void **state)
{
    struct world *w = *state;
    struct rlimit none, found;
    struct spawn_result got;
    struct err err = { 0 };

    world_start(w, w->nobody, "./victim"); /* he has one already */
    getrlimit(RLIMIT_NPROC, &found);
    none = (struct rlimit){ 0, found.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NPROC, &none), 0);
    assert_int_equal(world_try(w, w->nobody, "true", &got, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &found), 0);
    assert_int_equal(err.sys, EAGAIN);
    assert_non_null(strstr(err.text, "exec "));
}

/* The ticks are worked out most times, and read now and then: both must be right. */
static void start_ticks_are_the_kernels(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < 1000; i++) {
        struct spawn_result r = world_start(w, w->nobody, "./victim --exit 0");
        struct procfs_stat st;
        struct err err;

        assert_int_equal(procfs_stat((pid_t)r.id.pid, &st, &err), 0); /* alive, or a zombie */
        assert_int_equal(st.start_ticks, r.id.start_ticks);
        world_end(&r);
        close(r.pidfd);
        w->n--;
    }
}

/* A clock that stands at the end of a tick can not be had, so the call that is made
 * only then is made to fail: some start meets it. */
static void ticks_that_can_not_be_read_are_an_error_too(void **state)
{
    struct world *w = *state;
    struct err err = { 0 };
    bool met = false;

    for (int i = 0; i < 20000 && !met; i++) {
        struct spawn_result r;

        sys_fault("open", i ? 1 : 3, EIO); /* after those of the program, which is known then */
        if (world_try(w, w->nobody, "./victim --exit 0", &r, &err)) {
            met = strstr(err.text, "/proc/self/stat") != NULL;
        } else {
            sys_fault("any", 0, 0);
            world_end(&r);
            close(r.pidfd);
            w->n--;
        }
    }
    assert_true(met);
    assert_string_equal(err.text, "/proc/self/stat: Input/output error");
}

static void out_of_descriptors_is_an_error_and_no_process(void **state)
{
    struct world *w = *state;
    struct rlimit found, few;
    struct spawn_result got;
    struct err err = { 0 };
    int fds[256], n = 0;

    getrlimit(RLIMIT_NOFILE, &found);
    few = (struct rlimit){ 64, found.rlim_max };
    setrlimit(RLIMIT_NOFILE, &few);
    while ((fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    assert_int_equal(world_try(w, w->root, "./victim --exit 0", &got, &err), -1);
    assert_int_equal(err.sys, EMFILE);
    close(fds[--n]);
    run(w, w->root, "./victim --exit 5", 5); /* one is enough: it gets a pidfd */
    while (n > 0)
        close(fds[--n]);
    setrlimit(RLIMIT_NOFILE, &found);
}

/* In a child that gives up root; returns the number of the step that failed. */
static int as_nobody(struct world *w)
{
    struct spawn_request r = { .command = "./victim --exit 4",
                               .setup_path = w->dir,
                               .user = w->root,
                               .out_fd = w->out_fd,
                               .cgroup_fd = -1 };
    struct spawn_result got;
    struct spawner *s;
    struct err err = { 0 };
    siginfo_t info;

    if (setgroups(0, NULL) || setresgid(w->nobody->gid, w->nobody->gid, w->nobody->gid) ||
        setresuid(w->nobody->uid, w->nobody->uid, w->nobody->uid))
        return 1;
    if (spawner_new(w->boot_id, &s, &err))
        return 2;
    if (!spawn(s, &r, &got, &err) || err.code != CODE_DENIED || !strstr(err.text, "user root"))
        return 3;
    r.user = w->nobody;
    if (spawn(s, &r, &got, &err))
        return 4;
    if (waitid(P_PIDFD, (id_t)got.pidfd, &info, WEXITED) || info.si_status != 4)
        return 5;
    return 0;
}

static void an_ordinary_user_starts_his_own_and_no_others(void **state)
{
    int status;
    pid_t pid;

    pid = fork();
    if (pid == 0)
        _exit(as_nobody(*state));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Half of the descriptors are above the spawner's own two. */
static void many_open_descriptors_are_not_passed_on(void **state)
{
    struct world *w = *state;
    int fds[500];

    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = open("/dev/null", O_RDONLY);
    run(w, w->nobody, "ls /proc/self/fd", 0);
    assert_string_equal(world_read(w->out), "0\n1\n2\n3\n"); /* ls has the folder open */
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        assert_int_equal(fcntl(fds[i], F_GETFD), 0); /* and are all still ours */
        close(fds[i]);
    }
}

static int count_open(const char *path)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++) {
        char target[256] = "";

        if (readlink(world_text("/proc/self/fd/%d", fd), target, sizeof(target) - 1) > 0)
            n += !strcmp(target, path);
    }
    return n;
}

static void output_is_appended_and_the_file_not_kept_open(void **state)
{
    struct world *w = *state;

    run(w, w->root, "sh -c 'echo a; echo b >&2'", 0);
    assert_string_equal(world_read(w->out), "a\nb\n");
    run(w, w->root, "echo c", 0);
    assert_string_equal(world_read(w->out), "a\nb\nc\n");
    assert_int_equal(count_open(w->out), 1); /* the test's own */
}

static void a_process_can_be_born_in_a_cgroup(void **state)
{
    struct world *w = *state;
    const char *mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
    struct spawn_request r = { .command = "grep 0:: /proc/self/cgroup",
                               .setup_path = w->dir,
                               .user = w->nobody,
                               .out_fd = w->out_fd };
    struct spawn_result got;
    struct err err = { 0 };
    char path[128] = "";

    for (size_t i = 0; i < ARRAY_LEN(mounts) && !path[0]; i++) {
        if (!access(world_text("%s/cgroup.procs", mounts[i]), W_OK))
            snprintf(path, sizeof(path), "%s/holdfast-test-%d", mounts[i], (int)getpid());
    }
    if (!path[0] || mkdir(path, 0755))
        skip();
    r.cgroup_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (spawn(w->spawner, &r, &got, &err))
        fail_msg("%s", err.text);
    w->started[w->n++] = got;
    assert_int_equal(world_end(&got).code, 0);
    assert_string_equal(world_read(w->out), world_text("0::%s\n", strrchr(path, '/')));
    close(r.cgroup_fd);
    WAIT_UNTIL(rmdir(path) == 0);
}

static void *spawn_some(void *arg)
{
    struct world *w = arg;
    struct spawner *s;
    struct err err = { 0 };
    intptr_t bad = spawner_new(w->boot_id, &s, &err);

    for (int i = 0; i < 50 && !bad; i++) {
        struct spawn_request r = { .command = "./victim --exit 7",
                                   .setup_path = w->dir,
                                   .user = w->nobody,
                                   .out_fd = w->out_fd,
                                   .cgroup_fd = -1 };
        struct spawn_result got;
        siginfo_t info;

        bad = spawn(s, &r, &got, &err);
        if (bad)
            break;
        bad = waitid(P_PIDFD, (id_t)got.pidfd, &info, WEXITED) || info.si_status != 7;
        close(got.pidfd);
    }
    if (!bad)
        spawner_free(s);
    return (void *)bad;
}

static void threads_with_a_spawner_each_do_not_disturb_each_other(void **state)
{
    pthread_t threads[4];
    void *bad;

    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, spawn_some, *state), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
}

struct looked_at {
    int fds[16]; /* open before the thread begins, so that no other code opens or closes them */
    atomic_bool is_over;
};

static void *look_at_descriptors(void *arg)
{
    struct looked_at *l = arg;
    struct stat st;

    while (!l->is_over) {
        for (size_t i = 0; i < ARRAY_LEN(l->fds); i++)
            (void)sys_fstat(l->fds[i], &st);
    }
    return NULL;
}

/* ThreadSanitizer must not take a file that a child has opened for ours with the same number. */
static void descriptors_of_a_child_are_its_own(void **state)
{
    struct world *w = *state;
    struct looked_at looked_at = { .is_over = false };
    pthread_t thread;

    for (size_t i = 0; i < ARRAY_LEN(looked_at.fds); i++)
        assert_true((looked_at.fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
    world_write("/proc/self/oom_score_adj", "300"); /* so that each child opens a file */
    assert_int_equal(pthread_create(&thread, NULL, look_at_descriptors, &looked_at), 0);
    for (int i = 0; i < 40; i++)
        run(w, w->root, "true", 0);
    looked_at.is_over = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(looked_at.fds); i++)
        close(looked_at.fds[i]);
    world_write("/proc/self/oom_score_adj", "0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_command_runs_and_is_known),
        TEST(the_shell_is_used_only_where_it_is_needed),
        TEST(what_is_not_there_is_the_shells_to_report),
        TEST(without_a_setup_path_commands_run_in_the_root),
        TEST(the_environment_is_the_users_and_nothing_of_ours),
        TEST(nothing_of_the_agents_state_is_inherited),
        TEST(the_agents_own_oom_score_is_not_touched),
        TEST(ids_and_all_groups_are_the_users),
        TEST(a_start_that_fails_says_at_which_step),
        TEST(an_unknown_user_has_a_code_of_his_own),
        TEST(every_call_that_fails_is_a_definite_error),
        TEST(a_clone_that_is_refused_is_not_tried_again),
        TEST(a_user_without_room_for_a_process_gets_an_error),
        TEST(start_ticks_are_the_kernels),
        TEST(ticks_that_can_not_be_read_are_an_error_too),
        TEST(one_that_is_killed_before_it_is_begun_does_not_run_later),
        TEST(out_of_descriptors_is_an_error_and_no_process),
        TEST(an_ordinary_user_starts_his_own_and_no_others),
        TEST(many_open_descriptors_are_not_passed_on),
        TEST(output_is_appended_and_the_file_not_kept_open),
        TEST(a_process_can_be_born_in_a_cgroup),
        TEST(threads_with_a_spawner_each_do_not_disturb_each_other),
        TEST(descriptors_of_a_child_are_its_own),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("spawn", tests, NULL, NULL);
}
