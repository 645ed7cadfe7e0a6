/* SPDX-License-Identifier: MIT */
/* test_core_side_command.c - commands beside operations: how many at once, and one that hangs. */
#include "agent/supervise/core_side_command.h"
#include "tests/lib/core_rig.h"

static struct message_command query(const char *name)
{
    struct message_command m = rig_command(PROC_OP_QUERY, name);

    m.spec.control.health_cmd = "health";
    return m;
}

static void few_run_at_once_and_the_others_in_their_turn(void **state)
{
    struct message_command m[SIDE_COMMANDS_AT_ONCE + 3];
    char name[16];
    int running = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(m); i++) {
        snprintf(name, sizeof(name), "p%zu", i);
        rig_proc(name)->side_hangs = true;
        m[i] = query(rig_proc(name)->name);
        rig_tell(&m[i]);
    }
    rig_settle();
    for (size_t i = 0; i < ARRAY_LEN(m); i++)
        running += rig.procs[i].side[1] != 0;
    assert_int_equal(running, SIDE_COMMANDS_AT_ONCE);
    rig_end_side(rig_proc("p0"), 1, 0);
    rig_settle();
    assert_int_equal(rig_code(m[0].item), CODE_OK);
    assert_int_equal(rig_proc("p16")->sides[1], 1);
    rig_pass(25000); /* each has its time; none is forgotten */
    for (size_t i = 0; i < ARRAY_LEN(m); i++)
        assert_int_equal(rig_code(m[i].item), CODE_OK);
    assert_string_equal(rig_result(m[18].item)->health, "took longer than 10 s and was ended");
}

static void who_asks_while_many_hang_is_answered_all_the_same(void **state)
{
    struct message_command m[3 * SIDE_COMMANDS_AT_ONCE];
    char name[16];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(m); i++) {
        snprintf(name, sizeof(name), "p%zu", i);
        rig_proc(name)->side_hangs = rig_proc(name)->side_is_hard = true;
        m[i] = query(rig_proc(name)->name);
        rig_tell(&m[i]);
    }
    rig_pass(26000);
    for (size_t i = 0; i < ARRAY_LEN(m); i++)
        assert_int_equal(rig_code(m[i].item), CODE_OK);
    assert_int_equal(rig_proc("p47")->sides[1], 0); /* its turn had not come, nor does it now */
    rig_pass(60 * 1000);
    assert_int_equal(rig_proc("p47")->sides[1], 0);
}

static void one_that_can_not_be_ended_keeps_nobody_waiting(void **state)
{
    struct message_command m;
    char name[16];

    (void)state;
    for (int i = 0; i < SIDE_COMMANDS_AT_ONCE; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        rig_proc(name)->side_hangs = rig_proc(name)->side_is_hard = true;
        m = query(rig_proc(name)->name);
        rig_tell(&m);
    }
    m = query("free");
    rig_proc("free")->health = "fine";
    rig_tell(&m);
    rig_pass(9000);
    assert_int_equal(rig_code(m.item), CODE_WAITING);
    rig_pass(8000); /* its time, and that for SIGKILL */
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_string_equal(rig_result(m.item)->health, "fine");
}

/* The rig itself sees to it that never two of a kind run for one process. */
static void while_one_hangs_no_other_of_its_kind_is_begun(void **state)
{
    struct message_command m = query("p");

    (void)state;
    rig_proc("p")->side_hangs = rig_proc("p")->side_is_hard = true;
    rig_tell(&m);
    rig_pass(12000);
    m = query("p");
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_string_equal(rig_result(m.item)->health, "the one before it still hangs");
    assert_int_equal(rig_proc("p")->sides[1], 1);
    rig_end_side(rig_proc("p"), 1, 0);
    rig_proc("p")->side_hangs = false;
    m = query("p");
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_proc("p")->sides[1], 2);
}

static void one_that_can_not_begin_is_answered(void **state)
{
    struct message_command m = query("p");

    (void)state;
    err_set(&rig_proc("p")->failure, CODE_USER, "user nobody2: unknown");
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_string_equal(rig_result(m.item)->health, "user nobody2: unknown");
}

static void the_end_of_the_agent_forgets_them(void **state)
{
    struct message_command m = query("p");

    (void)state;
    rig_proc("p")->side_hangs = true;
    rig_tell(&m);
    rig_settle();
    rig_crash(true);
    rig_proc("p")->side_hangs = false;
    rig_proc("p")->health = "fine";
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_OK); /* a question may be asked again */
    assert_string_equal(rig_result(m.item)->health, "fine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(few_run_at_once_and_the_others_in_their_turn),
        RIG_TEST(who_asks_while_many_hang_is_answered_all_the_same),
        RIG_TEST(one_that_can_not_be_ended_keeps_nobody_waiting),
        RIG_TEST(while_one_hangs_no_other_of_its_kind_is_begun),
        RIG_TEST(one_that_can_not_begin_is_answered),
        RIG_TEST(the_end_of_the_agent_forgets_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
