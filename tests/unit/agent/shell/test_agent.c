/* SPDX-License-Identifier: MIT */
/* The whole agent but for its link, with real processes: what operations do to them,
 * and what is left when the agent itself is killed. */
#include <dirent.h>
#include <dlfcn.h>
#include <pwd.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>

#include "agent/confine/facility.h"
#include "agent/persist/journal.h"
#include "agent/shell/late_exits.h"
#include "tests/lib/own_pids.h"
#include "tests/lib/part.h"
#include "tests/lib/whole_agent.h"
#include "wire/tls/digest.h"

enum { RESULTS_MAX = 512 };

struct answer {
    bool is_taken, has_come;
    int64_t code, pid, threads, exit_code, exit_signal;
    bool hosted;
    char text[9000], cmdline[256], start_time[64];
};

static struct rig {
    struct answer answers[RESULTS_MAX];
    int64_t told_pid, told_status; /* of the last process that was told of */
    size_t told_n;                 /* how often one was */
    bool told_hosted;
    char told_digest[DIGEST_TEXT_SIZE];
    char events[512];
} rig;

/* ---- the directory of users */

static atomic_bool is_silent;

/* In place of libc's: of `slow` it says nothing as long as it is silent. */
int getpwnam_r(const char *name, struct passwd *entry, char *room, size_t size, struct passwd **ret)
{
    int (*own)(const char *, struct passwd *, char *, size_t, struct passwd **) =
        (int (*)(const char *, struct passwd *, char *, size_t, struct passwd **))dlsym(
            RTLD_NEXT, "getpwnam_r");

    while (!strcmp(name, "slow") && is_silent)
        poll(NULL, 0, 1);
    return own(name, entry, room, size, ret);
}

/* ---- the clock */

static int64_t jump_ms;  /* what people say it is, less what it is */
static int64_t stood_ms; /* where it stands still; 0: it goes */

static int64_t standing_mono_ms(const struct clock *c)
{
    (void)c;
    return stood_ms ? stood_ms : clock_mono_ms(&clock_system);
}

static int64_t jumping_wall_ms(const struct clock *c)
{
    (void)c;
    return clock_wall_ms(&clock_system) + jump_ms;
}

static const struct clock jumping = { standing_mono_ms, jumping_wall_ms };

/* ---- the server */

static void take_result(const struct message_result *r)
{
    struct answer *a = &rig.answers[r->item];

    a->has_come = true;
    a->code = r->code;
    a->pid = r->view.pid;
    a->threads = r->view.threads;
    a->hosted = r->view.hosted;
    readable(a->text, sizeof(a->text), r->text, LANG_EN);
    snprintf(a->cmdline, sizeof(a->cmdline), "%s", r->view.cmdline);
    snprintf(a->start_time, sizeof(a->start_time), "%s", r->view.start_time);
    a->exit_code = r->view.cause.exit_code;
    a->exit_signal = r->view.cause.exit_signal;
}

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_ref *ref = message;
    const struct message_processes *p = message;
    const struct message_event *e = message;

    (void)arg;
    (void)s;
    if (type == MESSAGE_TAKEN)
        rig.answers[ref->item].is_taken = true;
    if (type == MESSAGE_RESULT)
        take_result(message);
    if (type == MESSAGE_EVENT)
        snprintf(rig.events + strlen(rig.events), sizeof(rig.events) - strlen(rig.events), "%s\n",
                 e->name);
    if (type == MESSAGE_PROCESSES && p->list.n) {
        const struct proc_view *v = (const struct proc_view *)p->list.items + p->list.n - 1;

        snprintf(rig.told_digest, sizeof(rig.told_digest), "%s", p->digest);
        rig.told_n++;
        rig.told_pid = v->pid;
        rig.told_status = v->status;
        rig.told_hosted = v->hosted;
    }
}

static int try_agent(struct err *err)
{
    const struct agent_options o = { .dir = whole.data,
                                     .output_max_bytes = 1 << 20,
                                     .send = on_send };

    return whole_try(&jumping, &o, err);
}

static void start_agent(void)
{
    struct err err = { 0 };

    if (try_agent(&err))
        fail_msg("%s", err.text);
}

/* ---- requests */

static struct proc_spec spec_of(const char *name, const char *start)
{
    struct proc_spec s = whole_spec(name, start);

    s.policy.op_timeout_s = 4;
    s.policy.has_timeout = PRESENCE_GIVEN;
    return s;
}

static struct answer *tell(int64_t op, const char *name, const struct proc_spec *spec)
{
    int64_t item = whole_command(op, name, spec);

    assert_true(item < RESULTS_MAX);
    return &rig.answers[item];
}

static struct answer *ask(int64_t op, const char *name, const struct proc_spec *spec)
{
    struct answer *a = tell(op, name, spec);
    const struct message_ref ref = { "GSETASK:S:1", whole.item };

    TURN_UNTIL(a->has_come);
    assert_true(a->is_taken);
    agent_on_message(whole.agent, MESSAGE_STORED, &ref);
    return a;
}

static struct answer *expect(int64_t op, const char *name, const struct proc_spec *spec, int code)
{
    struct answer *a = ask(op, name, spec);

    if (a->code != code)
        fail_msg("operation %d on %s: code %d, expected %d: %s", (int)op, name, (int)a->code, code,
                 a->text);
    return a;
}

static bool lives(int64_t pid)
{
    struct procfs_stat st;
    struct err err;

    return !procfs_stat((pid_t)pid, &st, &err) && st.state != 'Z';
}

/* ---- before and after */

static int set_up(void **state)
{
    (void)state;
    memset(&rig, 0, sizeof(rig));
    whole_set_up();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    is_silent = false;
    jump_ms = stood_ms = 0;
    whole_tear_down(state);
    return 0;
}

/* ---- operations */

static void a_foreground_process_goes_through_all_operations(void **state)
{
    struct proc_spec s = spec_of("fore", world_text("%s/victim --print hello", whole.dir));
    struct answer *a;
    int64_t pid;

    (void)state;
    start_agent();
    a = expect(PROC_OP_QUERY, "fore", &s, CODE_OK);
    assert_int_equal(a->pid, -1);
    a = expect(PROC_OP_START, "fore", &s, CODE_OK);
    assert_string_equal(a->text, "success");
    assert_true(a->hosted && lives(a->pid));
    pid = a->pid;
    assert_int_equal(rig.told_pid, pid);
    assert_int_equal(rig.told_status, PROC_RUNNING);
    assert_int_equal(strtoll(world_read(s.identity.pid_path), NULL, 10), pid);
    a = expect(PROC_OP_START, "fore", &s, CODE_RUNNING);
    a = expect(PROC_OP_QUERY, "fore", &s, CODE_OK);
    assert_int_equal(a->pid, pid);
    assert_non_null(strstr(a->cmdline, "victim --print hello"));
    assert_int_equal(a->threads, 1);
    assert_int_equal(strlen(a->start_time), strlen("2026-01-01 00:00:00"));
    s.control.reload_cmd = "true";
    a = expect(PROC_OP_RELOAD, "fore", &s, CODE_OK);
    assert_int_equal(a->pid, pid);
    a = expect(PROC_OP_RESTART, "fore", &s, CODE_OK);
    assert_true(a->pid != pid && lives(a->pid) && !lives(pid));
    pid = a->pid;
    a = expect(PROC_OP_UNHOST, "fore", &s, CODE_OK);
    assert_true(!a->hosted && lives(pid));
    a = expect(PROC_OP_UNHOST, "fore", &s, CODE_OK);
    a = expect(PROC_OP_HOST, "fore", &s, CODE_OK);
    assert_true(a->hosted && rig.told_hosted);
    a = expect(PROC_OP_STOP, "fore", &s, CODE_OK);
    assert_true(!a->hosted && !lives(pid));
    assert_int_equal(rig.told_status, PROC_STOPPED);
    expect(PROC_OP_STOP, "fore", &s, CODE_NOT_RUNNING);
    expect(PROC_OP_RELOAD, "fore", &s, CODE_NOT_RUNNING);
    expect(PROC_OP_KILL, "fore", &s, CODE_NOT_RUNNING);
}

static void a_daemon_goes_through_all_operations(void **state)
{
    const char *line = "./victim --daemonize --children 2 --pid-file daemon.pid";
    struct proc_spec s = spec_of("daemon", line);
    struct answer *a;
    struct tree tree = { 0 };
    struct ident id = { 0 };
    struct err err;
    int64_t pid;

    (void)state;
    start_agent();
    a = expect(PROC_OP_START, "daemon", &s, CODE_OK);
    pid = a->pid;
    assert_int_equal(strtoll(world_read(s.identity.pid_path), NULL, 10), pid);
    s.control.stop_cmd = "kill $(cat daemon.pid)";
    s.control.restart_cmd = "kill $(cat daemon.pid); rm daemon.pid; ./victim --daemonize "
                            "--children 2 --pid-file daemon.pid";
    a = expect(PROC_OP_RESTART, "daemon", &s, CODE_OK);
    assert_true(a->pid != pid && lives(a->pid) && !lives(pid));
    pid = a->pid;
    a = expect(PROC_OP_STOP, "daemon", &s, CODE_OK);
    assert_true(!lives(pid) && !a->hosted);
    a = expect(PROC_OP_HOST, "daemon", &s, CODE_OK); /* which pulls it up */
    assert_true(a->hosted);
    TURN_UNTIL(strstr(rig.events, "process_restart_success"));
    a = expect(PROC_OP_QUERY, "daemon", &s, CODE_OK);
    assert_true(lives(a->pid));
    id.pid = a->pid;
    assert_int_equal(procfs_boot_id(id.boot_id, &err), 0);
    assert_int_equal(tree_read(&id, false, &tree, &err), 0);
    expect(PROC_OP_KILL, "daemon", &s, CODE_OK);
    for (size_t i = 0; i < tree.n; i++)
        assert_false(lives(tree.members[i].pid));
    tree_done(&tree);
}

static void what_a_failing_command_said_is_in_its_result(void **state)
{
    struct proc_spec s = spec_of("bad", "echo broken; echo because >&2; exit 3");
    struct answer *a;

    (void)state;
    start_agent();
    a = expect(PROC_OP_START, "bad", &s, CODE_COMMAND);
    assert_string_equal(a->text, "Script exit code non-zero. Error msessage: [broken\nbecause\n]");
    s.control.start_cmd = "echo again; exit 3"; /* what was said before is not */
    a = expect(PROC_OP_START, "bad", &s, CODE_COMMAND);
    assert_string_equal(a->text, "Script exit code non-zero. Error msessage: [again\n]");
    s.control.start_cmd = "true"; /* ends well, and nothing runs */
    a = expect(PROC_OP_START, "bad", &s, CODE_CHECK);
    assert_int_equal(strncmp(a->text, "start process (bad) failed, for post-check status not alive",
                             strlen("start process (bad) failed, for post-check status not alive")),
                     0);
    s.identity.setup_path = world_text("%s/nowhere", whole.dir);
    a = expect(PROC_OP_START, "bad", &s, CODE_COMMAND);
    assert_non_null(strstr(a->text, "nowhere: No such file or directory"));
}

static void a_command_that_takes_too_long_is_ended_with_its_children(void **state)
{
    struct proc_spec s = spec_of("slow", "echo begun; ./victim --name slow; true");
    struct answer *a;

    (void)state;
    s.policy.op_timeout_s = 2;
    s.identity.proc_name = "other";
    start_agent();
    a = expect(PROC_OP_START, "slow", &s, CODE_TIMEOUT);
    assert_non_null(strstr(a->text, "longer than 2 s"));
    assert_non_null(strstr(a->text, "begun"));
}

static void users_and_fields_that_are_not_there_are_named(void **state)
{
    struct proc_spec s = spec_of("p", "true");
    struct answer *a;

    (void)state;
    start_agent();
    s.identity.user = "no-such-user-here";
    a = expect(PROC_OP_START, "p", &s, CODE_USER);
    assert_non_null(strstr(a->text, "no-such-user-here"));
    s.identity.user = "";
    a = expect(PROC_OP_STOP, "p", &s, CODE_PARAM);
    assert_string_equal(a->text, "spec.identity.user: required for this operation");
    shape_defaults(&proc_spec_shape, &s);
    expect(PROC_OP_QUERY, "p", &s, CODE_OK);
    expect(PROC_OP_UNHOST, "p", &s, CODE_OK);
    expect(PROC_OP_START, "p", &s, CODE_NOT_REGISTERED);
    expect(PROC_OP_KILL, "p", &s, CODE_NOT_RUNNING); /* by what the start that failed had said */
    expect(PROC_OP_KILL, "unheard-of", &s, CODE_NOT_REGISTERED);
    expect(5, "p", &s, CODE_UNKNOWN_OP);
}

static void what_runs_once_is_judged_by_its_exit_code(void **state)
{
    struct proc_spec s = spec_of("once", "./victim --life-ms 1500");
    struct answer *a;

    (void)state;
    s.policy.kind = PROC_RUN_ONCE;
    s.policy.has_kind = PRESENCE_GIVEN;
    start_agent();
    a = expect(PROC_OP_START, "once", &s, CODE_OK);
    assert_true(a->hosted);
    assert_int_equal(a->pid, -1);
    s.control.start_cmd = "./victim --exit 7";
    expect(PROC_OP_START, "once", &s, CODE_COMMAND);
}

static void one_that_ignores_sigterm_is_killed(void **state)
{
    struct proc_spec s = spec_of("stubborn", "./victim --ignore-term");
    int64_t pid;

    (void)state;
    s.policy.op_timeout_s = 2;
    start_agent();
    pid = expect(PROC_OP_START, "stubborn", &s, CODE_OK)->pid;
    expect(PROC_OP_STOP, "stubborn", &s, CODE_OK);
    assert_false(lives(pid));
    pid = expect(PROC_OP_START, "stubborn", &s, CODE_OK)->pid;
    s.control.stop_cmd = "true";
    expect(PROC_OP_STOP, "stubborn", &s, CODE_CHECK);
    assert_true(lives(pid)); /* it is left alone */
}

/* ---- hosting */

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* What a process said shows how often it was begun: once each time. */
static size_t times_begun(const char *name)
{
    return count_lines(world_read(world_text("%s/output/space%%3A%s", whole.data, name)));
}

static void a_hosted_process_that_is_killed_comes_back(void **state)
{
    static const char *const lines[] = { "./victim --life-ms 50000",
                                         "./victim --daemonize --pid-file hosted.pid" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct proc_spec s = spec_of("hosted", lines[i]);
        int64_t pid;
        struct answer *a;

        start_agent();
        pid = expect(PROC_OP_START, "hosted", &s, CODE_OK)->pid;
        rig.events[0] = '\0';
        world_kill(pid);
        TURN_UNTIL(rig.told_pid != pid); /* 0, or a process that daemonized at once */
        a = expect(PROC_OP_QUERY, "hosted", &s, CODE_OK);
        TURN_UNTIL(strstr(rig.events, "process_restart_success"));
        a = expect(PROC_OP_QUERY, "hosted", &s, CODE_OK);
        assert_true(a->pid > 0 && a->pid != pid && lives(a->pid) && a->hosted);
        expect(PROC_OP_KILL, "hosted", &s, CODE_OK);
        whole_stop();
        assert_int_equal(unlink(world_text("%s/journal", whole.data)), 0); /* with its events */
    }
}

static void turn_a_while(void)
{
    for (int i = 0; i < 5; i++)
        whole_turn();
}

/* As long as the clock stands still its successor is on its way into its program; but others
 * that die meanwhile put it off no further. */
static void who_dies_alone_is_told_of_when_its_successor_runs(void **state)
{
    struct proc_spec first = spec_of("first", "./victim"), second = spec_of("second", "./victim");
    int64_t pids[2];
    size_t told;

    (void)state;
    start_agent();
    pids[0] = expect(PROC_OP_START, "first", &first, CODE_OK)->pid;
    pids[1] = expect(PROC_OP_START, "second", &second, CODE_OK)->pid;
    turn_a_while(); /* both have been up */
    told = rig.told_n;
    stood_ms = clock_mono_ms(&clock_system);
    world_kill(pids[0]);
    TURN_UNTIL(times_begun("first") == 2);
    whole_turn();
    assert_int_equal(rig.told_n, told);
    stood_ms += 2;
    world_kill(pids[1]);
    TURN_UNTIL(times_begun("second") == 2);
    whole_turn();
    assert_int_equal(rig.told_n, told);
    stood_ms += 1;
    TURN_UNTIL(rig.told_n > told);
    stood_ms = 0;
    TURN_UNTIL(rig.told_pid != pids[1] && lives(rig.told_pid));
}

static void an_exit_is_told_with_its_reason(void **state)
{
    struct proc_spec s = spec_of("exit", "./victim --crash-signal 11 --crash-ms 1500");
    struct answer *a;

    (void)state;
    s.policy.start_retries = 0;
    s.policy.has_retries = PRESENCE_GIVEN;
    start_agent();
    expect(PROC_OP_START, "exit", &s, CODE_OK);
    expect(PROC_OP_UNHOST, "exit", &s, CODE_OK);
    TURN_UNTIL(rig.told_status == PROC_STOPPED);
    a = expect(PROC_OP_QUERY, "exit", &s, CODE_OK);
    assert_int_equal(a->pid, -1);
    assert_int_equal(a->exit_signal, SIGSEGV);
}

/* ---- the agent itself ends */

/* In a process of its own, which is killed while the loop turns. */
static void run_and_be_killed(const struct proc_spec *fore, const struct proc_spec *daemon,
                              bool is_early)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        start_agent();
        tell(PROC_OP_START, "fore", fore);
        tell(PROC_OP_START, "daemon", daemon);
        while (is_early ? times_begun("fore") + times_begun("daemon") < 2
                        : !(rig.answers[1].has_come && rig.answers[2].has_come))
            whole_turn();
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

/* The item is that of its start, which an agent before may have been asked for. */
static struct answer *expect_kept(const char *name, const struct proc_spec *spec, int item)
{
    const struct answer *start = &rig.answers[item];
    struct answer *a = expect(PROC_OP_QUERY, name, spec, CODE_OK);

    if (!a->hosted || !lives(a->pid))
        fail_msg("%s: hosted %d, pid %d, alive %d; its start: answered %d, code %d: %s; events: %s",
                 name, a->hosted, (int)a->pid, lives(a->pid), start->has_come, (int)start->code,
                 start->text, rig.events);
    return a;
}

static void a_killed_agent_is_followed_by_one_that_knows_all(void **state)
{
    for (int is_early = 0; is_early < 2; is_early++) {
        struct proc_spec fore, daemon;
        struct answer *a;
        int64_t pid;

        set_up(state);
        fore = spec_of("fore", "./victim");
        daemon = spec_of("daemon", "./victim --daemonize --pid-file daemon.pid");
        run_and_be_killed(&fore, &daemon, is_early);
        whole.item = 2;
        start_agent();
        if (is_early)
            TURN_UNTIL(rig.answers[1].has_come && rig.answers[2].has_come);
        pid = expect_kept("fore", &fore, 1)->pid;
        a = expect_kept("daemon", &daemon, 2);
        assert_int_equal(strtoll(world_read(daemon.identity.pid_path), NULL, 10), a->pid);
        assert_int_equal(times_begun("fore"), 1);
        assert_int_equal(times_begun("daemon"), 1);
        world_kill(pid); /* and it looks after them */
        TURN_UNTIL(strstr(rig.events, "process_restart_success"));
        assert_int_equal(times_begun("fore"), 2);
        tear_down(state);
    }
}

/* The first half of a restart, which a previous agent has begun, ended while no agent ran; its
 * second half is a run of the same number. */
static void a_command_that_has_gone_is_not_held(void **state)
{
    struct proc_spec s = spec_of("gone", "./victim");
    char *said = strdup(world_text("%s/stop.pid", whole.dir));
    int64_t pid, stop;
    struct answer *a;

    (void)state;
    s.control.stop_cmd = "echo $$ > stop.pid; exec sleep 100";
    s.policy.op_timeout_s = 30;
    start_agent();
    pid = expect(PROC_OP_START, "gone", &s, CODE_OK)->pid;
    a = tell(PROC_OP_RESTART, "gone", &s);
    TURN_UNTIL(strchr(world_read(said), '\n'));
    stop = strtoll(world_read(said), NULL, 10);
    whole_stop();
    world_kill(stop);
    world_kill(pid);
    assert_int_equal(waitpid((pid_t)stop, NULL, 0), stop);
    assert_int_equal(waitpid((pid_t)pid, NULL, 0), pid);
    start_agent();
    TURN_UNTIL(a->has_come);
    assert_int_equal(a->code, CODE_OK);
    assert_int_equal(times_begun("gone"), 2);
    free(said);
}

static int64_t nth_begun(const char *path, int n)
{
    const char *at = world_read(path);

    while (n-- > 1 && at)
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    return at && !strncmp(at, "begun ", 6) && strchr(at, '\n') ? strtoll(at + 6, NULL, 10) : 0;
}

static bool is_zombie(int64_t pid)
{
    struct procfs_stat st;
    struct err err;

    return !procfs_stat((pid_t)pid, &st, &err) && st.state == 'Z';
}

/* ---- one that is no child of ours */

struct other {
    int64_t pid;
    int parent; /* that reaps it when it is told to, and ends with this */
};

static void be_parent(int told, const char *pid_file)
{
    pid_t child = fork();
    char c;

    if (child == 0) {
        if (!chdir(whole.dir))
            execl("./victim", "victim", "--pid-file", pid_file, "--usr1-exec", "./seven", NULL);
        _exit(127);
    }
    while (read(told, &c, 1) == 1)
        waitpid(child, NULL, 0);
    _exit(0);
}

static bool kernel_tells_of_others(void)
{
    struct facilities f = { 0 };

    facilities_probe(&f, "");
    return f.has[HAS_PIDFD_INFO];
}

/* As one that a previous agent has started.  It is not started again. */
static void begin_other(struct other *o, const char *name)
{
    struct proc_spec s = spec_of(name, "./victim");
    int ends[2];

    if (!kernel_tells_of_others())
        skip();
    world_write(world_text("%s/seven", whole.dir), "#!/bin/sh\nexit 7\n");
    assert_int_equal(chmod(world_text("%s/seven", whole.dir), 0755), 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    if (fork() == 0) {
        close(ends[1]);
        be_parent(ends[0], s.identity.pid_path);
    }
    close(ends[0]);
    o->parent = ends[1];
    WAIT_UNTIL((o->pid = strtoll(world_read(s.identity.pid_path), NULL, 10)) > 1);
    start_agent();
    expect(PROC_OP_HOST, name, &s, CODE_OK);
    TURN_UNTIL(rig.told_pid == o->pid);
    expect(PROC_OP_UNHOST, name, &s, CODE_OK);
    assert_int_equal(rig.told_status, PROC_RUNNING);
}

/* The clock stands still from here on. */
static void end_other(const struct other *o, int number)
{
    stood_ms = clock_mono_ms(&clock_system);
    assert_int_equal(kill((pid_t)o->pid, number), 0);
    WAIT_UNTIL(is_zombie(o->pid));
    turn_a_while();
    assert_int_equal(rig.told_status, PROC_RUNNING);
}

static void reap_other(const struct other *o)
{
    assert_int_equal(write(o->parent, "", 1), 1);
    WAIT_UNTIL(!is_zombie(o->pid));
}

static void expect_end(const char *name, int code, int number)
{
    struct proc_spec s = spec_of(name, "./victim");
    struct answer *a = expect(PROC_OP_QUERY, name, &s, CODE_OK);

    assert_int_equal(a->pid, -1);
    assert_int_equal(a->exit_code, code);
    assert_int_equal(a->exit_signal, number);
}

static void how_one_that_was_found_ends_is_known_when_its_parent_has_reaped_it(void **state)
{
    static const struct {
        int number, code, exit_signal;
    } cases[] = { { SIGSEGV, -1, SIGSEGV }, { SIGUSR1, 7, 0 } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = i ? "second" : "first";
        struct other o;
        size_t told;

        begin_other(&o, name);
        end_other(&o, cases[i].number);
        reap_other(&o);
        told = rig.told_n;
        stood_ms += 10;
        TURN_UNTIL(rig.told_status == PROC_STOPPED);
        stood_ms += 100;
        turn_a_while();
        assert_int_equal(rig.told_n, told + 1); /* once */
        stood_ms = 0;
        expect_end(name, cases[i].code, cases[i].exit_signal);
        whole_stop();
        close(o.parent);
    }
}

static void one_whose_parent_never_reaps_it_has_ended_all_the_same(void **state)
{
    struct other o;

    (void)state;
    begin_other(&o, "p");
    end_other(&o, SIGSEGV);
    stood_ms += 49;
    turn_a_while();
    assert_int_equal(rig.told_status, PROC_RUNNING);
    stood_ms++;
    TURN_UNTIL(rig.told_status == PROC_STOPPED);
    assert_true(is_zombie(o.pid));
    stood_ms = 0;
    expect_end("p", -1, 0);
    close(o.parent);
}

/* The exit was reported after 50 ms; ASK_MS of late_exits.c have passed after 250 ms more. */
static void how_it_ended_is_corrected_when_its_parent_reaps_it_within_10_s(void **state)
{
    static const struct {
        int64_t after_ms;
        int number, code, exit_signal;
    } cases[] = { { 0, SIGSEGV, -1, SIGSEGV },
                  { 9000, SIGUSR1, 7, 0 },
                  { LATE_EXITS_MS + 1, SIGSEGV, -1, 0 } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char name[8] = { (char)('a' + i) };
        struct other o;
        size_t told;

        begin_other(&o, name);
        end_other(&o, cases[i].number);
        stood_ms += 50;
        TURN_UNTIL(rig.told_status == PROC_STOPPED);
        for (int64_t ms = 0; ms < cases[i].after_ms; ms += 300) {
            stood_ms += 300;
            turn_a_while();
        }
        told = rig.told_n;
        reap_other(&o);
        stood_ms += 300;
        if (cases[i].after_ms < LATE_EXITS_MS)
            TURN_UNTIL(rig.told_n > told);
        turn_a_while();
        stood_ms = 0;
        expect_end(name, cases[i].code, cases[i].exit_signal);
        whole_stop();
        close(o.parent);
    }
}

static void an_agent_that_ends_while_it_asks_leaves_it_to_the_next(void **state)
{
    struct other o;

    (void)state;
    begin_other(&o, "p");
    end_other(&o, SIGSEGV);
    whole_stop();
    stood_ms = 0;
    start_agent();
    TURN_UNTIL(rig.told_status == PROC_STOPPED);
    expect_end("p", -1, 0);
    close(o.parent);
}

static void take_pid_next(int64_t pid)
{
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    const char *text = world_text("%lld", (long long)pid - 1);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        skip(); /* not allowed here */
    close(fd);
}

/* Before it was asked again; the clock stands still. */
static void how_it_ended_is_known_also_when_its_pid_is_another_s(void **state)
{
    struct proc_spec s = spec_of("q", "./victim --slot slot");
    const char *slot;
    struct answer *a;
    struct other o;

    (void)state;
    begin_other(&o, "p");
    expect(PROC_OP_QUERY, "q", &s, CODE_OK); /* its user is known then */
    end_other(&o, SIGSEGV);
    reap_other(&o);
    assert_int_equal(unlink(world_text("%s/p.pid", whole.dir)), 0); /* no way to the other one */
    take_pid_next(o.pid);
    a = tell(PROC_OP_START, "q", &s);
    slot = world_text("%s/slot", whole.dir);
    TURN_UNTIL(nth_begun(slot, 1) > 1);
    if (nth_begun(slot, 1) != o.pid)
        skip(); /* another process was faster */
    turn_a_while();
    stood_ms = 0;
    TURN_UNTIL(a->has_come);
    assert_int_equal(a->code, CODE_OK);
    assert_int_equal(a->pid, o.pid);
    expect_end("p", -1, SIGSEGV);
    assert_int_equal(expect(PROC_OP_QUERY, "q", &s, CODE_OK)->pid, o.pid);
    assert_true(lives(o.pid));
    close(o.parent);
}

static void a_folder_belongs_to_one_agent(void **state)
{
    struct agent *first;
    struct loop *loop;
    struct err err = { 0 };

    (void)state;
    start_agent();
    first = whole.agent;
    loop = whole.loop;
    assert_int_equal(try_agent(&err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    whole.agent = first;
    whole.loop = loop;
}

static void a_damaged_journal_is_named_and_left_as_it_is(void **state)
{
    struct proc_spec s = spec_of("p", "true");
    char *journal = strdup(world_text("%s/journal", whole.data));
    struct err err = { 0 };
    struct stat before, after;
    int fd;

    (void)state;
    start_agent();
    expect(PROC_OP_UNHOST, "p", &s, CODE_OK);
    whole_stop();
    fd = open(journal, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "\xff", 1, 60), 1);
    close(fd);
    assert_int_equal(stat(journal, &before), 0);
    assert_int_equal(try_agent(&err), -1);
    assert_int_equal(err.code, ERR_MALFORMED);
    assert_non_null(strstr(err.text, journal));
    assert_non_null(strstr(err.text, "move the file away"));
    assert_int_equal(stat(journal, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    free(journal);
}

/* A journal of another boot says nothing of what runs now; but there is the pid file. */
static void after_another_boot_processes_are_looked_for_anew(void **state)
{
    enum { RECORD_BOOT = 255 };
    struct proc_spec s = spec_of("fore", "./victim");
    const char *journal_path = world_text("%s/journal", whole.data);
    struct journal_report report;
    struct journal *journal;
    struct err err = { 0 };
    struct answer *a;
    int64_t pid;

    (void)state;
    start_agent();
    pid = expect(PROC_OP_START, "fore", &s, CODE_OK)->pid;
    whole_stop();
    assert_int_equal(journal_open(journal_path, whole_pass_over, NULL, &journal, &report, &err), 0);
    journal_append(journal, RECORD_BOOT, "another", strlen("another"));
    assert_int_equal(journal_flush(journal, &err), 0);
    journal_close(journal);
    start_agent();
    a = expect(PROC_OP_QUERY, "fore", &s, CODE_OK);
    assert_true(a->hosted);
    assert_int_equal(a->pid, pid);
    assert_int_equal(times_begun("fore"), 1);
}

static void a_journal_that_has_grown_is_written_anew(void **state)
{
    enum { TIMES = 200, LINE = 16000 };
    struct proc_spec s = spec_of("fore", "./victim");
    const char *journal = world_text("%s/journal", whole.data);
    char *line = xalloc(LINE + 1);
    struct answer *a;
    struct stat st;
    int64_t pid;

    (void)state;
    memset(line, 'x', LINE);
    memcpy(line, "./victim --print ", strlen("./victim --print "));
    start_agent();
    pid = expect(PROC_OP_START, "fore", &s, CODE_OK)->pid;
    s.control.start_cmd = line;
    for (int i = 0; i < TIMES; i++)
        expect(PROC_OP_HOST, "fore", &s, CODE_OK);
    assert_int_equal(stat(journal, &st), 0);
    assert_true(st.st_size < 4 << 20);
    assert_true((int64_t)TIMES * 2 * LINE > 4 << 20);
    whole_stop();
    start_agent();
    a = expect(PROC_OP_QUERY, "fore", &s, CODE_OK);
    assert_true(a->hosted);
    assert_int_equal(a->pid, pid);
    free(line);
}

static void hello_says_who_we_are_and_the_digest_of_all(void **state)
{
    struct proc_spec s = spec_of("p", "true");
    struct message_hello hello = { 0 };

    (void)state;
    start_agent();
    expect(PROC_OP_STOP, "p", &s, CODE_NOT_RUNNING);
    agent_fill_hello(whole.agent, &hello);
    assert_string_equal(hello.agent_version, HOLDFAST_VERSION);
    assert_int_equal(strlen(hello.boot_id), BOOT_ID_SIZE - 1);
    assert_true(*hello.hostname);
    assert_string_equal(hello.digest, rig.told_digest);
    assert_string_equal(hello.os, "linux");
    assert_true(*hello.arch);
    assert_true(hello.cpus >= 1);
    assert_true(hello.mem_bytes > 1 << 20);
    assert_true(hello.started_s > 0);
}

static void an_ordinary_user_starts_only_his_own(void **state)
{
    struct proc_spec s = spec_of("p", "true");

    (void)state;
    if (geteuid() == 0)
        skip();
    s.identity.user = "root";
    start_agent();
    expect(PROC_OP_START, "p", &s, CODE_DENIED);
}

/* ---- when the system fails */

static void no_command_is_run_before_its_record_is_on_the_disk(void **state)
{
    static const struct {
        const char *call;
        int error;
    } cases[] = { { "write", ENOSPC }, { "fdatasync", EIO } };

    (void)state;
    start_agent();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proc_spec s = spec_of("p", "echo ran; exit 1");
        struct answer *a;
        size_t before = times_begun("p");

        sys_fault(cases[i].call, 1, cases[i].error);
        a = tell(PROC_OP_START, "p", &s);
        TURN_UNTIL(sys_fault_hit());
        whole_turn();
        assert_false(a->is_taken);
        assert_int_equal(times_begun("p"), before);
        TURN_UNTIL(a->has_come); /* the disk can be written again, and is */
        assert_true(a->is_taken);
        assert_int_equal(a->code, CODE_COMMAND);
        assert_int_equal(times_begun("p"), before + 1);
    }
}

static void calls_that_fail_are_tried_again_or_told(void **state)
{
    static const struct {
        const char *call;
        int error;
    } cases[] = { { "clone3", EAGAIN }, { "pidfd_open", EMFILE }, { "openat", EMFILE },
                  { "open", EMFILE },   { "waitid", EINVAL },     { "execve", EACCES } };

    (void)state;
    start_agent();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proc_spec s = spec_of("p", "./victim");
        struct answer *a;

        sys_fault(cases[i].call, 1, cases[i].error);
        a = ask(PROC_OP_START, "p", &s);
        sys_fault("any", 0, 0);
        if (a->code != CODE_OK && a->code != CODE_COMMAND && a->code != CODE_CHECK)
            fail_msg("%s: code %d: %s", cases[i].call, (int)a->code, a->text);
        a = ask(PROC_OP_KILL, "p", &s);
        assert_true(a->code == CODE_OK || a->code == CODE_NOT_RUNNING);
    }
}

static void a_directory_that_does_not_answer_holds_up_no_other(void **state)
{
    struct proc_spec slow = spec_of("slow", "true"), s = spec_of("p", "./victim");
    struct answer *a;

    (void)state;
    start_agent();
    expect(PROC_OP_QUERY, "p", &s, CODE_OK); /* its user is known then */
    is_silent = true;
    slow.identity.user = "slow";
    a = tell(PROC_OP_START, "slow", &slow);
    for (int i = 0; i < 5; i++)
        whole_turn();
    expect(PROC_OP_START, "p", &s, CODE_OK);
    assert_false(a->has_come);
    is_silent = false;
    TURN_UNTIL(a->has_come);
    assert_int_equal(a->code, CODE_USER);
}

static int64_t cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* They are tried again now and then, not all the time. */
static void many_that_can_not_be_looked_for_leave_time_for_others(void **state)
{
    enum { MANY = 100, MS = 600 };
    struct proc_spec s = spec_of("p", "./victim");
    struct rlimit limit, none;
    struct answer *answers[MANY];
    char name[16];
    int64_t end_ms, before_ms;

    (void)state;
    start_agent();
    expect(PROC_OP_QUERY, "p", &s, CODE_OK);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        answers[i] = tell(PROC_OP_QUERY, name, &s);
    }
    TURN_UNTIL(answers[MANY - 1]->is_taken);
    before_ms = cpu_ms();
    for (end_ms = clock_mono_ms(&clock_system) + MS; clock_mono_ms(&clock_system) < end_ms;)
        whole_turn();
    before_ms = cpu_ms() - before_ms;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(before_ms < MS / 2);
    for (int i = 0; i < MANY; i++)
        TURN_UNTIL(answers[i]->has_come);
}

/* So many are started by other threads: how each ends is known for all that, also where it
 * has ended before the loop knows that it began. */
static void of_many_started_at_once_each_is_known_by_its_end(void **state)
{
    enum { MANY = 60 };
    struct answer *answers[MANY];

    (void)state;
    start_agent();
    for (int i = 0; i < MANY; i++) {
        char name[16];
        struct proc_spec s = spec_of("many", world_text("echo %d; exit 3", i));

        snprintf(name, sizeof(name), "p%d", i);
        s.policy.op_timeout_s = 60;
        answers[i] = tell(PROC_OP_START, name, &s);
    }
    for (int i = 0; i < MANY; i++) {
        TURN_UNTIL(answers[i]->has_come);
        assert_int_equal(answers[i]->code, CODE_COMMAND);
        assert_string_equal(answers[i]->text,
                            world_text("Script exit code non-zero. Error msessage: [%d\n]", i));
    }
}

/* As start scripts do: they send kill -0 to the pid in the pid file, which succeeds for a process
 * that is not reaped yet. */
static struct answer *tell_careful(int64_t op, int i)
{
    const char *name = world_text("p%d", i);
    struct proc_spec s = spec_of(
        name, world_text("if test -s %s.pid && kill -0 $(cat %s.pid) 2>/dev/null; then echo %s >> "
                         "refused; exit 1; fi; exec ./victim%s%s%s",
                         name, name, name, i % 2 ? " --daemonize --pid-file " : "",
                         i % 2 ? name : "", i % 2 ? ".pid" : ""));

    s.policy.op_timeout_s = 60;
    return tell(op, name, &s);
}

static bool is_another(int i, int64_t pid)
{
    int64_t now = strtoll(world_read(world_text("%s/p%d.pid", whole.dir, i)), NULL, 10);

    return now > 1 && now != pid && lives(now);
}

/* Every other is a daemon and killed; the rest are restarted meanwhile. */
static void of_many_none_meets_the_one_before_it(void **state)
{
    enum { MANY = 24 };
    struct answer *answers[MANY];
    int64_t pids[MANY];

    (void)state;
    start_agent();
    for (int i = 0; i < MANY; i++)
        answers[i] = tell_careful(PROC_OP_START, i);
    for (int i = 0; i < MANY; i++) {
        TURN_UNTIL(answers[i]->has_come);
        assert_int_equal(answers[i]->code, CODE_OK);
        pids[i] = answers[i]->pid;
    }
    for (int i = 1; i < MANY; i += 2)
        world_kill(pids[i]);
    for (int i = 1; i < MANY; i += 2)
        WAIT_UNTIL(is_zombie(pids[i]));
    for (int i = 0; i < MANY; i += 2)
        answers[i] = tell_careful(PROC_OP_RESTART, i);
    for (int i = 0; i < MANY; i++)
        TURN_UNTIL(is_another(i, pids[i]));
    for (int i = 0; i < MANY; i += 2) {
        TURN_UNTIL(answers[i]->has_come);
        assert_int_equal(answers[i]->code, CODE_OK);
    }
    assert_string_equal(world_read(world_text("%s/refused", whole.dir)), "");
}

/* Two of one program, each with a pid file that is written late: until the first is found, only its
 * start is known of it. */
static void one_that_is_being_started_is_not_taken_for_another(void **state)
{
    static const char *const lines[] = {
        "./victim",
        "./victim; true",
        "./victim --daemonize --pid-file first.pid",
        "./victim --pid-late-ms 500 --daemonize --pid-file first.pid",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct proc_spec s = spec_of("first", lines[i]);
        struct answer *first, *second;

        start_agent();
        first = tell(PROC_OP_START, "first", &s);
        TURN_UNTIL(times_begun("first") == 1);
        s = spec_of("second", "./victim");
        second = tell(PROC_OP_START, "second", &s);
        TURN_UNTIL(first->has_come && second->has_come);
        if (first->code != CODE_OK || second->code != CODE_OK)
            fail_msg("%s: %s; %s", lines[i], first->text, second->text);
        assert_true(first->hosted && lives(first->pid));
        assert_true(second->hosted && lives(second->pid));
        assert_int_not_equal(first->pid, second->pid);
        whole_tear_down(state);
        set_up(state);
    }
}

/* Seen from outside, with a check that is long. */
static void a_restart_is_told_of_before_its_check(void **state)
{
    static const char *const lines[] = { "./victim --life-ms 50000",
                                         "./victim --daemonize --pid-file hosted.pid" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct proc_spec s = spec_of("hosted", lines[i]);
        int64_t pid, told, begun_ms;

        start_agent();
        pid = expect(PROC_OP_START, "hosted", &s, CODE_OK)->pid;
        s.policy.start_check_s = 20;
        s.policy.op_timeout_s = 60;
        expect(PROC_OP_HOST, "hosted", &s, CODE_OK);
        rig.events[0] = '\0';
        assert_int_equal(unlink(s.identity.pid_path), 0);
        world_kill(pid);
        begun_ms = clock_mono_ms(&clock_system);
        /* One that forks twice may be seen on its way. */
        TURN_UNTIL(rig.told_pid != pid && rig.told_status == PROC_RUNNING && lives(rig.told_pid));
        assert_true(clock_mono_ms(&clock_system) - begun_ms < 10 * 1000);
        told = rig.told_pid;
        assert_null(strstr(rig.events, "process_restart")); /* the check is still to come, */
        if (!i)
            assert_int_equal(access(s.identity.pid_path, F_OK), -1); /* and then a file */
        world_kill(told);
        whole_stop();
        assert_int_equal(unlink(world_text("%s/journal", whole.data)), 0);
        assert_int_equal(unlink(world_text("%s/.proc", whole.data)), 0);
    }
}

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* At once if it was up, else a second after it was begun; whatever people think what day it is. */
static void a_clock_that_jumps_by_years_hastens_and_delays_nothing(void **state)
{
    static const int64_t years[] = { 30, -60, 0 };
    struct proc_spec kept = spec_of("kept", "./victim --slot slot"), slow = spec_of("slow", "true");
    char slot[128]; /* a text of world_text() is soon another */
    int64_t since_ms;

    (void)state;
    slow.control.start_cmd = "echo; sleep 30; true";
    slow.identity.proc_name = "other";
    slow.policy.op_timeout_s = 1;
    kept.policy.start_retries = (int64_t)ARRAY_LEN(years);
    kept.policy.has_retries = PRESENCE_GIVEN;
    snprintf(slot, sizeof(slot), "%s/slot", whole.dir);
    start_agent();
    expect(PROC_OP_START, "kept", &kept, CODE_OK);
    for (int i = 0; i < (int)ARRAY_LEN(years); i++) {
        TURN_UNTIL(nth_begun(slot, i + 1) > 1);
        since_ms = clock_mono_ms(&clock_system);
        world_kill(nth_begun(slot, i + 1));
        jump_ms = years[i] * 365 * 24 * 3600 * 1000;
        TURN_UNTIL(nth_begun(slot, i + 2) > 1);
        if (i && clock_mono_ms(&clock_system) - since_ms < 900)
            fail_msg("%lld years: restart %d came too early", (long long)years[i], i);
    }
    for (int i = 0; i < (int)ARRAY_LEN(years); i++) {
        struct answer *a = tell(PROC_OP_START, "slow", &slow);

        since_ms = clock_mono_ms(&clock_system);
        TURN_UNTIL(times_begun("slow") == (size_t)i + 1);
        jump_ms = years[i] * 365 * 24 * 3600 * 1000;
        TURN_UNTIL(a->has_come);
        assert_int_equal(a->code, CODE_TIMEOUT);
        assert_true(clock_mono_ms(&clock_system) - since_ms >= slow.policy.op_timeout_s * 900);
    }
    expect(PROC_OP_QUERY, "kept", &kept, CODE_OK);
    jump_ms = years[0] * 365 * 24 * 3600 * 1000; /* and an agent that begins in another year */
    whole_stop();
    start_agent();
    assert_int_equal(expect(PROC_OP_QUERY, "kept", &kept, CODE_OK)->pid,
                     nth_begun(slot, (int)ARRAY_LEN(years) + 1));
    expect(PROC_OP_STOP, "kept", &kept, CODE_OK);
}

static void a_hundred_operations_leave_no_descriptor_behind(void **state)
{
    static const int64_t ops[] = { PROC_OP_QUERY, PROC_OP_UNHOST, PROC_OP_HOST };
    struct proc_spec s = spec_of("p", "./victim"), bad = spec_of("q", "exit 1");
    int before;

    (void)state;
    s.control.reload_cmd = "true";
    start_agent();
    expect(PROC_OP_START, "p", &s, CODE_OK);
    expect(PROC_OP_START, "q", &bad, CODE_COMMAND);
    expect(PROC_OP_RELOAD, "p", &s, CODE_OK);
    before = open_files(); /* each of the three files of output is kept open: outlog.h */
    for (int i = 0; i < 25; i++) {
        for (size_t n = 0; n < ARRAY_LEN(ops); n++)
            expect(ops[n], "p", &s, CODE_OK);
        expect(PROC_OP_START, "q", &bad, CODE_COMMAND);
        if (i % 8 == 0) /* it takes its time */
            expect(PROC_OP_RELOAD, "p", &s, CODE_OK);
    }
    assert_int_equal(open_files(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_foreground_process_goes_through_all_operations),
        TEST(a_daemon_goes_through_all_operations),
        TEST(what_a_failing_command_said_is_in_its_result),
        TEST(a_command_that_takes_too_long_is_ended_with_its_children),
        TEST(users_and_fields_that_are_not_there_are_named),
        TEST(what_runs_once_is_judged_by_its_exit_code),
        TEST(one_that_ignores_sigterm_is_killed),
        TEST(a_hosted_process_that_is_killed_comes_back),
        TEST(who_dies_alone_is_told_of_when_its_successor_runs),
        TEST(an_exit_is_told_with_its_reason),
        cmocka_unit_test(a_killed_agent_is_followed_by_one_that_knows_all),
        TEST(a_command_that_has_gone_is_not_held),
        TEST(how_one_that_was_found_ends_is_known_when_its_parent_has_reaped_it),
        TEST(one_whose_parent_never_reaps_it_has_ended_all_the_same),
        TEST(how_it_ended_is_corrected_when_its_parent_reaps_it_within_10_s),
        TEST(an_agent_that_ends_while_it_asks_leaves_it_to_the_next),
        TEST(how_it_ended_is_known_also_when_its_pid_is_another_s),
        TEST(a_folder_belongs_to_one_agent),
        TEST(a_damaged_journal_is_named_and_left_as_it_is),
        TEST(after_another_boot_processes_are_looked_for_anew),
        TEST(a_journal_that_has_grown_is_written_anew),
        TEST(hello_says_who_we_are_and_the_digest_of_all),
        TEST(an_ordinary_user_starts_only_his_own),
        TEST(no_command_is_run_before_its_record_is_on_the_disk),
        TEST(calls_that_fail_are_tried_again_or_told),
        TEST(a_directory_that_does_not_answer_holds_up_no_other),
        TEST(many_that_can_not_be_looked_for_leave_time_for_others),
        TEST(of_many_started_at_once_each_is_known_by_its_end),
        TEST(of_many_none_meets_the_one_before_it),
        TEST(one_that_is_being_started_is_not_taken_for_another),
        TEST(a_restart_is_told_of_before_its_check),
        TEST(a_clock_that_jumps_by_years_hastens_and_delays_nothing),
        TEST(a_hundred_operations_leave_no_descriptor_behind),
    };

    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return PART_RUN("agent", tests);
}

int main(void)
{
    return own_pids_run(all_tests);
}
