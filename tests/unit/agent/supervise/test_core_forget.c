/* SPDX-License-Identifier: MIT */
/* What was unregistered and does not run is forgotten: by the core, its digest and its journal. */
#include "agent/supervise/core_local.h"
#include "tests/lib/core_rig.h"

static void count_one(void *arg, const char *space, const char *name, const struct proc_spec *spec)
{
    (void)space, (void)name, (void)spec;
    ++*(int *)arg;
}

static int known(void)
{
    int n = 0;

    core_each(rig.core, count_one, &n);
    return n;
}

static int64_t unregister(const char *name)
{
    struct message_command m = rig_command(PROC_OP_UNHOST, name);

    shape_defaults(&proc_spec_shape, &m.spec); /* the server has none to send */
    m.forgets = true;
    rig_tell(&m);
    return m.item;
}

/* Of the digest of no process at all. */
static bool knows_nothing(void)
{
    char digest[DIGEST_TEXT_SIZE];

    core_digest(rig.core, digest);
    return strspn(digest, "0") == strlen(digest);
}

static void fail_to_start(const char *name)
{
    int64_t item;

    rig_proc(name)->is_idle = true;
    rig_proc(name)->status = 1;
    item = rig_operate(PROC_OP_START, name);
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_COMMAND);
    assert_int_equal(known(), 1);
    assert_false(knows_nothing());
}

static const struct rig_result *result_of(int64_t item)
{
    for (size_t i = 0; i < rig.n_results; i++) {
        if (rig.results[i].item == item)
            return &rig.results[i];
    }
    fail_msg("no result of %lld", (long long)item);
    return NULL;
}

static void what_a_failed_start_left_is_forgotten(void **state)
{
    int64_t item;

    (void)state;
    fail_to_start("p");
    item = unregister("p");
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(result_of(item)->wanted, PROC_UNREGISTERED); /* by which the server knows */
    assert_int_equal(known(), 0);
    assert_true(knows_nothing());
    for (int same_boot = 0; same_boot < 2; same_boot++) {
        rig_crash(same_boot);
        rig_pass(1000);
        assert_int_equal(known(), 0);
        assert_true(knows_nothing());
    }
}

static void what_was_hosted_and_is_down_is_forgotten_too(void **state)
{
    int64_t item;

    (void)state;
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(6000);
    assert_int_equal(known(), 1);
    item = unregister("p");
    rig_crash(true); /* before it is done */
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(known(), 0);
    assert_true(knows_nothing());
    rig_operate(PROC_OP_START, "p"); /* and may come again */
    rig_pass(6000);
    assert_true(rig_proc("p")->view.hosted);
}

static void what_runs_is_hosted_no_more_and_told_of(void **state)
{
    int64_t item;

    (void)state;
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    item = unregister("p");
    rig_pass(1000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(known(), 1);
    assert_false(rig_proc("p")->view.hosted);
    assert_int_equal(rig_proc("p")->view.status, PROC_RUNNING);
    assert_int_equal(result_of(item)->wanted, PROC_RUNNING);
}

/* Requested on the host itself, where no server waits for a report. */
static void what_runs_is_forgotten_on_the_host_and_runs_on(void **state)
{
    struct message_command m = rig_command(PROC_OP_UNHOST, "p");
    char task[CORE_LOCAL_TASK_SIZE];

    (void)state;
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    core_local_task("ada", 1, task);
    shape_defaults(&proc_spec_shape, &m.spec);
    m.task = task;
    m.forgets = true;
    assert_true(core_operate(rig.core, &m, 60 * 1000, rig.now_ms));
    rig_pass(1000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(result_of(m.item)->wanted, PROC_UNREGISTERED);
    assert_int_equal(known(), 0);
    assert_true(knows_nothing());
    assert_true(rig_proc("p")->pid > 0);
    rig_crash(true);
    rig_pass(70 * 1000);
    assert_int_equal(known(), 0);
    assert_true(rig_proc("p")->pid > 0);
    rig_operate(PROC_OP_START, "p"); /* is found again */
    rig_pass(6000);
    assert_true(rig_proc("p")->view.hosted);
    assert_int_equal(rig_proc("p")->runs, 1);
}

/* It needs what is known of it. */
static void what_somebody_waits_to_start_stays(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");
    struct rig_proc *p = rig_proc("p");
    int64_t item;

    (void)state;
    rig_operate(PROC_OP_START, "p");
    rig_pass(6000);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(6000);
    p->hangs = p->is_idle = true;
    rig_operate(PROC_OP_START, "p"); /* so that the two below wait for it */
    rig_settle();
    item = unregister("p");
    shape_defaults(&proc_spec_shape, &m.spec);
    rig_tell(&m);
    rig_settle();
    p->hangs = p->is_idle = false;
    rig_end(p, 1);
    rig_pass(6000);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(known(), 1);
    assert_true(rig_proc("p")->view.hosted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_a_failed_start_left_is_forgotten),
        RIG_TEST(what_was_hosted_and_is_down_is_forgotten_too),
        RIG_TEST(what_runs_is_hosted_no_more_and_told_of),
        RIG_TEST(what_runs_is_forgotten_on_the_host_and_runs_on),
        RIG_TEST(what_somebody_waits_to_start_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
