/* SPDX-License-Identifier: MIT */
/* What a process may use: over its limit in three samples in a row it is stopped, and only
 * then; being hosted it comes back. */
#include "agent/supervise/core_use.h"
#include "tests/lib/core_rig.h"

#define EXCEED "process_resource_limit_exceed"

enum { INTERVAL_MS = 5000, GRACE_MS = 60 * 1000, CHECK_MS = 6000 };

static struct message_command with_limits(const char *name, double cpu, double mem)
{
    struct message_command m = rig_command(PROC_OP_START, name);

    m.spec.has_resource = PRESENCE_GIVEN;
    m.spec.resource.cpu_percent = cpu;
    m.spec.resource.mem_percent = mem;
    return m;
}

/* It runs, and the grace is over. */
static struct rig_proc *start(const struct message_command *m)
{
    rig_tell(m);
    rig_pass(CHECK_MS);
    assert_int_equal(rig_code(m->item), CODE_OK);
    rig_pass(GRACE_MS);
    return rig_proc(m->meta.name);
}

static struct rig_proc *start_limited(const char *name, double cpu, double mem)
{
    const struct message_command m = with_limits(name, cpu, mem);

    return start(&m);
}

/* It begins to use this much just after a sample, so that the next one sees all of it. */
static void burn(struct rig_proc *p, double cpu)
{
    int before = p->samples;

    while (p->samples == before)
        rig_pass(RIG_STEP_MS);
    p->cpu = cpu;
}

static void wait_exceeds(int n)
{
    for (int i = 0; i < 600 && rig_count_events(EXCEED) < n; i++)
        rig_pass(1000);
    assert_int_equal(rig_count_events(EXCEED), n);
}

/* The last text in the journal with this in it. */
static const char *find_record(const char *text)
{
    for (size_t i = rig.n_records; i > 0; i--) {
        if (strstr(rig.records[i - 1].json, text))
            return rig.records[i - 1].json;
    }
    return "";
}

static void one_that_uses_too_much_is_stopped_and_pulled_up(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 0);
    int64_t first = p->pid;

    (void)state;
    burn(p, 97.5);
    rig_pass(2 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    rig_pass(2 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(p->signals, 1); /* stop_cmd is empty: SIGKILL */
    assert_non_null(strstr(find_record(EXCEED),
                           "p is stopped: cpu 97.5, 97.5, 97.5 % of the machine, "
                           "its limit is 50 %"));
    rig_pass(CHECK_MS);
    assert_int_equal(p->runs, 2);
    assert_true(p->pid && p->pid != first);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
    assert_true(p->view.hosted);
    assert_true(rig_cause("p")->limit_s >= rig_cause("p")->exit_s);
    assert_string_equal(rig_cause("p")->limit_text,
                        "cpu 97.5, 97.5, 97.5 % of the machine, its limit is 50 %");
}

static struct rig_proc *start_with_bytes(int64_t bytes)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    m.spec.extra.limit_memory = bytes;
    return start(&m);
}

static void memory_in_bytes_counts_as_well(void **state)
{
    struct rig_proc *p = start_with_bytes(64 << 20);

    (void)state;
    p->rss_bytes = 64 << 20; /* not above it */
    rig_pass(10 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    p->rss_bytes = (64 << 20) + (1 << 19);
    rig_pass(2 * INTERVAL_MS - 1000);
    p->rss_bytes = 64 << 20; /* not three in a row */
    rig_pass(2 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    p->rss_bytes = (64 << 20) + (1 << 19);
    rig_pass(4 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_non_null(strstr(find_record(EXCEED),
                           "p is stopped: memory 64.5, 64.5, 64.5 MiB, its limit is 64 MiB"));
    p->rss_bytes = 0;
    rig_pass(CHECK_MS);
    assert_int_equal(p->runs, 2);
    assert_true(p->pid > 0);
    assert_non_null(strstr(p->view.cause.limit_text, "its limit is 64 MiB"));
}

static void one_that_is_not_hosted_may_use_more_bytes(void **state)
{
    struct rig_proc *p = start_with_bytes(64 << 20);

    (void)state;
    rig_operate(PROC_OP_UNHOST, "p");
    p->rss_bytes = 128 << 20;
    rig_pass(20 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    assert_int_equal(p->runs, 1);
}

static void memory_counts_as_well(void **state)
{
    struct rig_proc *p = start_limited("p", 0, 25);

    (void)state;
    p->rss_bytes = RIG_MEM_BYTES / 4; /* just as much as it may */
    rig_pass(10 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    p->rss_bytes = RIG_MEM_BYTES / 2;
    rig_pass(3 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_non_null(
        strstr(find_record(EXCEED), "mem 50.0, 50.0, 50.0 % of the machine, its limit is 25 %"));
}

static void spikes_are_no_reason(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 50);

    (void)state;
    for (int i = 0; i < 20; i++) {
        p->cpu = 100;
        p->rss_bytes = RIG_MEM_BYTES;
        rig_pass(2 * INTERVAL_MS); /* two samples over */
        p->cpu = 0;
        p->rss_bytes = 0;
        rig_pass(INTERVAL_MS + 100); /* and one that is not */
    }
    assert_int_equal(rig_count_events(EXCEED), 0);
    assert_int_equal(p->runs, 1);
}

static void starting_may_cost(void **state)
{
    const struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p = rig_proc("p");

    (void)state;
    p->cpu = 100;
    rig_tell(&m);
    rig_pass(GRACE_MS + INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0); /* one sample counts by now */
    rig_pass(3 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
}

static void a_longer_check_is_a_longer_grace(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p = rig_proc("p");

    (void)state;
    m.spec.has_policy = m.spec.policy.has_start_check = PRESENCE_GIVEN;
    m.spec.policy.start_check_s = 200;
    p->cpu = 100;
    rig_tell(&m);
    rig_pass(200 * 1000 + INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    rig_pass(5 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
}

static void one_that_is_not_hosted_is_left_alone(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 0);
    struct message_command host = with_limits("p", 50, 0);

    (void)state;
    rig_operate(PROC_OP_UNHOST, "p");
    rig_settle();
    p->cpu = 100;
    rig_pass(120 * 1000);
    assert_int_equal(rig_count_events(EXCEED), 0);
    assert_true(p->pid);
    host.op = PROC_OP_HOST;
    rig_tell(&host);
    rig_pass(4 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
}

static void stop_cmd_comes_first_and_sigkill_if_it_does_not_do(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p;

    (void)state;
    m.spec.control.stop_cmd = "stop";
    p = start(&m);
    p->cpu = 100;
    rig_pass(4 * INTERVAL_MS);
    assert_int_equal(p->signals, 0);
    assert_int_equal(p->runs, 3); /* start, stop, start */
    p->is_idle = true;            /* from now on its commands change nothing */
    wait_exceeds(2);
    assert_int_equal(p->runs, 4);
    assert_int_equal(p->signals, 0); /* it has stop_check_secs */
    while (!p->signals)
        rig_pass(RIG_STEP_MS);
    assert_int_equal(p->pid, 0);
    assert_int_equal(p->runs, 5); /* started again at once, in vain */
    p->is_idle = false;
    rig_pass(12 * 1000);
    assert_int_equal(p->signals, 1);
    assert_int_equal(p->runs, 6);
    assert_true(p->pid > 0);
    assert_int_equal(rig_count_events(EXCEED), 2);
}

static void a_stop_cmd_that_fails_is_no_way_out(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p;

    (void)state;
    m.spec.control.stop_cmd = "stop";
    m.spec.control.kill_cmd = "kill"; /* only for requested operations */
    p = start(&m);
    p->cpu = 100;
    p->status = 1;
    while (!p->signals)
        rig_pass(RIG_STEP_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(p->pid, 0);
    assert_int_equal(p->runs, 3); /* start, stop, start */
}

static void nothing_is_stopped_while_an_operation_is_in_work(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p;

    (void)state;
    m.spec.control.reload_cmd = "reload";
    p = start(&m);
    p->hangs = true;
    m.op = PROC_OP_RELOAD;
    m.item = ++rig.next_item;
    rig_tell(&m);
    p->cpu = 100;
    rig_pass(8 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    p->hangs = false;
    rig_end(p, 0);
    rig_pass(2 * INTERVAL_MS);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(rig_count_events(EXCEED), 0); /* what was seen meanwhile does not count */
    rig_pass(3 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
}

/* The keeper waits until ours is done; what comes meanwhile waits too. */
static void a_restart_that_comes_meanwhile_starts_it_once(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p;
    int64_t item;

    (void)state;
    m.spec.control.stop_cmd = "stop";
    p = start(&m);
    p->cpu = 100;
    p->hangs = true;
    rig_pass(4 * INTERVAL_MS);
    assert_int_equal(p->runs, 2); /* the stop command, which hangs */
    item = rig_operate(PROC_OP_RESTART, "p");
    rig_pass(1000);
    assert_int_equal(p->runs, 2);
    p->hangs = false;
    p->cpu = 0;
    rig_die(p, CORE_SIGNALED + SIGTERM);
    rig_settle();
    assert_int_equal(p->runs, 2); /* it is down, and ours is still in work */
    rig_end(p, 0);
    rig_pass(2 * CHECK_MS);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(p->runs, 3);
    assert_int_equal(p->signals, 0);
}

static void a_stop_that_comes_meanwhile_stands(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p;
    int64_t item;

    (void)state;
    m.spec.control.stop_cmd = "stop";
    p = start(&m);
    p->cpu = 100;
    p->hangs = true;
    rig_pass(4 * INTERVAL_MS);
    item = rig_operate(PROC_OP_STOP, "p");
    p->hangs = false;
    rig_die(p, CORE_SIGNALED + SIGTERM);
    rig_end(p, 0);
    rig_pass(60 * 1000);
    assert_int_equal(rig_code(item), CODE_NOT_RUNNING);
    assert_int_equal(p->pid, 0);
    assert_false(p->view.hosted);
}

/* Another that hangs while it is pulled up has the only slot. */
static void one_whose_stop_waits_is_stopped_once(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "other");
    struct rig_proc *other = start(&m), *p = start_limited("p", 50, 0);

    (void)state;
    core_set_at_once(rig.core, 1);
    other->hangs = true;
    rig_die(other, 1);
    burn(p, 100);
    rig_pass(10 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(p->signals, 0);
    p->cpu = 0;
    rig_die(p, 1); /* nor is it started twice */
    rig_pass(2 *
             GRACE_MS); /* the other is tried again at once, and has the slot for as long again */
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(p->runs, 2);
    assert_true(p->pid > 0);
}

static void an_agent_that_dies_meanwhile_sees_the_end_of_it(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p;

    (void)state;
    m.spec.control.stop_cmd = "stop";
    p = start(&m);
    p->cpu = 100;
    p->hangs = true;
    rig_pass(4 * INTERVAL_MS);
    assert_int_equal(p->runs, 2);
    rig_crash(true);
    p->hangs = false;
    rig_pass(1000);
    assert_int_equal(p->runs, 2); /* it is not run again */
    rig_die(p, CORE_SIGNALED + SIGTERM);
    rig_settle();
    assert_int_equal(p->runs, 2);
    rig_end(p, 0);
    rig_pass(2 * CHECK_MS);
    assert_int_equal(p->runs, 3);
    assert_int_equal(rig_count_events("process_restart_failed"), 0);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
    assert_true(rig_cause("p")->limit_s >= rig_cause("p")->exit_s);
}

/* A stop because of a limit ends a run that was up. */
static void one_that_always_uses_too_much_is_restarted_each_time_and_reported(void **state)
{
    struct message_command m = with_limits("p", 50, 0);
    struct rig_proc *p;

    (void)state;
    m.spec.has_policy = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_retries = 3;
    p = start(&m);
    p->cpu = 100;
    rig_pass(900 * 1000);
    assert_in_range(rig_count_events(EXCEED), 11, 15);
    assert_int_equal(rig_count_events(EXCEED) + 1, p->runs);
    assert_int_equal(rig_count_events("process_cancel_restart"), 0);
    assert_int_equal(rig_count_events("process_flapping"), 1);
    assert_true(p->pid > 0 && p->view.hosted);
}

static void what_can_not_be_said_is_neither_over_nor_under(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 0);

    (void)state;
    p->cpu = 100;
    rig_pass(2 * INTERVAL_MS);
    p->is_hidden = true;
    rig_pass(20 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    p->is_hidden = false;
    rig_pass(2 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
}

/* A member that was not waited for takes what it had used with it. */
static void a_sum_that_goes_back_is_no_use_of_a_whole_life(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 0);

    (void)state;
    p->cpu = 40;
    for (int i = 0; i < 20; i++) {
        rig_pass(INTERVAL_MS);
        p->cpu_us = p->cpu_us > 60 * 1000000 ? p->cpu_us - 60 * 1000000 : 0;
    }
    assert_int_equal(rig_count_events(EXCEED), 0);
    assert_true(p->view.cpu_percent >= 0 && p->view.cpu_percent_avg >= 0);
}

static void others_are_looked_at_once_a_minute_and_told_of_together(void **state)
{
    struct rig_proc *p;
    struct message_command m = rig_command(PROC_OP_START, "p");
    int64_t item;

    (void)state;
    for (int i = 0; i < 30; i++) {
        char name[8];

        snprintf(name, sizeof(name), "q%d", i);
        rig_operate(PROC_OP_START, name);
    }
    p = start(&m);
    p->samples = 0;
    p->cpu = 30;
    p->rss_bytes = RIG_MEM_BYTES / 10;
    rig_pass(10 * 60 * 1000);
    assert_in_range(p->samples, 9, 11);
    assert_true(p->view.cpu_percent > 29 && p->view.cpu_percent < 31);
    assert_true(p->view.mem_percent > 9 && p->view.mem_percent < 11);
    assert_int_equal(p->view.mem_bytes, RIG_MEM_BYTES / 10 / 1024 * 1024);
    p->cpu = 0.2; /* however little it is */
    p->rss_bytes = RIG_MEM_BYTES / 1000;
    rig_pass(3 * 60 * 1000);
    rig.n_told = 0;
    rig_pass(10 * 60 * 1000);
    assert_in_range(rig.n_told, 9, 11);
    assert_true(p->view.cpu_percent > 0.15 && p->view.cpu_percent < 0.25);
    assert_true(p->view.mem_percent > 0.05 && p->view.mem_percent < 0.15);
    assert_in_range(rig.wall_ms / 1000 - p->view.report_s, 0, 61);
    item = rig_operate(PROC_OP_QUERY, "p");
    rig_settle();
    assert_int_equal(rig_code(item), CODE_OK);
}

/* When somebody looks: values are current, and count no more against a limit than without that. */
static void one_who_looks_gets_current_values_of_those_without_a_limit(void **state)
{
    struct message_command free = rig_command(PROC_OP_START, "free");
    struct rig_proc *p = start_limited("limited", 50, 0), *q = start(&free);
    int before_p, before_q;

    (void)state;
    rig_pass(INTERVAL_MS); /* after its last sample, whenever that was */
    before_p = p->samples;
    before_q = q->samples;
    while (q->samples == before_q) { /* each time, if that is long enough ago */
        core_sample_old(rig.core, rig.now_ms);
        rig_settle();
    }
    assert_int_equal(q->samples, before_q + 1);
    assert_int_equal(p->samples, before_p);
    assert_false(core_sample_old(rig.core, rig.now_ms));
    rig_pass(INTERVAL_MS);
    assert_true(core_sample_old(rig.core, rig.now_ms));
    rig_settle();
    assert_int_equal(q->samples, before_q + 2);
}

static void what_does_not_run_is_not_looked_at(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 0);

    (void)state;
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(10 * 1000);
    p->samples = 0;
    rig_pass(600 * 1000);
    assert_int_equal(p->samples, 0);
    assert_true(core_next_ms(rig.core) > rig.now_ms + 60 * 1000); /* no timer of ours */
}

static void limits_can_be_told_anew(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 0);
    const struct message_command m = with_limits("q", 50, 0);

    (void)state;
    core_set_limits(rig.core, 1000, 0);
    p->cpu = 100;
    rig_pass(4000);
    assert_int_equal(rig_count_events(EXCEED), 1);
    p->cpu = 0;
    rig_proc("q")->cpu = 100;
    rig_tell(&m);
    rig_pass(5000 + 4000); /* start_check_secs is the least */
    assert_int_equal(rig_count_events(EXCEED), 2);
}

static void a_new_interval_counts_from_the_moment_it_is_told(void **state)
{
    struct rig_proc *p = start_limited("p", 50, 0);
    int before;

    (void)state;
    burn(p, 0); /* a sample was taken just now */
    rig_pass(INTERVAL_MS - 1000);
    core_set_limits(rig.core, 20 * 1000, 0);
    before = p->samples;
    rig_pass(19 * 1000);
    assert_int_equal(p->samples, before);
    rig_pass(1000 + RIG_STEP_MS);
    assert_int_equal(p->samples, before + 1);
    core_set_limits(rig.core, 1000, 0);
    rig_pass(1000 + RIG_STEP_MS);
    assert_int_equal(p->samples, before + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(one_that_uses_too_much_is_stopped_and_pulled_up),
        RIG_TEST(memory_counts_as_well),
        RIG_TEST(memory_in_bytes_counts_as_well),
        RIG_TEST(one_that_is_not_hosted_may_use_more_bytes),
        RIG_TEST(spikes_are_no_reason),
        RIG_TEST(starting_may_cost),
        RIG_TEST(a_longer_check_is_a_longer_grace),
        RIG_TEST(one_that_is_not_hosted_is_left_alone),
        RIG_TEST(stop_cmd_comes_first_and_sigkill_if_it_does_not_do),
        RIG_TEST(a_stop_cmd_that_fails_is_no_way_out),
        RIG_TEST(nothing_is_stopped_while_an_operation_is_in_work),
        RIG_TEST(a_restart_that_comes_meanwhile_starts_it_once),
        RIG_TEST(a_stop_that_comes_meanwhile_stands),
        RIG_TEST(one_whose_stop_waits_is_stopped_once),
        RIG_TEST(an_agent_that_dies_meanwhile_sees_the_end_of_it),
        RIG_TEST(one_that_always_uses_too_much_is_restarted_each_time_and_reported),
        RIG_TEST(what_can_not_be_said_is_neither_over_nor_under),
        RIG_TEST(a_sum_that_goes_back_is_no_use_of_a_whole_life),
        RIG_TEST(others_are_looked_at_once_a_minute_and_told_of_together),
        RIG_TEST(one_who_looks_gets_current_values_of_those_without_a_limit),
        RIG_TEST(what_does_not_run_is_not_looked_at),
        RIG_TEST(limits_can_be_told_anew),
        RIG_TEST(a_new_interval_counts_from_the_moment_it_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
