/* SPDX-License-Identifier: MIT */
/* test_core_checks.c - checks of a process: when they are tried, and what comes of it. */
#include "tests/lib/core_rig.h"

static struct proc_check checks[8];

/* Checks "0", "1", ...: rig.net[] says how they end. */
static struct message_command command(size_t n)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    for (size_t i = 0; i < n; i++) {
        static const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7" };

        shape_defaults(&proc_check_shape, &checks[i]);
        checks[i].name = names[i];
        checks[i].tcp = "8080";
    }
    m.spec.extra.checks = (struct list){ checks, n };
    return m;
}

static void start(const struct message_command *m)
{
    rig.latency_ms = 3;
    rig_tell(m);
    rig_pass(6000);
    assert_int_equal(rig_code(m->item), CODE_OK);
}

static const struct proc_check_view *view(size_t i)
{
    core_tell_now(rig.core);
    assert_true(rig_proc("p")->view.checks.n > i);
    return (const struct proc_check_view *)rig_proc("p")->view.checks.items + i;
}

static void they_are_tried_every_interval_while_it_is_hosted(void **state)
{
    const struct message_command m = command(2);
    int tried;

    (void)state;
    checks[1].interval_s = 30;
    start(&m);
    rig_pass(1000);
    tried = rig.ports;
    assert_true(tried >= 2);
    rig_pass(60000);
    assert_in_range(rig.ports - tried, 7, 9); /* 6 and 2 */
    assert_int_equal(view(0)->state, CHECK_PASSING);
    assert_true(view(0)->latency_ms == 3);
    assert_true(rig.main.pid == rig_proc("p")->pid);
    rig_operate(PROC_OP_UNHOST, "p");
    rig_settle();
    tried = rig.ports;
    rig_pass(60000);
    assert_int_equal(rig.ports, tried);
}

static void it_fails_after_so_many_failures_in_a_row(void **state)
{
    const struct message_command m = command(1);

    (void)state;
    start(&m);
    rig_pass(11000);
    rig.net[0] = CHECK_FAILED;
    rig_pass(20000);
    assert_int_equal(view(0)->state, CHECK_PASSING);
    assert_int_equal(rig_count_events("process_unhealthy"), 0);
    rig.net[0] = CHECK_OK; /* that was only a while */
    rig_pass(10000);
    rig.net[0] = CHECK_FAILED;
    rig_pass(20000);
    assert_int_equal(rig.changes, 0);
    rig_pass(10000);
    assert_int_equal(view(0)->state, CHECK_FAILING);
    assert_string_equal(rig.change, "p 0 fails");
    assert_string_equal(rig.event, "p is unhealthy: check 0: port 8080 takes no connections");
    assert_true(rig_cause("p")->unhealthy_s > 0);
    rig_pass(60000);
    rig.net[0] = CHECK_OK;
    rig_pass(10000);
    assert_int_equal(rig.changes, 2);
    assert_string_equal(rig.change, "p 0 passes");
    assert_int_equal(rig_count_events("process_unhealthy"), 1);
    assert_int_equal(rig_count_events("process_healthy"), 1);
    assert_int_equal(rig_cause("p")->unhealthy_s, 0);
    assert_int_equal(rig_proc("p")->runs, 1);
}

/* It has been started just now. */
static void failures_before_the_first_interval_do_not_count(void **state)
{
    const struct message_command m = command(1);

    (void)state;
    checks[0].threshold = 1;
    checks[0].interval_s = 30;
    rig.net[0] = CHECK_FAILED;
    start(&m);
    rig_pass(20000);
    assert_true(rig.ports > 0);
    assert_int_equal(view(0)->state, CHECK_UNKNOWN);
    rig_pass(30000);
    assert_int_equal(view(0)->state, CHECK_FAILING);
}

static void what_could_not_be_tried_says_nothing(void **state)
{
    const struct message_command m = command(1);

    (void)state;
    checks[0].threshold = 1;
    start(&m);
    rig_pass(11000);
    rig.net[0] = CHECK_NOT_DONE;
    rig_pass(60000);
    assert_int_equal(view(0)->state, CHECK_PASSING);
}

static void it_is_healthy_once_all_pass(void **state)
{
    const struct message_command m = command(2);

    (void)state;
    checks[0].threshold = checks[1].threshold = 1;
    start(&m);
    rig_pass(11000);
    rig.net[0] = rig.net[1] = CHECK_FAILED;
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_unhealthy"), 1);
    rig.net[0] = CHECK_OK;
    rig_pass(30000);
    assert_int_equal(rig_count_events("process_healthy"), 0);
    rig.net[1] = CHECK_OK;
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_healthy"), 1);
}

static void health_cmd_and_checks_have_to_be_well_both(void **state)
{
    struct message_command m = command(1);

    (void)state;
    m.spec.control.health_cmd = "health";
    m.spec.extra.health_interval_s = 10;
    checks[0].threshold = 1;
    start(&m);
    rig_pass(11000);
    rig.net[0] = CHECK_FAILED;
    rig_pass(30000);
    assert_int_equal(rig_count_events("process_healthy"), 0); /* health_cmd has succeeded */
    rig_proc("p")->health_status = 1;
    rig_pass(11000);
    rig.net[0] = CHECK_OK;
    rig_pass(30000);
    assert_int_equal(rig_count_events("process_healthy"), 0);
    rig_proc("p")->health_status = 0;
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_healthy"), 1);
    assert_int_equal(rig_count_events("process_unhealthy"), 1);
}

static void a_failing_check_restarts_it(void **state)
{
    struct message_command m = command(1);
    int64_t pid;

    (void)state;
    m.spec.extra.unhealthy_restarts = 2;
    start(&m);
    rig_pass(11000);
    pid = rig_proc("p")->pid;
    rig.net[0] = CHECK_FAILED;
    rig_pass(31000); /* three: it fails now */
    assert_int_equal(rig_proc("p")->pid, pid);
    assert_int_equal(view(0)->state, CHECK_FAILING);
    rig_pass(10000);
    assert_true(rig_proc("p")->pid > 0 && rig_proc("p")->pid != pid);
    rig.net[0] = CHECK_OK;
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
    assert_int_equal(view(0)->state, CHECK_PASSING);
    assert_int_equal(rig_cause("p")->unhealthy_s, 0);
}

static void restarts_for_a_check_end_some_day(void **state)
{
    struct message_command m = command(1);

    (void)state;
    m.spec.extra.unhealthy_restarts = 1;
    m.spec.policy.start_retries = 2;
    m.spec.policy.has_retries = m.spec.has_policy = PRESENCE_GIVEN;
    m.spec.control.health_cmd = "health"; /* which succeeds all the time */
    m.spec.extra.health_interval_s = 400;
    checks[0].interval_s = 400;
    checks[0].threshold = 1;
    rig.net[0] = CHECK_FAILED;
    start(&m);
    rig_pass(4000 * 1000);
    assert_int_equal(rig_proc("p")->runs, 3);
    assert_true(rig_proc("p")->view.hosted && rig_proc("p")->pid > 0);
}

static void a_latency_is_told_again_when_it_is_another(void **state)
{
    const struct message_command m = command(1);
    size_t told;

    (void)state;
    start(&m);
    rig_pass(11000);
    told = rig.n_told;
    rig.latency_ms = 5.5;
    rig_pass(11000);
    assert_true(view(0)->latency_ms == 3);
    assert_int_equal(rig.n_told, told);
    rig.latency_ms = 90;
    rig_pass(11000);
    assert_true(view(0)->latency_ms == 90);
    assert_int_equal(rig.n_told, told + 1);
}

static void another_spec_has_other_checks(void **state)
{
    struct message_command m = command(2);

    (void)state;
    start(&m);
    rig_pass(11000);
    assert_int_equal(rig_proc("p")->view.checks.n, 2);
    m = command(1);
    m.op = PROC_OP_HOST;
    rig_tell(&m);
    rig_pass(11000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(view(0)->state, CHECK_PASSING);
    assert_int_equal(rig_proc("p")->view.checks.n, 1);
}

static void that_a_check_fails_survives_us(void **state)
{
    const struct message_command m = command(1);

    (void)state;
    checks[0].threshold = 1;
    start(&m);
    rig_pass(11000);
    rig.net[0] = CHECK_FAILED;
    rig_pass(11000);
    rig_crash(true);
    rig_pass(30000);
    assert_int_equal(rig_count_events("process_unhealthy"), 1); /* it has been told */
    rig.net[0] = CHECK_OK;
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_healthy"), 1);
}

static void an_answer_after_its_end_does_not_count(void **state)
{
    const struct message_command m = command(1);
    uint64_t id;

    (void)state;
    checks[0].threshold = 1;
    start(&m);
    rig_pass(11000);
    rig.is_blind = true; /* nothing is answered */
    rig_pass(11000);
    assert_true(rig.n_asks > 0);
    id = rig.asks[rig.n_asks - 1].id;
    rig_die(rig_proc("p"), 1);
    core_on_check(rig.core, id, &(struct core_checked){ CHECK_FAILED, 1, "late" }, rig.now_ms);
    assert_int_equal(rig.changes, 0);
    rig.is_blind = false;
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_unhealthy"), 0);
}

static void a_start_needs_to_know_whose_listener_it_is(void **state)
{
    struct message_command m = command(1);

    (void)state;
    m.spec.extra.ready = (struct proc_ready){ .kind = READY_HEALTH, .timeout_s = 20 };
    rig.net[0] = CHECK_NOT_DONE;
    rig_tell(&m);
    rig_pass(5000);
    assert_true(rig.ports > 1); /* it is tried again */
    assert_true(rig.needs_owner);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig.net[0] = CHECK_OK;
    rig_pass(12000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_false(rig.needs_owner); /* by its interval now */
}

static void a_try_is_given_up_with_its_process(void **state)
{
    const struct message_command m = command(2);

    (void)state;
    start(&m);
    rig_pass(11000);
    rig.is_blind = true; /* nothing is answered */
    rig_pass(11000);
    assert_int_equal(rig.drops, 0);
    rig_die(rig_proc("p"), 1);
    assert_int_equal(rig.drops, 2);
}

static void what_makes_no_sense_is_refused(void **state)
{
    const struct message_command m = command(2);

    (void)state;
    checks[1].tcp = "";
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_PARAM);
    assert_string_equal(rig_result(m.item)->text,
                        "spec.holdfast.checks[1]: one of http, tcp and command is required");
    assert_int_equal(rig_proc("p")->runs, 0);
}

static void a_command_that_the_policy_forbids_is_refused(void **state)
{
    const struct message_command m = command(1);

    (void)state;
    checks[0].tcp = "";
    checks[0].command = "rm";
    rig.forbids = "rm";
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_DENIED);
    assert_int_equal(rig_proc("p")->runs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(they_are_tried_every_interval_while_it_is_hosted),
        RIG_TEST(it_fails_after_so_many_failures_in_a_row),
        RIG_TEST(failures_before_the_first_interval_do_not_count),
        RIG_TEST(what_could_not_be_tried_says_nothing),
        RIG_TEST(it_is_healthy_once_all_pass),
        RIG_TEST(health_cmd_and_checks_have_to_be_well_both),
        RIG_TEST(a_failing_check_restarts_it),
        RIG_TEST(restarts_for_a_check_end_some_day),
        RIG_TEST(a_latency_is_told_again_when_it_is_another),
        RIG_TEST(another_spec_has_other_checks),
        RIG_TEST(that_a_check_fails_survives_us),
        RIG_TEST(an_answer_after_its_end_does_not_count),
        RIG_TEST(a_start_needs_to_know_whose_listener_it_is),
        RIG_TEST(a_try_is_given_up_with_its_process),
        RIG_TEST(what_makes_no_sense_is_refused),
        RIG_TEST(a_command_that_the_policy_forbids_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
