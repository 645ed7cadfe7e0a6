/* SPDX-License-Identifier: MIT */
/* Promises of tasks_cancel(), and of the store behind it: server/dispatch/task_cancel.c. */
#include "tests/unit/server/task_world.h"

struct told {
    int n;
    struct err failure;
};

static void on_cancelled(void *arg, const struct err *failure)
{
    struct told *told = arg;

    told->n++;
    if (failure)
        told->failure = *failure;
}

static struct task_row stored(struct world *w, const char *id)
{
    struct list rows;

    store_rig_do(&w->rig, &store_task_find, &(struct task_find_ask){ id }, &rows);
    assert_int_equal(rows.n, 1);
    return *ROW(task_row, rows, 0);
}

/* One of each kind: agent-a is here, agent-b was a moment ago. */
static void operate(struct world *w, struct proc_spec *spec, int64_t *ret_epoch)
{
    struct task_target targets[2];
    int64_t epoch;

    world_spec(spec);
    targets[0] = world_target("agent-a", "a:space:p", PROC_OP_START, "p", spec);
    targets[1] = world_target("agent-b", "b:space:p", PROC_OP_START, "p", spec);
    *ret_epoch = world_connect(w, "agent-a");
    epoch = world_connect(w, "agent-b");
    world_disconnect(w, "agent-b", epoch);
    world_operate(w, targets, 2);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 1);
}

static void what_waits_ends_and_what_was_sent_is_asked_for(void **state)
{
    struct world *w = *state;
    struct told told = { 0 };
    struct proc_spec spec;
    const struct task_item *items;
    int64_t epoch;

    operate(w, &spec, &epoch);
    tasks_cancel(w->tasks, w->id, on_cancelled, &told);
    assert_int_equal(told.n, 0); /* when it is on the disk */
    world_settle(w);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.failure.code, 0);
    items = world_read(w, w->id);
    assert_int_equal(items[0].code, CODE_WAITING);
    assert_int_equal(items[1].code, CODE_CANCELLED);
    assert_string_equal(items[1].text, "cancelled before it was sent to the agent");
    assert_int_equal(w->info.cancelled_ms, w->clock.wall);
    assert_int_equal(world_count(w, 0, MESSAGE_CANCEL), 1);
    world_answer_item(w, "agent-a", epoch, w->id, 0, CODE_OK); /* it was too late for it */
    world_settle(w);
    items = world_read(w, w->id);
    assert_int_equal(items[0].code, CODE_OK);
    assert_int_equal(stored(w, w->id).n_left, 0);
    assert_int_equal(stored(w, w->id).n_failed, 1);
    tasks_cancel(w->tasks, w->id, on_cancelled, &told);
    assert_int_equal(told.n, 2); /* nothing is left to do */
}

static void a_restart_knows_that_it_was_cancelled(void **state)
{
    struct world *w = *state;
    struct told told = { 0 };
    struct proc_spec spec;
    const struct task_item *items;
    char id[64];
    int64_t epoch;

    operate(w, &spec, &epoch);
    snprintf(id, sizeof(id), "%s", w->id);
    tasks_cancel(w->tasks, id, on_cancelled, &told);
    world_settle(w);
    world_restart(w);
    epoch = world_connect(w, "agent-a");
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 0);
    assert_int_equal(world_count(w, 0, MESSAGE_CANCEL), 1);
    world_answer_item(w, "agent-a", epoch, id, 0, CODE_CANCELLED);
    world_settle(w);
    items = world_read(w, id);
    assert_int_equal(items[0].code, CODE_CANCELLED);
    assert_int_equal(items[1].code, CODE_CANCELLED);
    assert_true(w->info.cancelled_ms > 0);
    assert_int_equal(w->info.n_left, 0);
}

static void all_cancel_requests_of_a_task_are_answered(void **state)
{
    struct world *w = *state;
    struct told told = { 0 };
    struct proc_spec spec;
    int64_t epoch;

    operate(w, &spec, &epoch);
    for (int i = 0; i < 3; i++)
        tasks_cancel(w->tasks, w->id, on_cancelled, &told);
    world_settle(w);
    assert_int_equal(told.n, 3);
    assert_int_equal(world_count(w, 0, MESSAGE_CANCEL), 1);
}

static void an_ask_never_joins_what_was_cancelled(void **state)
{
    struct world *w = *state;
    struct told told = { 0 };
    struct proc_spec spec;
    struct task_target target;
    char id[64];

    world_spec(&spec);
    target = world_target("agent-a", "a:space:p", PROC_OP_START, "p", &spec);
    world_connect(w, "agent-a");
    world_operate(w, &target, 1);
    snprintf(id, sizeof(id), "%s", w->id);
    world_operate(w, &target, 1);
    assert_string_equal(w->id, id);
    tasks_cancel(w->tasks, id, on_cancelled, &told);
    world_settle(w);
    world_operate(w, &target, 1);
    assert_string_not_equal(w->id, id);
    world_restart(w);
    world_connect(w, "agent-a");
    world_operate(w, &target, 1);
    assert_string_not_equal(w->id, id);
}

static void what_is_not_known_has_nothing_to_cancel(void **state)
{
    struct world *w = *state;
    struct told told = { 0 };

    tasks_cancel(w->tasks, "none", on_cancelled, &told);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.failure.code, 0);
}

static void swallow(void *arg, struct store_call *c)
{
    (void)arg;
    store_call_free(c);
}

/* A store that takes nothing: it is said, and can be tried again. */
static void a_busy_store_is_told_of(void **state)
{
    struct world *w = *state;
    struct told told = { 0 };
    struct store_page page = { "", 1 };
    struct proc_spec spec;
    struct store_call *c = NULL;
    int64_t epoch;

    operate(w, &spec, &epoch);
    do {
        c = store_call_new(&store_host_list, swallow, NULL);
        c->in = &page;
    } while (!store_submit(w->rig.store, c, &w->rig.err));
    store_call_free(c);
    tasks_cancel(w->tasks, w->id, on_cancelled, &told);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.failure.code, ERR_UNAVAILABLE);
    world_settle(w);
    told.failure.code = 0;
    tasks_cancel(w->tasks, w->id, on_cancelled, &told);
    world_settle(w);
    assert_int_equal(told.n, 2);
    assert_int_equal(told.failure.code, 0);
    assert_true(stored(w, w->id).cancelled_ms > 0);
}

/* What is so already is no failure, if that was asked for. */
static void idempotent_tasks_count_no_failure_of_what_is_so(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    struct task_ask ask = { "app", "admin", TASK_FORM_V2, { &target, 1 }, .idempotent = true };
    const int64_t codes[] = { CODE_RUNNING, CODE_NOT_RUNNING };

    world_spec(&spec);
    world_connect(w, "agent-a");
    for (int i = 0; i < 2; i++) {
        size_t from = w->n_sent;

        target = world_target("agent-a", "a:space:p", PROC_OP_START, "p", &spec);
        tasks_operate(w->tasks, &ask, world_accepted, w);
        world_settle(w);
        assert_int_equal(world_answer(w, from, codes[i]), 1);
        world_read(w, w->id);
        assert_true(w->info.idempotent);
        assert_int_equal(stored(w, w->id).idempotent, 1);
        assert_int_equal(stored(w, w->id).n_failed, i); /* a start that found nothing running */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(what_waits_ends_and_what_was_sent_is_asked_for),
        WORLD_TEST(a_restart_knows_that_it_was_cancelled),
        WORLD_TEST(all_cancel_requests_of_a_task_are_answered),
        WORLD_TEST(an_ask_never_joins_what_was_cancelled),
        WORLD_TEST(what_is_not_known_has_nothing_to_cancel),
        WORLD_TEST(a_busy_store_is_told_of),
        WORLD_TEST(idempotent_tasks_count_no_failure_of_what_is_so),
    };

    return cmocka_run_group_tests_name("task_cancel", tests, NULL, NULL);
}
