/* SPDX-License-Identifier: MIT */
/* What is hosted is kept alive, as the contract says; what is not to stay is not. */
#include "tests/lib/core_rig.h"

static int64_t start(const char *name, int64_t kind, int64_t retries)
{
    struct message_command m = rig_command(PROC_OP_START, name);

    m.spec.has_policy = PRESENCE_GIVEN;
    m.spec.policy.has_kind = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.kind = kind;
    m.spec.policy.start_retries = retries;
    rig_tell(&m);
    rig_pass(6000);
    return m.item;
}

static void die(const char *name)
{
    rig_die(rig_proc(name), 1);
    rig_settle();
}

static void the_first_restarts_come_at_once_the_others_apart(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start("p", PROC_RESIDENT, 3);
    p->status = 1;
    die("p");
    assert_int_equal(p->runs, 2);
    rig_pass(5000); /* and five more, a second apart */
    assert_int_equal(p->runs, 7);
    for (int i = 0; i < 3; i++) {
        rig_pass(9900);
        assert_int_equal(p->runs, 7 + i);
        assert_int_equal(rig_count_events("process_cancel_restart"), 0);
        rig_pass(100);
        assert_int_equal(p->runs, 8 + i);
    }
    assert_int_equal(rig_count_events("process_cancel_restart"), 1);
    rig_pass(10100);
    assert_int_equal(p->runs, 10);
    assert_int_equal(rig_count_events("process_cancel_restart"), 1);
    assert_false(p->view.hosted);
    rig_pass(600 * 1000);
    assert_int_equal(p->runs, 10);
}

static void a_restart_that_fails_is_told_of_each_time(void **state)
{
    (void)state;
    start("p", PROC_RESIDENT, 3);
    rig_proc("p")->is_idle = true; /* its command does not bring it up */
    die("p");
    rig_pass(120 * 1000);
    assert_int_equal(rig_count_events("process_restart_failed"), 1 + 5 + 3);
    assert_int_equal(rig_count_events("process_cancel_restart"), 1);
    assert_string_equal(rig.events[rig.n_events - 1], "process_cancel_restart");
}

static void it_is_given_up_as_soon_as_the_last_try_has_failed(void **state)
{
    (void)state;
    start("p", PROC_RESIDENT, 2);
    rig_proc("p")->status = 1;
    die("p");
    rig_pass(5000 + 10000 + 9900);
    assert_int_equal(rig_count_events("process_cancel_restart"), 0);
    rig_pass(200); /* the second that counts, and last */
    assert_int_equal(rig_count_events("process_restart_failed"), 1 + 5 + 2);
    assert_int_equal(rig_count_events("process_cancel_restart"), 1);
    assert_true(rig_cause("p")->has_given_up);
    assert_false(rig_proc("p")->view.hosted);
    assert_int_equal(rig_cause("p")->next_try_s, 0);
}

static void what_was_given_up_and_then_stopped_is_so_for_the_next_agent_too(void **state)
{
    int64_t item;

    (void)state;
    start("p", PROC_RESIDENT, 1);
    rig_proc("p")->status = 1;
    die("p");
    rig_pass(120 * 1000);
    assert_true(rig_cause("p")->has_given_up);
    item = rig_operate(PROC_OP_STOP, "p");
    rig_settle();
    assert_int_equal(rig_code(item), CODE_NOT_RUNNING);
    rig_crash(true);
    rig_settle();
    assert_false(rig_cause("p")->has_given_up);
    assert_int_equal(rig_cause("p")->failed_code, 0);
    assert_int_equal(rig_proc("p")->view.wanted, PROC_STOPPED);
}

/* Over all agents that have seen it: what it has lived says whether a run was up. */
static void what_it_has_run_before_a_crash_of_the_agent_counts(void **state)
{
    static const struct {
        int64_t before_s, after_s;
        bool is_at_once;
    } runs[] = {
        { 20, 15, false }, /* 40 s are needed, */
        { 30, 12, true },
        { 12, 9, true } /* then half of it: it is proven */
    };
    struct message_command m = rig_command(PROC_OP_START, "p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    m.spec.has_policy = m.spec.policy.has_start_check = PRESENCE_GIVEN;
    m.spec.policy.start_check_s = 40;
    /* So that the start does not take as long. */
    m.spec.extra.ready = (struct proc_ready){ .kind = READY_PORT, .port = 80, .timeout_s = 20 };
    rig.port_is_open = true;
    rig_tell(&m);
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        rig_pass(1000);
        assert_int_equal(p->runs, i + 1);
        rig_pass(runs[i].before_s * 1000);
        rig_crash(true);
        rig_pass(runs[i].after_s * 1000);
        die("p");
        assert_int_equal(p->runs, i + 1 + runs[i].is_at_once);
    }
}

static void every_run_that_was_up_is_followed_by_another(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start("p", PROC_RESIDENT, 1);
    for (int i = 0; i < 5; i++) {
        rig_pass(6 * 1000);
        die("p");
        assert_int_equal(p->runs, i + 2);
        rig_pass(6000);
    }
    assert_true(p->view.hosted);
    assert_int_equal(p->view.restarts, 5);
}

static void no_retries_means_never(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start("p", PROC_RESIDENT, 0);
    assert_true(p->view.hosted);
    die("p");
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    assert_false(p->view.hosted);
    assert_int_equal(rig_count_events("process_cancel_restart"), 1);
}

/* To host is not to restart: it is pulled up once. */
static void what_is_hosted_while_it_is_down_is_pulled_up_afterwards(void **state)
{
    static const int64_t retries[] = { 0, 4 };

    for (size_t i = 0; i < ARRAY_LEN(retries); i++) {
        struct message_command m;

        rig_set_up(state);
        m = rig_command(PROC_OP_HOST, "p");
        m.spec.has_policy = m.spec.policy.has_retries = PRESENCE_GIVEN;
        m.spec.policy.start_retries = retries[i];
        rig_tell(&m);
        core_on_durable(rig.core, rig.mark, rig.now_ms);
        core_on_durable(rig.core, rig.mark, rig.now_ms);
        assert_int_equal(rig_code(m.item), CODE_OK); /* it does not wait for that */
        assert_int_equal(rig_proc("p")->runs, 0);
        rig_pass(6000);
        assert_int_equal(rig_proc("p")->runs, 1);
        assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
        assert_true(rig_proc("p")->view.hosted);
        rig_tear_down(state);
    }
}

static void it_is_pulled_up_though_the_agent_dies_before_that(void **state)
{
    struct message_command m = rig_command(PROC_OP_HOST, "p");

    (void)state;
    m.spec.has_policy = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_retries = 0;
    rig_tell(&m);
    core_on_durable(rig.core, rig.mark, rig.now_ms);
    assert_int_equal(rig_proc("p")->runs, 0);
    rig_crash(true);
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->runs, 1);
    assert_true(rig_proc("p")->view.hosted);
}

/* It ran when it was looked for: then nothing is owed. */
static void what_is_hosted_while_it_runs_is_not_restarted_without_retries(void **state)
{
    struct message_command m = rig_command(PROC_OP_HOST, "p");

    (void)state;
    m.spec.has_policy = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_retries = 0;
    rig_come_up(rig_proc("p"), 900);
    rig_tell(&m);
    rig_pass(1000);
    assert_int_equal(rig_proc("p")->view.pid, 900);
    die("p");
    rig_pass(60 * 1000);
    assert_int_equal(rig_proc("p")->runs, 0);
    assert_false(rig_proc("p")->view.hosted);
}

static void some_are_never_given_up(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    (void)state;
    m.spec.extra.keep_trying = true;
    rig_tell(&m);
    rig_pass(6000);
    rig_proc("p")->status = 1;
    die("p");
    rig_pass(600 * 1000);
    assert_true(rig_proc("p")->view.hosted);
    assert_int_equal(rig_proc("p")->runs, 1 + 6 + 5); /* six at once, then ever more seldom */
    assert_int_equal(rig_cause("p")->tries_max, -1);
}

static void hosting_rests_while_an_operation_acts(void **state)
{
    struct message_command stop = rig_command(PROC_OP_STOP, "p");

    (void)state;
    start("p", PROC_RESIDENT, 4);
    stop.spec.control.stop_cmd = "stop";
    rig_proc("p")->hangs = true;
    rig_tell(&stop);
    rig_settle();
    die("p"); /* the command still runs */
    rig_pass(20 * 1000);
    assert_int_equal(rig_proc("p")->runs, 2); /* the start, the stop */
    rig_end(rig_proc("p"), 0);
    rig_pass(60 * 1000);
    assert_int_equal(rig_code(stop.item), CODE_OK);
    assert_int_equal(rig_proc("p")->runs, 2);
    assert_false(rig_proc("p")->view.hosted);
}

static void a_host_that_was_started_anew_pulls_up_what_is_hosted(void **state)
{
    (void)state;
    start("hosted", PROC_RESIDENT, 4);
    start("never", PROC_RESIDENT, 0);
    start("once", PROC_RUN_ONCE, 4);
    start("unhosted", PROC_RESIDENT, 4);
    rig_operate(PROC_OP_UNHOST, "unhosted");
    start("running", PROC_RESIDENT, 4);
    rig_settle();
    rig_crash(false);
    rig_come_up(rig_proc("running"), 4711); /* another program was faster */
    rig_pass(6000);
    assert_int_equal(rig_proc("hosted")->runs, 2);
    assert_int_equal(rig_proc("never")->runs, 2);
    assert_int_equal(rig_proc("once")->runs, 1);
    assert_int_equal(rig_proc("unhosted")->runs, 1);
    assert_int_equal(rig_proc("running")->runs, 1);
    assert_int_equal(rig_proc("running")->view.pid, 4711);
    assert_true(rig_proc("once")->view.hosted);
}

static void tries_of_before_the_host_was_started_anew_do_not_count(void **state)
{
    (void)state;
    start("p", PROC_RESIDENT, 1);
    die("p");
    rig_pass(6000); /* it runs again, and has no try left */
    rig_crash(false);
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->runs, 3);
    assert_true(rig_proc("p")->view.hosted);
}

/* ---- an agent before us may have begun what is not in the journal */

/* The time after boot in which answers are not trusted is over, but there was no probe yet. */
static void what_an_agent_before_us_left_is_searched_for_when_it_is_looked_for_first(void **state)
{
    (void)state;
    start("p", PROC_RESIDENT, 4);
    assert_false(rig.is_doubtful);
    rig_crash(true);
    core_on_exit(rig.core, (struct core_ident){ rig_proc("p")->pid, 1 }, 1, rig.now_ms);
    assert_true(rig.is_doubtful); /* at once */
    rig_pass(6000);
    rig_operate(PROC_OP_KILL, "p");
    rig_settle();
    rig_crash(true);
    rig_pass(600 * 1000);
    rig_operate(PROC_OP_QUERY, "p");
    rig_settle();
    assert_true(rig.is_doubtful); /* for the first time */
    rig_operate(PROC_OP_QUERY, "p");
    rig_settle();
    assert_false(rig.is_doubtful);
}

/* Another of the same program must not be taken for its successor, and be stopped in its place. */
static void nobody_is_searched_for_when_one_ends_whom_the_journal_knew(void **state)
{
    (void)state;
    start("p", PROC_RESIDENT, 4);
    rig_crash(true);
    rig_pass(61 * 1000);
    rig.is_doubtful = true;
    core_on_exit(rig.core, (struct core_ident){ rig_proc("p")->pid, 1 }, 1, rig.now_ms);
    assert_false(rig.is_doubtful);
}

static void a_command_that_may_have_begun_is_searched_for_however_late(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    (void)state;
    m.spec.has_policy = m.spec.policy.has_timeout = PRESENCE_GIVEN;
    m.spec.policy.op_timeout_s = 200;
    start("p", PROC_RESIDENT, 4);
    rig_operate(PROC_OP_KILL, "p");
    rig_settle();
    rig_tell(&m);
    while (!rig_proc("p")->pid && !rig.asks[0].is_run) {
        core_on_durable(rig.core, rig.mark, rig.now_ms);
        rig_answer();
    }
    rig_crash(true); /* its command was about to begin */
    rig_pass(100);
    rig_operate(PROC_OP_QUERY, "p"); /* it waits */
    rig.is_doubtful = false;
    rig_pass(199 * 1000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    core_on_time(rig.core, rig.now_ms + 2000, rig.wall_ms);
    assert_true(rig.is_doubtful);
    rig_pass(3000);
    assert_int_equal(rig_code(m.item), CODE_CHECK);
}

/* The clock on the wall is for people: whatever it says, what was to happen happens. */
static void a_clock_that_jumps_changes_nothing(void **state)
{
    static const int64_t jumps_ms[] = { 86400000000, -86400000000, 3600000 };

    for (size_t i = 0; i < ARRAY_LEN(jumps_ms); i++) {
        rig_set_up(state);
        start("p", PROC_RESIDENT, 4);
        rig_proc("p")->status = 1;
        die("p");
        rig_pass(5000);
        assert_int_equal(rig_proc("p")->runs, 7);
        rig_proc("p")->status = 0;
        rig.wall_ms += jumps_ms[i];
        rig_pass(9900);
        assert_int_equal(rig_proc("p")->runs, 7);
        rig_pass(200);
        assert_int_equal(rig_proc("p")->runs, 8);
        rig_pass(6000);
        assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
        rig_tear_down(state);
    }
}

/* ---- what is not to stay */

static void one_that_runs_once_is_judged_by_its_exit_code(void **state)
{
    static const int64_t kinds[] = { PROC_RUN_ONCE, PROC_PERIODIC };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rig_proc *p;
        int64_t item;

        rig_set_up(state);
        p = rig_proc("p");
        p->is_idle = true; /* nothing runs afterwards */
        item = start("p", kinds[i], 4);
        assert_int_equal(rig_code(item), CODE_OK);
        assert_true(p->view.hosted);
        assert_true(p->view.cause.has_finished);
        assert_int_equal(p->view.cause.failed_code, 0);
        rig_pass(600 * 1000);
        assert_int_equal(p->runs, 1);
        assert_true(p->view.hosted);
        rig_crash(true);
        rig_pass(60 * 1000);
        assert_int_equal(p->runs, 1);
        rig_operate(PROC_OP_UNHOST, "p");
        rig_settle();
        assert_false(p->view.hosted);
        rig_tear_down(state);
    }
}

static void one_that_runs_once_and_fails_is_not_run_again(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    p->status = 3;
    p->output = "no\n";
    item = start("p", PROC_RUN_ONCE, 4);
    assert_int_equal(rig_code(item), CODE_COMMAND);
    assert_string_equal(rig_result(item)->text,
                        "Script exit code non-zero. Error msessage: [no\n]");
    assert_false(p->view.hosted);
    rig_pass(600 * 1000);
    assert_int_equal(p->runs, 1);
    assert_false(p->view.cause.has_finished);
}

/* What is told of how it ended last is about the last time. */
static void how_one_that_runs_once_has_ended_is_how_its_command_did(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t first_s, first_pid;

    (void)state;
    p->is_idle = true;
    p->output = "first\n";
    p->status = 3;
    start("p", PROC_RUN_ONCE, 4);
    assert_int_equal(rig_cause("p")->exit_code, 3);
    assert_string_equal(rig_cause("p")->output, "first");
    first_s = rig_cause("p")->exit_s;
    first_pid = rig_cause("p")->exit_pid;
    p->status = 0;
    start("p", PROC_RUN_ONCE, 4);
    assert_int_equal(rig_cause("p")->exit_code, 0);
    assert_true(rig_cause("p")->exit_s > first_s);
    assert_true(rig_cause("p")->exit_pid > first_pid);
    assert_string_equal(rig_cause("p")->output, "");
    core_on_output(rig.core, (struct core_ident){ rig_cause("p")->exit_pid, 1 }, "second\n",
                   PROC_OOM_NO, rig.now_ms);
    assert_string_equal(rig_cause("p")->output, "second");
    rig_crash(true);
    rig_settle();
    assert_string_equal(rig_cause("p")->output, "second");
}

static void one_that_runs_once_and_does_not_end_is_ended(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    p->hangs = true;
    item = start("p", PROC_RUN_ONCE, 4);
    rig_pass(60 * 1000);
    assert_int_equal(rig_code(item), CODE_TIMEOUT);
    assert_int_equal(p->run, 0);
    assert_non_null(strstr(rig_cause("p")->failed_text,
                           "and was ended; a process that is to stay needs auto_type 1"));
}

/* Whether it did its work is unknown: it is not run again, and its result is not guessed. */
static void what_came_of_one_that_runs_once_is_not_guessed(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    p->hangs = true;
    item = start("p", PROC_RUN_ONCE, 4);
    rig_crash(true);
    rig_settle();
    assert_int_not_equal(p->run, 0); /* it is watched by the next one */
    rig_end(p, CORE_STATUS_UNKNOWN);
    rig_settle();
    assert_int_equal(rig_code(item), CODE_SYSTEM);
    assert_int_equal(p->runs, 1);
}

/* ---- a restart in two halves, and a reload */

static struct message_command restart_of(const char *name)
{
    struct message_command m = rig_command(PROC_OP_RESTART, name);

    m.spec.control.stop_cmd = "stop";
    return m;
}

static void a_restart_in_two_halves_goes_on_after_a_crash(void **state)
{
    struct message_command m = restart_of("p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    rig_come_up(p, 900);
    p->hangs = true; /* its stop command, that is */
    rig_tell(&m);
    rig_settle();
    assert_int_equal(p->runs, 1);
    rig_crash(true);
    p->hangs = false;
    rig_settle();
    rig_die(p, 0);
    rig_end(p, 0); /* the stop has done its work */
    rig_pass(6000);
    assert_int_equal(p->runs, 2);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(p->view.status, PROC_RUNNING);
}

static void a_restart_by_signal_goes_on_after_a_crash(void **state)
{
    struct message_command m;
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start("p", PROC_RESIDENT, 4);
    p->ignores_term = true;
    m = rig_command(PROC_OP_RESTART, "p");
    rig_tell(&m);
    rig_settle();
    assert_int_equal(p->signals, 1);
    rig_crash(true);
    rig_pass(59 * 1000);
    assert_int_equal(p->signals, 1);
    rig_pass(2000); /* SIGKILL, as it would have been */
    assert_int_equal(p->signals, 2);
    rig_pass(6000);
    assert_int_equal(p->runs, 2);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void its_second_half_is_not_begun_twice(void **state)
{
    struct message_command m = restart_of("p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    rig_come_up(p, 900);
    rig_tell(&m);
    rig_settle();
    assert_int_equal(p->runs, 2);
    rig_crash(true);
    rig_pass(6000);
    assert_int_equal(p->runs, 2);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void what_dies_of_its_reload_is_told_of(void **state)
{
    struct message_command m = rig_command(PROC_OP_RELOAD, "p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start("p", PROC_RESIDENT, 4);
    m.spec.control.reload_cmd = "reload";
    rig_tell(&m);
    rig_settle();
    rig_die(p, 1);
    rig_pass(1500);
    assert_int_equal(rig_code(m.item), CODE_CHECK);
    assert_string_equal(rig_result(m.item)->text,
                        "reload process (p) failed, for post-check status not alive, please refer "
                        "to agent log for details: there is no pid file");
    rig_pass(6000);
    assert_int_equal(p->view.status, PROC_RUNNING); /* it is hosted, after all */
    rig_settle();
}

static void a_reload_may_leave_another_process(void **state)
{
    struct message_command m = rig_command(PROC_OP_RELOAD, "p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start("p", PROC_RESIDENT, 4);
    m.spec.control.reload_cmd = "reload";
    rig_tell(&m);
    rig_settle();
    rig_die(p, 0);
    rig_come_up(p, 4711);
    rig_pass(1500);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(p->view.pid, 4711);
    assert_int_equal(p->runs, 2);
    rig_die(p, 0); /* which is watched now */
    rig_settle();
    assert_int_equal(p->runs, 3);
}

static int64_t tell_if_hosted(const char *start_cmd)
{
    struct message_command m = rig_command(PROC_OP_HOST, "p");

    m.only_if_hosted = true;
    m.spec.control.start_cmd = start_cmd;
    rig_tell(&m);
    return m.item;
}

/* The server's word for a new spec: it must not bring back a process that is being stopped. */
static void a_spec_for_what_is_hosted_hosts_nothing(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item, stop;

    (void)state;
    start("p", PROC_RESIDENT, 3);
    item = tell_if_hosted("start anew");
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(p->runs, 1);
    assert_true(p->view.hosted);
    stop = rig_operate(PROC_OP_STOP, "p");
    item = tell_if_hosted("start again");
    rig_crash(true); /* it is the same in the next life */
    rig_pass(120 * 1000);
    assert_int_equal(rig_code(stop), CODE_OK);
    assert_int_equal(rig_code(item), CODE_NOT_REGISTERED);
    assert_int_equal(p->runs, 1);
    assert_false(p->view.hosted);
}

/* The agent dies when the command has begun, and before it knows as what: it still runs when the
 * next agent would begin it for the second time. */
static void a_slow_command_is_found_by_the_next_agent_though_nobody_knew_its_pid(void **state)
{
    static const bool is_asked_for[] = { false, true };

    for (size_t i = 0; i < ARRAY_LEN(is_asked_for); i++) {
        struct rig_proc *p;
        int64_t item = 0;

        rig_set_up(state);
        p = rig_proc("p");
        assert_int_equal(rig_code(start("p", PROC_RESIDENT, 10)), CODE_OK);
        if (is_asked_for[i]) {
            rig_operate(PROC_OP_STOP, "p");
            rig_pass(6000);
        }
        p->is_unheard = p->hangs = true;
        if (is_asked_for[i])
            item = rig_operate(PROC_OP_START, "p");
        else
            rig_die(p, 1);
        rig_settle();
        assert_int_equal(p->runs, 2);
        rig_crash(true);
        p->is_unheard = false;
        rig_pass(50 * 1000);
        assert_int_equal(p->runs, 2);
        p->hangs = false;
        rig_come_up(p, ++rig.next_pid); /* it was slow, that is all */
        rig_end(p, 0);
        rig_pass(20 * 1000);
        assert_int_equal(p->runs, 2);
        assert_int_equal(p->view.pid, p->pid);
        assert_true(!item || rig_code(item) == CODE_OK || rig_code(item) == CODE_RUNNING);
        rig_tear_down(state);
    }
}

/* And is ended when it has had its time, so that the next try is alone. */
static void a_command_that_was_found_again_is_ended_in_its_time(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    assert_int_equal(rig_code(start("p", PROC_RESIDENT, 10)), CODE_OK);
    p->is_unheard = p->hangs = true;
    die("p");
    assert_int_equal(p->runs, 2);
    rig_crash(true);
    p->is_unheard = p->hangs = false;
    rig_pass(59 * 1000);
    assert_int_equal(p->runs, 2);
    assert_true(p->run_pid != 0);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 3);
    assert_int_equal(p->doubles, 0);
    assert_true(p->pid > 0);
}

/* The search for it may hang: then it is not known, and asked again. */
static void a_command_that_may_have_begun_is_searched_for_again(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    assert_int_equal(rig_code(start("p", PROC_RESIDENT, 10)), CODE_OK);
    p->is_unheard = p->hangs = true;
    die("p");
    assert_int_equal(p->runs, 2);
    rig.is_begun_unknown = true;
    rig_crash(true);
    p->is_unheard = p->hangs = false;
    rig_pass(50 * 1000);
    assert_int_equal(p->runs, 2);
    rig.is_begun_unknown = false;
    rig_pass(59 * 1000);
    assert_int_equal(p->runs, 2); /* found, it has its time */
    assert_true(p->run_pid != 0);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 3);
    assert_int_equal(p->doubles, 0);
}

static void one_that_can_never_be_told_of_has_all_its_time_and_an_end(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    p->is_unheard = p->hangs = true;
    item = rig_operate(PROC_OP_START, "p");
    rig_settle();
    assert_int_equal(p->runs, 1);
    rig.is_begun_unknown = true;
    rig_crash(true);
    rig_pass(119 * 1000);
    assert_int_equal(p->runs, 1);
    assert_null(rig_result(item));
    rig_pass(20 * 1000);
    assert_int_equal(p->runs, 1);
    assert_int_equal(rig_code(item), CODE_CHECK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(the_first_restarts_come_at_once_the_others_apart),
        RIG_TEST(a_restart_that_fails_is_told_of_each_time),
        RIG_TEST(it_is_given_up_as_soon_as_the_last_try_has_failed),
        RIG_TEST(what_was_given_up_and_then_stopped_is_so_for_the_next_agent_too),
        RIG_TEST(what_it_has_run_before_a_crash_of_the_agent_counts),
        RIG_TEST(every_run_that_was_up_is_followed_by_another),
        RIG_TEST(no_retries_means_never),
        cmocka_unit_test(what_is_hosted_while_it_is_down_is_pulled_up_afterwards),
        RIG_TEST(it_is_pulled_up_though_the_agent_dies_before_that),
        RIG_TEST(what_is_hosted_while_it_runs_is_not_restarted_without_retries),
        RIG_TEST(some_are_never_given_up),
        RIG_TEST(hosting_rests_while_an_operation_acts),
        RIG_TEST(a_host_that_was_started_anew_pulls_up_what_is_hosted),
        RIG_TEST(tries_of_before_the_host_was_started_anew_do_not_count),
        RIG_TEST(what_an_agent_before_us_left_is_searched_for_when_it_is_looked_for_first),
        RIG_TEST(nobody_is_searched_for_when_one_ends_whom_the_journal_knew),
        RIG_TEST(a_command_that_may_have_begun_is_searched_for_however_late),
        cmocka_unit_test(a_clock_that_jumps_changes_nothing),
        cmocka_unit_test(one_that_runs_once_is_judged_by_its_exit_code),
        RIG_TEST(one_that_runs_once_and_fails_is_not_run_again),
        RIG_TEST(how_one_that_runs_once_has_ended_is_how_its_command_did),
        RIG_TEST(one_that_runs_once_and_does_not_end_is_ended),
        RIG_TEST(what_came_of_one_that_runs_once_is_not_guessed),
        RIG_TEST(a_restart_in_two_halves_goes_on_after_a_crash),
        RIG_TEST(a_restart_by_signal_goes_on_after_a_crash),
        RIG_TEST(its_second_half_is_not_begun_twice),
        RIG_TEST(what_dies_of_its_reload_is_told_of),
        RIG_TEST(a_reload_may_leave_another_process),
        RIG_TEST(a_spec_for_what_is_hosted_hosts_nothing),
        cmocka_unit_test(a_slow_command_is_found_by_the_next_agent_though_nobody_knew_its_pid),
        RIG_TEST(a_command_that_was_found_again_is_ended_in_its_time),
        RIG_TEST(a_command_that_may_have_begun_is_searched_for_again),
        RIG_TEST(one_that_can_never_be_told_of_has_all_its_time_and_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
