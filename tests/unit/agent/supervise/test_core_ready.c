/* SPDX-License-Identifier: MIT */
/* test_core_ready.c - a start succeeds as soon as the process is ready, and fails if it is not
 * in time, or ends. */
#include "tests/lib/core_rig.h"

static const struct core_ident nobody;

static struct message_command command(int64_t op, enum proc_ready_kind kind)
{
    struct message_command m = rig_command(op, "p");

    m.spec.extra.ready = (struct proc_ready){ .kind = kind, .port = 8080, .timeout_s = 20 };
    m.spec.control.health_cmd = "health";
    return m;
}

static void begin(const struct message_command *m)
{
    rig_tell(m);
    rig_settle();
    rig_pass(1500);
    assert_int_equal(rig_code(m->item), CODE_WAITING);
}

static void assert_fails(const struct message_command *m, const char *text)
{
    assert_int_equal(rig_code(m->item), CODE_CHECK);
    if (!strstr(rig_result(m->item)->text, text))
        fail_msg("%s", rig_result(m->item)->text);
}

/* ---- as soon as it is ready */

static void be_ready(enum proc_ready_kind kind, bool is_ready)
{
    struct rig_proc *p = rig_proc("p");

    rig.port_is_open = kind == READY_PORT && is_ready;
    p->has_pid_file = kind == READY_PID_FILE && is_ready;
    p->health_status = !(kind == READY_HEALTH && is_ready);
    if (kind == READY_NOTIFY && is_ready)
        core_on_ready(rig.core, "space", "p", nobody, rig.now_ms);
}

static void each_kind_succeeds_at_once(bool is_foreground)
{
    for (int kind = READY_NOTIFY; kind <= READY_HEALTH; kind++) {
        const struct message_command m = command(PROC_OP_START, kind);

        rig_proc("p")->is_foreground = is_foreground;
        be_ready(kind, false);
        begin(&m);
        rig_pass(10000); /* start_check_secs is over: that is not what counts */
        assert_int_equal(rig_code(m.item), CODE_WAITING);
        be_ready(kind, true);
        rig_pass(1100);
        if (rig_code(m.item) != CODE_OK)
            fail_msg("kind %d: %s", kind, rig_result(m.item) ? rig_result(m.item)->text : "waits");
        assert_int_equal(rig_result(m.item)->pid, rig_proc("p")->pid);
        assert_true(rig_result(m.item)->hosted);
        rig_operate(PROC_OP_STOP, "p");
        rig_pass(6000);
        assert_int_equal(rig_proc("p")->pid, 0);
        if (is_foreground)
            rig_end(rig_proc("p"), CORE_SIGNALED + SIGTERM);
    }
}

static void a_daemon_of_any_kind_succeeds_at_once(void **state)
{
    (void)state;
    each_kind_succeeds_at_once(false);
}

static void a_command_that_is_the_process_succeeds_at_once(void **state)
{
    (void)state;
    each_kind_succeeds_at_once(true);
}

static void the_port_is_the_one_of_the_spec(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    begin(&m);
    assert_int_equal(rig.port, 8080);
    assert_in_range(rig.ports, 3, 8); /* often at first, then once a second */
    rig_pass(10000);
    assert_in_range(rig.ports, 10, 18);
}

static void without_a_wish_nothing_is_tried(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_ALIVE);

    (void)state;
    begin(&m);
    rig_pass(4000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(rig.ports + rig_proc("p")->sides[1], 0);
}

static void who_it_is_is_looked_at_all_the_same(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_NOTIFY);

    (void)state;
    rig_proc("p")->elsewhere = "pid file /srv/pid names 12, which is java";
    begin(&m);
    core_on_ready(rig.core, "space", "p", nobody, rig.now_ms);
    rig_pass(3000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_proc("p")->elsewhere = NULL; /* the file was late */
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void the_process_may_say_who_it_is(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_NOTIFY);
    struct rig_proc *p = rig_proc("p");

    (void)state;
    p->hangs = true; /* a launcher that stays, and is not the process */
    begin(&m);
    rig_come_up(p, 777);
    core_on_ready(rig.core, "space", "p", (struct core_ident){ 777, 1 }, rig.now_ms);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(rig_result(m.item)->pid, 777);
}

static void a_port_of_another_process_does_not_count(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    rig.is_foreign = true;
    begin(&m);
    rig_pass(3000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    /* It was looked for, so that its own listener is not taken for that of another. */
    assert_int_equal(rig.main.pid, rig_proc("p")->pid);
    assert_false(rig.any_owner);
    rig_pass(20000);
    assert_fails(&m, "port 8080 is held by thief (12), which does not belong to it within 20 s");
}

static void a_port_of_another_process_may_become_its_own(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    m.spec.extra.ready.any_owner = true;
    rig.is_foreign = true;
    begin(&m);
    assert_true(rig.any_owner);
    rig.is_foreign = false;
    rig.port_is_open = true;
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static struct proc_check tcp_check(const char *name)
{
    struct proc_check c;

    shape_defaults(&proc_check_shape, &c);
    c.name = name;
    c.tcp = "8080";
    return c;
}

/* Every second, whatever their interval is. */
static void it_is_ready_when_all_its_checks_pass(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_HEALTH);
    struct proc_check checks[] = { tcp_check("0"), tcp_check("1") };

    (void)state;
    checks[0].interval_s = checks[1].interval_s = 3600;
    m.spec.control.health_cmd = "";
    m.spec.extra.checks = (struct list){ checks, 2 };
    rig.net[0] = rig.net[1] = CHECK_FAILED;
    begin(&m);
    rig.net[0] = CHECK_OK;
    rig_pass(3000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig.net[1] = CHECK_OK;
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void the_check_that_does_not_pass_is_named(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_HEALTH);
    struct proc_check checks[] = { tcp_check("0"), tcp_check("1") };

    (void)state;
    m.spec.extra.checks = (struct list){ checks, 2 };
    rig.net[1] = CHECK_FAILED;
    begin(&m);
    rig_pass(20000);
    assert_fails(&m, "check 1 has not passed: port 8080 takes no connections within 20 s");
}

static void a_port_that_could_not_be_tried_is_not_called_closed(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    rig.is_port_untried = true;
    begin(&m);
    assert_true(rig.is_urgent);
    assert_true(rig.needs_owner);
    rig_pass(20000);
    assert_fails(&m, "port 8080 could not be tried within 20 s");
}

static void a_port_is_not_tried_beyond_its_start(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    m.spec.extra.ready.timeout_s = 200;
    rig_proc("p")->hangs = true;
    rig.is_port_silent = true;
    begin(&m);
    rig_pass(61000);
    assert_int_equal(rig_code(m.item), CODE_TIMEOUT);
    assert_int_equal(rig.drops, 1);
}

static void what_is_said_of_others_is_nothing(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    begin(&m);
    core_on_ready(rig.core, "space", "p", nobody, rig.now_ms);
    core_on_ready(rig.core, "space", "q", nobody, rig.now_ms);
    core_on_check(rig.core, 12345, &(struct core_checked){ .outcome = CHECK_OK }, rig.now_ms);
    rig_pass(1000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
}

static void what_could_never_be_ready_is_refused(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    m.spec.extra.ready.port = 0;
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_PARAM);
    m = command(PROC_OP_START, READY_HEALTH);
    m.spec.control.health_cmd = "";
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_PARAM);
    m = command(PROC_OP_RESTART, READY_PID_FILE);
    m.spec.identity.pid_path = "";
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_PARAM);
    assert_int_equal(rig_proc("p")->runs, 0);
}

/* ---- not in time */

/* What the health command says is cut where it is kept, and in the result (rig_take_result() looks
 * at that). */
static void what_health_says_is_cut_between_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        const struct message_command m = command(PROC_OP_START, READY_HEALTH);

        rig_proc("p")->health = wide_text(i);
        be_ready(READY_HEALTH, false);
        begin(&m);
        rig_pass(19500);
        assert_fails(&m, "its health command has not succeeded: ");
        rig_die(rig_proc("p"), 0);
        rig_settle();
    }
}

/* What a command says is longer than a result may be. */
static void a_result_that_is_too_long_is_cut_between_characters(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        int64_t item;

        p->output = wide_text(i);
        p->status = 1;
        item = rig_operate(PROC_OP_START, "p");
        rig_settle();
        rig_pass(10000);
        assert_int_not_equal(rig_code(item), CODE_WAITING);
        assert_int_not_equal(rig_code(item), CODE_OK);
    }
    p->output = "";
    p->status = 0;
}

static void not_in_time_is_a_failure_that_says_what_was_waited_for(void **state)
{
    static const char *const texts[] = {
        [READY_NOTIFY] = "it has not sent READY=1 to $NOTIFY_SOCKET within 20 s",
        [READY_PID_FILE] = "pid file /srv/p.pid does not name it within 20 s",
        [READY_PORT] = "port 8080 takes no connections within 20 s",
        [READY_HEALTH] = "its health command has not succeeded: starting within 20 s",
    };

    (void)state;
    rig_proc("p")->health = "starting";
    for (int kind = READY_NOTIFY; kind <= READY_HEALTH; kind++) {
        const struct message_command m = command(PROC_OP_START, kind);
        int64_t pid;

        be_ready(kind, false);
        begin(&m);
        pid = rig_proc("p")->pid;
        rig_pass(18000);
        assert_int_equal(rig_code(m.item), CODE_WAITING);
        rig_pass(1500);
        assert_fails(&m, texts[kind]);
        assert_fails(&m, "post-check status not ready");
        assert_int_equal(rig_proc("p")->pid, pid); /* it is left as it is */
        rig_die(rig_proc("p"), 0);
    }
}

/* It runs, and only the agent has its spec. */
static void what_was_not_ready_can_be_stopped_by_its_name(void **state)
{
    static const int64_t ops[] = { PROC_OP_STOP, PROC_OP_KILL };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        const struct message_command m = command(PROC_OP_START, READY_PORT);
        struct message_command by_name = command(ops[i], READY_ALIVE);

        rig_proc("p")->is_foreground = true;
        begin(&m);
        rig_pass(40000);
        assert_fails(&m, "port 8080");
        assert_true(rig_proc("p")->pid > 0);
        shape_defaults(&proc_spec_shape, &by_name.spec);
        rig_tell(&by_name);
        rig_pass(20000);
        if (rig_code(by_name.item) != CODE_OK)
            fail_msg("op %d: %s", (int)ops[i], rig_result(by_name.item)->text);
        assert_int_equal(rig_proc("p")->pid, 0);
    }
}

static void the_time_is_op_timeout_if_nothing_is_said(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    m.spec.extra.ready.timeout_s = 0;
    begin(&m);
    rig_pass(57000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_pass(3000);
    assert_fails(&m, "within 60 s");
}

/* Only commands have a time-out, never the process. */
static void a_command_that_is_the_process_has_all_the_time_to_be_ready(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    m.spec.extra.ready.timeout_s = 200;
    rig_proc("p")->is_foreground = true;
    begin(&m);
    rig_pass(150 * 1000);
    assert_true(rig_proc("p")->pid > 0);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig.port_is_open = true;
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void a_command_that_is_not_the_process_has_op_timeout(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    m.spec.extra.ready.timeout_s = 200;
    rig_proc("p")->hangs = true;
    begin(&m);
    rig_pass(60000);
    assert_int_equal(rig_code(m.item), CODE_TIMEOUT);
}

/* A pid file is written by the process: that there is none says less than what its command is. */
static void of_a_command_that_is_not_the_process_it_is_told_what_it_is(void **state)
{
    struct message_command m = command(PROC_OP_START, READY_PID_FILE);
    struct rig_proc *p = rig_proc("p");

    (void)state;
    m.spec.extra.ready.timeout_s = 200;
    p->hangs = true;
    begin(&m);
    for (int i = 0; i < 60000 / RIG_STEP_MS; i++) {
        rig.is_blind = true; /* so that here is answered what is asked */
        rig_pass(RIG_STEP_MS);
        rig.is_blind = false;
        while (rig.n_asks) {
            p->elsewhere = rig.asks[0].by_pid_file ? "there is no file" : "it is another";
            rig_answer();
        }
    }
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_TIMEOUT);
    assert_string_equal(rig_cause("p")->failed_text,
                        "the command ran longer than 60 s and was ended: it is another");
}

/* ---- it ends */

static void one_that_dies_fails_at_once(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    begin(&m);
    rig_die(rig_proc("p"), CORE_SIGNALED + SIGSEGV);
    rig_settle();
    assert_fails(&m, "it ended before it was ready");
}

static void one_that_ends_well_may_have_been_a_launcher(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    begin(&m);
    rig_die(rig_proc("p"), 0);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_come_up(rig_proc("p"), 777);
    rig_pass(1500);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig.port_is_open = true;
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(rig_result(m.item)->pid, 777);
}

static void one_that_ends_well_and_was_none_fails_soon(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    begin(&m);
    rig_die(rig_proc("p"), 0);
    rig_pass(2500);
    assert_fails(&m, "it ended before it was ready");
}

static void a_command_that_was_the_process_fails_at_once(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_HEALTH);

    (void)state;
    rig_proc("p")->is_foreground = true;
    rig_proc("p")->health_status = 1;
    begin(&m);
    rig_die(rig_proc("p"), 3);
    rig_end(rig_proc("p"), 3);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_COMMAND);
}

/* ---- restarts */

static void what_the_old_process_does_during_a_restart_does_not_count(void **state)
{
    struct message_command m = command(PROC_OP_RESTART, READY_PORT);

    (void)state;
    m.spec.control.restart_cmd = "restart";
    rig_come_up(rig_proc("p"), 900);
    rig_proc("p")->hangs = true;
    rig.port_is_open = true;
    begin(&m);
    assert_int_equal(rig.ports, 0);
    rig_do(rig_proc("p"), "restart");
    rig_end(rig_proc("p"), 0);
    rig_pass(300);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_not_equal(rig_result(m.item)->pid, 900);
}

static void the_end_of_the_old_process_is_no_failure(void **state)
{
    struct message_command m = command(PROC_OP_RESTART, READY_NOTIFY);

    (void)state;
    m.spec.control.restart_cmd = "restart";
    rig_come_up(rig_proc("p"), 900);
    rig_proc("p")->hangs = true;
    begin(&m);
    rig_die(rig_proc("p"), CORE_SIGNALED + SIGTERM);
    rig_end(rig_proc("p"), 0);
    rig_pass(3000); /* the new one is slow */
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_come_up(rig_proc("p"), 901);
    core_on_ready(rig.core, "space", "p", nobody, rig.now_ms);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void a_restart_in_two_halves_waits_for_the_second(void **state)
{
    const struct message_command m = command(PROC_OP_RESTART, READY_HEALTH);

    (void)state;
    rig_come_up(rig_proc("p"), 900);
    rig_proc("p")->health_status = 1;
    begin(&m);
    rig_proc("p")->health_status = 0;
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_not_equal(rig_result(m.item)->pid, 900);
}

static void a_pull_up_succeeds_when_it_is_ready(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    rig.port_is_open = true;
    rig_tell(&m);
    rig_pass(300);
    assert_int_equal(rig_code(m.item), CODE_OK);
    rig.port_is_open = false;
    rig_die(rig_proc("p"), 1);
    rig_pass(10000);
    assert_int_equal(rig_count_events("process_restart_success"), 0);
    rig.port_is_open = true;
    rig_pass(1100);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
}

static void a_pull_up_that_is_not_ready_is_told_and_left_running(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    rig.port_is_open = true;
    rig_tell(&m);
    rig_pass(300);
    rig.port_is_open = false;
    rig_die(rig_proc("p"), 1);
    rig_pass(60000);
    assert_int_equal(rig_count_events("process_restart_failed"), 1);
    assert_int_equal(rig_proc("p")->runs, 2);
    assert_true(rig_proc("p")->pid > 0);
    assert_int_equal(rig_cause("p")->failed_code, CODE_CHECK);
}

/* ---- a crash of ours */

static void a_start_goes_on_to_wait_after_a_crash_of_ours(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    begin(&m);
    rig_crash(true);
    rig_pass(10000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig.port_is_open = true;
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(rig_proc("p")->runs, 1);
}

static void a_command_that_still_runs_goes_on_to_be_waited_for(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_PORT);

    (void)state;
    rig_proc("p")->is_foreground = true;
    begin(&m);
    rig_crash(true);
    rig_pass(10000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig.port_is_open = true;
    rig_pass(1100);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

/* READY=1 may have been sent while no agent listened. */
static void after_a_crash_of_ours_one_that_lives_has_said_it(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_NOTIFY);

    (void)state;
    begin(&m);
    rig_crash(true);
    rig_pass(19000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_pass(2000);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void after_a_crash_of_ours_one_that_is_gone_has_failed(void **state)
{
    const struct message_command m = command(PROC_OP_START, READY_NOTIFY);

    (void)state;
    begin(&m);
    rig_crash(true);
    rig_proc("p")->pid = 0;
    rig_pass(22000);
    assert_fails(&m, "not ready within 20 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_daemon_of_any_kind_succeeds_at_once),
        RIG_TEST(a_command_that_is_the_process_succeeds_at_once),
        RIG_TEST(the_port_is_the_one_of_the_spec),
        RIG_TEST(without_a_wish_nothing_is_tried),
        RIG_TEST(who_it_is_is_looked_at_all_the_same),
        RIG_TEST(the_process_may_say_who_it_is),
        RIG_TEST(a_port_that_could_not_be_tried_is_not_called_closed),
        RIG_TEST(a_port_is_not_tried_beyond_its_start),
        RIG_TEST(what_is_said_of_others_is_nothing),
        RIG_TEST(a_port_of_another_process_does_not_count),
        RIG_TEST(a_port_of_another_process_may_become_its_own),
        RIG_TEST(it_is_ready_when_all_its_checks_pass),
        RIG_TEST(the_check_that_does_not_pass_is_named),
        RIG_TEST(what_could_never_be_ready_is_refused),
        RIG_TEST(what_health_says_is_cut_between_characters),
        RIG_TEST(a_result_that_is_too_long_is_cut_between_characters),
        RIG_TEST(not_in_time_is_a_failure_that_says_what_was_waited_for),
        RIG_TEST(what_was_not_ready_can_be_stopped_by_its_name),
        RIG_TEST(the_time_is_op_timeout_if_nothing_is_said),
        RIG_TEST(a_command_that_is_the_process_has_all_the_time_to_be_ready),
        RIG_TEST(a_command_that_is_not_the_process_has_op_timeout),
        RIG_TEST(of_a_command_that_is_not_the_process_it_is_told_what_it_is),
        RIG_TEST(one_that_dies_fails_at_once),
        RIG_TEST(one_that_ends_well_may_have_been_a_launcher),
        RIG_TEST(one_that_ends_well_and_was_none_fails_soon),
        RIG_TEST(a_command_that_was_the_process_fails_at_once),
        RIG_TEST(what_the_old_process_does_during_a_restart_does_not_count),
        RIG_TEST(the_end_of_the_old_process_is_no_failure),
        RIG_TEST(a_restart_in_two_halves_waits_for_the_second),
        RIG_TEST(a_pull_up_succeeds_when_it_is_ready),
        RIG_TEST(a_pull_up_that_is_not_ready_is_told_and_left_running),
        RIG_TEST(a_start_goes_on_to_wait_after_a_crash_of_ours),
        RIG_TEST(a_command_that_still_runs_goes_on_to_be_waited_for),
        RIG_TEST(after_a_crash_of_ours_one_that_lives_has_said_it),
        RIG_TEST(after_a_crash_of_ours_one_that_is_gone_has_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
