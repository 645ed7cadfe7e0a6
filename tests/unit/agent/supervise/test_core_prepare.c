/* SPDX-License-Identifier: MIT */
/* The pre-start command is run before each start command, and its failure is that of the start. */
#include "tests/lib/core_rig.h"

static struct rig_proc *p;

static int set_up(void **state)
{
    rig_set_up(state);
    p = rig_proc("p");
    p->output = "no such disk";
    return 0;
}

static struct message_command prepared(int64_t op)
{
    struct message_command m = rig_command(op, "p");

    m.spec.extra.pre_start = "prepare";
    return m;
}

static int64_t operate(int64_t op)
{
    struct message_command m = prepared(op);

    rig_tell(&m);
    rig_pass(100);
    return m.item;
}

static void start_it(void)
{
    int64_t item = operate(PROC_OP_START);

    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
}

static void it_is_run_before_the_start_command(void **state)
{
    int64_t item;

    (void)state;
    p->pre_hangs = true;
    item = operate(PROC_OP_START);
    rig_pass(3000);
    assert_int_equal(p->pre_runs, 1);
    assert_int_equal(p->runs, 1); /* no other command */
    assert_int_equal(p->pid, 0);
    assert_int_equal(p->view.cause.doing, PROC_OP_START);
    rig_end(p, 0);
    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(p->runs, 2);
    assert_int_equal(p->pre_runs, 1);
    assert_true(p->pid > 0);
    assert_int_equal(p->doubles, 0);
}

static void it_is_run_again_before_each_restart(void **state)
{
    (void)state;
    start_it();
    rig_die(p, 1);
    rig_pass(20000);
    assert_int_equal(p->pre_runs, 2);
    assert_int_equal(p->runs, 4);
    assert_true(p->pid > 0);
    operate(PROC_OP_RESTART); /* a stop and a start */
    rig_pass(6000);
    assert_int_equal(p->pre_runs, 3);
    assert_true(p->pid > 0);
}

static void it_is_not_run_before_restart_cmd_and_others(void **state)
{
    struct message_command m = prepared(PROC_OP_RESTART);

    (void)state;
    start_it();
    m.spec.control.restart_cmd = "restart";
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    operate(PROC_OP_STOP);
    rig_pass(6000);
    assert_int_equal(p->pre_runs, 1);
    assert_int_equal(p->pid, 0);
}

static void its_failure_is_that_of_the_start(void **state)
{
    int64_t item;

    (void)state;
    p->pre_status = 3;
    item = operate(PROC_OP_START);
    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_COMMAND);
    assert_string_equal(rig_result(item)->text, "the pre-start command ended with exit code 3; "
                                                "its output: [no such disk]");
    assert_string_equal(p->view.cause.failed_text, "the pre-start command ended with exit code 3");
    assert_string_equal(p->view.cause.output, "no such disk");
    assert_int_equal(p->runs, 1);
    assert_int_equal(p->view.cause.doing, -1);
}

static void a_hosted_process_is_tried_again_by_the_restart_rule(void **state)
{
    (void)state;
    start_it();
    p->pre_status = 1;
    rig_die(p, 1);
    rig_pass(20 * 1000);
    assert_true(p->pre_runs > 3);
    assert_true(rig_count_events("process_restart_failed") >= 2);
    p->pre_status = 0;
    rig_pass(120 * 1000);
    assert_true(p->pid > 0);
}

static void it_is_ended_after_op_timeout(void **state)
{
    struct message_command m = prepared(PROC_OP_START);

    (void)state;
    m.spec.has_policy = m.spec.policy.has_timeout = PRESENCE_GIVEN;
    m.spec.policy.op_timeout_s = 7;
    p->pre_hangs = true;
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_pass(2000);
    assert_int_equal(rig_code(m.item), CODE_TIMEOUT);
    assert_string_equal(rig_result(m.item)->text,
                        "the pre-start command ran longer than 7 s and was ended; "
                        "its output: [no such disk]");
    assert_int_equal(p->runs, 1);
    assert_int_equal(p->run_pid, 0);
}

static void one_that_can_not_begin_says_that_it_is_one(void **state)
{
    int64_t item;

    (void)state;
    err_set(&p->failure, ERR_SYSTEM, "chdir /srv: no");
    item = operate(PROC_OP_START);
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_COMMAND);
    assert_string_equal(rig_result(item)->text, "the pre-start command: chdir /srv: no");
}

static void the_policy_is_asked_about_it(void **state)
{
    int64_t item;

    (void)state;
    rig.forbids = "prepare";
    item = operate(PROC_OP_START);
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_DENIED);
    item = operate(PROC_OP_HOST);
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_DENIED);
    assert_int_equal(p->runs, 0);
}

/* By the next agent, which sees its end but not how it ended, or that it has ended. */
static void after_a_crash_it_is_not_run_again(void **state)
{
    for (int gone = 0; gone < 3; gone++) {
        int64_t item;

        p->pre_hangs = true;
        item = operate(PROC_OP_START);
        rig_pass(1000);
        assert_int_equal(p->pre_runs, 1);
        if (gone == 1)
            p->run_pid = 0;
        rig_crash(true);
        rig_pass(1000);
        if (!gone)
            rig_end(p, CORE_STATUS_UNKNOWN);
        if (gone == 2)
            rig_end(p, 0); /* it is a child of this one, too */
        rig_pass(6000);
        assert_int_equal(rig_code(item), gone == 2 ? CODE_OK : CODE_SYSTEM);
        if (gone < 2)
            assert_string_equal(rig_result(item)->text,
                                "agent restarted during the pre-start command, outcome unknown");
        assert_int_equal(p->pre_runs, 1);
        assert_int_equal(p->runs, gone == 2 ? 2 : 1);
        rig_tear_down(state);
        set_up(state);
    }
}

/* A restart by the agent has no record but that of the process. */
static void after_a_crash_a_restart_knows_that_it_was_the_pre_start_command(void **state)
{
    (void)state;
    start_it();
    p->pre_hangs = true;
    rig_die(p, 1);
    rig_pass(5000);
    assert_int_equal(p->pre_runs, 2);
    rig_crash(true);
    rig_pass(1000);
    p->pre_hangs = false;
    assert_true(p->run != 0);
    rig_end(p, 0);
    rig_pass(6000);
    assert_int_equal(p->pre_runs, 2);
    assert_true(p->pid > 0);
}

#define PREPARE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, rig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PREPARE_TEST(it_is_run_before_the_start_command),
        PREPARE_TEST(it_is_run_again_before_each_restart),
        PREPARE_TEST(it_is_not_run_before_restart_cmd_and_others),
        PREPARE_TEST(its_failure_is_that_of_the_start),
        PREPARE_TEST(a_hosted_process_is_tried_again_by_the_restart_rule),
        PREPARE_TEST(it_is_ended_after_op_timeout),
        PREPARE_TEST(one_that_can_not_begin_says_that_it_is_one),
        PREPARE_TEST(the_policy_is_asked_about_it),
        PREPARE_TEST(after_a_crash_it_is_not_run_again),
        PREPARE_TEST(after_a_crash_a_restart_knows_that_it_was_the_pre_start_command),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
