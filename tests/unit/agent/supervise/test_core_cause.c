/* SPDX-License-Identifier: MIT */
/* The facts behind why a process is as it is. */
#include "tests/lib/core_rig.h"

static int64_t wall_s(void)
{
    return rig.wall_ms / 1000;
}

static void start_ok(const char *name)
{
    int64_t item = rig_operate(PROC_OP_START, name);

    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
}

static void how_it_ended_is_known(void **state)
{
    static const struct {
        int status;
        int64_t code, signal;
        bool core;
    } cases[] = {
        { 0, 0, 0, false },
        { 3, 3, 0, false },
        { CORE_SIGNALED + SIGSEGV, -1, SIGSEGV, false },
        { CORE_DUMPED + SIGABRT, -1, SIGABRT, true },
        { CORE_STATUS_UNKNOWN, -1, 0, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct proc_cause *c;
        int64_t pid;

        rig_set_up(state);
        start_ok("p");
        pid = rig_proc("p")->pid;
        rig_pass(50 * 1000);
        rig_die(rig_proc("p"), cases[i].status);
        c = rig_cause("p");
        assert_int_equal(c->exit_s, wall_s());
        assert_int_equal(c->exit_pid, pid);
        assert_int_equal(c->exit_code, cases[i].code);
        assert_int_equal(c->exit_signal, cases[i].signal);
        assert_int_equal(c->exit_core, cases[i].core);
        assert_false(c->exit_oom);
        rig_tear_down(state);
    }
}

static void expect_exit(int64_t code, int64_t number, bool core)
{
    const struct proc_cause *c = rig_cause("p");

    assert_int_equal(c->exit_code, code);
    assert_int_equal(c->exit_signal, number);
    assert_int_equal(c->exit_core, core);
}

/* Init reaped it late.  The restart did not wait for that. */
static void a_status_that_comes_late_is_reported_and_kept(void **state)
{
    static const struct {
        int status;
        int64_t code, signal;
        bool core;
    } cases[] = {
        { 0, 0, 0, false },
        { 7, 7, 0, false },
        { CORE_SIGNALED + SIGKILL, -1, SIGKILL, false },
        { CORE_DUMPED + SIGSEGV, -1, SIGSEGV, true },
        { CORE_STATUS_UNKNOWN, -1, 0, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct core_ident ident;

        rig_set_up(state);
        start_ok("p");
        ident = (struct core_ident){ rig_proc("p")->pid, 1 };
        rig_die(rig_proc("p"), CORE_STATUS_UNKNOWN);
        rig_pass(1000);
        expect_exit(-1, 0, false);
        assert_int_equal(rig_proc("p")->runs, 2);
        core_on_exit_status(rig.core, ident, cases[i].status, rig.now_ms);
        expect_exit(cases[i].code, cases[i].signal, cases[i].core);
        rig_settle();
        rig_crash(true);
        rig_settle();
        expect_exit(cases[i].code, cases[i].signal, cases[i].core);
        rig_tear_down(state);
    }
}

static void a_late_status_of_another_or_of_one_whose_end_is_known_changes_nothing(void **state)
{
    struct core_ident ident;

    (void)state;
    start_ok("p");
    ident = (struct core_ident){ rig_proc("p")->pid, 1 };
    rig_die(rig_proc("p"), 3);
    rig_settle();
    core_on_exit_status(rig.core, ident, CORE_SIGNALED + SIGKILL, rig.now_ms);
    expect_exit(3, 0, false);
    rig_pass(10 * 1000);
    rig_die(rig_proc("p"), CORE_STATUS_UNKNOWN);
    rig_settle();
    core_on_exit_status(rig.core, ident, 4, rig.now_ms); /* of the one before */
    expect_exit(-1, 0, false);
}

static void what_it_said_last_comes_later_and_is_the_last_lines(void **state)
{
    const struct proc_cause *c;
    struct core_ident ident;

    (void)state;
    start_ok("p");
    ident = (struct core_ident){ rig_proc("p")->pid, 1 };
    rig_die(rig_proc("p"), CORE_SIGNALED + SIGKILL);
    rig_settle();
    core_on_output(rig.core, (struct core_ident){ ident.pid, 2 }, "another's", PROC_OOM_YES,
                   rig.now_ms);
    assert_string_equal(rig_cause("p")->output, "");
    core_on_output(rig.core, ident, "one\ntwo\nthree\nfour\n\n", PROC_OOM_YES, rig.now_ms);
    c = rig_cause("p");
    assert_string_equal(c->output, "two\nthree\nfour");
    assert_true(c->exit_oom);
    rig_pass(20 * 1000); /* it was restarted meanwhile: that is why */
    c = rig_cause("p");
    assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
    assert_int_equal(c->exit_signal, SIGKILL);
    assert_string_equal(c->output, "two\nthree\nfour");
    rig_die(rig_proc("p"), 7);
    c = rig_cause("p");
    assert_int_equal(c->exit_code, 7);
    assert_false(c->exit_oom);
    assert_string_equal(c->output, "");
}

static void a_text_without_end_is_cut_at_a_character(void **state)
{
    char text[4096] = "";
    struct core_ident ident;
    size_t n = 0;

    (void)state;
    start_ok("p");
    ident = (struct core_ident){ rig_proc("p")->pid, 1 };
    rig_die(rig_proc("p"), 1);
    text[n++] = 'x';
    while (n + 3 < sizeof(text)) {
        memcpy(text + n, "中", 3);
        n += 3;
    }
    core_on_output(rig.core, ident, text, PROC_OOM_NO, rig.now_ms);
    n = strlen(rig_cause("p")->output);
    assert_in_range(n, WHY_OUTPUT_BYTES - 3, WHY_OUTPUT_BYTES);
    assert_memory_equal(rig_cause("p")->output, "中", 3);
}

static void a_failed_start_of_something_unknown_leaves_a_trace(void **state)
{
    int64_t item;
    const struct proc_cause *c;
    const struct proc_view *v = &rig_proc("p")->view;

    (void)state;
    rig_proc("p")->status = 7;
    rig_proc("p")->output = "no such file\n";
    item = rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_COMMAND);
    rig_crash(true); /* it is in the journal, too */
    memset(&rig_proc("p")->view, 0, sizeof(*v));
    core_on_message(rig.core, MESSAGE_WELCOME, &(struct message_welcome){ .wants_processes = true },
                    rig.now_ms);
    c = rig_cause("p");
    assert_false(v->hosted);
    assert_int_equal(v->wanted, PROC_UNREGISTERED);
    assert_int_equal(v->status, PROC_STOPPED);
    assert_int_equal(c->failed_op, PROC_OP_START);
    assert_int_equal(c->failed_code, CODE_COMMAND);
    assert_true(c->failed_s > 0);
    assert_string_equal(c->failed_text, "the command ended with exit code 7");
    assert_string_equal(c->output, "no such file");
    rig_proc("p")->status = 0;
    start_ok("p");
    c = rig_cause("p");
    assert_int_equal(c->failed_s, 0);
    assert_int_equal(c->failed_code, 0);
    assert_string_equal(c->failed_text, "");
}

/* As `holdfast start space/p` does, which has no spec. */
static void a_start_without_a_spec_tells_of_the_first_one_that_failed(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");
    const struct rig_result *r;

    (void)state;
    rig_proc("p")->status = 7;
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    for (int i = 0; i < 2; i++) { /* the second one does not tell of the first */
        m.item = ++rig.next_item;
        shape_defaults(&proc_spec_shape, &m.spec);
        rig_tell(&m);
        rig_settle();
        r = rig_result(m.item);
        assert_int_equal(r->code, CODE_NOT_REGISTERED);
        assert_string_equal(r->text, "process info not registered; the last "
                                     "start failed, so its spec was not kept: the command ended "
                                     "with exit code 7 (65535)");
    }
    assert_int_equal(rig_cause("p")->failed_code, CODE_COMMAND);
    assert_string_equal(rig_cause("p")->failed_text, "the command ended with exit code 7");
}

/* Without an identity, or with an unknown operation, there is no process. */
static void what_makes_no_sense_leaves_no_trace(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    (void)state;
    m.spec.control.start_cmd = "";
    rig_tell(&m);
    rig_operate(PROC_OP_QUERY, "p");
    rig_operate(PROC_OP_RELOAD, "p");
    rig_operate(5, "p");
    rig_settle();
    assert_int_equal(rig.n_results, 4);
    rig_proc("p")->has_view = false;
    core_on_message(rig.core, MESSAGE_WELCOME, &(struct message_welcome){ .wants_processes = true },
                    rig.now_ms);
    assert_false(rig_proc("p")->has_view);
}

static void what_was_found_instead_is_said(void **state)
{
    (void)state;
    rig_proc("p")->elsewhere = "pid file /srv/pid names 12, which is java, not d";
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    assert_int_equal(rig_cause("p")->failed_code, CODE_CHECK);
    assert_string_equal(
        rig_cause("p")->failed_text,
        "not alive at the post-check: pid file /srv/pid names 12, which is java, not d");
}

#define LATE "the command ran longer than 60 s and was ended"
#define WEB  "the command names 12 whose exe is web, expected d"

/* It may be the process itself, by another name: that is to be seen. */
static void what_a_command_was_that_took_too_long_is_said(void **state)
{
    static const struct {
        int64_t op;
        const char *before, *after; /* what is found at first, and later */
        const char *failed_text;
    } cases[] = {
        { PROC_OP_START, WEB, WEB, LATE ": " WEB },
        { PROC_OP_START, "the command: it was too quick", WEB, LATE ": " WEB },
        { PROC_OP_RESTART, WEB, WEB, LATE ": " WEB },
        { PROC_OP_START, WEB, "", LATE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig_proc *p;
        int64_t item;

        rig_set_up(state);
        p = rig_proc("p");
        p->hangs = true;
        p->output = "listening";
        p->elsewhere = cases[i].before;
        item = rig_operate(cases[i].op, "p");
        rig_pass(30 * 1000);
        p->elsewhere = cases[i].after;
        rig_pass(31 * 1000);
        assert_int_equal(rig_code(item), CODE_TIMEOUT);
        assert_string_equal(rig_cause("p")->failed_text, cases[i].failed_text);
        assert_int_equal(
            strncmp(rig_result(item)->text, cases[i].failed_text, strlen(cases[i].failed_text)), 0);
        assert_string_equal(rig_result(item)->text + strlen(cases[i].failed_text),
                            "; its output: [listening]");
        rig_tear_down(state);
    }
}

/* A wrong proc_name is known long before the command has taken too long. */
static void what_a_command_is_instead_is_said_while_it_runs(void **state)
{
    static const struct {
        const char *script, *english, *chinese;
    } cases[] = {
        { NULL, "the command runs as web, and d is expected: is proc_name (program) right?",
          "命令以 web 运行，应为 d：proc_name（program）是否正确？" },
        { "start.sh",
          "the command is still start.sh, run by web, and d is expected: is proc_name (program) "
          "right?",
          "命令仍是由 web 运行的 start.sh，应为 d：proc_name（program）是否正确？" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig_proc *p;
        char text[400];
        int64_t item;

        rig_set_up(state);
        p = rig_proc("p");
        p->hangs = true;
        p->elsewhere = WEB;
        p->program = "web";
        p->script = cases[i].script;
        item = rig_operate(PROC_OP_START, "p");
        rig_pass(4500);
        assert_string_equal(rig_cause("p")->instead, "");
        rig_pass(2000);
        assert_int_equal(rig_code(item), CODE_WAITING);
        assert_int_equal(rig_cause("p")->doing, PROC_OP_START);
        assert_string_equal(rig_cause("p")->instead, cases[i].english);
        readable(text, sizeof(text), p->instead, LANG_ZH);
        assert_string_equal(text, cases[i].chinese);
        rig_pass(56 * 1000);
        assert_int_equal(rig_code(item), CODE_TIMEOUT);
        assert_string_equal(rig_cause("p")->instead, "");
        assert_string_equal(rig_cause("p")->failed_text, LATE ": " WEB);
        rig_tear_down(state);
    }
}

/* It was slow to become the process. */
static void what_a_command_was_is_not_said_once_it_is_the_process(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    p->hangs = true;
    p->elsewhere = WEB;
    p->program = "web";
    item = rig_operate(PROC_OP_START, "p");
    rig_pass(7000);
    assert_string_not_equal(rig_cause("p")->instead, "");
    p->elsewhere = NULL; /* no process */
    rig_pass(3000);
    assert_string_equal(rig_cause("p")->instead, "");
    assert_int_equal(rig_code(item), CODE_WAITING);
    p->pid = p->run_pid;
    rig_pass(3000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_string_equal(rig_cause("p")->instead, "");
}

/* Its command has ended well, and the pid file names another program. */
static void what_is_found_while_readiness_is_awaited_is_said(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    m.spec.extra.ready.kind = READY_PORT;
    m.spec.extra.ready.port = 8080;
    m.spec.extra.ready.timeout_s = 60;
    p->elsewhere = "pid file /srv/pid names 12 whose exe is java, expected d";
    p->program = "java";
    rig_tell(&m);
    rig_pass(4500);
    assert_string_equal(rig_cause("p")->instead, "");
    rig_pass(3000);
    assert_string_equal(rig_cause("p")->instead,
                        "pid file /srv/pid names 12 whose exe is java, expected d: "
                        "is proc_name (program) right?");
    rig_pass(60 * 1000);
    assert_int_equal(rig_code(m.item), CODE_CHECK);
    assert_string_equal(rig_cause("p")->instead, "");
}

/* An answer that comes when the command is being ended is about one that we ended. */
static void what_is_found_of_a_command_that_is_being_ended_is_no_reason(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    p->hangs = true;
    p->elsewhere = WEB;
    rig_operate(PROC_OP_START, "p");
    rig_pass(58500);
    rig.is_blind = true;
    rig_pass(2000);
    p->elsewhere = "it has ended";
    rig.is_blind = false;
    rig_settle();
    assert_string_equal(rig_cause("p")->failed_text, LATE ": " WEB);
}

/* Reading the last words takes a while, in which the first restart may have failed. */
static void what_a_failed_restart_said_is_later_than_last_words(void **state)
{
    struct rig_proc *p = rig_proc("p");
    struct core_ident ident;

    (void)state;
    start_ok("p");
    ident = (struct core_ident){ p->pid, 1 };
    p->status = 127;
    p->output = "sh: 1: ./web: not found\n";
    rig_die(p, CORE_SIGNALED + SIGKILL);
    rig_settle();
    assert_int_equal(rig_cause("p")->failed_code, CODE_COMMAND);
    core_on_output(rig.core, ident, "listening\n", PROC_OOM_PERHAPS, rig.now_ms);
    core_tell_now(rig.core);
    assert_string_equal(rig_cause("p")->output, "sh: 1: ./web: not found");
    assert_true(rig_cause("p")->exit_oom_perhaps && !rig_cause("p")->exit_oom);
}

/* It had nothing to say: what was said last is what the process had said. */
static void last_words_stay_where_a_failed_restart_said_nothing(void **state)
{
    struct rig_proc *p = rig_proc("p");
    struct core_ident ident;

    (void)state;
    start_ok("p");
    ident = (struct core_ident){ p->pid, 1 };
    p->status = 1;
    rig_die(p, 1);
    rig_settle();
    core_on_output(rig.core, ident, "listening\n", PROC_OOM_NO, rig.now_ms);
    core_tell_now(rig.core);
    assert_string_equal(rig_cause("p")->output, "listening");
}

static void tries_are_counted_and_the_next_is_announced(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");
    const struct proc_cause *c;

    (void)state;
    m.spec.has_policy = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_retries = 4;
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_cause("p")->tries, 0);
    assert_int_equal(rig_cause("p")->tries_max, 4);
    rig_proc("p")->status = 9;
    rig_die(rig_proc("p"), 1);
    rig_settle(); /* the first comes at once, and fails */
    c = rig_cause("p");
    assert_int_equal(c->tries, 0);
    assert_int_equal(c->next_try_s, wall_s() + 1);
    assert_int_equal(c->failed_code, CODE_COMMAND);
    rig_pass(5 * 1000); /* five more do not count towards start_retries */
    c = rig_cause("p");
    assert_int_equal(c->tries, 5);
    assert_int_equal(c->tries_max, 9);
    assert_int_equal(c->next_try_s, wall_s() + 10);
    rig_pass(11 * 1000);
    c = rig_cause("p");
    assert_int_equal(c->tries, 6);
    assert_int_equal(c->next_try_s, wall_s() + 9);
    rig_pass(120 * 1000);
    c = rig_cause("p");
    assert_int_equal(c->tries, 9);
    assert_int_equal(c->next_try_s, 0);
    assert_true(c->has_given_up);
    assert_int_equal(c->exit_code, 1);
    assert_false(rig_proc("p")->view.hosted);
    assert_int_equal(rig_proc("p")->view.wanted, PROC_RUNNING);
    rig_proc("p")->status = 0;
    rig_operate(PROC_OP_HOST, "p");
    rig_settle();
    assert_false(rig_cause("p")->has_given_up);
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
    assert_int_equal(rig_cause("p")->failed_code, 0);
    assert_int_equal(rig_cause("p")->exit_code, 1); /* why it was restarted */
}

static void what_takes_its_time_is_seen_at_work(void **state)
{
    struct message_command stop = rig_command(PROC_OP_STOP, "p");

    (void)state;
    start_ok("p");
    assert_int_equal(rig_cause("p")->doing, -1);
    rig_proc("p")->ignores_term = true;
    rig_tell(&stop);
    rig_pass(1500);
    assert_int_equal(rig_cause("p")->doing, PROC_OP_STOP);
    rig_die(rig_proc("p"), 0);
    rig_settle();
    assert_int_equal(rig_cause("p")->doing, -1);
}

static void since_when_it_runs_or_not(void **state)
{
    int64_t began_s, ended_s;

    (void)state;
    began_s = wall_s();
    start_ok("p");
    assert_in_range(rig_cause("p")->since_s, began_s, wall_s());
    rig_pass(100 * 1000);
    rig_crash(true); /* the agent is another one; the process is not */
    rig_settle();
    core_on_message(rig.core, MESSAGE_WELCOME, &(struct message_welcome){ .wants_processes = true },
                    rig.now_ms);
    assert_in_range(rig_cause("p")->since_s, began_s, began_s + 6);
    rig_operate(PROC_OP_STOP, "p");
    rig_settle();
    ended_s = wall_s();
    rig_pass(5000);
    assert_int_equal(rig_cause("p")->since_s, ended_s);
}

/* Seen while it was still forking: its end is not the process's. */
static void the_end_of_a_launcher_is_not_the_end_of_the_process(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start_ok("p");
    rig_die(p, 5);
    p->hangs = true;
    rig_settle();
    rig_come_up(p, p->run_pid); /* the command looks like the process, */
    rig_pass(1500);
    assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
    rig_die(p, 0); /* but was its launcher */
    assert_int_equal(rig_cause("p")->exit_code, 0);
    rig_come_up(p, 7777);
    rig_end(p, 0);
    p->hangs = false;
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->view.pid, 7777);
    assert_int_equal(rig_cause("p")->exit_code, 5);
}

static void the_facts_survive_the_agent(void **state)
{
    struct core_ident ident;
    const struct proc_cause *c;

    (void)state;
    start_ok("p");
    ident = (struct core_ident){ rig_proc("p")->pid, 1 };
    rig_proc("p")->status = 1;
    rig_die(rig_proc("p"), CORE_DUMPED + SIGSEGV);
    core_on_output(rig.core, ident, "last words", PROC_OOM_NO, rig.now_ms);
    rig_pass(15 * 1000); /* six failures, and the first try that counts */
    rig_crash(true);
    core_on_message(rig.core, MESSAGE_WELCOME, &(struct message_welcome){ .wants_processes = true },
                    rig.now_ms);
    c = rig_cause("p");
    assert_int_equal(c->exit_signal, SIGSEGV);
    assert_true(c->exit_core);
    assert_string_equal(c->output, "last words");
    assert_int_equal(c->tries, 6);
    assert_int_equal(c->failed_code, CODE_COMMAND);
}

/* After a reboot: the processes are gone, and how they ended is unknown. */
static void after_a_reboot_it_is_known_that_it_ended(void **state)
{
    (void)state;
    start_ok("p");
    rig_crash(false);
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
    assert_int_equal(rig_cause("p")->exit_code, -1);
    assert_true(rig_cause("p")->exit_s > 0);
}

/* All that fit are listed; fewer than expected is a fact, and nothing is done about it. */
static void where_several_are_expected_all_are_counted(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    m.spec.extra.instances = 4;
    rig_tell(&m);
    rig_pass(6000);
    p->more[0].pid = 811;
    p->more[1].pid = 812;
    p->n_more = 2;
    item = rig_operate(PROC_OP_QUERY, "p"); /* the query need not repeat it */
    rig_settle();
    assert_int_equal(rig.last_instances, 4);
    assert_string_equal(rig_result(item)->others, "811 812");
    assert_int_equal(rig_result(item)->pid, p->pid);
    core_tell_now(rig.core);
    assert_int_equal(rig_cause("p")->instances, 3);
    assert_int_equal(rig_cause("p")->instances_wanted, 4);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    rig_operate(PROC_OP_QUERY, "q");
    rig_settle();
    assert_int_equal(rig.last_instances, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_it_ended_is_known),
        cmocka_unit_test(a_status_that_comes_late_is_reported_and_kept),
        RIG_TEST(a_late_status_of_another_or_of_one_whose_end_is_known_changes_nothing),
        RIG_TEST(what_it_said_last_comes_later_and_is_the_last_lines),
        RIG_TEST(a_text_without_end_is_cut_at_a_character),
        RIG_TEST(a_failed_start_of_something_unknown_leaves_a_trace),
        RIG_TEST(a_start_without_a_spec_tells_of_the_first_one_that_failed),
        RIG_TEST(what_makes_no_sense_leaves_no_trace),
        RIG_TEST(what_was_found_instead_is_said),
        cmocka_unit_test(what_a_command_was_that_took_too_long_is_said),
        cmocka_unit_test(what_a_command_is_instead_is_said_while_it_runs),
        RIG_TEST(what_a_command_was_is_not_said_once_it_is_the_process),
        RIG_TEST(what_is_found_while_readiness_is_awaited_is_said),
        RIG_TEST(what_is_found_of_a_command_that_is_being_ended_is_no_reason),
        RIG_TEST(what_a_failed_restart_said_is_later_than_last_words),
        RIG_TEST(last_words_stay_where_a_failed_restart_said_nothing),
        RIG_TEST(tries_are_counted_and_the_next_is_announced),
        RIG_TEST(what_takes_its_time_is_seen_at_work),
        RIG_TEST(since_when_it_runs_or_not),
        RIG_TEST(the_end_of_a_launcher_is_not_the_end_of_the_process),
        RIG_TEST(the_facts_survive_the_agent),
        RIG_TEST(after_a_reboot_it_is_known_that_it_ended),
        RIG_TEST(where_several_are_expected_all_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
