/* SPDX-License-Identifier: MIT */
/* What the processes of a namespace may use together, and which of them is stopped. */
#include "agent/supervise/core_use.h"
#include "link/group.h"
#include "tests/lib/core_rig.h"

#define EXCEED "process_group_resource_limit_exceed"

enum { INTERVAL_MS = 5000, GRACE_MS = 60 * 1000, CHECK_MS = 6000 };

static void set_group(double cpu, double mem, int64_t weight)
{
    const struct message_group m = { ++rig.next_item, { "space", { cpu, mem, weight, weight } } };

    core_on_message(rig.core, MESSAGE_GROUP, &m, rig.now_ms);
    rig_settle();
}

static void start(const char *name, double cpu, double mem)
{
    struct message_command m = rig_command(PROC_OP_START, name);

    m.spec.resource.cpu_percent = cpu;
    m.spec.resource.mem_percent = mem;
    rig_tell(&m);
}

/* Two of them, whose grace is over; `big` may use more. */
static void start_two(void)
{
    start("big", 90, 90);
    start("small", 40, 40);
    rig_pass(CHECK_MS + GRACE_MS);
    assert_true(rig_proc("big")->pid && rig_proc("small")->pid);
}

static void by_usage_the_one_that_uses_most_is_stopped(void **state)
{
    (void)state;
    start_two();
    set_group(60, 0, 0);
    rig_proc("big")->cpu = 45;
    rig_proc("small")->cpu = 30;
    rig_pass(3 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    rig_pass(2 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(rig_proc("big")->runs, 2);
    assert_int_equal(rig_proc("small")->runs, 1);
    assert_non_null(
        strstr(rig_cause("big")->limit_text,
               "its group uses cpu 75.0, 75.0, 75.0 % of the machine, the group's limit "
               "is 60 %, and of that it uses 45.0 %"));
    assert_int_equal(rig_count_events("process_resource_limit_exceed"), 0);
}

static void by_share_the_one_that_may_use_less_is_stopped(void **state)
{
    (void)state;
    start_two();
    set_group(60, 0, 1);
    rig_proc("big")->cpu = 45;   /* half of what it may */
    rig_proc("small")->cpu = 30; /* three quarters */
    rig_pass(5 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(rig_proc("small")->runs, 2);
    assert_int_equal(rig_proc("big")->runs, 1);
}

static void what_can_not_be_said_any_more_does_not_count(void **state)
{
    (void)state;
    start_two();
    set_group(60, 0, 0);
    rig_proc("big")->cpu = 90;
    rig_pass(INTERVAL_MS + INTERVAL_MS / 2);
    rig_proc("big")->is_hidden = true;
    rig_pass(10 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
    rig_proc("big")->is_hidden = false;
    rig_pass(6 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
}

static void one_without_a_limit_may_use_all(void **state)
{
    (void)state;
    start("free", 0, 0);
    start("small", 40, 0);
    rig_pass(CHECK_MS + GRACE_MS);
    set_group(60, 0, 1);
    rig_proc("free")->cpu = 50;
    rig_proc("small")->cpu = 25;
    rig_pass(5 * INTERVAL_MS);
    assert_int_equal(rig_proc("small")->runs, 2);
    assert_int_equal(rig_proc("free")->runs, 1);
}

static void memory_is_a_pool_too(void **state)
{
    (void)state;
    start_two();
    set_group(0, 50, 0);
    rig_proc("big")->rss_bytes = RIG_MEM_BYTES / 5;
    rig_proc("small")->rss_bytes = RIG_MEM_BYTES / 5 * 2;
    rig_pass(5 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(rig_proc("small")->runs, 2);
    assert_non_null(
        strstr(rig_cause("small")->limit_text, "its group uses mem 60.0, 60.0, 60.0 %"));
}

static void a_spike_of_all_is_no_reason(void **state)
{
    (void)state;
    start_two();
    set_group(60, 0, 0);
    for (int i = 0; i < 10; i++) {
        rig_proc("big")->cpu = 80;
        rig_pass(2 * INTERVAL_MS);
        rig_proc("big")->cpu = 0;
        rig_pass(INTERVAL_MS + 100);
    }
    assert_int_equal(rig_count_events(EXCEED), 0);
}

static void one_that_may_not_be_stopped_is_passed_over(void **state)
{
    (void)state;
    start_two();
    rig_operate(PROC_OP_UNHOST, "big");
    rig_settle();
    set_group(60, 0, 0);
    rig_proc("big")->cpu = 70;
    rig_proc("small")->cpu = 10;
    rig_pass(4 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    assert_int_equal(rig_proc("small")->runs, 2);
    rig_pass(GRACE_MS - INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED),
                     1); /* it has just begun, and there is no other process */
    assert_int_equal(rig_proc("big")->runs, 1);
}

static void other_namespaces_do_not_count(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "other");

    (void)state;
    start_two();
    m.meta.space = "elsewhere";
    rig_tell(&m);
    rig_pass(CHECK_MS + GRACE_MS);
    set_group(60, 0, 0);
    rig_proc("other")->cpu = 90;
    rig_proc("big")->cpu = 50;
    rig_pass(10 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 0);
}

static void it_is_known_after_a_crash_and_a_new_boot_until_it_is_ended(void **state)
{
    struct arena a = { 0 };
    struct list groups;

    (void)state;
    start_two();
    set_group(60, 30, 1);
    rig_crash(true);
    core_compact(rig.core);
    rig_crash(false);
    rig_pass(CHECK_MS + GRACE_MS);
    groups = core_groups(rig.core, &a);
    assert_int_equal(groups.n, 1);
    rig_proc("big")->cpu = 45;
    rig_proc("small")->cpu = 30;
    rig_pass(5 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    set_group(0, 0, 0);
    rig_crash(true);
    assert_int_equal(core_groups(rig.core, &a).n, 0);
    rig_pass(GRACE_MS + 10 * INTERVAL_MS);
    assert_int_equal(rig_count_events(EXCEED), 1);
    arena_free(&a);
}

static void the_server_hears_that_it_was_taken(void **state)
{
    const struct message_group m = { 77, { "space", { 60, 0, 0, 0 } } };

    (void)state;
    core_on_message(rig.core, MESSAGE_GROUP, &m, rig.now_ms);
    assert_int_equal(rig.group_taken, 0); /* it is not on the disk yet */
    rig_settle();
    assert_int_equal(rig.group_taken, 77);
    rig.group_taken = 0;
    core_on_message(rig.core, MESSAGE_GROUP, &m, rig.now_ms);
    rig_settle();
    assert_int_equal(rig.group_taken, 77); /* again, if it comes again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(by_usage_the_one_that_uses_most_is_stopped),
        RIG_TEST(by_share_the_one_that_may_use_less_is_stopped),
        RIG_TEST(what_can_not_be_said_any_more_does_not_count),
        RIG_TEST(one_without_a_limit_may_use_all),
        RIG_TEST(memory_is_a_pool_too),
        RIG_TEST(a_spike_of_all_is_no_reason),
        RIG_TEST(one_that_may_not_be_stopped_is_passed_over),
        RIG_TEST(other_namespaces_do_not_count),
        RIG_TEST(it_is_known_after_a_crash_and_a_new_boot_until_it_is_ended),
        RIG_TEST(the_server_hears_that_it_was_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
