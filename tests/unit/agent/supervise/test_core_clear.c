/* SPDX-License-Identifier: MIT */
/* What is left of the family of a process is ended before it is started again, and after it was
 * stopped. */
#include "tests/lib/core_rig.h"

static struct rig_proc *start(const char *stop_cmd, int64_t stop_wait_s)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    m.spec.control.stop_cmd = stop_cmd;
    m.spec.extra.stop_wait_s = stop_wait_s;
    rig_tell(&m);
    rig_pass(7000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    return rig_proc("p");
}

static void left_workers_end_before_the_restart(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    p->left = 2;
    rig_die(p, CORE_SIGNALED + SIGKILL);
    rig_pass(300);
    assert_int_equal(p->left, 0);
    assert_int_equal(p->left_signals[SIGTERM], 1);
    assert_int_equal(p->left_signals[SIGKILL], 0);
    assert_int_equal(p->runs, 2);
    assert_int_equal(rig_count_events("process_left"), 0);
}

static void where_nobody_is_left_nobody_is_looked_for(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    rig_die(p, CORE_SIGNALED + SIGKILL);
    rig_settle();
    assert_int_equal(p->runs, 2);
    assert_int_equal(p->looks, 0);
}

static void what_ignores_the_stop_signal_is_killed(void **state)
{
    static const struct {
        int64_t stop_wait_s, after_ms;
    } rows[] = { { 0, 5000 }, { 2, 2000 }, { 60, 5000 } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig_proc *p;

        rig_set_up(state);
        p = start("", rows[i].stop_wait_s);
        p->left = 1;
        p->left_ignores_term = true;
        rig_die(p, 1);
        rig_pass(rows[i].after_ms - 300);
        assert_int_equal(p->left_signals[SIGKILL], 0);
        assert_int_equal(p->runs, 1);
        rig_pass(900);
        assert_true(p->left_signals[SIGKILL] > 0);
        assert_int_equal(p->runs, 2);
        rig_tear_down(state);
    }
}

/* A start that fails may fail because of an orphan that nothing ties to the process. */
static void what_may_be_in_the_way_is_named_once_when_a_start_fails(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    p->left_others = "postgres (77)";
    p->status = 1;
    rig_die(p, CORE_SIGNALED + SIGKILL);
    rig_settle();
    assert_int_equal(p->runs, 2);
    assert_int_equal(p->looks, 0); /* no search before the first start */
    rig_pass(60 * 1000);
    assert_true(p->runs > 4);
    assert_int_equal(p->looks, p->runs - 2);
    assert_int_equal(rig_count_events("process_left"), 1);
    p->left_others = "postgres (78)";
    rig_pass(120 * 1000);
    assert_int_equal(rig_count_events("process_left"), 2);
    assert_int_equal(p->left_signals[SIGTERM] + p->left_signals[SIGKILL], 0);
}

/* It is named, and does not keep the process down for ever. */
static void what_can_not_be_ended_is_named(void **state)
{
    struct rig_proc *p = start("", 1);

    (void)state;
    p->left = 1;
    p->left_is_immortal = true;
    rig_die(p, 1);
    rig_pass(8000);
    assert_int_equal(p->runs, 2);
    assert_true(rig_count_events("process_left") == 1);
    rig_pass(10000);
    assert_int_equal(p->view.status, PROC_RUNNING);
}

/* nginx by SIGUSR2, haproxy -sf: the successor is in the pid file. */
static void a_successor_in_the_pid_file_is_adopted_and_nobody_is_ended(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    p->left = 1;
    p->left_may_be_main = true;
    rig_die(p, 0);
    p->elsewhere = "there is no pid file yet";
    rig_pass(500);
    p->elsewhere = NULL;
    rig_come_up(p, 4711);
    p->has_pid_file = true;
    rig_pass(500);
    assert_int_equal(p->left_signals[SIGTERM], 0);
    assert_int_equal(p->runs, 1);
    assert_int_equal(p->view.pid, 4711);
    assert_int_equal(rig_count_events("process_main_changed"), 1);
}

static void a_successor_is_awaited_for_a_second_only(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    p->left = 1;
    p->left_may_be_main = true;
    rig_die(p, 0);
    rig_pass(900);
    assert_int_equal(p->left_signals[SIGTERM], 0);
    rig_pass(900);
    assert_int_equal(p->left_signals[SIGTERM], 1);
    assert_int_equal(p->runs, 2);
}

/* A wrapper with a loop: it starts the next one itself. */
static void a_start_command_that_lives_may_bring_the_next_one(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    p->left = 1;
    p->start_lives = true;
    rig_die(p, 1);
    rig_pass(600);
    assert_int_equal(p->runs, 1);
    assert_int_equal(p->left_signals[SIGTERM], 0);
    rig_pass(5000); /* start_check_secs */
    assert_int_equal(p->left_signals[SIGTERM], 1);
    assert_int_equal(p->runs, 2);
}

static void a_stop_ends_what_is_left(void **state)
{
    struct rig_proc *p = start("", 0);
    int64_t item;

    (void)state;
    p->left = 3;
    item = rig_operate(PROC_OP_STOP, "p");
    rig_pass(300);
    assert_int_equal(p->left, 0);
    assert_int_equal(p->left_signals[SIGTERM], 1);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_string_equal(rig_result(item)->text, "success");
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
}

static void a_kill_ends_it_at_once(void **state)
{
    struct rig_proc *p = start("", 0);
    int64_t item;

    (void)state;
    p->left = 3;
    p->left_ignores_term = true;
    item = rig_operate(PROC_OP_KILL, "p");
    rig_pass(300);
    assert_int_equal(p->left, 0);
    assert_int_equal(p->left_signals[SIGTERM], 0);
    assert_int_equal(rig_code(item), CODE_OK);
}

/* Sessions of sshd live on. */
static void a_kill_with_the_scope_of_the_process_ends_nobody_else(void **state)
{
    static const int64_t scopes[] = { SCOPE_DEFAULT, SCOPE_FAMILY, SCOPE_PROCESS };

    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        struct message_command m;
        struct rig_proc *p;

        rig_set_up(state);
        p = start("", 0);
        m = rig_command(PROC_OP_KILL, "p");
        m.spec.extra.scope = scopes[i];
        rig_tell(&m);
        rig_pass(300);
        assert_int_equal(rig_code(m.item), CODE_OK);
        assert_int_equal(p->tree_kills, scopes[i] != SCOPE_PROCESS);
        rig_tear_down(state);
    }
}

/* The stop command is to know what it ends. */
static void what_a_stop_command_leaves_is_named_and_lives(void **state)
{
    struct rig_proc *p = start("stop", 2);
    struct message_command m = rig_command(PROC_OP_STOP, "p");
    int64_t item = m.item;

    (void)state;
    m.spec.control.stop_cmd = "stop";
    m.spec.extra.stop_wait_s = 2;
    p->left = 1;
    rig_tell(&m);
    rig_pass(5000);
    assert_int_equal(p->left, 1);
    assert_int_equal(p->left_signals[SIGTERM] + p->left_signals[SIGKILL], 0);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_string_equal(rig_result(item)->text, "success; processes of it still run: worker (77)");
    assert_int_equal(rig_count_events("process_left"), 1);
    assert_string_equal(rig_cause("p")->left, "worker (77)");
}

static void a_stop_of_one_that_is_down_ends_what_it_left(void **state)
{
    struct rig_proc *p = start("", 0);
    int64_t item;

    (void)state;
    rig_operate(PROC_OP_UNHOST, "p");
    rig_settle();
    p->left = 1;
    rig_die(p, 1);
    rig_settle();
    assert_int_equal(p->left, 1); /* it is not hosted: left as it is */
    item = rig_operate(PROC_OP_STOP, "p");
    rig_pass(300);
    assert_int_equal(p->left, 0);
    assert_int_equal(rig_code(item), CODE_NOT_RUNNING);
}

static void a_restart_in_two_halves_clears_between_them(void **state)
{
    struct rig_proc *p = start("", 0);
    int64_t item;

    (void)state;
    p->left = 2;
    item = rig_operate(PROC_OP_RESTART, "p");
    rig_pass(7000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(p->left, 0);
    assert_int_equal(p->runs, 2);
    assert_int_equal(p->view.status, PROC_RUNNING);
}

static void doubtful_ones_are_named(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    p->left = 1;
    p->left_others = "stranger (78)";
    rig_die(p, 1);
    rig_pass(300);
    assert_int_equal(rig_count_events("process_left"), 1);
    assert_int_equal(p->runs, 2);
}

static void the_next_agent_goes_on_with_it(void **state)
{
    struct rig_proc *p = start("", 0);
    int64_t item;

    (void)state;
    p->left = 1;
    p->left_ignores_term = true;
    item = rig_operate(PROC_OP_STOP, "p");
    rig_pass(1000);
    assert_int_equal(p->left_signals[SIGTERM], 1);
    rig_crash(true);
    rig_pass(20 * 1000);
    assert_int_equal(p->left, 0);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(p->runs, 1);
}

static void a_failed_start_leaves_nothing_for_the_next_try(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");
    struct rig_proc *p = rig_proc("p");

    (void)state;
    p->is_idle = true;
    rig_tell(&m);
    rig_pass(1000);
    p->left = 1; /* its daemon has another name */
    rig_pass(7000);
    assert_int_equal(rig_code(m.item), CODE_CHECK);
    assert_int_equal(p->left, 1);
    m = rig_command(PROC_OP_START, "p");
    p->is_idle = false;
    rig_tell(&m);
    rig_pass(7000);
    assert_int_equal(p->left, 0);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

/* A managed user may block a thread that reads the memory of his processes. */
static void an_answer_that_does_not_come_ends_the_phase(void **state)
{
    struct rig_proc *p = start("", 0);
    int64_t item;

    (void)state;
    rig.is_family_silent = true;
    p->left = 1;
    item = rig_operate(PROC_OP_STOP, "p");
    rig_pass(9000);
    assert_int_equal(rig_code(item), CODE_WAITING);
    assert_int_equal(rig.family_drops, 0);
    rig_pass(2000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(rig.family_drops, 1); /* a late one must not end the next run */
    rig.is_family_silent = false;
    item = rig_operate(PROC_OP_STOP, "p"); /* what is left is not forgotten */
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_NOT_RUNNING);
    assert_int_equal(p->left, 0);
}

/* Its login session, or the script that started others, too, is not ours. */
static void one_that_was_started_by_hand_has_no_start_command(void **state)
{
    struct rig_proc *p = start("", 0);
    struct message_command m;

    (void)state;
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(1000);
    rig_come_up(p, 4711);
    m = rig_command(PROC_OP_START, "p");
    rig_tell(&m);
    rig_pass(1000);
    assert_int_equal(rig_code(m.item), CODE_RUNNING);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(1000);
    assert_int_equal(rig.family_main.pid, 4711);
    assert_int_equal(rig.family_start.pid, 0);
}

static void a_start_does_not_begin_after_its_deadline(void **state)
{
    struct rig_proc *p = start("", 0);
    struct message_command m;

    (void)state;
    rig_operate(PROC_OP_UNHOST, "p");
    rig_settle();
    p->left = 1;
    p->left_ignores_term = true;
    rig_die(p, 1);
    rig_settle();
    m = rig_command(PROC_OP_START, "p");
    m.deadline_ms = rig.now_ms + 2000;
    rig_tell(&m);
    rig_pass(20000);
    assert_int_equal(p->left, 0);
    assert_int_equal(p->runs, 1);
    assert_int_equal(rig_code(m.item), CODE_TIMEOUT);
}

/* It sleeps before its next turn. */
static void a_stop_between_two_turns_of_a_loop_ends_the_loop(void **state)
{
    struct message_command m = rig_command(PROC_OP_STOP, "p");
    struct rig_proc *p = start("stop", 0);

    (void)state;
    rig_operate(PROC_OP_UNHOST, "p");
    rig_settle();
    p->left = 1;
    p->start_lives = true;
    rig_die(p, 1);
    rig_settle();
    m.spec.control.stop_cmd = "stop";
    m.spec.extra.stop_wait_s = 2;
    rig_tell(&m);
    rig_pass(20000);
    assert_int_equal(rig_code(m.item), CODE_NOT_RUNNING);
    assert_true(rig.start_kills > 0);
}

/* The main process ended while no agent ran, and the new one can not be determined. */
static void what_can_not_be_told_is_not_tried_without_a_pause(void **state)
{
    struct rig_proc *p = start("", 0);
    size_t records;

    (void)state;
    p->is_unsure = true;
    p->pid = 0;
    rig_crash(true);
    core_on_exit(rig.core, (struct core_ident){ 1002, 1 }, CORE_STATUS_UNKNOWN, rig.now_ms);
    records = rig.n_records;
    rig_pass(5000);
    assert_true(rig.n_records - records < 60);
}

static void tell_siblings(const struct rig_proc *p, const char *siblings)
{
    core_on_siblings(rig.core, "space", p->name, (struct core_ident){ p->pid, 1 }, siblings,
                     rig.now_ms);
}

/* The agent ends before it has the answer. */
static void siblings_that_are_not_known_are_asked_for_again(void **state)
{
    static const bool lives[] = { true, false };

    for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
        struct rig_proc *p;

        rig_set_up(state);
        p = start("", 0);
        assert_int_equal(rig.sibling_asks, 1);
        p->start_lives = lives[i];
        rig_crash(true);
        rig_settle();
        assert_int_equal(rig.sibling_asks, lives[i] ? 2 : 1);
        tell_siblings(p, "17:1");
        p->start_lives = false;
        rig_crash(true);
        rig_settle();
        assert_int_equal(rig.sibling_asks, lives[i] ? 2 : 1);
        rig_die(p, 1);
        rig_settle(); /* an agent that has just started looks for the process first */
        assert_string_equal(rig.family_siblings, "17:1");
        rig_tear_down(state);
    }
}

static void where_siblings_were_never_recorded_all_are_family(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    rig_pass(60 * 1000);
    rig_die(p, 1);
    rig_settle();
    assert_string_equal(rig.family_siblings, "");
}

/* Its script has become a plain command. */
static void siblings_of_an_earlier_run_do_not_stay(void **state)
{
    struct rig_proc *p = start("", 0);

    (void)state;
    tell_siblings(p, "17:1");
    p->is_foreground = true;
    rig_die(p, 1);
    rig_pass(7000);
    assert_int_equal(rig.sibling_asks, 2);
    tell_siblings(p, "");
    rig_die(p, 1);
    assert_string_equal(rig.family_siblings, "");
    rig_pass(7000);
    assert_int_equal(rig.sibling_asks, 2); /* there is nothing to ask for any more */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_that_are_not_known_are_asked_for_again),
        RIG_TEST(where_siblings_were_never_recorded_all_are_family),
        RIG_TEST(siblings_of_an_earlier_run_do_not_stay),
        RIG_TEST(left_workers_end_before_the_restart),
        RIG_TEST(where_nobody_is_left_nobody_is_looked_for),
        cmocka_unit_test(what_ignores_the_stop_signal_is_killed),
        RIG_TEST(what_may_be_in_the_way_is_named_once_when_a_start_fails),
        RIG_TEST(what_can_not_be_ended_is_named),
        RIG_TEST(a_successor_in_the_pid_file_is_adopted_and_nobody_is_ended),
        RIG_TEST(a_successor_is_awaited_for_a_second_only),
        RIG_TEST(a_start_command_that_lives_may_bring_the_next_one),
        RIG_TEST(a_stop_ends_what_is_left),
        RIG_TEST(a_kill_ends_it_at_once),
        cmocka_unit_test(a_kill_with_the_scope_of_the_process_ends_nobody_else),
        RIG_TEST(what_a_stop_command_leaves_is_named_and_lives),
        RIG_TEST(a_stop_of_one_that_is_down_ends_what_it_left),
        RIG_TEST(a_restart_in_two_halves_clears_between_them),
        RIG_TEST(doubtful_ones_are_named),
        RIG_TEST(the_next_agent_goes_on_with_it),
        RIG_TEST(an_answer_that_does_not_come_ends_the_phase),
        RIG_TEST(one_that_was_started_by_hand_has_no_start_command),
        RIG_TEST(a_start_does_not_begin_after_its_deadline),
        RIG_TEST(a_stop_between_two_turns_of_a_loop_ends_the_loop),
        RIG_TEST(what_can_not_be_told_is_not_tried_without_a_pause),
        RIG_TEST(a_failed_start_leaves_nothing_for_the_next_try),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
