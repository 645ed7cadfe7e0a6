/* SPDX-License-Identifier: MIT */
/* A signal that is asked for is sent once, to the main process, and never again. */
#include "agent/supervise/core_journal.h"
#include "agent/supervise/core_local.h"
#include "tests/lib/core_rig.h"

static struct rig_proc *p;

static int set_up(void **state)
{
    rig_set_up(state);
    p = rig_proc("p");
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    assert_true(p->pid > 0);
    return 0;
}

static int64_t send_signal(const char *name)
{
    struct message_command m = rig_command(PROC_OP_SIGNAL, "p");

    m.signal = name;
    rig_tell(&m);
    rig_pass(1000);
    return m.item;
}

static void it_is_sent_once_and_changes_nothing(void **state)
{
    int64_t pid = p->pid;

    (void)state;
    assert_int_equal(rig_code(send_signal("USR1")), CODE_OK);
    assert_int_equal(p->delivered, 1);
    assert_int_equal(p->delivered_number, SIGUSR1);
    assert_int_equal(p->signals, 0);
    assert_int_equal(p->pid, pid);
    assert_true(p->view.hosted);
    assert_int_equal(p->view.cause.failed_s, 0);
    assert_int_equal(p->view.cause.doing, -1);
    rig_crash(true);
    rig_pass(10000);
    assert_int_equal(p->delivered, 1);
}

static void what_is_no_signal_is_refused(void **state)
{
    static const char *const names[] = { "", "NONE", "65" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct rig_result *r = rig_result(send_signal(names[i]));

        assert_non_null(r);
        assert_int_equal(r->code, CODE_PARAM);
        assert_string_equal(r->text, "signal: must be the name of a signal, such as HUP");
    }
    assert_int_equal(p->delivered, 0);
}

static void a_process_that_is_down_gets_none(void **state)
{
    int64_t item;

    (void)state;
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(6000);
    item = send_signal("HUP");
    assert_int_equal(rig_code(item), CODE_NOT_RUNNING);
    assert_int_equal(p->delivered, 0);
}

static void the_kernel_may_refuse_it(void **state)
{
    int64_t item;

    (void)state;
    p->refuses_signals = true;
    item = send_signal("HUP");
    assert_int_equal(rig_code(item), CODE_SYSTEM);
    assert_non_null(strstr(rig_result(item)->text, "signal HUP was not sent to pid "));
    assert_non_null(strstr(rig_result(item)->text, ": not permitted"));
    assert_int_equal(p->view.cause.failed_op, PROC_OP_SIGNAL);
    assert_int_equal(p->view.status, PROC_RUNNING);
}

/* The records say that it was about to be sent, and nothing of its result. */
static void after_a_crash_its_outcome_is_unknown(void **state)
{
    struct message_command m = rig_command(PROC_OP_SIGNAL, "p");

    (void)state;
    m.signal = "HUP";
    rig_tell(&m);
    while (!p->delivered) {
        core_on_durable(rig.core, rig.mark, rig.now_ms);
        if (rig.n_asks)
            rig_answer();
    }
    while (rig.records[rig.n_records - 1].type != RECORD_RUN) /* the crash was right then */
        free(rig.records[--rig.n_records].json);
    rig_crash(true);
    rig_pass(10000);
    assert_int_equal(p->delivered, 1);
    assert_int_equal(rig_code(m.item), CODE_SYSTEM);
    assert_string_equal(rig_result(m.item)->text,
                        "agent restarted during the command, outcome unknown");
}

static void the_event_of_a_local_one_names_it(void **state)
{
    struct message_command m = rig_command(PROC_OP_SIGNAL, "p");
    char task[CORE_LOCAL_TASK_SIZE];

    (void)state;
    core_local_task("ada", 1, task);
    m.task = task;
    m.signal = "HUP";
    assert_true(core_operate(rig.core, &m, 60000, rig.now_ms));
    rig_pass(1000);
    assert_int_equal(p->delivered, 1);
    assert_string_equal(rig.event, "ada asked on the host itself to signal (HUP) space:p: success");
}

#define SIGNAL_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, rig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIGNAL_TEST(it_is_sent_once_and_changes_nothing),
        SIGNAL_TEST(what_is_no_signal_is_refused),
        SIGNAL_TEST(a_process_that_is_down_gets_none),
        SIGNAL_TEST(the_kernel_may_refuse_it),
        SIGNAL_TEST(after_a_crash_its_outcome_is_unknown),
        SIGNAL_TEST(the_event_of_a_local_one_names_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
