/* SPDX-License-Identifier: MIT */
/* Periodic processes: when they run, when not, and what is known of their runs. */
#include "base/os/time.h"
#include "tests/lib/core_rig.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

/* The rig's clocks begin on 2023-11-14 at 22:13:20 UTC. */
#define TO_23 (INT64_C(46) * MINUTE + 40 * SECOND)

static int64_t ask(int64_t op, const char *rule, int64_t cycle_s)
{
    struct message_command m = rig_command(op, "p");

    m.spec.has_policy = m.spec.policy.has_kind = PRESENCE_GIVEN;
    m.spec.policy.has_cron = m.spec.policy.has_cycle = PRESENCE_GIVEN;
    m.spec.policy.kind = PROC_PERIODIC;
    m.spec.policy.cron_rule = rule;
    m.spec.policy.cycle_s = cycle_s;
    rig_tell(&m);
    rig_settle();
    return m.item;
}

static void host(const char *rule, int64_t cycle_s)
{
    rig_proc("p")->is_idle = true; /* nothing runs afterwards */
    assert_int_equal(rig_code(ask(PROC_OP_HOST, rule, cycle_s)), CODE_OK);
}

static int runs(void)
{
    return rig_proc("p")->runs;
}

/* The n-th of the last runs; 0 is the newest. */
static const struct proc_run *run(size_t n)
{
    const struct list *list = &rig_cause("p")->runs;

    assert_true(n < list->n);
    return (const struct proc_run *)list->items + n;
}

/* Time passes in one step: nothing happened meanwhile. */
static void set_clock(int64_t mono_ms, int64_t wall_ms)
{
    rig.now_ms += mono_ms;
    rig.wall_ms += wall_ms;
    core_on_time(rig.core, rig.now_ms, rig.wall_ms);
    rig_settle();
    rig_pass(RIG_STEP_MS);
}

static int64_t next_in_ms(void)
{
    return rig_cause("p")->next_run_s * 1000 - rig.wall_ms;
}

/* ---- when it runs */

static void a_rule_runs_it_at_its_times_and_nothing_is_told_of_success(void **state)
{
    (void)state;
    host("0,30 * * * *", 1); /* the rule wins */
    assert_int_equal(runs(), 0);
    assert_int_equal(rig_cause("p")->next_run_s * 1000, rig.wall_ms + TO_23 - 30 * MINUTE);
    rig_pass(TO_23 - 30 * MINUTE - SECOND);
    assert_int_equal(runs(), 0);
    rig_pass(SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(30 * MINUTE);
    assert_int_equal(runs(), 2);
    rig_pass(2 * HOUR);
    assert_int_equal(runs(), 6);
    assert_int_equal(rig.n_events, 0);
    assert_true(rig_proc("p")->view.hosted);
    assert_true(rig_cause("p")->is_periodic);
    assert_int_equal(rig_cause("p")->runs.n, 6);
    assert_int_equal(run(0)->begun_s - run(1)->begun_s, 1800);
    assert_int_equal(run(0)->code, CODE_OK);
    assert_int_equal(run(0)->exit_code, 0);
}

static void a_cycle_runs_it_from_the_begin_of_the_run_before(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("", 10);
    p->hangs = true; /* each takes four seconds */
    rig_pass(9500);
    assert_int_equal(runs(), 0);
    for (int i = 1; i <= 5; i++) {
        rig_pass(SECOND);
        assert_int_equal(runs(), i);
        rig_pass(4 * SECOND);
        rig_end(p, 0);
        rig_pass(5 * SECOND);
        assert_int_equal(runs(), i);
    }
    assert_int_equal(run(0)->begun_s - run(4)->begun_s, 40);
    assert_in_range(run(0)->duration_ms, 4 * SECOND, 5 * SECOND);
}

static void without_a_schedule_it_is_run_only_when_asked(void **state)
{
    (void)state;
    host("", 0);
    rig_pass(DAY / 4);
    assert_int_equal(runs(), 0);
    assert_int_equal(rig_cause("p")->next_run_s, 0);
    assert_true(rig_proc("p")->view.hosted);
    assert_int_equal(rig_code(ask(PROC_OP_START, "", 0)), CODE_OK);
    assert_int_equal(runs(), 1);
    assert_int_equal(rig_cause("p")->runs.n, 1);
}

static void one_that_is_asked_for_runs_now_and_then_by_its_schedule(void **state)
{
    (void)state;
    rig_proc("p")->is_idle = true;
    assert_int_equal(rig_code(ask(PROC_OP_START, "", 100)), CODE_OK);
    assert_int_equal(runs(), 1);
    rig_pass(99 * SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(2 * SECOND);
    assert_int_equal(runs(), 2);
    rig_pass(50 * SECOND);
    ask(PROC_OP_START, "", 100); /* now the others are reckoned from this one */
    assert_int_equal(runs(), 3);
    rig_pass(99 * SECOND);
    assert_int_equal(runs(), 3);
    rig_pass(2 * SECOND);
    assert_int_equal(runs(), 4);
    assert_int_equal(rig_cause("p")->runs.n, 4);
}

static void one_that_was_asked_for_and_failed_is_not_hosted(void **state)
{
    (void)state;
    rig_proc("p")->status = 3;
    assert_int_equal(rig_code(ask(PROC_OP_START, "", 10)), CODE_COMMAND);
    rig_pass(MINUTE);
    assert_int_equal(runs(), 1);
    assert_false(rig_proc("p")->view.hosted);
    assert_int_equal(run(0)->exit_code, 3);
    assert_int_equal(run(0)->code, CODE_COMMAND);
}

static void unhosting_and_stopping_end_the_schedule(void **state)
{
    static const int64_t ops[] = { PROC_OP_UNHOST, PROC_OP_STOP, PROC_OP_KILL };

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        rig_set_up(state);
        host("", 10);
        rig_pass(25 * SECOND);
        assert_int_equal(runs(), 2);
        rig_operate(ops[i], "p");
        rig_pass(HOUR);
        assert_int_equal(runs(), 2);
        assert_int_equal(rig_cause("p")->next_run_s, 0);
        assert_int_equal(rig_cause("p")->runs.n, 2); /* they are still known */
        host("", 10);                                /* and begins anew, a cycle from now */
        assert_true(next_in_ms() > 9 * SECOND - 1000);
        rig_pass(11 * SECOND);
        assert_int_equal(runs(), 3);
        rig_tear_down(state);
    }
}

static void one_that_is_stopped_is_so_since_then(void **state)
{
    (void)state;
    host("", 60);
    rig_pass(DAY / 24);
    assert_true(runs() > 50);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(SECOND);
    assert_int_equal(rig_proc("p")->view.wanted, PROC_STOPPED);
    assert_true(rig.wall_ms / 1000 - rig_cause("p")->since_s <= 2);
    rig_pass(MINUTE);
    rig_operate(PROC_OP_STOP, "p"); /* and not since it was stopped again */
    rig_pass(SECOND);
    assert_true(rig.wall_ms / 1000 - rig_cause("p")->since_s > 60);
}

static void a_new_spec_replaces_the_schedule(void **state)
{
    (void)state;
    host("0 0 * * *", 0);
    assert_int_equal(next_in_ms(), TO_23 + HOUR);
    host("0 23 * * *", 0);
    assert_int_equal(next_in_ms(), TO_23);
    host("", 100);
    assert_true(next_in_ms() <= 100 * SECOND && next_in_ms() > 98 * SECOND);
    rig_pass(60 * SECOND);
    host("", 100); /* the same: it is not put off */
    assert_true(next_in_ms() <= 40 * SECOND);
    host("30 2 30 2,4 *", 0);
    assert_int_equal(runs(), 0);
    assert_int_equal(rig_cause("p")->next_run_s, 1714444200);
}

static void one_that_is_no_longer_periodic_is_forgotten_as_such(void **state)
{
    struct message_command m;

    (void)state;
    host("", 10);
    rig_pass(11 * SECOND);
    assert_int_equal(rig_cause("p")->runs.n, 1);
    m = rig_command(PROC_OP_HOST, "p");
    rig_proc("p")->is_idle = false;
    rig_tell(&m);
    rig_pass(HOUR);
    assert_int_equal(rig_cause("p")->runs.n, 0);
    assert_false(rig_cause("p")->is_periodic);
    assert_int_equal(runs(), 2); /* it was pulled up */
}

/* ---- never two at once */

static void a_run_that_takes_longer_than_its_cycle_is_never_joined_by_another(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("", 20);
    p->hangs = true;
    rig_pass(21 * SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(45 * SECOND); /* two were due meanwhile */
    assert_int_equal(runs(), 1);
    assert_int_equal(rig_running(), 1);
    rig_end(p, 0);
    rig_settle();
    assert_int_equal(runs(), 1);
    assert_int_equal(run(0)->code, CODE_OK);
    p->hangs = false;
    rig_pass(12 * SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(3 * SECOND);
    assert_int_equal(runs(), 2);
}

static void a_rare_run_is_left_out_too_while_one_is_in_work(void **state)
{
    struct rig_proc *p = rig_proc("p");
    struct message_command m = rig_command(PROC_OP_HOST, "p");

    (void)state;
    p->is_idle = p->hangs = true;
    m.spec.has_policy = m.spec.policy.has_kind = m.spec.policy.has_cron =
        m.spec.policy.has_timeout = PRESENCE_GIVEN;
    m.spec.policy.kind = PROC_PERIODIC;
    m.spec.policy.cron_rule = "@hourly";
    m.spec.policy.op_timeout_s = 3 * 3600;
    rig_tell(&m);
    rig_pass(TO_23 + SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(HOUR + 30 * MINUTE);
    p->hangs = false;
    rig_end(p, 0);
    rig_pass(10 * MINUTE);
    assert_int_equal(runs(), 1);
    rig_pass(20 * MINUTE);
    assert_int_equal(runs(), 2);
    assert_int_equal(run(1)->duration_ms / MINUTE, 90);
}

static void one_that_hangs_is_ended_in_time_and_told_of(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("", 600);
    p->hangs = true;
    rig_pass(601 * SECOND);
    assert_int_equal(rig_cause("p")->doing, PROC_OP_START);
    rig_pass(61 * SECOND);
    assert_int_equal(run(0)->code, CODE_TIMEOUT);
    assert_int_equal(run(0)->exit_signal, SIGKILL);
    assert_int_equal(rig_count_events("process_run_failed"), 1);
    assert_int_equal(rig_cause("p")->failed_code, CODE_TIMEOUT);
}

static void one_that_runs_for_itself_is_not_joined_by_another(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("", 10);
    p->pid = 777; /* started by another program */
    rig_pass(25 * SECOND);
    assert_int_equal(runs(), 0);
    assert_int_equal(rig_cause("p")->runs.n, 0);
    assert_int_equal(rig.n_events, 0);
    p->pid = 0;
    rig_pass(10 * SECOND);
    assert_int_equal(runs(), 1);
}

/* A command of ours may take its time; the run waits for it. */
static void a_run_that_is_due_during_an_operation_waits_for_it(void **state)
{
    struct rig_proc *p = rig_proc("p");
    struct message_command m;

    (void)state;
    host("0 23 * * *", 0);
    p->pid = 777;
    p->hangs = true;
    rig_pass(TO_23 - 2 * SECOND);
    m = rig_command(PROC_OP_RELOAD, "p");
    m.spec.control.reload_cmd = "reload";
    rig_tell(&m);
    rig_pass(10 * SECOND);
    assert_int_equal(runs(), 1); /* the reload */
    p->pid = 0;
    p->hangs = false;
    rig_end(p, 1);
    rig_pass(SECOND);
    assert_int_equal(runs(), 2);
    assert_int_equal(rig_cause("p")->runs.n, 1);
    assert_int_equal(rig_code(m.item), CODE_COMMAND);
    rig_pass(HOUR);
    assert_int_equal(runs(), 2);
}

/* Those that hang hold up no hosting. */
static void runs_do_not_go_before_what_is_asked_for(void **state)
{
    (void)state;
    core_set_at_once(rig.core, 1);
    host("", 10);
    rig_proc("p")->hangs = true;
    rig_pass(11 * SECOND);
    assert_int_equal(rig_running(), 1);
    rig_operate(PROC_OP_START, "q"); /* there is one slot, and the run has it */
    rig_pass(SECOND);
    assert_int_equal(rig_proc("q")->runs, 0);
    rig_end(rig_proc("p"), 0);
    rig_pass(SECOND);
    assert_int_equal(rig_proc("q")->runs, 1);
}

/* ---- missed */

static void of_rare_runs_that_were_missed_one_is_made_up_for(void **state)
{
    static const bool same_boot[] = { true, false };

    for (size_t i = 0; i < ARRAY_LEN(same_boot); i++) {
        rig_set_up(state);
        host("0 3 * * *", 0);
        rig.now_ms += 2 * DAY;
        rig.wall_ms += 2 * DAY;
        rig_crash(same_boot[i]);
        rig_pass(SECOND);
        assert_int_equal(runs(), 1);
        rig_pass(HOUR);
        assert_int_equal(runs(), 1);
        assert_int_equal(next_in_ms() / HOUR, 3);
        rig_tear_down(state);
    }
}

static void of_frequent_runs_that_were_missed_none_is(void **state)
{
    (void)state;
    host("*/20 * * * *", 0);
    rig.now_ms += DAY;
    rig.wall_ms += DAY;
    rig_crash(true);
    rig_pass(MINUTE);
    assert_int_equal(runs(), 0);
    rig_pass(6 * MINUTE);
    assert_int_equal(runs(), 1);
}

static void one_that_is_only_late_is_run(void **state)
{
    (void)state;
    host("20 * * * *", 0); /* in 6m 40s */
    rig_pass(6 * MINUTE);
    rig.now_ms += MINUTE;
    rig.wall_ms += MINUTE;
    rig_crash(true);
    rig_pass(SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(MINUTE);
    assert_int_equal(runs(), 1);
}

static void what_a_cycle_missed_is_by_its_length(void **state)
{
    (void)state;
    host("", 100);
    rig_pass(101 * SECOND);
    assert_int_equal(runs(), 1);
    rig.now_ms += 30 * MINUTE; /* 18 cycles */
    rig.wall_ms += 30 * MINUTE;
    rig_crash(false);
    rig_pass(SECOND);
    assert_int_equal(runs(), 2); /* less than a minute late */
    rig_pass(98 * SECOND);
    assert_int_equal(runs(), 2);
    host("", 7200);
    rig.now_ms += 3 * HOUR;
    rig.wall_ms += 3 * HOUR;
    rig_crash(false);
    rig_pass(SECOND);
    assert_int_equal(runs(), 3);
    rig_pass(HOUR + 59 * MINUTE);
    assert_int_equal(runs(), 3);
    rig_pass(2 * MINUTE);
    assert_int_equal(runs(), 4);
}

static void what_was_left_out_is_not_missed_later(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("@hourly", 0);
    p->pid = 777; /* it runs, so 23:00 is left out */
    rig_pass(TO_23 + 10 * MINUTE);
    p->pid = 0;
    rig_crash(true);
    rig_pass(40 * MINUTE);
    assert_int_equal(runs(), 0);
    rig_pass(11 * MINUTE);
    assert_int_equal(runs(), 1);
}

/* ---- clocks that are set */

static void a_clock_that_is_set_back_makes_no_run_come_twice(void **state)
{
    (void)state;
    host("0 23 * * *", 0);
    rig_pass(TO_23 + MINUTE);
    assert_int_equal(runs(), 1);
    set_clock(SECOND, -2 * HOUR);
    rig_pass(4 * HOUR);
    assert_int_equal(runs(), 1);
    rig_crash(true);
    set_clock(SECOND, -4 * HOUR);
    rig_pass(5 * HOUR);
    assert_int_equal(runs(), 1);
    assert_int_equal(rig_cause("p")->next_run_s, 1700089200); /* the next day, at 23 */
}

static void one_that_comes_often_does_not_wait_for_more_than_an_hour(void **state)
{
    (void)state;
    host("*/5 * * * *", 0);
    rig_pass(10 * MINUTE);
    assert_int_equal(runs(), 2);
    set_clock(SECOND, -10 * MINUTE);
    rig_pass(10 * MINUTE);
    assert_int_equal(runs(), 2);
    rig_pass(5 * MINUTE);
    assert_int_equal(runs(), 3);
    set_clock(SECOND, -3 * HOUR);
    rig_pass(15 * MINUTE);
    assert_int_equal(runs(), 6);
}

static void a_clock_that_was_wrong_by_years_is_not_waited_for(void **state)
{
    (void)state;
    host("0 23 * * *", 0);
    set_clock(SECOND, INT64_C(4000) * DAY); /* 23:00 was missed */
    assert_int_equal(runs(), 1);
    set_clock(SECOND, INT64_C(-4000) * DAY);
    assert_int_equal(runs(), 1);
    rig_pass(TO_23);
    assert_int_equal(runs(), 2);
}

static void a_host_that_is_told_the_time_after_its_start_runs_nothing_twice(void **state)
{
    int64_t gone_ms;

    (void)state;
    host("0 23 * * *", 0);
    rig_pass(TO_23 + MINUTE);
    assert_int_equal(runs(), 1);
    gone_ms = rig.wall_ms - 30 * SECOND;
    rig.wall_ms -= gone_ms; /* it has no clock of its own, and comes up in 1970 */
    rig_crash(false);
    rig_pass(MINUTE);
    assert_int_equal(runs(), 1);
    set_clock(0, gone_ms + HOUR);
    assert_int_equal(runs(), 1); /* today's is done */
    set_clock(0, DAY);
    assert_int_equal(runs(), 2);
}

static void a_clock_that_is_set_forward_by_a_day_loses_nothing_rare(void **state)
{
    (void)state;
    host("0 23 * * *", 0);
    set_clock(SECOND, DAY);
    assert_int_equal(runs(), 1); /* yesterday's is made up for */
    rig_pass(TO_23);
    assert_int_equal(runs(), 2);
    assert_int_equal(rig_cause("p")->runs.n, 2);
}

static void a_clock_that_is_set_forward_by_seconds_loses_nothing(void **state)
{
    (void)state;
    host("*/5 * * * *", 0); /* the next is in 1m 40s */
    rig_pass(99 * SECOND);
    set_clock(100, 5 * SECOND);
    assert_int_equal(runs(), 1);
    set_clock(100, -5 * SECOND);
    rig_pass(10 * SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(5 * MINUTE);
    assert_int_equal(runs(), 2);
}

static void seconds_of_a_cycle_pass_whatever_the_clock_says(void **state)
{
    static const int64_t jumps[] = { -10 * (int64_t)DAY, 10 * (int64_t)DAY, -30 * SECOND, HOUR };

    for (size_t i = 0; i < ARRAY_LEN(jumps); i++) {
        rig_set_up(state);
        host("", 100);
        rig_pass(101 * SECOND);
        assert_int_equal(runs(), 1);
        rig_pass(50 * SECOND);
        set_clock(0, jumps[i]);
        assert_int_equal(runs(), 1);
        rig_pass(45 * SECOND);
        assert_int_equal(runs(), 1);
        rig_pass(6 * SECOND);
        assert_int_equal(runs(), 2);
        rig_tear_down(state);
    }
}

/* A day of 25 hours has the hour from two to three twice. */
static void the_zone_says_what_the_time_is(void **state)
{
    (void)state;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    time_zone_read();
    core_on_zone(rig.core);
    host("30 2 * * *", 0);
    assert_int_equal(rig_cause("p")->next_run_s, 1700011800); /* 01:30 UTC */
    setenv("TZ", "UTC0", 1);
    time_zone_read();
    core_on_zone(rig.core);
    rig_settle();
    assert_int_equal(rig_cause("p")->next_run_s, 1700015400);
}

/* ---- what is known of the runs */

static void a_run_that_fails_is_an_event_and_the_next_comes_all_the_same(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("", 10);
    p->status = 7;
    p->output = "no space\nleft\n";
    rig_pass(11 * SECOND);
    assert_int_equal(rig_count_events("process_run_failed"), 1);
    assert_int_equal(rig_count_events("process_restart_failed"), 0);
    assert_int_equal(run(0)->exit_code, 7);
    assert_int_equal(run(0)->code, CODE_COMMAND);
    assert_string_equal(run(0)->output, "no space\nleft");
    assert_int_equal(rig_cause("p")->failed_code, CODE_COMMAND);
    assert_true(p->view.hosted);
    p->status = 0;
    rig_pass(10 * SECOND);
    assert_int_equal(rig_cause("p")->failed_code, 0);
    assert_int_equal(run(0)->code, CODE_OK);
    assert_int_equal(run(1)->code, CODE_COMMAND);
    assert_int_equal(p->view.restarts, 0);
}

static void one_that_can_not_even_begin_is_known_too(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("", 10);
    err_set(&p->failure, CODE_USER, "no such user: nobody2");
    rig_pass(11 * SECOND);
    assert_int_equal(run(0)->code, CODE_USER);
    assert_int_equal(run(0)->exit_code, -1);
    assert_int_equal(rig_count_events("process_run_failed"), 1);
}

static void last_words_come_later_and_the_oldest_runs_go(void **state)
{
    char text[32];

    (void)state;
    host("", 10);
    for (int i = 0; i < WHY_RUNS + 3; i++) {
        rig_pass(10 * SECOND + (i ? 0 : SECOND));
        snprintf(text, sizeof(text), "run %d\n", i);
        core_on_output(rig.core, (struct core_ident){ rig_cause("p")->exit_pid, 1 }, text,
                       PROC_OOM_NO, rig.now_ms);
    }
    core_on_output(rig.core, (struct core_ident){ 5, 5 }, "nobody's\n", PROC_OOM_NO, rig.now_ms);
    for (int lives = 0; lives < 3; lives++) {
        assert_int_equal(rig_cause("p")->runs.n, WHY_RUNS);
        assert_string_equal(run(0)->output, "run 12");
        assert_string_equal(run(WHY_RUNS - 1)->output, "run 3");
        if (lives == 1) { /* a new journal */
            size_t from = rig.n_records;

            core_compact(rig.core);
            for (size_t i = 0; i < from; i++)
                free(rig.records[i].json);
            memmove(rig.records, rig.records + from,
                    (rig.n_records - from) * sizeof(rig.records[0]));
            rig.n_records -= from;
        }
        rig_crash(true);
        rig_settle();
    }
}

static void a_run_in_work_is_watched_by_the_next_agent(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("", 100);
    p->hangs = true;
    rig_pass(105 * SECOND);
    assert_int_equal(runs(), 1);
    rig_crash(true);
    rig_pass(20 * SECOND);
    assert_int_equal(runs(), 1);
    assert_int_not_equal(p->run, 0);
    rig_end(p, 0);
    rig_settle();
    assert_int_equal(run(0)->code, CODE_OK);
    assert_in_range(run(0)->duration_ms, 24 * SECOND, 26 * SECOND);
    p->hangs = false;
    rig_pass(70 * SECOND);
    assert_int_equal(runs(), 1);
    rig_pass(10 * SECOND);
    assert_int_equal(runs(), 2);
}

static void a_run_in_work_when_the_host_went_down_has_failed(void **state)
{
    struct rig_proc *p = rig_proc("p");

    (void)state;
    host("0 23 * * *", 0);
    p->hangs = true;
    rig_pass(TO_23 + 5 * SECOND);
    assert_int_equal(runs(), 1);
    rig_crash(false);
    rig_pass(SECOND);
    assert_int_equal(runs(), 1); /* it is not run again */
    assert_int_equal(run(0)->code, CODE_SYSTEM);
    assert_int_equal(rig_cause("p")->failed_code, CODE_SYSTEM);
    assert_int_equal(rig_count_events("process_run_failed"), 1);
    rig_crash(false);
    rig_settle();
    assert_int_equal(rig_cause("p")->runs.n, 1);
    assert_int_equal(rig_count_events("process_run_failed"), 1);
}

static int set_zone(void **state)
{
    setenv("TZ", "UTC0", 1);
    time_zone_read();
    return rig_set_up(state);
}

#define CYCLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_zone, rig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CYCLE_TEST(a_rule_runs_it_at_its_times_and_nothing_is_told_of_success),
        CYCLE_TEST(a_cycle_runs_it_from_the_begin_of_the_run_before),
        CYCLE_TEST(without_a_schedule_it_is_run_only_when_asked),
        CYCLE_TEST(one_that_is_asked_for_runs_now_and_then_by_its_schedule),
        CYCLE_TEST(one_that_was_asked_for_and_failed_is_not_hosted),
        cmocka_unit_test(unhosting_and_stopping_end_the_schedule),
        CYCLE_TEST(one_that_is_stopped_is_so_since_then),
        CYCLE_TEST(a_new_spec_replaces_the_schedule),
        CYCLE_TEST(one_that_is_no_longer_periodic_is_forgotten_as_such),
        CYCLE_TEST(a_run_that_takes_longer_than_its_cycle_is_never_joined_by_another),
        CYCLE_TEST(a_rare_run_is_left_out_too_while_one_is_in_work),
        CYCLE_TEST(one_that_hangs_is_ended_in_time_and_told_of),
        CYCLE_TEST(one_that_runs_for_itself_is_not_joined_by_another),
        CYCLE_TEST(a_run_that_is_due_during_an_operation_waits_for_it),
        CYCLE_TEST(runs_do_not_go_before_what_is_asked_for),
        cmocka_unit_test(of_rare_runs_that_were_missed_one_is_made_up_for),
        CYCLE_TEST(of_frequent_runs_that_were_missed_none_is),
        CYCLE_TEST(one_that_is_only_late_is_run),
        CYCLE_TEST(what_a_cycle_missed_is_by_its_length),
        CYCLE_TEST(what_was_left_out_is_not_missed_later),
        CYCLE_TEST(a_clock_that_is_set_back_makes_no_run_come_twice),
        CYCLE_TEST(one_that_comes_often_does_not_wait_for_more_than_an_hour),
        CYCLE_TEST(a_clock_that_was_wrong_by_years_is_not_waited_for),
        CYCLE_TEST(a_host_that_is_told_the_time_after_its_start_runs_nothing_twice),
        CYCLE_TEST(a_clock_that_is_set_forward_by_a_day_loses_nothing_rare),
        CYCLE_TEST(a_clock_that_is_set_forward_by_seconds_loses_nothing),
        cmocka_unit_test(seconds_of_a_cycle_pass_whatever_the_clock_says),
        CYCLE_TEST(the_zone_says_what_the_time_is),
        CYCLE_TEST(a_run_that_fails_is_an_event_and_the_next_comes_all_the_same),
        CYCLE_TEST(one_that_can_not_even_begin_is_known_too),
        CYCLE_TEST(last_words_come_later_and_the_oldest_runs_go),
        CYCLE_TEST(a_run_in_work_is_watched_by_the_next_agent),
        CYCLE_TEST(a_run_in_work_when_the_host_went_down_has_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
