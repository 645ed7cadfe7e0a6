/* SPDX-License-Identifier: MIT */
/* Commands that the server wants no more: agent/supervise/core_cancel.c. */
#include "link/message.h"
#include "tests/lib/core_rig.h"

static void cancel(int64_t item, const char *name)
{
    const struct message_cancel m = {
        .task = "T",
        .item = item,
        .deadline_ms = rig.now_ms + 300 * 1000,
        .meta = { "space", name, { 0 } },
    };

    core_on_message(rig.core, MESSAGE_CANCEL, &m, rig.now_ms);
    rig_settle();
}

/* It waits for a slot. */
static void what_waits_for_a_slot_is_not_begun(void **state)
{
    int64_t first, second;

    (void)state;
    core_set_at_once(rig.core, 1);
    rig_proc("p0")->hangs = true;
    first = rig_operate(PROC_OP_START, "p0");
    second = rig_operate(PROC_OP_START, "p1");
    rig_settle();
    cancel(second, "p1");
    assert_int_equal(rig_code(second), CODE_CANCELLED);
    assert_string_equal(rig_result(second)->text, "cancelled before it was begun");
    assert_null(rig_result(first));
    rig_proc("p0")->hangs = false;
    rig_come_up(rig_proc("p0"), ++rig.next_pid);
    rig_end(rig_proc("p0"), 0);
    rig_pass(6000);
    assert_int_equal(rig_code(first), CODE_OK);
    assert_int_equal(rig_proc("p1")->runs, 0);
}

/* It waits behind another one of its process, which goes on. */
static void what_waits_for_its_turn_is_not_begun(void **state)
{
    int64_t first, second, third;

    (void)state;
    rig_proc("p")->hangs = true;
    first = rig_operate(PROC_OP_START, "p");
    second = rig_operate(PROC_OP_STOP, "p");
    third = rig_operate(PROC_OP_QUERY, "p");
    rig_settle();
    cancel(second, "p");
    assert_int_equal(rig_code(second), CODE_CANCELLED);
    rig_proc("p")->hangs = false;
    rig_come_up(rig_proc("p"), ++rig.next_pid);
    rig_end(rig_proc("p"), 0);
    rig_pass(6000);
    assert_int_equal(rig_code(first), CODE_OK);
    assert_int_equal(rig_code(third), CODE_OK);
    assert_int_equal(rig_proc("p")->runs, 1);
    assert_true(rig_proc("p")->pid > 0);
}

static void what_has_begun_goes_on(void **state)
{
    int64_t item;

    (void)state;
    rig_proc("p")->hangs = true;
    item = rig_operate(PROC_OP_START, "p");
    rig_settle();
    cancel(item, "p");
    assert_null(rig_result(item));
    rig_proc("p")->hangs = false;
    rig_come_up(rig_proc("p"), ++rig.next_pid);
    rig_end(rig_proc("p"), 0);
    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
    cancel(item, "p"); /* it has ended, and stays so */
    assert_int_equal(rig_code(item), CODE_OK);
}

/* It is on its way to the disk. */
static void what_is_not_durable_yet_is_not_begun(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    (void)state;
    rig_tell(&m);
    cancel(m.item, "p");
    assert_int_equal(rig_code(m.item), CODE_CANCELLED);
    assert_int_equal(rig_proc("p")->runs, 0);
}

/* The command comes later than that it is not wanted; or once more, to a new agent. */
static void what_comes_after_all_is_not_begun(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    (void)state;
    cancel(m.item, "p");
    assert_int_equal(rig_code(m.item), CODE_CANCELLED);
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->runs, 0);
    rig_crash(true);
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_proc("p")->runs, 0);
}

/* The agent dies between writing down that it knows it and how it ended. */
static void an_agent_that_dies_meanwhile_does_nothing_either(void **state)
{
    const struct message_cancel m = { "T", 7, rig.now_ms + 300 * 1000, { "space", "p", { 0 } } };

    (void)state;
    core_on_message(rig.core, MESSAGE_CANCEL, &m, rig.now_ms);
    rig_crash(true);
    rig_pass(6000);
    assert_int_equal(rig_code(7), CODE_CANCELLED);
    assert_int_equal(rig_proc("p")->runs, 0);
}

/* It is no reason for what the process is. */
static void a_process_is_not_in_trouble_for_it(void **state)
{
    int64_t item;

    (void)state;
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    core_set_at_once(rig.core, 1);
    rig_proc("slow")->hangs = true;
    rig_operate(PROC_OP_START, "slow");
    item = rig_operate(PROC_OP_RESTART, "p");
    rig_settle();
    cancel(item, "p");
    assert_int_equal(rig_code(item), CODE_CANCELLED);
    assert_int_equal(rig_proc("p")->view.cause.failed_s, 0);
    assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_waits_for_a_slot_is_not_begun),
        RIG_TEST(what_waits_for_its_turn_is_not_begun),
        RIG_TEST(what_has_begun_goes_on),
        RIG_TEST(what_is_not_durable_yet_is_not_begun),
        RIG_TEST(what_comes_after_all_is_not_begun),
        RIG_TEST(an_agent_that_dies_meanwhile_does_nothing_either),
        RIG_TEST(a_process_is_not_in_trouble_for_it),
    };

    return cmocka_run_group_tests_name("core_cancel", tests, NULL, NULL);
}
