/* SPDX-License-Identifier: MIT */
/* test_core_job.c - a start that Job asked for has from the first check to the last to be seen
 * alive, once. */
#include "tests/lib/core_rig.h"

/* rig_command()'s start_check_secs is 5. */
static struct message_command command(int64_t op, int64_t check_end_s)
{
    struct message_command m = rig_command(op, "p");

    m.spec.extra.job = (struct proc_job){ "tom", "", "", check_end_s };
    m.spec.extra.has_job = PRESENCE_GIVEN;
    return m;
}

static void begin(const struct message_command *m)
{
    rig_tell(m);
    rig_settle();
}

static const char away[] = "there is no pid file";

static void one_that_is_alive_is_not_waited_for(void **state)
{
    const struct message_command m = command(PROC_OP_START, 20);

    (void)state;
    begin(&m);
    rig_pass(4500);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_pass(1500);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void one_that_comes_late_is_seen(void **state)
{
    const struct message_command m = command(PROC_OP_START, 20);

    (void)state;
    rig_proc("p")->elsewhere = away;
    begin(&m);
    rig_pass(15000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_proc("p")->elsewhere = NULL;
    rig_pass(1500);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_true(rig_result(m.item)->hosted);
    assert_int_equal(rig_proc("p")->runs, 1); /* it is looked at again, not started again */
}

static void one_that_never_comes_fails_at_the_end(void **state)
{
    const struct message_command m = command(PROC_OP_START, 20);

    (void)state;
    rig_proc("p")->elsewhere = away;
    begin(&m);
    rig_pass(19500);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_pass(1500);
    assert_int_equal(rig_code(m.item), CODE_CHECK);
    assert_non_null(strstr(rig_result(m.item)->text, "start process (p) failed, for post-check"));
    assert_false(rig_result(m.item)->hosted);
}

/* Begin when smaller, or absent. */
static void an_end_before_the_beginning_is_one_check(void **state)
{
    (void)state;
    for (int64_t end_s = 0; end_s <= 5; end_s += 5) {
        const struct message_command m = command(PROC_OP_START, end_s);

        rig_proc("p")->elsewhere = away;
        begin(&m);
        rig_pass(4500);
        assert_int_equal(rig_code(m.item), CODE_WAITING);
        rig_pass(1500);
        assert_int_equal(rig_code(m.item), CODE_CHECK);
    }
}

static void a_restart_has_the_same_time(void **state)
{
    const struct message_command first = command(PROC_OP_START, 0);
    const struct message_command m = command(PROC_OP_RESTART, 30);

    (void)state;
    begin(&first);
    rig_pass(6000);
    assert_int_equal(rig_code(first.item), CODE_OK);
    begin(&m);
    rig_proc("p")->elsewhere = away;
    rig_pass(20000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_proc("p")->elsewhere = NULL;
    rig_pass(1500);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

/* Time to live, not to die. */
static void a_stop_is_not_given_more(void **state)
{
    const struct message_command first = command(PROC_OP_START, 0);
    struct message_command m = command(PROC_OP_STOP, 30);

    (void)state;
    begin(&first);
    rig_pass(6000);
    m.spec.control.stop_cmd = "stop";
    rig_proc("p")->is_idle = true; /* its stop command does nothing */
    begin(&m);
    rig_pass(7000);
    assert_int_equal(rig_code(m.item), CODE_CHECK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(one_that_is_alive_is_not_waited_for),
        RIG_TEST(one_that_comes_late_is_seen),
        RIG_TEST(one_that_never_comes_fails_at_the_end),
        RIG_TEST(an_end_before_the_beginning_is_one_check),
        RIG_TEST(a_restart_has_the_same_time),
        RIG_TEST(a_stop_is_not_given_more),
    };

    return cmocka_run_group_tests_name("core_job", tests, NULL, NULL);
}
