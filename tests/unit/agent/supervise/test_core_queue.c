/* SPDX-License-Identifier: MIT */
/* How many operations act at the same time, and which is next. */
#include "tests/lib/core_rig.h"

/* p0 to pn-1, whose commands take as long as the test wants. */
static void start_slow(int n, int64_t items[])
{
    char name[16];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        rig_proc(name)->hangs = true;
        items[i] = rig_operate(PROC_OP_START, name);
    }
    rig_settle();
}

static void let_end(const char *name)
{
    struct rig_proc *p = rig_proc(name);

    p->hangs = false;
    rig_come_up(p, ++rig.next_pid);
    rig_end(p, 0);
    rig_settle();
}

static void no_more_than_so_many_act_and_the_others_keep_their_order(void **state)
{
    int64_t items[10];
    char name[16];

    (void)state;
    core_set_at_once(rig.core, 3);
    start_slow(10, items);
    assert_int_equal(rig_running(), 3);
    assert_int_equal(core_in_work(rig.core), 3);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        assert_string_equal(rig.order[i], name);
        let_end(name);
        assert_true(rig_running() <= 3);
    }
    rig_pass(6000);
    for (int i = 0; i < 10; i++)
        assert_int_equal(rig_code(items[i]), CODE_OK);
    assert_int_equal(core_in_work(rig.core), 0);
}

static void without_being_told_a_hundred_act(void **state)
{
    enum { N = 60 };
    int64_t items[N];

    (void)state;
    start_slow(N, items);
    assert_int_equal(rig_running(), N);
}

static void who_waits_for_a_check_holds_up_nobody(void **state)
{
    (void)state;
    core_set_at_once(rig.core, 1);
    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof(name), "p%d", i);
        rig_operate(PROC_OP_START, name); /* a daemon: its command ends at once */
    }
    rig_settle();
    assert_int_equal(rig.n_order, 20); /* and no time has passed */
    assert_int_equal(rig.n_results, 0);
}

static void a_command_that_is_the_process_holds_up_nobody(void **state)
{
    char name[16];

    (void)state;
    core_set_at_once(rig.core, 1);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        rig_proc(name)->is_foreground = true;
        rig_operate(PROC_OP_START, name);
    }
    rig_settle();
    assert_int_equal(rig.n_order, 20);
    rig_pass(6000);
    assert_int_equal(rig.n_results, 20);
    assert_int_equal(rig.results[19].code, CODE_OK);
}

/* Its name did not tell, but a peek did. */
static void a_command_that_is_recognised_later_holds_up_nobody_from_then_on(void **state)
{
    int64_t items[2];

    (void)state;
    core_set_at_once(rig.core, 1);
    start_slow(2, items);
    assert_int_equal(rig.n_order, 1);
    rig_come_up(rig_proc("p0"), rig_proc("p0")->run_pid);
    rig_pass(1500);
    assert_int_equal(rig.n_order, 2);
    assert_int_equal(rig_code(items[0]), CODE_WAITING);
}

static void who_waits_for_a_signals_effect_holds_up_nobody(void **state)
{
    struct message_command stop = rig_command(PROC_OP_STOP, "p0");
    int64_t item;

    (void)state;
    core_set_at_once(rig.core, 1);
    rig_come_up(rig_proc("p0"), 900);
    rig_proc("p0")->ignores_term = true;
    rig_tell(&stop);
    rig_settle();
    assert_int_equal(rig_proc("p0")->signals, 1);
    item = rig_operate(PROC_OP_START, "p1");
    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(rig_code(stop.item), CODE_WAITING);
}

/* A probe, or a start, that a user makes hang. */
static void what_takes_long_holds_no_slot(void **state)
{
    int64_t items[4];

    (void)state;
    core_set_at_once(rig.core, 2);
    start_slow(4, items);
    assert_int_equal(rig_running(), 2);
    core_on_slow(rig.core, rig_proc("p0")->run, rig.now_ms);
    rig_settle();
    assert_int_equal(rig_running(), 3);
    core_on_slow(rig.core, rig_proc("p1")->run, rig.now_ms);
    core_on_slow(rig.core, rig_proc("p1")->run, rig.now_ms); /* twice is no harm */
    rig_settle();
    assert_int_equal(rig_running(), 4);
    assert_null(core_find_fault(rig.core));
    let_end("p0"); /* it goes on */
    rig_pass(6000);
    assert_int_equal(rig_code(items[0]), CODE_OK);
}

static void a_question_waits_for_no_command(void **state)
{
    int64_t items[3], query;

    (void)state;
    core_set_at_once(rig.core, 1);
    start_slow(3, items);
    query = rig_operate(PROC_OP_QUERY, "p9");
    rig_settle();
    assert_int_equal(rig_code(query), CODE_OK);
}

static void a_deadline_that_passes_in_the_queue_is_not_waited_for_longer(void **state)
{
    int64_t items[2];
    struct message_command late, behind;

    (void)state;
    core_set_at_once(rig.core, 1);
    start_slow(2, items);
    late = rig_command(PROC_OP_START, "q");
    late.deadline_ms = rig.now_ms + 2000;
    rig_tell(&late);
    behind = rig_command(PROC_OP_RELOAD, "p0"); /* p0's start is in work */
    behind.deadline_ms = rig.now_ms + 3000;
    rig_tell(&behind);
    rig_pass(1900);
    assert_int_equal(rig_code(late.item), CODE_WAITING);
    rig_pass(200);
    assert_int_equal(rig_code(late.item), CODE_TIMEOUT);
    assert_int_equal(rig_code(behind.item), CODE_WAITING);
    rig_pass(1000);
    assert_int_equal(rig_code(behind.item), CODE_TIMEOUT);
    assert_string_equal(rig_result(behind.item)->text,
                        "not begun: its deadline passed while it waited");
    assert_int_equal(rig_proc("q")->runs, 0);
    let_end("p0");
    assert_int_equal(rig_proc("p1")->runs, 1); /* the others go on */
}

static void host_one(const char *name)
{
    int64_t item = rig_operate(PROC_OP_START, name);

    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
}

static void a_restart_of_ours_waits_for_no_command_that_hangs(void **state)
{
    int64_t items[8];

    (void)state;
    host_one("hosted");
    core_set_at_once(rig.core, 2);
    start_slow(8, items);
    assert_int_equal(rig_running(), 2);
    rig_die(rig_proc("hosted"), 1);
    rig_settle();
    assert_int_equal(rig_proc("hosted")->runs, 2);
    assert_true(rig_proc("hosted")->pid > 0);
}

/* However many restarts there are: a requested operation gets its turn, too. */
static void others_are_not_starved_by_restarts(void **state)
{
    enum { N = 40 };
    char name[16];
    int64_t item;

    (void)state;
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "h%d", i);
        rig_operate(PROC_OP_START, name);
    }
    rig_pass(6000);
    core_set_at_once(rig.core, 1);
    rig.n_order = 0;
    rig.is_blind = true; /* all are in the queue before the first probe */
    item = rig_operate(PROC_OP_START, "asked");
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "h%d", i);
        rig_die(rig_proc(name), 1);
    }
    rig.is_blind = false;
    rig_settle();
    assert_int_equal(rig.n_order, N + 1);
    for (size_t i = 0; i < rig.n_order; i++) {
        if (!strcmp(rig.order[i], "asked") && (i == 0 || i > 16))
            fail_msg("it was number %zu", i);
    }
    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
}

/* A process that dies while an operation on it waits is pulled up; the operation keeps its
 * place and is carried out afterwards. */
static void hosting_goes_on_while_an_operation_waits_for_its_turn(void **state)
{
    int64_t items[2];
    struct message_command reload;

    (void)state;
    host_one("hosted");
    core_set_at_once(rig.core, 1);
    start_slow(2, items);
    reload = rig_command(PROC_OP_RELOAD, "hosted");
    reload.spec.control.reload_cmd = "reload";
    rig_tell(&reload);
    rig_settle();
    rig_die(rig_proc("hosted"), 1);
    rig_settle();
    assert_int_equal(rig_proc("hosted")->runs, 2);
    rig_pass(6000); /* the check */
    assert_int_equal(rig_code(reload.item), CODE_WAITING);
    let_end("p0");
    let_end("p1");
    rig_pass(2000);
    assert_int_equal(rig_code(reload.item), CODE_OK);
    assert_int_equal(rig_proc("hosted")->runs, 3);
}

/* The stop's half gave its slot back; the start's is begun before what came later. */
static void the_second_half_of_a_restart_comes_before_others(void **state)
{
    struct message_command restart = rig_command(PROC_OP_RESTART, "p");
    int64_t items[3];

    (void)state;
    rig_come_up(rig_proc("p"), 900);
    rig_proc("p")->ignores_term = true;
    core_set_at_once(rig.core, 1);
    rig_tell(&restart);
    rig_settle();
    start_slow(3, items);
    assert_int_equal(rig.n_order, 1);
    rig_die(rig_proc("p"), 0);
    rig_settle();
    assert_string_equal(rig.order[1], "p");
    rig_pass(6000);
    assert_int_equal(rig_code(restart.item), CODE_OK);
}

/* One that ends at once gives its slot to the next, and so on: no matter how many. */
static void a_thousand_that_end_at_once_are_no_trouble(void **state)
{
    int64_t first;

    (void)state;
    core_set_at_once(rig.core, 1);
    rig_proc("slow")->hangs = true;
    rig_operate(PROC_OP_START, "slow");
    rig_settle();
    first = rig.next_item + 1;
    for (int i = 0; i < 900; i++) {
        char name[16];
        struct message_command m;

        snprintf(name, sizeof(name), "p%d", i % 60);
        m = rig_command(PROC_OP_KILL, name);
        m.deadline_ms = rig.now_ms + 1000;
        rig_tell(&m);
        if (i % 60 == 59)
            rig_settle();
    }
    rig_pass(1100);
    for (int i = 0; i < 900; i++)
        assert_int_equal(rig_code(first + i), CODE_TIMEOUT);
}

/* An operation and its texts have a place of one size; a sanitizer sees what is written behind
 * it. */
static void texts_that_do_not_fit_into_the_place_of_an_operation_have_their_own(void **state)
{
    enum { STEP = 64, MOST = 6000 };
    char text[MOST + 1];

    (void)state;
    for (size_t n = STEP; n <= MOST; n += STEP) {
        struct message_command m = rig_command(PROC_OP_QUERY, "p");

        memset(text, 'x', n);
        text[n] = '\0';
        m.spec.control.start_cmd = text;
        rig_tell(&m);
        rig_settle();
        assert_int_equal(rig_code(m.item), CODE_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(no_more_than_so_many_act_and_the_others_keep_their_order),
        RIG_TEST(without_being_told_a_hundred_act),
        RIG_TEST(who_waits_for_a_check_holds_up_nobody),
        RIG_TEST(a_command_that_is_the_process_holds_up_nobody),
        RIG_TEST(a_command_that_is_recognised_later_holds_up_nobody_from_then_on),
        RIG_TEST(who_waits_for_a_signals_effect_holds_up_nobody),
        RIG_TEST(what_takes_long_holds_no_slot),
        RIG_TEST(a_question_waits_for_no_command),
        RIG_TEST(a_deadline_that_passes_in_the_queue_is_not_waited_for_longer),
        RIG_TEST(a_restart_of_ours_waits_for_no_command_that_hangs),
        RIG_TEST(others_are_not_starved_by_restarts),
        RIG_TEST(hosting_goes_on_while_an_operation_waits_for_its_turn),
        RIG_TEST(the_second_half_of_a_restart_comes_before_others),
        RIG_TEST(texts_that_do_not_fit_into_the_place_of_an_operation_have_their_own),
        RIG_TEST(a_thousand_that_end_at_once_are_no_trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
