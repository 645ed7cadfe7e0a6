/* SPDX-License-Identifier: MIT */
/* test_core_health.c - version and health: when they are asked, and what comes of it. */
#include "tests/lib/core_rig.h"

static struct message_command command(int64_t op)
{
    struct message_command m = rig_command(op, "p");

    m.spec.control.version_cmd = "version";
    m.spec.control.health_cmd = "health";
    m.spec.extra.health_interval_s = 10;
    return m;
}

static void start(const struct message_command *m)
{
    rig_tell(m);
    rig_pass(6000);
    assert_int_equal(rig_code(m->item), CODE_OK);
}

static const struct rig_result *ask(void)
{
    struct message_command m = command(PROC_OP_QUERY);

    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_OK);
    return rig_result(m.item);
}

static void the_version_is_asked_after_a_start(void **state)
{
    const struct message_command m = command(PROC_OP_START);

    (void)state;
    rig_proc("p")->version = " \n v1.2 \n";
    start(&m);
    assert_int_equal(rig_proc("p")->sides[0], 1);
    assert_string_equal(rig_proc("p")->view.version, "v1.2");
    rig_proc("p")->version = "v1.3";
    rig_die(rig_proc("p"), 1);
    rig_pass(6000);
    assert_string_equal(rig_proc("p")->view.version, "v1.3"); /* it was pulled up */
}

/* ---- queries of apps that may neither start nor host */

static void a_look_runs_no_command(void **state)
{
    const struct message_command m = command(PROC_OP_START);
    struct message_command look = command(PROC_OP_QUERY);

    (void)state;
    rig_proc("p")->version = "v1";
    start(&m);
    look.look = LOOK_ONLY;
    rig_tell(&look);
    rig_settle();
    assert_int_equal(rig_proc("p")->sides[0], 1); /* that of the start */
    assert_string_equal(rig_result(look.item)->version, "v1");
    assert_int_equal(rig_result(look.item)->pid, rig_proc("p")->pid);
    assert_int_equal(ask()->pid, rig_proc("p")->pid);
    assert_int_equal(rig_proc("p")->sides[0], 2); /* one that may runs it */
}

static void an_identity_that_is_not_checked_is_only_looked_for(void **state)
{
    struct message_command look = command(PROC_OP_QUERY);

    (void)state;
    look.look = LOOK_UNCHECKED;
    rig_come_up(rig_proc("p"), 50);
    rig_tell(&look);
    rig_settle();
    assert_int_equal(rig_code(look.item), CODE_OK);
    assert_int_equal(rig_result(look.item)->pid, 50);
    assert_false(rig_proc("p")->is_watched); /* it is not taken for ours */
    assert_true(rig.is_untrusted);
    assert_int_equal(rig_proc("p")->sides[0], 0);
}

static void of_what_does_not_fit_it_tells_nothing(void **state)
{
    struct message_command look = command(PROC_OP_QUERY);

    (void)state;
    look.look = LOOK_UNCHECKED;
    rig_proc("p")->elsewhere = "pid file names 77, a d of uid 0";
    rig_tell(&look);
    rig_settle();
    assert_int_equal(rig_result(look.item)->pid, -1);
    assert_null(strstr(rig_result(look.item)->text, "77"));
}

static void the_agents_own_spec_comes_before_an_identity_that_is_not_checked(void **state)
{
    const struct message_command m = command(PROC_OP_START);
    struct message_command look = command(PROC_OP_QUERY);

    (void)state;
    start(&m);
    look.look = LOOK_UNCHECKED;
    look.spec.identity.proc_name = "another";
    look.spec.extra.instances = 9;
    rig_proc("p")->is_watched = false;
    rig_tell(&look);
    rig_settle();
    assert_int_equal(rig_result(look.item)->pid, rig_proc("p")->pid);
    assert_int_equal(rig.last_instances, 0); /* by the spec that is known, */
    assert_false(rig.is_untrusted);          /* which was checked */
    assert_int_equal(rig_proc("p")->sides[0], 1);
}

static void without_a_spec_anywhere_it_is_not_registered(void **state)
{
    static const int64_t ops[] = { PROC_OP_START,  PROC_OP_STOP,    PROC_OP_KILL,
                                   PROC_OP_RELOAD, PROC_OP_RESTART, PROC_OP_HOST };
    static const int64_t fine[] = { PROC_OP_QUERY, PROC_OP_UNHOST };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ops) + ARRAY_LEN(fine); i++) {
        bool is_fine = i >= ARRAY_LEN(ops);
        struct message_command m = rig_command(is_fine ? fine[i - ARRAY_LEN(ops)] : ops[i], "p");

        shape_defaults(&proc_spec_shape, &m.spec);
        rig_tell(&m);
        rig_settle();
        assert_int_equal(rig_code(m.item), is_fine ? CODE_OK : CODE_NOT_REGISTERED);
    }
    assert_int_equal(rig_proc("p")->runs, 0);
}

static void a_version_that_fails_is_none(void **state)
{
    const struct message_command m = command(PROC_OP_START);

    (void)state;
    rig_proc("p")->version = "usage: d [-h]";
    rig_proc("p")->version_status = 2;
    start(&m);
    assert_int_equal(rig_proc("p")->sides[0], 1);
    assert_string_equal(rig_proc("p")->view.version, "");
}

static void a_long_version_is_cut_at_a_whole_character(void **state)
{
    const struct message_command m = command(PROC_OP_START);
    static char text[4000];

    (void)state;
    for (size_t i = 0; i < 1200; i += 3)
        memcpy(text + i, "\xe7\x89\x88", 3);
    rig_proc("p")->version = text;
    start(&m);
    assert_int_equal(strlen(rig_proc("p")->view.version), 1023);
}

static void after_a_crash_of_ours_the_version_is_asked_again(void **state)
{
    const struct message_command m = command(PROC_OP_START);

    (void)state;
    rig_proc("p")->version = "v1";
    start(&m);
    rig_crash(true);
    rig_settle();
    assert_int_equal(rig_proc("p")->sides[0], 2);
    assert_string_equal(rig_proc("p")->view.version, "v1");
}

static void a_query_asks_both_and_then_answers(void **state)
{
    const struct message_command m = command(PROC_OP_START);
    const struct rig_result *r;

    (void)state;
    rig_proc("p")->version = "v1";
    rig_proc("p")->health = "3 clients\n";
    start(&m);
    r = ask();
    assert_int_equal(rig_proc("p")->sides[0], 2);
    assert_string_equal(r->version, "v1");
    assert_string_equal(r->health, "3 clients");
    assert_true(r->pid > 1);
}

static void a_query_without_commands_asks_nothing(void **state)
{
    int64_t item = rig_operate(PROC_OP_QUERY, "p");

    (void)state;
    rig_settle();
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(rig_proc("p")->sides[0] + rig_proc("p")->sides[1], 0);
}

/* It hangs; its process dies meanwhile and is pulled up all the same. */
static void a_query_that_waits_holds_up_no_pull_up(void **state)
{
    struct message_command m = command(PROC_OP_START);

    (void)state;
    m.spec.extra.health_interval_s = 0;
    start(&m);
    rig_proc("p")->side_hangs = true;
    m = command(PROC_OP_QUERY);
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_die(rig_proc("p"), 1);
    rig_settle();
    assert_true(rig_proc("p")->pid > 0);
    rig_pass(12000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
}

static void a_query_past_its_deadline_answers_with_what_there_is(void **state)
{
    struct message_command m = command(PROC_OP_QUERY);

    (void)state;
    m.deadline_ms = rig.now_ms + 3000;
    rig_proc("p")->side_hangs = true;
    rig_tell(&m);
    rig_pass(2500);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_pass(1000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    rig_pass(20000);
}

/* ---- health */

static void health_is_looked_at_every_interval_while_hosted(void **state)
{
    const struct message_command m = command(PROC_OP_START);

    (void)state;
    start(&m);
    assert_int_equal(rig_proc("p")->sides[1], 0);
    rig_pass(35000);
    assert_int_equal(rig_proc("p")->sides[1], 3);
    rig_operate(PROC_OP_UNHOST, "p");
    rig_pass(30000);
    assert_int_equal(rig_proc("p")->sides[1], 3);
}

static void what_is_down_is_not_asked_for_its_health(void **state)
{
    struct message_command m = command(PROC_OP_START);

    (void)state;
    m.spec.policy.start_interval_s = 3600;
    m.spec.policy.has_interval = m.spec.has_policy = PRESENCE_GIVEN;
    start(&m);
    rig_proc("p")->status = 1;
    rig_die(rig_proc("p"), 1);
    rig_pass(60000);
    assert_int_equal(rig_proc("p")->sides[1], 0);
}

static void it_is_told_once_when_it_turns_unhealthy_and_once_when_it_is_well(void **state)
{
    const struct message_command m = command(PROC_OP_START);

    (void)state;
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_proc("p")->health = "no database";
    rig_pass(60000);
    assert_int_equal(rig_count_events("process_unhealthy"), 1);
    assert_true(rig_cause("p")->unhealthy_s > 0);
    assert_string_equal(rig_proc("p")->view.health, "no database");
    assert_int_equal(rig_proc("p")->runs, 1); /* nothing was done about it */
    rig_proc("p")->health_status = 0;
    rig_pass(60000);
    assert_int_equal(rig_count_events("process_healthy"), 1);
    assert_int_equal(rig_cause("p")->unhealthy_s, 0);
    assert_int_equal(rig_count_events("process_unhealthy"), 1);
}

static void that_it_is_unhealthy_survives_us(void **state)
{
    const struct message_command m = command(PROC_OP_START);

    (void)state;
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_pass(11000);
    rig_crash(true);
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_unhealthy"), 1); /* it has been told */
    rig_proc("p")->health_status = 0;
    rig_pass(11000);
    assert_int_equal(rig_count_events("process_healthy"), 1);
}

static void one_that_hangs_is_unhealthy(void **state)
{
    const struct message_command m = command(PROC_OP_START);

    (void)state;
    start(&m);
    rig_proc("p")->side_hangs = true;
    rig_pass(22000);
    assert_int_equal(rig_count_events("process_unhealthy"), 1);
    assert_string_equal(rig_proc("p")->view.health, "took longer than 10 s and was ended");
}

static void it_may_not_take_longer_than_op_timeout(void **state)
{
    struct message_command m = command(PROC_OP_START);

    (void)state;
    m.spec.policy.op_timeout_s = 3;
    m.spec.policy.has_timeout = m.spec.has_policy = PRESENCE_GIVEN;
    start(&m);
    rig_proc("p")->side_hangs = true;
    rig_pass(14000);
    assert_int_equal(rig_count_events("process_unhealthy"), 1);
}

static struct message_command restarted(int64_t after)
{
    struct message_command m = command(PROC_OP_START);

    m.spec.extra.unhealthy_restarts = after;
    return m;
}

static void after_so_many_failures_it_is_restarted(void **state)
{
    const struct message_command m = restarted(3);
    int64_t pid;

    (void)state;
    start(&m);
    pid = rig_proc("p")->pid;
    rig_proc("p")->health_status = 1;
    rig_pass(24000);
    rig_proc("p")->health_status = 0; /* that was only a while */
    rig_pass(10000);
    rig_proc("p")->health_status = 1;
    rig_pass(20000);
    assert_int_equal(rig_proc("p")->pid, pid);
    rig_pass(10000); /* the third in a row; SIGTERM, then start_cmd */
    assert_true(rig_proc("p")->pid > 0 && rig_proc("p")->pid != pid);
    rig_proc("p")->health_status = 0;
    rig_pass(10000);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
    assert_int_equal(rig_proc("p")->view.restarts, 1);
    assert_true(rig_proc("p")->view.hosted);
    assert_int_equal(rig_cause("p")->unhealthy_s, 0);
}

static void a_restart_command_is_used_for_that(void **state)
{
    struct message_command m = restarted(1);

    (void)state;
    m.spec.control.restart_cmd = "restart";
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_pass(10000);
    assert_int_equal(rig_proc("p")->signals, 0);
    assert_int_equal(rig_proc("p")->runs, 2);
}

static void restarts_for_its_health_end_some_day(void **state)
{
    struct message_command m = restarted(1);

    (void)state;
    m.spec.policy.start_retries = 2;
    m.spec.policy.has_retries = m.spec.has_policy = PRESENCE_GIVEN;
    m.spec.extra.health_interval_s = 400; /* longer than what forgives */
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_pass(3000 * 1000);
    assert_int_equal(rig_proc("p")->runs, 3);
    assert_int_equal(rig_count_events("process_unhealthy"), 4); /* each life, and the last word */
    assert_true(rig_proc("p")->view.hosted && rig_proc("p")->pid > 0);
    assert_int_equal(rig_count_events("process_cancel_restart"), 0);
}

static void one_that_was_well_again_has_its_tries_back(void **state)
{
    struct message_command m = restarted(1);

    (void)state;
    m.spec.policy.start_retries = 1;
    m.spec.policy.has_retries = m.spec.has_policy = PRESENCE_GIVEN;
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_pass(10000);
    rig_proc("p")->health_status = 0;
    rig_pass(400 * 1000);
    rig_proc("p")->health_status = 1;
    rig_pass(11000);
    assert_int_equal(rig_proc("p")->runs, 3);
}

static void a_restart_for_its_health_that_fails_is_told(void **state)
{
    const struct message_command m = restarted(1);

    (void)state;
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_proc("p")->status = 7;
    while (!rig_count_events("process_restart_failed"))
        rig_pass(RIG_STEP_MS);
    assert_string_equal(rig.event, "check p unhealthy, and restart it failed: Script exit code "
                                   "non-zero. Error msessage: []");
    assert_int_equal(rig_proc("p")->pid, 0); /* stopped, and not started */
    rig_proc("p")->status = 0;
    rig_pass(1000); /* the restart rule starts it */
    assert_true(rig_proc("p")->pid > 0);
}

/* All slots for what goes first are taken, by the start of another. */
static void take_the_slots(void)
{
    struct message_command m = rig_command(PROC_OP_START, "other");

    core_set_at_once(rig.core, 1);
    start(&m);
    rig_proc("other")->hangs = true;
    rig_die(rig_proc("other"), 1);
    rig_settle();
    assert_int_equal(rig_proc("other")->runs, 2);
}

static void one_whose_restart_waits_is_restarted_once(void **state)
{
    const struct message_command m = restarted(1);

    (void)state;
    start(&m);
    take_the_slots();
    rig_proc("p")->health_status = 1;
    rig_pass(45 * 1000); /* unhealthy four times over */
    assert_int_equal(rig_proc("p")->runs, 1);
    rig_proc("p")->health_status = 0;
    rig_pass(120 * 1000);
    assert_int_equal(rig_proc("p")->runs, 2);
    assert_true(rig_proc("p")->pid > 0);
}

static void what_can_not_be_asked_is_no_reason_to_restart_it(void **state)
{
    const struct message_command m = restarted(1);
    int64_t pid;

    (void)state;
    start(&m);
    pid = rig_proc("p")->pid;
    err_set(&rig_proc("p")->failure, CODE_SYSTEM, "no more files can be opened");
    rig_pass(45 * 1000);
    assert_true(rig_proc("p")->sides[1] > 2);
    assert_int_equal(rig_count_events("process_unhealthy"), 0);
    assert_int_equal(rig_proc("p")->pid, pid);
    assert_string_equal(ask()->health, "no more files can be opened");
}

static void nor_is_that_nobody_answers_whether_it_was(void **state)
{
    const struct message_command m = restarted(1);
    int64_t pid;

    (void)state;
    start(&m);
    pid = rig_proc("p")->pid;
    rig.is_blind = true; /* its user is being looked up, say */
    rig_pass(45 * 1000);
    rig.is_blind = false;
    rig_pass(15 * 1000);
    assert_int_equal(rig_count_events("process_unhealthy"), 0);
    assert_int_equal(rig_proc("p")->pid, pid);
}

static void a_crash_of_ours_while_it_is_stopped_for_that_starts_it_then(void **state)
{
    struct message_command m = restarted(1);

    (void)state;
    m.spec.control.stop_cmd = "stop";
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_proc("p")->hangs = true;
    rig_pass(10000);
    assert_int_equal(rig_proc("p")->runs, 2);
    rig_crash(true);
    rig_pass(8000);
    assert_int_equal(rig_count_events("process_restart_success"), 0); /* it still stops */
    assert_int_equal(rig_proc("p")->runs, 2);
    rig_proc("p")->hangs = false;
    rig_proc("p")->health_status = 0;
    rig_die(rig_proc("p"), 0);
    rig_end(rig_proc("p"), 0);
    rig_pass(8000);
    assert_int_equal(rig_proc("p")->runs, 3);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
    assert_int_equal(rig_proc("p")->view.restarts, 1);
    assert_true(rig_proc("p")->pid > 0);
}

static void a_crash_of_ours_in_the_middle_of_it_starts_it_once(void **state)
{
    struct message_command m = restarted(1);

    (void)state;
    m.spec.control.restart_cmd = "restart";
    start(&m);
    rig_proc("p")->health_status = 1;
    rig_proc("p")->hangs = true;
    rig_pass(10000);
    assert_int_equal(rig_proc("p")->runs, 2);
    rig_crash(true);
    rig_settle();
    rig_proc("p")->health_status = 0;
    rig_do(rig_proc("p"), "restart");
    rig_end(rig_proc("p"), 0);
    rig_pass(7000);
    assert_int_equal(rig_proc("p")->runs, 2);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(the_version_is_asked_after_a_start),
        RIG_TEST(a_version_that_fails_is_none),
        RIG_TEST(a_look_runs_no_command),
        RIG_TEST(an_identity_that_is_not_checked_is_only_looked_for),
        RIG_TEST(of_what_does_not_fit_it_tells_nothing),
        RIG_TEST(the_agents_own_spec_comes_before_an_identity_that_is_not_checked),
        RIG_TEST(without_a_spec_anywhere_it_is_not_registered),
        RIG_TEST(a_long_version_is_cut_at_a_whole_character),
        RIG_TEST(after_a_crash_of_ours_the_version_is_asked_again),
        RIG_TEST(a_query_asks_both_and_then_answers),
        RIG_TEST(a_query_without_commands_asks_nothing),
        RIG_TEST(a_query_that_waits_holds_up_no_pull_up),
        RIG_TEST(a_query_past_its_deadline_answers_with_what_there_is),
        RIG_TEST(health_is_looked_at_every_interval_while_hosted),
        RIG_TEST(what_is_down_is_not_asked_for_its_health),
        RIG_TEST(it_is_told_once_when_it_turns_unhealthy_and_once_when_it_is_well),
        RIG_TEST(that_it_is_unhealthy_survives_us),
        RIG_TEST(one_that_hangs_is_unhealthy),
        RIG_TEST(it_may_not_take_longer_than_op_timeout),
        RIG_TEST(after_so_many_failures_it_is_restarted),
        RIG_TEST(a_restart_command_is_used_for_that),
        RIG_TEST(restarts_for_its_health_end_some_day),
        RIG_TEST(one_that_was_well_again_has_its_tries_back),
        RIG_TEST(a_restart_for_its_health_that_fails_is_told),
        RIG_TEST(one_whose_restart_waits_is_restarted_once),
        RIG_TEST(what_can_not_be_asked_is_no_reason_to_restart_it),
        RIG_TEST(nor_is_that_nobody_answers_whether_it_was),
        RIG_TEST(a_crash_of_ours_while_it_is_stopped_for_that_starts_it_then),
        RIG_TEST(a_crash_of_ours_in_the_middle_of_it_starts_it_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
