/* SPDX-License-Identifier: MIT */
/* test_restart_rule.c - each point of the restart rule: whether a run was up, what that proves, and
 * when the next start comes. */
#include "agent/supervise/core_in.h"
#include "agent/supervise/core_list.h"
#include "tests/lib/core_rig.h"

enum { MINUTE_MS = 60 * 1000, FAST = 5 };

static struct proc *proc_of(const char *name)
{
    return core_proc(rig.core, "space", name);
}

static struct message_command resident(const char *name)
{
    struct message_command m = rig_command(PROC_OP_START, name);

    m.spec.has_policy = PRESENCE_GIVEN;
    return m;
}

static struct message_command with_retries(const char *name, int64_t retries)
{
    struct message_command m = resident(name);

    m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_retries = retries;
    return m;
}

/* A start that succeeds at once, so that the process is still young then. */
static struct message_command ready_at_once(const char *name, int64_t check_s)
{
    struct message_command m = with_retries(name, 3);

    m.spec.policy.has_start_check = PRESENCE_GIVEN;
    m.spec.policy.start_check_s = check_s;
    m.spec.extra.ready = (struct proc_ready){ .kind = READY_PORT, .port = 80, .timeout_s = 20 };
    rig.port_is_open = true;
    return m;
}

static void start(const struct message_command *m)
{
    rig_tell(m);
    rig_settle();
    while (rig_code(m->item) == CODE_WAITING)
        rig_pass(RIG_STEP_MS);
    assert_int_equal(rig_code(m->item), CODE_OK);
}

/* Op 3: its first start is the agent's. */
static void host(const struct message_command *m)
{
    struct message_command h = *m;

    h.op = PROC_OP_HOST;
    h.item = ++rig.next_item;
    rig_tell(&h);
    rig_settle();
    assert_int_equal(rig_code(h.item), CODE_OK);
}

static void die(const char *name)
{
    rig_die(rig_proc(name), 1);
    rig_settle();
}

static struct rig_proc *start_proven(const struct message_command *m)
{
    start(m);
    while (!proc_of(m->meta.name)->is_proven)
        rig_pass(RIG_STEP_MS);
    return rig_proc(m->meta.name);
}

/* From now to the begin of the next command. */
static int64_t next_run_ms(const struct rig_proc *p)
{
    int64_t from_ms = rig.now_ms;

    rig_settle();
    for (int runs = p->runs; p->runs == runs;) {
        assert_true(rig.now_ms - from_ms < 4000 * 1000);
        rig_pass(RIG_STEP_MS);
    }
    return rig.now_ms - from_ms;
}

/* ---- when a run is up */

static void a_run_is_up_after_start_check_secs_and_after_half_of_it_once_proven(void **state)
{
    static const struct {
        int64_t check_s, first_ms, then_ms;
    } cases[] = { { 10, 10000, 5000 }, { 5, 5000, 2500 }, { 1, 1000, 1000 }, { 40, 40000, 20000 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_command m;
        struct proc *k;

        rig_set_up(state);
        m = ready_at_once("p", cases[i].check_s);
        start(&m);
        k = proc_of("p");
        rig_pass(k->tried_ms + cases[i].first_ms - 100 - rig.now_ms);
        assert_int_equal(k->actual, ACTUAL_YOUNG);
        assert_false(k->is_proven);
        rig_pass(100);
        assert_int_equal(k->actual, ACTUAL_UP);
        assert_true(k->is_proven);
        die("p");
        rig_pass(k->tried_ms + cases[i].then_ms - 100 - rig.now_ms);
        assert_int_equal(k->actual, ACTUAL_YOUNG);
        rig_pass(300);
        assert_int_equal(k->actual, ACTUAL_UP);
        rig_tear_down(state);
    }
}

/* A launcher that becomes the program has another name first. */
static void the_time_counts_from_when_its_name_matches(void **state)
{
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p = rig_proc("p");
    int64_t found_ms;

    (void)state;
    p->hangs = true;
    rig_tell(&m);
    rig_settle();
    p->elsewhere = "a shell";
    rig_pass(20 * 1000);
    assert_int_equal(proc_of("p")->ident.pid, 0);
    p->elsewhere = NULL;
    rig_come_up(p, p->run_pid);
    found_ms = rig.now_ms;
    while (proc_of("p")->actual != ACTUAL_YOUNG)
        rig_pass(RIG_STEP_MS);
    assert_in_range(proc_of("p")->begun_ms, found_ms - 1000, found_ms);
    assert_false(proc_of("p")->is_proven);
    rig_pass(5000);
    assert_true(proc_of("p")->is_proven);
}

static void a_process_that_was_found_has_the_age_that_it_has(void **state)
{
    struct message_command m = with_retries("p", 3);

    (void)state;
    rig_pass(30 * 1000);
    rig_come_up(rig_proc("p"), 900); /* it began long ago: start_ticks is 1 */
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_RUNNING);
    host(&m);
    assert_int_equal(proc_of("p")->actual, ACTUAL_UP);
    assert_true(proc_of("p")->is_proven);
    die("p");
    assert_int_equal(rig_proc("p")->runs, 1);
}

static void readiness_does_not_count(void **state)
{
    struct message_command m = ready_at_once("p", 5);
    struct rig_proc *p = start_proven(&m);

    (void)state;
    rig.port_is_open = false;
    for (int i = 0; i < 4; i++) {
        die("p"); /* as if nothing listens, it ends before it is ready */
        rig_pass(4000);
        assert_int_equal(p->runs, i + 2);
        assert_int_equal(proc_of("p")->tries + proc_of("p")->fast_tries, 0);
    }
}

/* ---- what a run proves */

static void what_is_proven_survives_what_does_not_change_how_it_is_run(void **state)
{
    static const char *const texts[] = { "nothing", "agent", "host", "labels", "limits", "op 3" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct message_command m;
        struct proc_label label = { "a", { .kind = SCALAR_TEXT, .text = "b" } };

        rig_set_up(state);
        m = with_retries("p", 3);
        start_proven(&m);
        if (i == 1 || i == 2)
            rig_crash(i == 1);
        if (i == 3)
            m.meta.labels = (struct list){ &label, 1 };
        if (i == 4) {
            m.spec.has_resource = PRESENCE_GIVEN;
            m.spec.resource.cpu_percent = 50;
        }
        if (i >= 3)
            host(&m);
        if (!proc_of("p")->is_proven)
            fail_msg("%s", texts[i]);
        rig_tear_down(state);
    }
}

static void change_start_cmd(struct proc_spec *s)
{
    s->control.start_cmd = "start 2";
}

static void change_restart_cmd(struct proc_spec *s)
{
    s->control.restart_cmd = "restart 2";
}

static void change_proc_name(struct proc_spec *s)
{
    s->identity.proc_name = "e";
}

static void change_setup_path(struct proc_spec *s)
{
    s->identity.setup_path = "/opt";
}

static void change_pid_path(struct proc_spec *s)
{
    s->identity.pid_path = "/srv/other.pid";
}

static void change_user(struct proc_spec *s)
{
    s->identity.user = "nobody";
}

static void change_env(struct proc_spec *s)
{
    static struct proc_env env = { "A", "1" };

    s->extra.env = (struct list){ &env, 1 };
}

static void change_env_file(struct proc_spec *s)
{
    s->extra.env_file = "/srv/env";
}

static void (*const changes[])(struct proc_spec *s) = {
    change_start_cmd, change_restart_cmd, change_proc_name, change_setup_path,
    change_pid_path,  change_user,        change_env,       change_env_file,
};

static void a_process_that_is_run_another_way_has_to_prove_itself(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct message_command m;

        rig_set_up(state);
        m = with_retries("p", 3);
        start_proven(&m);
        changes[i](&m.spec);
        host(&m);
        if (proc_of("p")->is_proven)
            fail_msg("change %zu", i);
        rig_pass(MINUTE_MS); /* the run is of the previous spec */
        assert_false(proc_of("p")->is_proven);
        rig_crash(true);
        rig_pass(1000);
        assert_false(proc_of("p")->is_proven);
        die("p"); /* but it was up */
        assert_int_equal(rig_proc("p")->runs, 2);
        rig_pass(6000);
        assert_true(proc_of("p")->is_proven);
        rig_tear_down(state);
    }
}

static void a_spec_that_another_supervisor_wrote_has_to_prove_itself(void **state)
{
    struct message_command m = with_retries("p", 3);

    (void)state;
    start_proven(&m);
    for (int i = 0; i < 2; i++) {
        struct core_hosted h = { m.meta, &m.spec, PROC_OP_HOST, 0 };

        m.spec.control.start_cmd = i ? "start 2" : "start";
        core_host(rig.core, &h);
        rig_settle();
        assert_int_equal(proc_of("p")->is_proven, !i);
    }
}

static void an_operation_0_or_7_has_to_prove_it_anew(void **state)
{
    static const int64_t ops[] = { PROC_OP_START, PROC_OP_RESTART };

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        struct message_command m;

        rig_set_up(state);
        m = ready_at_once("p", 10);
        start_proven(&m);
        if (ops[i] == PROC_OP_START) {
            rig_operate(PROC_OP_STOP, "p");
            rig_pass(1000);
        }
        m.op = ops[i];
        m.item = ++rig.next_item;
        start(&m);
        assert_false(proc_of("p")->is_proven);
        rig_pass(10 * 1000);
        assert_true(proc_of("p")->is_proven);
        rig_tear_down(state);
    }
}

static void an_unproven_run_proves_nothing_for_a_spec_that_is_stored_meanwhile(void **state)
{
    struct message_command m = ready_at_once("p", 10);

    (void)state;
    start(&m);
    rig_pass(2000);
    m.spec.control.start_cmd = "start 2";
    host(&m);
    rig_pass(MINUTE_MS);
    assert_int_equal(proc_of("p")->actual, ACTUAL_UP);
    assert_false(proc_of("p")->is_proven);
}

/* ---- what stays down, and what counts */

static void an_exit_code_that_is_expected_stays_down(void **state)
{
    static struct proc_number code = { 1 };
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p;

    (void)state;
    m.spec.extra.exit_codes = (struct list){ &code, 1 };
    m.spec.extra.keep_trying = true;
    p = start_proven(&m);
    die("p");
    rig_pass(20 * MINUTE_MS);
    assert_int_equal(p->runs, 1);
    assert_int_equal(proc_of("p")->actual, ACTUAL_FINISHED);
    assert_true(p->view.hosted);
}

static void without_retries_only_the_first_start_comes(void **state)
{
    for (int keep = 0; keep < 2; keep++) {
        struct message_command m;
        struct rig_proc *p;

        rig_set_up(state);
        m = with_retries("p", 0);
        m.spec.extra.keep_trying = keep;
        p = rig_proc("p");
        host(&m);
        rig_pass(10 * 1000);
        assert_int_equal(p->runs, 1);
        assert_true(p->pid > 0);
        die("p");
        rig_pass(MINUTE_MS);
        assert_int_equal(p->runs, 1 + keep); /* keep_trying overrides it */
        assert_int_equal(p->view.hosted, keep);
        rig_tear_down(state);
    }
}

/* Op 3, and a host that was started anew. */
static void a_first_start_that_fails_is_not_counted(void **state)
{
    for (int boot = 0; boot < 2; boot++) {
        struct message_command m;
        struct rig_proc *p;
        int runs;

        rig_set_up(state);
        m = with_retries("p", 2);
        p = rig_proc("p");
        if (boot) {
            start_proven(&m);
            p->status = 1;
            rig_crash(false);
            rig_pass(RIG_STEP_MS);
        } else {
            p->status = 1;
            host(&m);
        }
        runs = p->runs;
        assert_int_equal(runs, boot + 1);
        assert_int_equal(proc_of("p")->tries, 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(next_run_ms(p) / 1000, boot && !i ? 9 : 10);
            assert_int_equal(proc_of("p")->tries, i + 1);
        }
        assert_int_equal(rig_count_events("process_cancel_restart"), 1);
        rig_pass(20 * MINUTE_MS);
        assert_int_equal(p->runs, runs + 2);
        rig_tear_down(state);
    }
}

/* It came up by other means between its death and the probe. */
static void one_that_runs_already_is_adopted_and_no_failure(void **state)
{
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p = start_proven(&m);

    (void)state;
    p->status = 1;
    die("p");
    assert_int_equal(p->runs, 2);
    rig_come_up(p, 4711);
    rig_pass(1000);
    assert_int_equal(proc_of("p")->ident.pid, 4711);
    assert_int_equal(p->runs, 2);
    assert_int_equal(proc_of("p")->tries + proc_of("p")->fast_tries, 0);
    assert_int_equal(rig_count_events("process_restart_failed"), 1); /* the first */
}

static void a_refusal_by_the_policy_is_no_failure(void **state)
{
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p = start_proven(&m);

    (void)state;
    rig.forbids = "start";
    die("p");
    rig_pass(20 * MINUTE_MS);
    assert_int_equal(p->runs, 1);
    assert_int_equal(proc_of("p")->actual, ACTUAL_DENIED);
    assert_int_equal(proc_of("p")->tries + proc_of("p")->fast_tries, 0);
    assert_true(p->view.hosted);
    rig.forbids = NULL;
    core_on_policy(rig.core, rig.now_ms);
    rig_pass(RIG_STEP_MS);
    assert_int_equal(p->runs, 2);
}

/* A start that was asked for and fails is one of the failures. */
static void a_requested_start_that_fails_is_a_failure(void **state)
{
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p = rig_proc("p");

    (void)state;
    p->status = 1;
    host(&m);
    rig_pass(1000);
    m.op = PROC_OP_START;
    m.item = ++rig.next_item;
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_COMMAND);
    assert_int_equal(p->runs, 2);
    assert_int_equal(next_run_ms(p), 10 * 1000); /* from this one */
}

/* ---- when the next start comes */

static void a_proven_process_is_tried_five_times_at_once_a_second_apart(void **state)
{
    struct message_command m = with_retries("p", 2);
    struct rig_proc *p = start_proven(&m);

    (void)state;
    p->status = 1;
    die("p");
    assert_int_equal(p->runs, 2); /* the run was up */
    for (int i = 0; i < FAST; i++) {
        assert_int_equal(next_run_ms(p), 1000);
        assert_int_equal(proc_of("p")->tries, 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(next_run_ms(p), 10 * 1000);
        assert_int_equal(proc_of("p")->tries, i + 1);
    }
    assert_int_equal(rig_count_events("process_cancel_restart"), 1);
    assert_false(p->view.hosted);
}

/* Each of them takes six seconds to fail: the next comes at once. */
static void the_second_counts_from_the_begin_of_the_last_start(void **state)
{
    struct message_command m = with_retries("p", 2);
    struct rig_proc *p = start_proven(&m);

    (void)state;
    p->is_idle = true;
    die("p");
    for (int i = 0; i < FAST; i++)
        assert_in_range(next_run_ms(p), 4900, 6200);
    assert_int_equal(next_run_ms(p), 10 * 1000); /* and this one from its begin */
}

static void the_interval_counts_from_the_begin_but_a_second_from_the_end(void **state)
{
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p = rig_proc("p");
    int64_t began_ms;

    (void)state;
    m.spec.policy.has_interval = PRESENCE_GIVEN;
    m.spec.policy.start_interval_s = 3;
    p->hangs = true; /* for 60 s */
    host(&m);
    began_ms = rig.now_ms;
    assert_int_equal(next_run_ms(p), 61 * 1000);
    p->hangs = false;
    p->status = 1;
    rig_end(p, 1); /* it ends at once */
    rig_settle();
    assert_int_equal(next_run_ms(p), 3000);
    assert_int_equal(rig.now_ms - began_ms, 64 * 1000);
}

/* ---- when hosting ends */

/* Its policy block is read anew after a crash, and does not set the retries. */
static void a_proven_process_without_start_retries_is_tried_for_ten_minutes(void **state)
{
    for (int crash = 0; crash < 2; crash++) {
        struct message_command m;
        struct rig_proc *p;
        int64_t from_ms;

        rig_set_up(state);
        m = resident("p");
        m.spec.policy.has_interval = PRESENCE_GIVEN;
        m.spec.policy.start_interval_s = 20;
        p = start_proven(&m);
        p->status = 1;
        die("p");
        from_ms = rig.now_ms;
        rig_pass(9 * MINUTE_MS);
        if (crash) {
            rig_crash(true);
            rig_pass(1000);
            assert_true(proc_of("p")->spec.policy.has_retries != PRESENCE_GIVEN);
        }
        assert_true(p->view.hosted);
        assert_int_equal(rig_cause("p")->tries_max, -1);
        while (!rig_count_events("process_cancel_restart"))
            rig_pass(RIG_STEP_MS);
        assert_in_range(rig.now_ms - from_ms, 10 * MINUTE_MS, 10 * MINUTE_MS + 21 * 1000);
        assert_false(p->view.hosted);
        rig_tear_down(state);
    }
}

static void the_ten_minutes_count_from_a_boot_too(void **state)
{
    struct message_command m = resident("p");
    struct rig_proc *p = start_proven(&m);
    int64_t from_ms;

    (void)state;
    die("p");
    rig_pass(100 * MINUTE_MS);
    p->status = 1;
    rig_crash(false);
    from_ms = rig.now_ms;
    while (!rig_count_events("process_cancel_restart"))
        rig_pass(RIG_STEP_MS);
    assert_in_range(rig.now_ms - from_ms, 10 * MINUTE_MS, 10 * MINUTE_MS + 11 * 1000);
}

static void retries_that_are_given_hold_though_they_are_the_default(void **state)
{
    for (int crash = 0; crash < 2; crash++) {
        struct message_command m;
        struct rig_proc *p;

        rig_set_up(state);
        m = with_retries("p", 4);
        p = start_proven(&m);
        if (crash)
            rig_crash(true);
        rig_pass(1000);
        p->status = 1;
        die("p");
        rig_pass(MINUTE_MS);
        assert_int_equal(p->runs, 2 + FAST + 4);
        assert_false(p->view.hosted);
        rig_tear_down(state);
    }
}

static void one_that_never_ran_is_given_up_after_its_retries(void **state)
{
    struct message_command m = resident("p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    p->status = 1;
    host(&m);
    rig_pass(20 * MINUTE_MS);
    assert_int_equal(p->runs, 1 + 4);
    assert_false(p->view.hosted);
}

/* ---- other agents, other reasons */

static void a_run_that_ended_while_no_agent_ran_is_no_failure(void **state)
{
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p = start_proven(&m);

    (void)state;
    die("p");
    rig_pass(1500); /* young: it has not lived for 2.5 s */
    rig_crash(true);
    core_on_exit(rig.core, (struct core_ident){ p->pid, 1 }, 1, rig.now_ms);
    p->pid = 0;
    rig_settle();
    rig_pass(6000);
    assert_int_equal(proc_of("p")->failed_ms, 0);
    assert_int_equal(proc_of("p")->fast_tries, 0);
    assert_true(p->pid > 0);
}

static void failures_and_the_last_start_survive_a_crash(void **state)
{
    struct message_command m = with_retries("p", 3);
    struct rig_proc *p = start_proven(&m);
    int64_t tried_ms;

    (void)state;
    p->status = 1;
    die("p");
    rig_pass(5000 + 10 * 1000 + 2000);
    tried_ms = proc_of("p")->tried_ms;
    assert_int_equal(proc_of("p")->tries, 1);
    rig_crash(true);
    assert_int_equal(proc_of("p")->tries, 1);
    assert_int_equal(proc_of("p")->fast_tries, FAST);
    assert_int_equal(proc_of("p")->tried_ms, tried_ms);
    assert_int_equal(next_run_ms(p), 8000);
}

static void restarts_for_its_health_have_their_own_counter(void **state)
{
    struct message_command m = with_retries("p", 2);
    struct rig_proc *p;

    (void)state;
    m.spec.control.health_cmd = "health";
    m.spec.extra.health_interval_s = 30;
    m.spec.extra.unhealthy_restarts = 1;
    p = start_proven(&m);
    p->health_status = 1;
    rig_pass(20 * MINUTE_MS);
    assert_int_equal(p->runs, 1 + 2);
    assert_true(p->pid > 0 && p->view.hosted);
    assert_int_equal(proc_of("p")->tries, 0);
    assert_int_equal(rig_count_events("process_cancel_restart"), 0);
    rig.n_events = 0;
    die("p"); /* that has nothing to do with it */
    assert_int_equal(p->runs, 4);
}

/* ---- the modelled numbers of the design */

/* The command is the process: it ends with it. */
static void fall(struct rig_proc *p, int status)
{
    bool is_command = p->run_pid == p->pid;

    rig_die(p, status);
    if (is_command)
        rig_end(p, status);
    rig_settle();
}

/* What is needed by the next agent alone. */
static void forget_what_was(void)
{
    for (size_t i = 0; i < rig.n_records; i++)
        free(rig.records[i].json);
    rig.n_records = rig.n_order = rig.n_events = rig.n_results = rig.n_stored = 0;
}

/* Each run ends when it has lived for so long, until the time is over or hosting ends; how many
 * runs were begun.  `ret_late_ms` is the longest time from an end to the next begin. */
static int run_for(int64_t life_ms, int64_t for_ms, int64_t *ret_late_ms)
{
    struct message_command m = with_retries("p", 4);
    struct rig_proc *p = rig_proc("p");
    int64_t until_ms, born_ms, down_ms = -1, pid;
    int runs;

    p->is_foreground = true;
    start(&m);
    until_ms = rig.now_ms + for_ms;
    born_ms = proc_of("p")->tried_ms;
    pid = p->pid;
    runs = p->runs;
    *ret_late_ms = 0;
    while (rig.now_ms < until_ms && proc_of("p")->hosted) {
        if (p->pid && rig.now_ms - born_ms >= life_ms) {
            fall(p, CORE_SIGNALED + SIGKILL);
            down_ms = rig.now_ms;
        }
        if (p->pid && p->pid != pid) {
            *ret_late_ms =
                rig.now_ms - down_ms > *ret_late_ms ? rig.now_ms - down_ms : *ret_late_ms;
            born_ms = rig.now_ms;
            pid = p->pid;
        }
        forget_what_was();
        rig_pass(RIG_STEP_MS);
    }
    return p->runs - runs;
}

static void one_that_is_killed_every_five_seconds_is_back_at_once_each_time(void **state)
{
    int64_t late_ms;

    (void)state;
    assert_in_range(run_for(5000, 60 * MINUTE_MS, &late_ms), 700, 720);
    assert_int_equal(late_ms, 0);
    assert_true(proc_of("p")->hosted);
}

static void
one_that_lives_for_three_seconds_is_restarted_twenty_times_a_minute_at_most(void **state)
{
    int64_t late_ms;

    (void)state;
    assert_in_range(run_for(3000, 10 * MINUTE_MS, &late_ms), 190, 200);
    assert_int_equal(late_ms, 0);
    assert_true(proc_of("p")->hosted);
}

static void one_that_crashes_within_two_seconds_is_given_up(void **state)
{
    int64_t late_ms;

    (void)state;
    /* The end of the first run, then those that come at once, then those that count. */
    assert_int_equal(run_for(1900, 10 * MINUTE_MS, &late_ms), 1 + FAST + 4);
    assert_false(proc_of("p")->hosted);
}

/* ---- events */

static void flapping_is_reported_once_and_every_ten_minutes_with_the_count(void **state)
{
    struct message_command m = with_retries("p", 4);
    struct rig_proc *p = start_proven(&m);
    char text[100];
    int64_t n;

    (void)state;
    for (int i = 1; i <= 120; i++) {
        die("p");
        rig_pass(10 * 1000);
        if (i < 5)
            assert_int_equal(rig_count_events("process_flapping"), 0);
        else if (i < 65)
            assert_int_equal(rig_count_events("process_flapping"), 1);
        if (i == 5)
            assert_string_equal(rig.event, "p was restarted 5 times in 10 minutes");
        if (rig_count_events("process_flapping") == 2)
            break;
    }
    assert_int_equal(p->runs, 1 + 65);
    n = rig_cause("p")->recent_restarts;
    assert_in_range(n, 58, 60); /* the time is cut into slots of 30 s */
    snprintf(text, sizeof(text), "p was restarted %d times in 10 minutes", (int)n);
    assert_string_equal(rig.event, text);
    snprintf(text, sizeof(text), "p 在 10 分钟内重启了 %d 次", (int)n);
    assert_string_equal(rig.event_chinese, text);
    rig_pass(9 * MINUTE_MS); /* it runs */
    assert_int_equal(rig_cause("p")->recent_restarts, n);
    rig_crash(true);
    rig_pass(11 * MINUTE_MS); /* as the next agent does not know when the others were */
    assert_int_equal(rig_cause("p")->recent_restarts, 0);
    assert_int_equal(rig_count_events("process_flapping"), 2);
    die("p");
    rig_pass(10 * 1000);
    assert_int_equal(rig_cause("p")->recent_restarts, 1);
    assert_int_equal(rig_count_events("process_flapping"), 2);
}

/* The event comes with the last output, which is known a little later. */
static void exited(struct rig_proc *p, int status, const char *output, const char *english)
{
    struct core_ident ident = { p->pid, 1 };
    char text[600];

    snprintf(text, sizeof(text), english, (int)p->pid);
    rig_die(p, status);
    rig_settle();
    rig.event[0] = '\0';
    core_on_output(rig.core, ident, output, PROC_OOM_NO, rig.now_ms);
    assert_string_equal(rig.event, text);
    rig_settle();
}

static void an_exit_is_reported_with_how_it_ended_and_what_comes_next(void **state)
{
    static struct proc_number code = { 7 };
    struct message_command m = with_retries("p", 1);
    struct rig_proc *p;

    (void)state;
    m.spec.extra.exit_codes = (struct list){ &code, 1 };
    p = start_proven(&m);
    exited(p, CORE_DUMPED + SIGSEGV, "boom\n",
           "p (pid %d) has ended: killed by signal 11, a core was dumped; it is restarted now; its "
           "last output: boom");
    rig_pass(6000);
    exited(p, 7, "", "p (pid %d) has ended: exit code 7; it has completed, and is not restarted");
    assert_int_equal(rig_count_events("process_exited"), 2);
    host(&m);
    rig_pass(10 * 1000);
    rig.forbids = "start";
    rig_operate(PROC_OP_UNHOST, "p");
    rig_settle();
    exited(p, CORE_SIGNALED + SIGKILL, "",
           "p (pid %d) has ended: killed by signal 9; it is not hosted, and is not restarted");
}

static void an_exit_says_when_the_next_start_is(void **state)
{
    struct message_command m = ready_at_once("p", 5);
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host(&m);
    while (!p->pid)
        rig_pass(RIG_STEP_MS);
    rig_pass(2000); /* ready, and young */
    exited(p, 3, "", "p (pid %d) has ended: exit code 3; it is restarted in 8 s");
    assert_in_range(next_run_ms(p), 7000, 8000);
}

static void the_end_of_a_stop_that_was_asked_for_is_no_news(void **state)
{
    struct message_command m = with_retries("p", 1);

    (void)state;
    start_proven(&m);
    rig_operate(PROC_OP_RESTART, "p");
    rig_pass(10 * 1000);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(10 * 1000);
    assert_int_equal(rig_proc("p")->pid, 0);
    assert_int_equal(rig_count_events("process_exited"), 0);
}

static void a_start_that_was_asked_for_has_to_prove_itself_also_if_it_fails(void **state)
{
    struct message_command m = resident("p");
    struct rig_proc *p = start_proven(&m);

    (void)state;
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(7000);
    assert_true(proc_of("p")->is_proven);
    p->is_idle = true;
    m.item = ++rig.next_item;
    rig_tell(&m);
    rig_pass(7000);
    assert_int_equal(rig_code(m.item), CODE_CHECK);
    assert_false(proc_of("p")->is_proven);
}

/* 807 at each try: no command begins. */
static void a_try_that_begins_no_command_is_spaced_like_others(void **state)
{
    struct message_command m = with_retries("p", 4);
    int64_t from_ms = rig.now_ms;

    (void)state;
    rig_proc("p")->is_unsure = true;
    host(&m);
    while (!rig_count_events("process_cancel_restart") && rig.now_ms - from_ms < 3 * MINUTE_MS)
        rig_pass(RIG_STEP_MS);
    assert_true(rig.now_ms - from_ms >= 40 * 1000); /* start_interval is 10 s */
    assert_true(rig.now_ms - from_ms <= 60 * 1000);
    assert_int_equal(rig_count_events("process_restart_failed"), 5);
    assert_int_equal(rig_proc("p")->runs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_try_that_begins_no_command_is_spaced_like_others),
        RIG_TEST(a_start_that_was_asked_for_has_to_prove_itself_also_if_it_fails),
        cmocka_unit_test(a_run_is_up_after_start_check_secs_and_after_half_of_it_once_proven),
        RIG_TEST(the_time_counts_from_when_its_name_matches),
        RIG_TEST(a_process_that_was_found_has_the_age_that_it_has),
        RIG_TEST(readiness_does_not_count),
        cmocka_unit_test(what_is_proven_survives_what_does_not_change_how_it_is_run),
        cmocka_unit_test(a_process_that_is_run_another_way_has_to_prove_itself),
        RIG_TEST(a_spec_that_another_supervisor_wrote_has_to_prove_itself),
        cmocka_unit_test(an_operation_0_or_7_has_to_prove_it_anew),
        RIG_TEST(an_unproven_run_proves_nothing_for_a_spec_that_is_stored_meanwhile),
        RIG_TEST(an_exit_code_that_is_expected_stays_down),
        cmocka_unit_test(without_retries_only_the_first_start_comes),
        cmocka_unit_test(a_first_start_that_fails_is_not_counted),
        RIG_TEST(one_that_runs_already_is_adopted_and_no_failure),
        RIG_TEST(a_refusal_by_the_policy_is_no_failure),
        RIG_TEST(a_requested_start_that_fails_is_a_failure),
        RIG_TEST(a_proven_process_is_tried_five_times_at_once_a_second_apart),
        RIG_TEST(the_second_counts_from_the_begin_of_the_last_start),
        RIG_TEST(the_interval_counts_from_the_begin_but_a_second_from_the_end),
        cmocka_unit_test(a_proven_process_without_start_retries_is_tried_for_ten_minutes),
        RIG_TEST(the_ten_minutes_count_from_a_boot_too),
        cmocka_unit_test(retries_that_are_given_hold_though_they_are_the_default),
        RIG_TEST(one_that_never_ran_is_given_up_after_its_retries),
        RIG_TEST(a_run_that_ended_while_no_agent_ran_is_no_failure),
        RIG_TEST(failures_and_the_last_start_survive_a_crash),
        RIG_TEST(restarts_for_its_health_have_their_own_counter),
        RIG_TEST(one_that_is_killed_every_five_seconds_is_back_at_once_each_time),
        RIG_TEST(one_that_lives_for_three_seconds_is_restarted_twenty_times_a_minute_at_most),
        RIG_TEST(one_that_crashes_within_two_seconds_is_given_up),
        RIG_TEST(flapping_is_reported_once_and_every_ten_minutes_with_the_count),
        RIG_TEST(an_exit_is_reported_with_how_it_ended_and_what_comes_next),
        RIG_TEST(an_exit_says_when_the_next_start_is),
        RIG_TEST(the_end_of_a_stop_that_was_asked_for_is_no_news),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
