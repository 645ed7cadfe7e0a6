/* SPDX-License-Identifier: MIT */
/* Moments that the tests of tasks can not hold still; worlds by the seed do the rest. */
#include "tests/unit/server/hub_world.h"

/* It is taken, and its agent never comes back: the deadline that passed while the store
 * was busy is what ends it. */
static void a_deadline_that_passes_before_the_task_is_stored_still_ends_it(void **state)
{
    struct world *w = *state;

    hub_on_session(w->hub, "a", 1, BEGIN_MS);
    hub_operate(w->hub, &w->task, BEGIN_MS);
    hub_on_time(w->hub, DEADLINE_MS + 1);
    hub_on_task_stored(w->hub, "T", NULL, DEADLINE_MS + 2);
    hub_on_message(w->hub, "a", 1, MESSAGE_TAKEN, &(struct message_ref){ "T", 0 }, DEADLINE_MS + 3);
    hub_on_session_end(w->hub, "a", 1, DEADLINE_MS + 4);
    assert_true(hub_next_ms(w->hub) <= DEADLINE_MS + 4);
    hub_on_time(w->hub, DEADLINE_MS + 4);
    assert_int_equal(w->stored, 1);
    assert_int_equal(w->code, CODE_DEADLINE);
}

/* 117 says that nothing was run, and clients ask again; so it is for what was never sent. */
static void what_may_have_run_before_a_restart_is_not_called_offline(void **state)
{
    struct world *w = *state;

    w->item.was_sent = true;
    hub_load(w->hub, &w->task, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS + HUB_GRACE_MS);
    assert_int_equal(w->stored, 0);
    hub_on_session(w->hub, "a", 2, BEGIN_MS + HUB_GRACE_MS + 1);
    assert_int_equal(w->n_sent, 1); /* the agent knows what came of it */
    hub_on_session_end(w->hub, "a", 2, BEGIN_MS + HUB_GRACE_MS + 2);
    hub_on_time(w->hub, DEADLINE_MS);
    assert_int_equal(w->code, CODE_DEADLINE);
}

static void what_was_never_sent_is_offline_when_the_window_has_passed(void **state)
{
    struct world *w = *state;

    hub_load(w->hub, &w->task, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS + HUB_GRACE_MS - 1);
    assert_int_equal(w->stored, 0);
    hub_on_time(w->hub, BEGIN_MS + HUB_GRACE_MS);
    assert_int_equal(w->code, CODE_OFFLINE);
}

/* ---- cancelling, in every state of an item */

enum { LATER_MS = BEGIN_MS + 100 };

static void bring_about(struct world *w, const char *state)
{
    bool is_here = strcmp(state, "waiting") != 0;

    if (is_here)
        hub_on_session(w->hub, "a", 1, BEGIN_MS);
    hub_operate(w->hub, &w->task, BEGIN_MS);
    hub_on_task_stored(w->hub, "T", NULL, BEGIN_MS);
    assert_int_equal(w->n_sent, is_here);
    if (!strcmp(state, "taken"))
        hub_on_message(w->hub, "a", 1, MESSAGE_TAKEN, &(struct message_ref){ "T", 0 }, BEGIN_MS);
    if (!strcmp(state, "away"))
        hub_on_session_end(w->hub, "a", 1, BEGIN_MS);
}

/* What the agent says of it. */
static void answer(struct world *w, int64_t epoch, int64_t code)
{
    world_say_result(w, "a", epoch, "T", 0, code, LATER_MS);
}

static void check_ended(struct world *w, int64_t code)
{
    size_t n;

    assert_int_equal(w->stored, 1);
    assert_int_equal(w->code, code);
    hub_on_result_stored(w->hub, "T", 0, NULL, LATER_MS);
    assert_int_equal(hub_find(w->hub, "T", &n)->code, code);
}

static void what_was_never_sent_is_cancelled_at_once(void **state)
{
    struct world *w = *state;

    bring_about(w, "waiting");
    hub_cancel(w->hub, "T", LATER_MS);
    assert_int_equal(w->cancels, 0); /* the agent need not know */
    check_ended(w, CODE_CANCELLED);
    hub_on_session(w->hub, "a", 1, LATER_MS);
    assert_int_equal(w->n_sent, 0);
}

static void what_was_sent_is_the_agents_to_say(void **state)
{
    static const char *const states[] = { "sent", "taken" };
    static const int64_t codes[] = { CODE_CANCELLED, CODE_OK, CODE_COMMAND };

    for (size_t i = 0; i < ARRAY_LEN(states) * ARRAY_LEN(codes); i++) {
        int64_t code = codes[i % ARRAY_LEN(codes)];
        void *fresh;
        struct world *w;

        world_setup(&fresh);
        w = fresh;
        bring_about(w, states[i / ARRAY_LEN(codes)]);
        hub_cancel(w->hub, "T", LATER_MS);
        assert_int_equal(w->cancels, 1);
        assert_int_equal(w->stored, 0);
        hub_cancel(w->hub, "T", LATER_MS); /* again is fine */
        assert_int_equal(w->cancels, 1);
        answer(w, 1, code);
        check_ended(w, code);
        world_teardown(&fresh);
    }
    (void)state;
}

static void an_agent_is_asked_to_cancel_until_it_answers(void **state)
{
    struct world *w = *state;

    bring_about(w, "sent");
    hub_cancel(w->hub, "T", LATER_MS);
    hub_on_time(w->hub, LATER_MS + 5000);
    assert_int_equal(w->cancels, 2);
    assert_int_equal(w->n_sent, 1); /* never again what to do */
    hub_on_message(w->hub, "a", 1, MESSAGE_TAKEN, &(struct message_ref){ "T", 0 }, LATER_MS + 5001);
    hub_on_time(w->hub, LATER_MS + 20000);
    assert_int_equal(w->cancels, 2); /* it runs there, and goes on */
    answer(w, 1, CODE_OK);
    check_ended(w, CODE_OK);
}

static void an_agent_that_is_away_hears_of_it_when_it_is_back(void **state)
{
    struct world *w = *state;

    bring_about(w, "away");
    hub_cancel(w->hub, "T", LATER_MS);
    hub_on_time(w->hub, LATER_MS + HUB_OFFLINE_MS);
    assert_int_equal(w->stored, 0); /* it may have run: the result is not known yet */
    hub_on_session(w->hub, "a", 2, LATER_MS + HUB_OFFLINE_MS + 1);
    assert_int_equal(w->cancels, 1);
    assert_int_equal(w->n_sent, 1);
    answer(w, 2, CODE_CANCELLED);
    check_ended(w, CODE_CANCELLED);
}

static void one_that_never_comes_back_ends_at_the_deadline(void **state)
{
    struct world *w = *state;

    bring_about(w, "away");
    hub_cancel(w->hub, "T", LATER_MS);
    hub_on_time(w->hub, DEADLINE_MS);
    check_ended(w, CODE_DEADLINE);
}

static void what_has_ended_stays_as_it_is(void **state)
{
    struct world *w = *state;

    bring_about(w, "sent");
    answer(w, 1, CODE_OK);
    hub_cancel(w->hub, "T", LATER_MS); /* its result is on the way to the store */
    check_ended(w, CODE_OK);
    hub_cancel(w->hub, "T", LATER_MS);
    assert_int_equal(w->stored, 1);
    assert_int_equal(w->cancels, 0);
    hub_cancel(w->hub, "none", LATER_MS);
}

static void a_task_that_is_not_stored_can_not_be_cancelled(void **state)
{
    struct world *w = *state;

    hub_on_session(w->hub, "a", 1, BEGIN_MS);
    hub_operate(w->hub, &w->task, BEGIN_MS);
    hub_cancel(w->hub, "T", BEGIN_MS);
    hub_on_task_stored(w->hub, "T", NULL, BEGIN_MS);
    assert_int_equal(w->n_sent, 1);
    assert_int_equal(w->cancels, 0);
}

/* Cancelled by a server before this one. */
static void a_restart_sends_nothing_that_was_cancelled(void **state)
{
    struct world *w = *state;
    struct hub_item items[2] = { w->item, w->item };
    size_t n;

    items[1].meta.name = "q";
    items[1].was_sent = true;
    w->task = (struct hub_task){ "T", { items, 2 }, true };
    hub_load(w->hub, &w->task, BEGIN_MS);
    assert_int_equal(w->stored, 1); /* the one that was never sent */
    assert_int_equal(w->code, CODE_CANCELLED);
    hub_on_result_stored(w->hub, "T", 0, NULL, BEGIN_MS);
    hub_on_session(w->hub, "a", 1, BEGIN_MS);
    assert_int_equal(w->n_sent, 0);
    assert_int_equal(w->cancels, 1);
    assert_int_equal(hub_find(w->hub, "T", &n)[1].code, CODE_WAITING);
}

static void twins_are_cancelled_together(void **state)
{
    struct world *w = *state;
    struct hub_item items[2] = { w->item, w->item };

    items[1].key = "other spelling";
    w->task = (struct hub_task){ "T", { items, 2 }, false };
    bring_about(w, "waiting");
    hub_cancel(w->hub, "T", LATER_MS);
    assert_int_equal(w->stored, 2);
    assert_int_equal(w->code, CODE_CANCELLED);
}

/* Killed when the store had the result of one of them, whichever. */
static void twins_end_as_the_one_that_had_ended_before_a_restart(void **state)
{
    for (int ended = 0; ended < 2; ended++) {
        void *fresh;
        struct world *w;
        struct hub_item items[2];

        world_setup(&fresh);
        w = fresh;
        items[0] = items[1] = w->item;
        items[ended].code = CODE_OFFLINE;
        w->task = (struct hub_task){ "T", { items, 2 }, false };
        hub_load(w->hub, &w->task, BEGIN_MS);
        assert_int_equal(w->stored, 1);
        assert_int_equal(w->code, CODE_OFFLINE);
        hub_on_session(w->hub, "a", 1, BEGIN_MS);
        assert_int_equal(w->n_sent, 0);
        world_teardown(&fresh);
    }
    (void)state;
}

/* ---- what an agent says */

static void the_result_of_a_twin_is_not_its_agents_to_say(void **state)
{
    struct world *w = *state;
    struct hub_item items[2] = { w->item, w->item };
    struct message_result m = { .task = "T", .item = 1, .code = CODE_COMMAND, .text = "" };

    w->task = (struct hub_task){ "T", { items, 2 }, false };
    bring_about(w, "sent");
    shape_defaults(&proc_view_shape, &m.view);
    hub_on_message(w->hub, "a", 1, MESSAGE_RESULT, &m, LATER_MS);
    assert_int_equal(w->stored, 0);
    answer(w, 1, CODE_OK);
    assert_int_equal(w->stored, 2);
    assert_int_equal(w->code, CODE_OK);
}

/* 115 is what waits: as a result it would have to be asked for again for ever. */
static void to_wait_is_no_result(void **state)
{
    struct world *w = *state;

    bring_about(w, "taken");
    answer(w, 1, CODE_WAITING);
    check_ended(w, CODE_SYSTEM);
}

/* ---- agents */

/* However long the store takes with it. */
static void an_agent_that_is_here_is_not_away_before_its_session(void **state)
{
    struct world *w = *state;
    int64_t now_ms = BEGIN_MS + HUB_GRACE_MS;

    w->is_here = true;
    w->item.deadline_ms = 2 * DEADLINE_MS;
    hub_on_arrival(w->hub, "a", now_ms);
    hub_on_time(w->hub, now_ms += HUB_OFFLINE_MS);
    hub_operate(w->hub, &w->task, now_ms);
    hub_on_task_stored(w->hub, "T", NULL, now_ms);
    hub_on_time(w->hub, now_ms += HUB_OFFLINE_MS);
    assert_int_equal(w->stored, 0);
    w->is_here = false; /* it has gone again */
    hub_on_time(w->hub, now_ms += HUB_OFFLINE_MS);
    assert_int_equal(w->stored, 1);
    assert_int_equal(w->code, CODE_OFFLINE);
}

static void an_agent_is_forgotten_when_it_is_away_and_has_nothing_to_do(void **state)
{
    enum { GONE_MS = BEGIN_MS + HUB_GRACE_MS };
    struct world *w = *state;

    bring_about(w, "sent");
    hub_on_session_end(w->hub, "a", 1, BEGIN_MS);
    hub_on_time(w->hub, GONE_MS);
    assert_true(hub_knows(w->hub, "a"));
    hub_on_time(w->hub, DEADLINE_MS);
    assert_int_equal(w->stored, 1);
    hub_on_time(w->hub, DEADLINE_MS + HUB_OFFLINE_MS);
    assert_true(hub_knows(w->hub, "a")); /* the store is not ready */
    hub_on_result_stored(w->hub, "T", 0, NULL, DEADLINE_MS + HUB_OFFLINE_MS);
    hub_on_time(w->hub, DEADLINE_MS + 2 * HUB_OFFLINE_MS);
    assert_false(hub_knows(w->hub, "a"));
    w->item.agent = "b"; /* unknown to the hub */
    w->task.id = "U";
    hub_operate(w->hub, &w->task, DEADLINE_MS + 2 * HUB_OFFLINE_MS);
    assert_true(hub_knows(w->hub, "b"));
    hub_on_time(w->hub, DEADLINE_MS + 3 * HUB_OFFLINE_MS);
    assert_false(hub_knows(w->hub, "b"));
    hub_on_task_stored(w->hub, "U", NULL, DEADLINE_MS + 3 * HUB_OFFLINE_MS);
    hub_forget(w->hub, "U");
    hub_forget(w->hub, "T");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HUB_TEST(a_deadline_that_passes_before_the_task_is_stored_still_ends_it),
        HUB_TEST(what_may_have_run_before_a_restart_is_not_called_offline),
        HUB_TEST(what_was_never_sent_is_offline_when_the_window_has_passed),
        HUB_TEST(what_was_never_sent_is_cancelled_at_once),
        cmocka_unit_test(what_was_sent_is_the_agents_to_say),
        HUB_TEST(an_agent_is_asked_to_cancel_until_it_answers),
        HUB_TEST(an_agent_that_is_away_hears_of_it_when_it_is_back),
        HUB_TEST(one_that_never_comes_back_ends_at_the_deadline),
        HUB_TEST(what_has_ended_stays_as_it_is),
        HUB_TEST(a_task_that_is_not_stored_can_not_be_cancelled),
        HUB_TEST(a_restart_sends_nothing_that_was_cancelled),
        HUB_TEST(twins_are_cancelled_together),
        cmocka_unit_test(twins_end_as_the_one_that_had_ended_before_a_restart),
        HUB_TEST(the_result_of_a_twin_is_not_its_agents_to_say),
        HUB_TEST(to_wait_is_no_result),
        HUB_TEST(an_agent_that_is_here_is_not_away_before_its_session),
        HUB_TEST(an_agent_is_forgotten_when_it_is_away_and_has_nothing_to_do),
    };

    return cmocka_run_group_tests_name("hub", tests, NULL, NULL);
}
