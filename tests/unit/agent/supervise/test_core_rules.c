/* SPDX-License-Identifier: MIT */
/* What a spec may ask for beyond the contract: exit codes that are fine, tries for ever, how
 * long a stop waits; and what the host's policy does not let happen. */
#include "agent/supervise/core_in.h"
#include "tests/lib/core_rig.h"

static struct proc_number codes[] = { { 0 }, { 3 } };

static struct message_command expecting(int64_t op, const char *name)
{
    struct message_command m = rig_command(op, name);

    m.spec.extra.exit_codes = (struct list){ codes, ARRAY_LEN(codes) };
    return m;
}

static void begin(const struct message_command *m, int64_t code)
{
    rig_tell(m);
    rig_pass(6000);
    assert_int_equal(rig_code(m->item), code);
}

/* A hosted process that takes 0 and 3 for a good end. */
static struct rig_proc *host_expecting(void)
{
    struct message_command m = expecting(PROC_OP_START, "p");

    begin(&m, CODE_OK);
    return rig_proc("p");
}

/* ---- exit codes */

static void what_ends_as_expected_is_left_alone(void **state)
{
    static const struct {
        bool has_codes;
        int status;
        bool is_left;
    } cases[] = {
        { true, 0, true },
        { true, 3, true },
        { true, 1, false },
        { true, 255, false },
        { true, CORE_STATUS_UNKNOWN, false },
        { true, CORE_SIGNALED + 3, false },
        { true, CORE_DUMPED + 3, false },
        { false, 0, false },
        { false, 3, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_command m;

        rig_set_up(state);
        m = cases[i].has_codes ? expecting(PROC_OP_START, "p") : rig_command(PROC_OP_START, "p");
        begin(&m, CODE_OK);
        rig_die(rig_proc("p"), cases[i].status);
        rig_pass(600 * 1000);
        assert_int_equal(rig_proc("p")->runs, cases[i].is_left ? 1 : 2);
        assert_int_equal(rig_cause("p")->has_finished, cases[i].is_left);
        assert_true(rig_proc("p")->view.hosted);
        assert_int_equal(rig_count_events("process_cancel_restart"), 0);
        rig_tear_down(state);
    }
}

static void what_has_ended_as_expected_is_kept_again_once_it_is_started(void **state)
{
    struct rig_proc *p = host_expecting();
    struct message_command m = expecting(PROC_OP_START, "p");

    (void)state;
    rig_die(p, 3);
    rig_settle();
    assert_int_equal(rig_cause("p")->exit_code, 3);
    begin(&m, CODE_OK);
    assert_false(rig_cause("p")->has_finished);
    rig_die(p, 1);
    rig_pass(6000);
    assert_int_equal(p->runs, 3);
}

static void or_hosted_anew(void **state)
{
    struct rig_proc *p = host_expecting();
    struct message_command m = expecting(PROC_OP_HOST, "p");

    (void)state;
    rig_die(p, 0);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    begin(&m, CODE_OK);
    assert_int_equal(p->runs, 2);
    assert_true(p->pid > 0);
}

static void or_the_host_comes_up_but_not_the_agent(void **state)
{
    struct rig_proc *p = host_expecting();

    (void)state;
    rig_die(p, 0);
    rig_settle();
    rig_crash(true);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    assert_true(rig_cause("p")->has_finished);
    rig_crash(false);
    rig_pass(6000);
    assert_int_equal(p->runs, 2);
}

static void an_end_that_was_asked_for_is_no_end_by_itself(void **state)
{
    struct rig_proc *p = host_expecting();
    int64_t item = rig_operate(PROC_OP_STOP, "p");

    (void)state;
    p->ignores_term = true;
    rig_settle();
    rig_die(p, 3);
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_false(rig_cause("p")->has_finished);
    assert_int_equal(p->view.wanted, PROC_STOPPED);
}

/* It lives for two seconds of the five that a start is watched for. */
static void what_has_done_its_work_right_after_a_restart_is_not_pulled_up_again(void **state)
{
    struct rig_proc *p = host_expecting();

    (void)state;
    rig_die(p, 1);
    rig_pass(2000);
    assert_int_equal(p->runs, 2);
    rig_die(p, 3);
    rig_pass(600 * 1000);
    assert_int_equal(p->runs, 2);
    assert_true(rig_cause("p")->has_finished);
    assert_int_equal(rig_cause("p")->failed_code, 0);
    assert_int_equal(rig_count_events("process_restart_failed"), 0);
}

static void a_command_that_ends_as_expected_has_succeeded(void **state)
{
    static const struct {
        bool has_codes;
        int status;
        int64_t code;
    } cases[] = {
        { true, 0, CODE_OK },      { true, 3, CODE_OK },
        { true, 4, CODE_COMMAND }, { true, CORE_SIGNALED + 3, CODE_COMMAND },
        { false, 0, CODE_OK },     { false, 3, CODE_COMMAND },
    };

    (void)state;
    host_expecting();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_command m = expecting(PROC_OP_RELOAD, "p");

        m.spec.control.reload_cmd = "reload";
        if (!cases[i].has_codes)
            m.spec.extra.exit_codes.n = 0;
        rig_proc("p")->status = cases[i].status;
        begin(&m, cases[i].code);
    }
}

/* A request with a reload command need not repeat the identity of the process. */
static void commands_may_come_without_an_identity(void **state)
{
    struct message_command m = rig_command(PROC_OP_RELOAD, "p");

    (void)state;
    host_expecting();
    shape_defaults(&proc_spec_shape, &m.spec);
    begin(&m, CODE_NO_COMMAND);
    m.item += 100;
    m.spec.has_control = PRESENCE_GIVEN;
    m.spec.control.reload_cmd = "reload";
    begin(&m, CODE_OK);
}

/* ---- operations without a spec */

static void without_a_spec_the_one_of_the_host_is_used(void **state)
{
    static const int64_t ops[] = { PROC_OP_STOP, PROC_OP_START, PROC_OP_RESTART,
                                   PROC_OP_HOST, PROC_OP_QUERY, PROC_OP_KILL };

    (void)state;
    host_expecting();
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        struct message_command m = rig_command(ops[i], "p");

        shape_defaults(&proc_spec_shape, &m.spec);
        begin(&m, CODE_OK);
    }
    assert_int_equal(rig_proc("p")->runs, 3);
}

static void without_any_spec_only_a_query_and_an_unhost_are_done(void **state)
{
    static const struct {
        int64_t op, code;
    } cases[] = {
        { PROC_OP_START, CODE_NOT_REGISTERED },
        { PROC_OP_STOP, CODE_NOT_REGISTERED },
        { PROC_OP_HOST, CODE_NOT_REGISTERED },
        { PROC_OP_KILL, CODE_NOT_REGISTERED },
        { PROC_OP_RESTART, CODE_NOT_REGISTERED },
        { PROC_OP_RELOAD, CODE_NOT_REGISTERED },
        { PROC_OP_QUERY, CODE_OK },
        { PROC_OP_UNHOST, CODE_OK },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_command m = rig_command(cases[i].op, "nobody");

        shape_defaults(&proc_spec_shape, &m.spec);
        begin(&m, cases[i].code);
        assert_int_equal(rig_result(m.item)->pid, -1);
        if (cases[i].code)
            assert_string_equal(rig_result(m.item)->text, "process info not registered");
    }
    assert_int_equal(rig_proc("nobody")->runs, 0);
}

static void a_process_that_was_never_registered_has_no_register_time(void **state)
{
    struct message_command m = rig_command(PROC_OP_QUERY, "nobody");

    (void)state;
    begin(&m, CODE_OK);
    assert_int_equal(rig_result(m.item)->register_s, 0);
    host_expecting();
    m = rig_command(PROC_OP_QUERY, "p");
    begin(&m, CODE_OK);
    assert_true(rig_result(m.item)->register_s > 0);
}

/* Job's documents have both paths as optional, GSE's have not. */
static void only_job_may_leave_out_its_paths(void **state)
{
    static const int64_t ops[] = { PROC_OP_START, PROC_OP_STOP, PROC_OP_HOST, PROC_OP_KILL };

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(ops); i++) {
        struct message_command m = rig_command(ops[i / 2], "p");

        m.spec.identity.setup_path = m.spec.identity.pid_path = "";
        m.spec.extra.has_job = i % 2 ? PRESENCE_GIVEN : PRESENCE_ABSENT;
        begin(&m, i % 2 ? CODE_OK : CODE_PARAM);
    }
}

static void and_so_has_what_runs_once(void **state)
{
    struct message_command m = expecting(PROC_OP_START, "p");

    (void)state;
    m.spec.has_policy = m.spec.policy.has_kind = PRESENCE_GIVEN;
    m.spec.policy.kind = PROC_RUN_ONCE;
    rig_proc("p")->status = 3;
    begin(&m, CODE_OK);
    assert_true(rig_cause("p")->has_finished);
    assert_int_equal(rig_cause("p")->exit_code, 3);
}

/* ---- tries */

static struct message_command trying(const char *name, int64_t interval_s, int64_t max_s)
{
    struct message_command m = rig_command(PROC_OP_START, name);

    m.spec.has_policy = PRESENCE_GIVEN;
    m.spec.policy.has_interval = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_interval_s = interval_s;
    m.spec.policy.start_retries = 1;
    m.spec.extra.keep_trying = true;
    if (max_s)
        m.spec.extra.max_interval_s = max_s;
    return m;
}

/* Seconds from one try to the next. */
static int64_t next_try_s(struct rig_proc *p)
{
    int64_t from_ms = rig.now_ms;

    for (int runs = p->runs; p->runs == runs;) {
        assert_true(rig.now_ms - from_ms < 1000 * 1000);
        rig_pass(RIG_STEP_MS);
    }
    return (rig.now_ms - from_ms) / 1000;
}

static void tries_for_ever_come_ever_more_seldom(void **state)
{
    static const struct {
        int64_t interval_s, max_s;
        int64_t apart_s[8];
    } cases[] = {
        { 10, 60, { 10, 20, 40, 60, 60, 60 } },
        { 10, 0, { 10, 20, 40, 80, 160, 300, 300, 300 } },
        { 1, 5, { 1, 2, 4, 5, 5 } },
        { 30, 10, { 30, 30, 30 } },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_command m;
        struct rig_proc *p;

        rig_set_up(state);
        m = trying("p", cases[i].interval_s, cases[i].max_s);
        p = rig_proc("p");
        begin(&m, CODE_OK);
        p->status = 1;
        rig_die(p, 1);
        rig_settle();
        assert_int_equal(p->runs, 2); /* at once, as five more */
        for (int t = 0; t < 5; t++)
            assert_int_equal(next_try_s(p), 1);
        for (size_t t = 0; t < ARRAY_LEN(cases[i].apart_s) && cases[i].apart_s[t]; t++) {
            int64_t in_s = rig_cause("p")->next_try_s - rig.wall_ms / 1000;

            assert_in_range(in_s, cases[i].apart_s[t] - 1, cases[i].apart_s[t]);
            assert_int_equal(next_try_s(p), cases[i].apart_s[t]);
        }
        assert_true(p->view.hosted);
        rig_tear_down(state);
    }
}

static void a_run_that_was_up_makes_them_begin_anew(void **state)
{
    struct message_command m = trying("p", 10, 0);
    struct rig_proc *p = rig_proc("p");

    (void)state;
    begin(&m, CODE_OK);
    p->status = 1;
    rig_die(p, 1);
    rig_pass(100 * 1000);
    assert_true(rig_cause("p")->next_try_s - rig.wall_ms / 1000 > 20);
    p->status = 0;
    while (!p->pid)
        rig_pass(RIG_STEP_MS);
    rig_pass(6000);
    p->status = 1;
    rig_die(p, 1);
    rig_settle();
    for (int t = 0; t < 5; t++)
        assert_int_equal(next_try_s(p), 1);
    assert_int_equal(next_try_s(p), 10);
}

/* ---- a stop */

static void a_signal_has_as_long_as_the_spec_says(void **state)
{
    static const struct {
        int64_t wait_s, kill_s;
    } cases[] = { { 7, 7 }, { 90, 90 }, { 0, 60 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_command m;
        struct rig_proc *p;

        rig_set_up(state);
        p = host_expecting();
        p->ignores_term = true;
        m = rig_command(PROC_OP_STOP, "p");
        m.spec.extra.stop_wait_s = cases[i].wait_s;
        rig_tell(&m);
        rig_pass(cases[i].kill_s * 1000 - 200);
        assert_int_equal(p->signals, 1);
        rig_pass(400);
        assert_int_equal(p->signals, 2);
        assert_int_equal(rig_code(m.item), CODE_OK);
        rig_tear_down(state);
    }
}

static void a_kill_does_not_wait_for_a_stop(void **state)
{
    struct message_command m = rig_command(PROC_OP_KILL, "p");

    (void)state;
    host_expecting();
    m.spec.extra.stop_wait_s = 1;
    begin(&m, CODE_OK);
    assert_int_equal(rig_proc("p")->signals, 1);
}

/* ---- policy */

/* The same where the loop does not wait for the answer. */
static void expect_forbidden(void **state, bool is_policy_slow)
{
    static const struct {
        int64_t op;
        const char *forbids;
        int64_t code;
    } cases[] = {
        { PROC_OP_START, "start", CODE_DENIED },   { PROC_OP_START, "root", CODE_DENIED },
        { PROC_OP_START, "health", CODE_DENIED },  { PROC_OP_HOST, "start", CODE_DENIED },
        { PROC_OP_HOST, "kill", CODE_DENIED },     { PROC_OP_RESTART, "start", CODE_DENIED },
        { PROC_OP_RESTART, "stop", CODE_DENIED },  { PROC_OP_STOP, "stop", CODE_DENIED },
        { PROC_OP_STOP, "root", CODE_DENIED },     { PROC_OP_STOP, "start", CODE_OK },
        { PROC_OP_KILL, "kill", CODE_DENIED },     { PROC_OP_KILL, "root", CODE_DENIED },
        { PROC_OP_RELOAD, "reload", CODE_DENIED }, { PROC_OP_RELOAD, "root", CODE_DENIED },
        { PROC_OP_RELOAD, "start", CODE_OK },      { PROC_OP_UNHOST, "root", CODE_OK },
        { PROC_OP_QUERY, "root", CODE_OK },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_command m;
        struct rig_proc *p;
        int runs, signals;

        rig_set_up(state);
        p = host_expecting();
        if (cases[i].op == PROC_OP_START)
            rig_operate(PROC_OP_STOP, "p");
        rig_pass(6000);
        runs = p->runs;
        signals = p->signals;
        m = rig_command(cases[i].op, "p");
        m.spec.control =
            (struct proc_control){ "start", "stop", "restart", "reload", "kill", "", "health" };
        rig.forbids = cases[i].forbids;
        rig.is_policy_slow = is_policy_slow;
        begin(&m, cases[i].code);
        if (cases[i].code != CODE_DENIED) {
            rig_tear_down(state);
            continue;
        }
        assert_int_equal(p->runs, runs);
        assert_int_equal(p->signals, signals);
        assert_string_equal(rig_result(m.item)->text + strlen("policy: not "), cases[i].forbids);
        assert_int_equal(rig_cause("p")->failed_code, CODE_DENIED);
        rig_tear_down(state);
    }
}

static void what_is_forbidden_is_not_begun(void **state)
{
    expect_forbidden(state, false);
    expect_forbidden(state, true);
}

/* Also one whose signal is the first half of a restart. */
static void a_signal_is_asked_about_too(void **state)
{
    static const int64_t ops[] = { PROC_OP_STOP, PROC_OP_KILL, PROC_OP_RESTART };

    (void)state;
    host_expecting();
    for (size_t i = 0; i < 2 * ARRAY_LEN(ops); i++) {
        struct message_command m = rig_command(ops[i / 2], "p");

        rig.forbids = "root";
        rig.is_policy_slow = i % 2;
        begin(&m, CODE_DENIED);
        assert_int_equal(rig_proc("p")->signals, 0);
        assert_true(rig_proc("p")->view.hosted);
    }
    rig.forbids = NULL;
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->signals, 1); /* that the answer is slow is no reason */
}

static void what_the_policy_can_not_be_asked_about_is_not_begun(void **state)
{
    static const int64_t ops[] = { PROC_OP_STOP, PROC_OP_RESTART, PROC_OP_HOST };
    struct rig_proc *p = host_expecting();

    (void)state;
    rig.is_policy_slow = rig.is_policy_silent = true;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        struct message_command m = rig_command(ops[i], "p");

        rig_tell(&m);
        rig_pass(600 * 1000);
        assert_int_equal(rig_code(m.item), CODE_TIMEOUT);
        assert_non_null(strstr(rig_result(m.item)->text, "policy.paths: "));
    }
    assert_int_equal(p->signals, 0);
    assert_int_equal(p->runs, 1);
    rig_die(p, 1); /* a restart is asked about right before its command */
    rig_pass(6000);
    assert_int_equal(p->runs, 2);
}

static void a_hosted_process_that_is_forbidden_stays_down_until_it_is_allowed(void **state)
{
    struct rig_proc *p = host_expecting();

    (void)state;
    rig.forbids = "start";
    rig_die(p, 1);
    rig_pass(600 * 1000);
    assert_int_equal(p->runs, 1);
    assert_true(p->view.hosted);
    assert_int_equal(rig_count_events("process_restart_failed"), 1);
    assert_int_equal(rig_cause("p")->failed_code, CODE_DENIED);
    assert_string_equal(rig_cause("p")->failed_text, "policy: not start");
    assert_int_equal(rig_cause("p")->tries, 0);
    core_on_policy(rig.core, rig.now_ms);
    rig_pass(6000);
    assert_int_equal(p->runs, 1);
    assert_int_equal(rig_count_events("process_restart_failed"), 2);
    rig.forbids = NULL;
    rig_pass(600 * 1000);
    assert_int_equal(p->runs, 1);
    core_on_policy(rig.core, rig.now_ms);
    rig_pass(6000);
    assert_int_equal(p->runs, 2);
    assert_true(p->pid > 0);
    assert_int_equal(rig_cause("p")->failed_code, 0);
}

/* By the policy, or because the agent is not root: the next try would end as the first. */
static void a_refusal_right_before_the_start_is_final_too(void **state)
{
    struct rig_proc *p = host_expecting();

    (void)state;
    err_set(&p->failure, CODE_DENIED, "policy.paths: no");
    rig_die(p, 1);
    rig_pass(600 * 1000);
    assert_int_equal(p->runs, 2);
    assert_int_equal(rig_count_events("process_restart_failed"), 1);
    assert_true(p->view.hosted);
}

/* ---- a process that can not be told from others */

static void what_can_not_be_identified_is_neither_run_nor_signalled(void **state)
{
    static const int64_t ops[] = { PROC_OP_START,  PROC_OP_STOP, PROC_OP_RESTART,
                                   PROC_OP_RELOAD, PROC_OP_KILL, PROC_OP_QUERY };
    struct rig_proc *p = rig_proc("p");

    (void)state;
    p->pid = 4711;
    p->elsewhere = "2 processes of user nobody fit p: 12, 34";
    p->is_unsure = true;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        struct message_command m = rig_command(ops[i], "p");

        m.spec.control.reload_cmd = "reload";
        rig_tell(&m);
        rig_pass(60 * 1000);
        assert_int_equal(rig_code(m.item), CODE_MATCH);
        assert_string_equal(rig_result(m.item)->text,
                            "process (p) can not be identified: 2 processes of user nobody fit p: "
                            "12, 34");
    }
    assert_int_equal(p->runs, 0);
    assert_int_equal(p->pid, 4711);
}

static void
one_that_is_hosted_again_is_not_started_beside_one_that_can_not_be_identified(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    rig_operate(PROC_OP_START, "p");
    rig_pass(10 * 1000);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(10 * 1000);
    assert_int_equal(p->runs, 1);
    p->pid = 4711; /* by hand, and in a folder that others can write to */
    p->elsewhere = "the pid file is not used";
    p->is_unsure = true;
    rig_operate(PROC_OP_HOST, "p");
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    assert_int_equal(p->pid, 4711);
}

static void a_stop_whose_process_has_ended_has_succeeded_whatever_else_is_there(void **state)
{
    struct rig_proc *p = rig_proc("p");
    struct message_command m = rig_command(PROC_OP_STOP, "p");

    (void)state;
    rig_operate(PROC_OP_START, "p");
    rig_pass(10 * 1000);
    m.spec.control.stop_cmd = "stop";
    p->hangs = true;
    rig_tell(&m);
    rig_settle();
    p->is_unsure = true;
    rig_die(p, 0);
    rig_end(p, 0);
    rig_pass(60 * 1000);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

/* ---- a new spec for one that runs, and a stop of one that is down */

static int64_t start_with(const char *start_cmd, bool stores_spec)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    m.spec.control.start_cmd = start_cmd;
    m.stores_spec = m.hosts_running = stores_spec;
    rig_tell(&m);
    rig_pass(10 * 1000);
    return m.item;
}

static const char *stored_start(void)
{
    return core_proc(rig.core, "space", "p")->spec.control.start_cmd;
}

static void a_new_spec_for_one_that_runs_is_stored_for_its_next_start(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    assert_int_equal(rig_code(start_with("start", true)), CODE_OK);
    assert_int_equal(rig_code(start_with("start", true)), CODE_RUNNING); /* it is the same */
    assert_int_equal(rig_code(start_with("start 2", false)), CODE_RUNNING);
    assert_string_equal(stored_start(), "start");
    assert_false(rig_cause("p")->has_old_spec);
    item = start_with("start 2", true);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_non_null(strstr(rig_result(item)->text, "is already running with pid "));
    assert_non_null(strstr(rig_result(item)->text, "the new spec is stored"));
    assert_string_equal(stored_start(), "start 2");
    assert_true(rig_cause("p")->has_old_spec);
    rig_crash(true);
    rig_pass(10 * 1000);
    assert_string_equal(stored_start(), "start 2");
    assert_true(rig_cause("p")->has_old_spec);
    assert_int_equal(p->runs, 1);
    rig_die(p, 1); /* the agent starts it with the new spec */
    rig_pass(10 * 1000);
    assert_int_equal(p->runs, 2);
    assert_false(rig_cause("p")->has_old_spec);
}

/* What counts is the spec it was started with, not the one that was stored last. */
static void one_that_runs_with_its_spec_again_has_no_old_spec(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start_with("start", true);
    assert_int_equal(rig_code(start_with("start 2", true)), CODE_OK);
    assert_true(rig_cause("p")->has_old_spec);
    rig_crash(true);
    rig_pass(10 * 1000);
    assert_int_equal(rig_code(start_with("start 3", true)), CODE_OK);
    assert_true(rig_cause("p")->has_old_spec);
    assert_int_equal(rig_code(start_with("start", true)), CODE_OK);
    assert_false(rig_cause("p")->has_old_spec);
    rig_crash(true);
    rig_pass(10 * 1000);
    assert_false(rig_cause("p")->has_old_spec);
    assert_int_equal(rig_code(start_with("start 2", true)), CODE_OK);
    assert_true(rig_cause("p")->has_old_spec);
    rig_die(p, 1); /* the next start uses the stored spec, which is the one to compare with then */
    rig_pass(10 * 1000);
    assert_int_equal(p->runs, 2);
    assert_false(rig_cause("p")->has_old_spec);
    assert_int_equal(rig_code(start_with("start", true)), CODE_OK);
    assert_true(rig_cause("p")->has_old_spec);
    assert_int_equal(rig_code(start_with("start 2", true)), CODE_OK);
    assert_false(rig_cause("p")->has_old_spec);
}

/* A journal of an older version does not say which spec it was started with. */
static void where_the_started_spec_is_not_known_the_old_one_stays_in_use(void **state)
{
    (void)state;
    start_with("start", true);
    start_with("start 2", true);
    for (size_t i = 0; i < rig.n_records; i++) {
        char *field = strstr(rig.records[i].json, "\"started_with\":");

        if (field)
            field[1] = 'x'; /* a field that is not known is not read */
    }
    rig_crash(true);
    rig_pass(10 * 1000);
    assert_true(rig_cause("p")->has_old_spec);
    start_with("start", true);
    assert_true(rig_cause("p")->has_old_spec);
}

static void expect_kept(bool hosted, int64_t wanted)
{
    assert_int_equal(core_proc(rig.core, "space", "p")->hosted, hosted);
    assert_int_equal(core_proc(rig.core, "space", "p")->wanted, wanted);
}

/* BlueKing's calls do not ask for it: they answer 828 and change nothing. */
static void a_start_of_one_that_runs_hosts_it_where_that_is_asked_for(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    start_with("start", false);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(10 * 1000);
    p->pid = 4711; /* by hand */
    assert_int_equal(rig_code(start_with("start", false)), CODE_RUNNING);
    expect_kept(false, PROC_STOPPED);
    item = start_with("start", true);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_non_null(strstr(rig_result(item)->text, "running with pid 4711; it is hosted from now"));
    assert_null(strstr(rig_result(item)->text, "spec"));
    expect_kept(true, PROC_RUNNING);
    assert_int_equal(rig_code(start_with("start", true)), CODE_RUNNING); /* it is so already */
    assert_int_equal(p->runs, 1); /* the first start: a stop is a signal */
    assert_int_equal(p->pid, 4711);
    rig_crash(true);
    rig_pass(1000);
    expect_kept(true, PROC_RUNNING);
    rig_die(p, 1);
    rig_pass(10 * 1000);
    assert_int_equal(p->runs, 2);
}

/* As our own API and this host ask, without `idempotent`. */
static void a_start_that_is_not_idempotent_hosts_what_runs_too(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    start_with("start", false);
    rig_operate(PROC_OP_UNHOST, "p");
    rig_pass(1000);
    m.spec.control.start_cmd = "start 2";
    m.hosts_running = true;
    rig_tell(&m);
    rig_pass(10 * 1000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_non_null(strstr(rig_result(m.item)->text, "it is hosted from now on, and the new spec"));
    expect_kept(true, PROC_RUNNING);
    assert_true(rig_cause("p")->has_old_spec);
    assert_int_equal(p->runs, 1);
    m.item = ++rig.next_item;
    m.spec.control.start_cmd = "start 3";
    rig_tell(&m);
    rig_pass(10 * 1000);
    assert_int_equal(rig_code(m.item), CODE_RUNNING); /* it is hosted: nothing is changed */
    assert_string_equal(stored_start(), "start 2");
}

static void a_new_spec_for_one_that_runs_and_is_not_hosted_is_stored_too(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item, pid;

    (void)state;
    start_with("start", false);
    pid = p->pid;
    rig_operate(PROC_OP_UNHOST, "p");
    rig_pass(1000);
    item = start_with("start 2", true);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_non_null(
        strstr(rig_result(item)->text, "it is hosted from now on, and the new spec is"));
    expect_kept(true, PROC_RUNNING);
    assert_string_equal(stored_start(), "start 2");
    assert_true(rig_cause("p")->has_old_spec);
    assert_int_equal(p->pid, pid);
    assert_int_equal(p->runs, 1);
}

static void hosting_with_another_spec_leaves_the_old_one_in_use_until_the_next_start(void **state)
{
    struct message_command m = rig_command(PROC_OP_HOST, "p");

    (void)state;
    start_with("start", false);
    m.spec.policy.start_retries = 7; /* used at once */
    rig_tell(&m);
    rig_pass(1000);
    assert_false(rig_cause("p")->has_old_spec);
    m = rig_command(PROC_OP_HOST, "p");
    m.spec.control.start_cmd = "start 2";
    rig_tell(&m);
    rig_pass(1000);
    assert_true(rig_cause("p")->has_old_spec);
    rig_operate(PROC_OP_RESTART, "p");
    rig_pass(60 * 1000);
    assert_false(rig_cause("p")->has_old_spec);
}

static void a_stop_that_ends_the_tries_to_pull_it_up_succeeds_where_that_is_asked_for(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct message_command m = rig_command(i ? PROC_OP_KILL : PROC_OP_STOP, "p");

        p->is_idle = false;
        start_with("start", false);
        p->is_idle = true;
        rig_die(p, 1);
        rig_pass(50 * 1000); /* tries fail, and the next one is awaited */
        assert_true(rig_cause("p")->tries > 0);
        m.ends_tries = true;
        rig_tell(&m);
        rig_pass(20 * 1000);
        assert_int_equal(rig_code(m.item), CODE_OK);
        assert_false(rig_result(m.item)->hosted);
        assert_int_equal(rig_cause("p")->failed_s, 0);
        m.item = ++rig.next_item;
        rig_tell(&m);
        rig_pass(2000);
        assert_int_equal(rig_code(m.item), CODE_NOT_RUNNING); /* there was nothing to end */
    }
}

static void for_bluekings_calls_it_is_not_running(void **state)
{
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    start_with("start", false);
    p->is_idle = true;
    rig_die(p, 1);
    rig_pass(15 * 1000);
    item = rig_operate(PROC_OP_STOP, "p");
    rig_pass(20 * 1000);
    assert_int_equal(rig_code(item), CODE_NOT_RUNNING);
    assert_false(rig_result(item)->hosted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_as_expected_is_left_alone),
        RIG_TEST(what_has_ended_as_expected_is_kept_again_once_it_is_started),
        RIG_TEST(or_hosted_anew),
        RIG_TEST(or_the_host_comes_up_but_not_the_agent),
        RIG_TEST(an_end_that_was_asked_for_is_no_end_by_itself),
        RIG_TEST(what_has_done_its_work_right_after_a_restart_is_not_pulled_up_again),
        RIG_TEST(a_command_that_ends_as_expected_has_succeeded),
        RIG_TEST(commands_may_come_without_an_identity),
        RIG_TEST(without_a_spec_the_one_of_the_host_is_used),
        RIG_TEST(without_any_spec_only_a_query_and_an_unhost_are_done),
        RIG_TEST(a_process_that_was_never_registered_has_no_register_time),
        RIG_TEST(only_job_may_leave_out_its_paths),
        RIG_TEST(and_so_has_what_runs_once),
        cmocka_unit_test(tries_for_ever_come_ever_more_seldom),
        RIG_TEST(a_run_that_was_up_makes_them_begin_anew),
        cmocka_unit_test(a_signal_has_as_long_as_the_spec_says),
        RIG_TEST(a_kill_does_not_wait_for_a_stop),
        cmocka_unit_test(what_is_forbidden_is_not_begun),
        RIG_TEST(a_signal_is_asked_about_too),
        RIG_TEST(what_the_policy_can_not_be_asked_about_is_not_begun),
        RIG_TEST(a_hosted_process_that_is_forbidden_stays_down_until_it_is_allowed),
        RIG_TEST(a_refusal_right_before_the_start_is_final_too),
        RIG_TEST(a_new_spec_for_one_that_runs_is_stored_for_its_next_start),
        RIG_TEST(one_that_runs_with_its_spec_again_has_no_old_spec),
        RIG_TEST(where_the_started_spec_is_not_known_the_old_one_stays_in_use),
        RIG_TEST(a_start_of_one_that_runs_hosts_it_where_that_is_asked_for),
        RIG_TEST(a_start_that_is_not_idempotent_hosts_what_runs_too),
        RIG_TEST(a_new_spec_for_one_that_runs_and_is_not_hosted_is_stored_too),
        RIG_TEST(hosting_with_another_spec_leaves_the_old_one_in_use_until_the_next_start),
        RIG_TEST(a_stop_that_ends_the_tries_to_pull_it_up_succeeds_where_that_is_asked_for),
        RIG_TEST(for_bluekings_calls_it_is_not_running),
        RIG_TEST(what_can_not_be_identified_is_neither_run_nor_signalled),
        RIG_TEST(one_that_is_hosted_again_is_not_started_beside_one_that_can_not_be_identified),
        RIG_TEST(a_stop_whose_process_has_ended_has_succeeded_whatever_else_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
