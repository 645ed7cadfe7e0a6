/* SPDX-License-Identifier: MIT */
/* Whose item is sent next, and how many at once. */
#include "tests/unit/server/hub_world.h"

enum { MANY = 1000, SILENT_MS = 1000, HELD_MS = 100 };

static void limit(struct world *w, size_t per_agent, size_t total)
{
    hub_set_limits(w->hub, &(struct hub_limits){ per_agent, total });
}

/* Agents have one letter; each session is of the epoch 1. */
static void come(struct world *w, const char *agents)
{
    for (; *agents; agents++)
        hub_on_session(w->hub, (char[]){ *agents, 0 }, 1, BEGIN_MS);
}

/* One item for each letter of `agents`.  Their processes are `names`, letter by letter; NULL:
 * each has one of its own. */
static void ask(struct world *w, const char *app, const char *id, const char *agents,
                const char *names)
{
    size_t n = strlen(agents);
    struct hub_item *items = xalloc(n * sizeof(*items));
    char(*texts)[2][16] = xalloc(n * sizeof(*texts));

    for (size_t i = 0; i < n; i++) {
        snprintf(texts[i][0], sizeof(texts[i][0]), "%c", agents[i]);
        if (names)
            snprintf(texts[i][1], sizeof(texts[i][1]), "%c", names[i]);
        else
            snprintf(texts[i][1], sizeof(texts[i][1]), "%.8s-%zu", id, i);
        items[i] = world_item(w, texts[i][0], texts[i][1]);
    }
    hub_operate(w->hub, &(struct hub_task){ id, { items, n }, false, app }, BEGIN_MS);
    hub_on_task_stored(w->hub, id, NULL, BEGIN_MS);
    free(items);
    free(texts);
}

static void say_taken(struct world *w, const char *agent, const char *task, int64_t item,
                      int64_t now_ms)
{
    hub_on_message(w->hub, agent, 1, MESSAGE_TAKEN, &(struct message_ref){ task, item }, now_ms);
}

static void say_done(struct world *w, const char *agent, const char *task, int64_t item,
                     int64_t now_ms)
{
    world_say_result(w, agent, 1, task, item, CODE_OK, now_ms);
    hub_on_result_stored(w->hub, task, item, NULL, now_ms);
}

static void check_sent(struct world *w, const char *expected)
{
    assert_string_equal(buf_text(&w->sent), expected);
    buf_truncate(&w->sent, 0);
}

/* ---- turns */

static void apps_take_turns(void **state)
{
    struct world *w = *state;

    limit(w, 100, 2);
    come(w, "abcdef");
    ask(w, "one", "A", "abcdef", NULL);
    check_sent(w, "A0 A1");
    ask(w, "two", "B", "ab", NULL);
    check_sent(w, "B0"); /* it has nothing on the way */
    for (int i = 0; i < 3; i++)
        say_taken(w, i == 1 ? "b" : "a", i == 2 ? "B" : "A", i % 2, BEGIN_MS);
    assert_true(hub_next_ms(w->hub) <= BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A2 B1");
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "");
    say_done(w, "b", "B", 1, BEGIN_MS); /* a result is an answer too */
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A3");
}

static void tasks_of_an_app_take_turns(void **state)
{
    struct world *w = *state;

    limit(w, 100, 1);
    come(w, "abc");
    ask(w, "one", "A", "abc", NULL);
    ask(w, "one", "B", "abc", NULL);
    check_sent(w, "A0");
    say_taken(w, "a", "A", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A1");
    say_taken(w, "b", "A", 1, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "B0");
    say_taken(w, "a", "B", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A2");
}

static void ask_many(struct world *w)
{
    char agents[MANY + 1];

    memset(agents, 'a', MANY);
    agents[MANY] = 0;
    limit(w, 2 * MANY, 2 * MANY);
    come(w, "ab");
    ask(w, "one", "A", agents, NULL);
}

static void a_turn_of_the_loop_sends_a_slice(void **state)
{
    struct world *w = *state;
    int slice;

    ask_many(w);
    slice = w->n_sent;
    assert_in_range(slice, 1, MANY / 3);
    ask(w, "two", "B", "b", NULL); /* in the same turn: it is over */
    assert_int_equal(w->n_sent, slice);
    assert_true(hub_next_ms(w->hub) <= BEGIN_MS);
    buf_truncate(&w->sent, 0);
    hub_on_time(w->hub, BEGIN_MS);
    assert_int_equal(w->n_sent, 2 * slice);
    assert_non_null(strstr(buf_text(&w->sent), " B0 "));
    for (int i = 0; i < MANY && w->n_sent < MANY + 1; i++)
        hub_on_time(w->hub, BEGIN_MS);
    assert_int_equal(w->n_sent, MANY + 1);
    assert_true(hub_next_ms(w->hub) > BEGIN_MS);
}

/* Turns of the loop, each of which may do so many; until all is done. */
static void check_slices(struct world *w, const int *count, int total, int64_t now_ms)
{
    int before = *count, turns = 0;

    while (hub_next_ms(w->hub) <= now_ms) {
        hub_on_time(w->hub, now_ms);
        assert_in_range(*count - before, 1, MANY / 3);
        before = *count;
        assert_in_range(++turns, 1, MANY);
    }
    assert_int_equal(*count, total);
}

static void a_large_task_is_cancelled_slice_by_slice(void **state)
{
    struct world *w = *state;

    ask_many(w);
    check_slices(w, &w->n_sent, MANY, BEGIN_MS);
    hub_cancel(w->hub, "A", BEGIN_MS + 1);
    assert_in_range(w->cancels, 1, MANY / 3);
    check_slices(w, &w->cancels, MANY, BEGIN_MS + 1);
}

static void a_large_task_ends_by_its_deadline_slice_by_slice(void **state)
{
    struct world *w = *state;

    ask_many(w);
    check_slices(w, &w->n_sent, MANY, BEGIN_MS);
    for (int i = 0; i < MANY; i++)
        say_taken(w, "a", "A", i, BEGIN_MS);
    hub_on_time(w->hub, DEADLINE_MS - 1);
    check_slices(w, &w->stored, MANY, DEADLINE_MS);
    assert_int_equal(w->code, CODE_DEADLINE);
}

/* ---- one agent */

static void an_agent_has_so_many_to_do(void **state)
{
    struct world *w = *state;

    limit(w, 2, 100);
    come(w, "ab");
    ask(w, "one", "A", "aaaa", NULL);
    check_sent(w, "A0 A1");
    say_taken(w, "a", "A", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, ""); /* it has not done it */
    ask(w, "two", "B", "aab", NULL);
    check_sent(w, "B0 B2");
    say_done(w, "a", "A", 0, BEGIN_MS); /* two are left, A1 and B0 */
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "");
    say_done(w, "a", "B", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A2 B1");
    say_done(w, "a", "A", 1, BEGIN_MS);
    say_done(w, "a", "A", 2, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A3");
}

/* As many tasks are let in as there is room for: one that is let in and finds none would have
 * lost its turn. */
static void tasks_of_an_app_take_turns_at_an_agent_that_is_busy(void **state)
{
    static const struct {
        const char *done, *sent;
    } steps[] = { { "A0", "A2" }, { "A1", "B0" }, { "A2", "C0" }, { "B0", "A3" },
                  { "C0", "B1" }, { "A3", "C1" }, { "B1", "B2" }, { "C1", "C2" } };
    struct world *w = *state;

    limit(w, 2, 100);
    come(w, "a");
    ask(w, "one", "A", "aaaa", NULL);
    ask(w, "one", "B", "aaaa", NULL);
    ask(w, "one", "C", "aaaa", NULL);
    check_sent(w, "A0 A1");
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        const char *done = steps[i].done;

        say_done(w, "a", (char[]){ done[0], 0 }, done[1] - '0', BEGIN_MS);
        hub_on_time(w->hub, BEGIN_MS);
        check_sent(w, steps[i].sent);
    }
}

/* It tells its result until that is stored, and has no room for more in its books. */
static void what_is_not_stored_is_the_agents_still(void **state)
{
    struct world *w = *state;

    limit(w, 1, 1);
    come(w, "ab");
    ask(w, "one", "A", "aab", NULL);
    check_sent(w, "A0");
    world_say_result(w, "a", 1, "A", 0, CODE_OK, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A2"); /* it was answered, and others go on */
    hub_on_result_stored(w->hub, "A", 0, NULL, BEGIN_MS);
    say_done(w, "b", "A", 2, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A1");
}

static void check_kept(struct world *w)
{
    hub_on_time(w->hub, BEGIN_MS + HELD_MS);
    check_sent(w, "");
    hub_on_result_stored(w->hub, "A", 0, NULL, BEGIN_MS + HELD_MS);
    hub_on_time(w->hub, BEGIN_MS + HELD_MS);
    check_sent(w, "A1");
}

static void what_is_not_stored_is_the_agents_in_its_next_session_too(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "a");
    ask(w, "one", "A", "aa", NULL);
    check_sent(w, "A0");
    world_say_result(w, "a", 1, "A", 0, CODE_OK, BEGIN_MS);
    hub_on_session_end(w->hub, "a", 1, BEGIN_MS);
    hub_on_session(w->hub, "a", 2, BEGIN_MS);
    check_kept(w);
}

static void so_it_is_if_the_result_comes_before_it_was_asked_again(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "a");
    ask(w, "one", "A", "aa", NULL);
    check_sent(w, "A0");
    w->is_full = true;
    hub_on_session(w->hub, "a", 2, BEGIN_MS);
    world_say_result(w, "a", 2, "A", 0, CODE_OK, BEGIN_MS);
    w->is_full = false;
    check_kept(w);
}

static void an_agent_at_its_limit_does_not_delay_others(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "abc");
    ask(w, "one", "A", "aaabc", NULL);
    check_sent(w, "A0 A3 A4");
    say_done(w, "a", "A", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A1");
}

/* The other app's turn comes first, but what was accepted first is done first. */
static void operations_on_one_process_stay_in_order(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "a");
    ask(w, "one", "A", "aaa", "xyp");
    check_sent(w, "A0");
    ask(w, "one", "B", "a", "p");
    check_sent(w, "");
    ask(w, "two", "C", "a", "p");
    check_sent(w, "A2 B0 C0");
    say_done(w, "a", "A", 0, BEGIN_MS);
    say_done(w, "a", "A", 2, BEGIN_MS);
    say_done(w, "a", "B", 0, BEGIN_MS);
    say_done(w, "a", "C", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A1");
}

static void what_is_stored_later_and_was_accepted_earlier_goes_first(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "a");
    ask(w, "one", "X", "a", "x");
    check_sent(w, "X0");
    for (const char *id = "TUV"; *id; id++) {
        w->task.id = (char[]){ *id, 0 };
        hub_operate(w->hub, &w->task, BEGIN_MS);
    }
    hub_on_task_stored(w->hub, "V", NULL, BEGIN_MS); /* of another app, "": it may go */
    check_sent(w, "V0");
    hub_on_task_stored(w->hub, "U", NULL, BEGIN_MS);
    hub_on_task_stored(w->hub, "T", NULL, BEGIN_MS);
    ask(w, "two", "Z", "a", "p");
    check_sent(w, "T0 U0 Z0");
}

static void what_ends_while_it_waits_leaves_the_others_in_order(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "a");
    ask(w, "one", "X", "a", "x");
    for (const char *id = "ABCD"; *id; id++)
        ask(w, "one", (char[]){ *id, 0 }, "a", "p");
    check_sent(w, "X0");
    hub_cancel(w->hub, "C", BEGIN_MS);
    hub_cancel(w->hub, "A", BEGIN_MS);
    ask(w, "two", "E", "a", "p"); /* its turn is the next */
    check_sent(w, "B0 D0 E0");
}

/* ---- one that does not read what it is sent */

/* It would be dropped, and what was asked later would pass it by. */
static void what_is_held_back_goes_first_when_there_is_room(void **state)
{
    struct world *w = *state;

    come(w, "ab");
    w->is_full = true;
    ask(w, "one", "A", "aa", "pq");
    check_sent(w, "");
    w->is_full = false;
    ask(w, "two", "B", "ab", "px");
    check_sent(w, "B1");
    assert_in_range(hub_next_ms(w->hub), BEGIN_MS + 1, BEGIN_MS + HELD_MS);
    hub_on_time(w->hub, BEGIN_MS + HELD_MS);
    check_sent(w, "A0 A1 B0");
}

static void what_is_held_back_was_never_sent(void **state)
{
    struct world *w = *state;

    come(w, "a");
    w->is_full = true;
    ask(w, "one", "A", "a", NULL);
    hub_cancel(w->hub, "A", BEGIN_MS);
    assert_int_equal(w->code, CODE_CANCELLED);
    assert_int_equal(w->cancels, 0);
    w->is_full = false;
    ask(w, "one", "B", "a", NULL);
    hub_on_session_end(w->hub, "a", 1, BEGIN_MS);
    hub_on_session(w->hub, "a", 2, BEGIN_MS);
    check_sent(w, "B0"); /* the new session has room */
}

static void a_cancel_that_is_held_back_is_sent_when_there_is_room(void **state)
{
    struct world *w = *state;

    come(w, "a");
    ask(w, "one", "A", "a", NULL);
    w->is_full = true;
    hub_cancel(w->hub, "A", BEGIN_MS);
    assert_int_equal(w->cancels, 0);
    hub_on_time(w->hub, BEGIN_MS + HELD_MS);
    assert_int_equal(w->cancels, 0);
    w->is_full = false;
    hub_on_time(w->hub, BEGIN_MS + 2 * HELD_MS);
    assert_int_equal(w->cancels, 1);
}

/* Thousands may be on the way to one that does not read. */
static void what_was_sent_is_said_again_as_seldom_as_to_others(void **state)
{
    enum { RESEND_MS = 5000 };
    struct world *w = *state;

    come(w, "a");
    ask(w, "one", "A", "a", NULL);
    check_sent(w, "A0");
    w->is_full = true;
    hub_on_time(w->hub, BEGIN_MS + SILENT_MS);
    hub_on_time(w->hub, BEGIN_MS + RESEND_MS);
    assert_int_equal(hub_next_ms(w->hub), BEGIN_MS + 2 * RESEND_MS);
    w->is_full = false;
    hub_on_time(w->hub, BEGIN_MS + 2 * RESEND_MS);
    check_sent(w, "A0");
}

/* ---- silence */

static void a_silent_agent_does_not_count(void **state)
{
    struct world *w = *state;

    limit(w, 100, 2);
    come(w, "abc");
    ask(w, "one", "A", "abc", NULL);
    ask(w, "one", "B", "a", NULL);
    check_sent(w, "A0 A1");
    hub_on_time(w->hub, BEGIN_MS + SILENT_MS - 1);
    check_sent(w, "");
    hub_on_time(w->hub, BEGIN_MS + SILENT_MS);
    check_sent(w, "A2"); /* and not B0: its agent must be heard first */
    say_taken(w, "a", "A", 0, BEGIN_MS + SILENT_MS);
    hub_on_time(w->hub, BEGIN_MS + SILENT_MS);
    check_sent(w, "B0");
}

static void one_that_answers_is_not_silent(void **state)
{
    struct world *w = *state;

    limit(w, 100, 2);
    come(w, "a");
    ask(w, "one", "A", "aaa", NULL);
    check_sent(w, "A0 A1");
    say_taken(w, "a", "A", 0, BEGIN_MS + SILENT_MS / 2);
    hub_on_time(w->hub, BEGIN_MS + SILENT_MS / 2);
    check_sent(w, "A2");
    hub_on_time(w->hub, BEGIN_MS + SILENT_MS);
    ask(w, "one", "B", "a", NULL);
    say_taken(w, "a", "A", 1, BEGIN_MS + SILENT_MS);
    hub_on_time(w->hub, BEGIN_MS + SILENT_MS);
    check_sent(w, "B0");
}

/* When what it never answered has ended, it is as good as any. */
static void the_deadline_ends_what_is_on_the_way_and_what_waits(void **state)
{
    struct world *w = *state;

    limit(w, 1, 1);
    come(w, "a");
    ask(w, "one", "A", "aa", NULL);
    check_sent(w, "A0");
    for (int64_t now_ms = BEGIN_MS; now_ms < DEADLINE_MS; now_ms = hub_next_ms(w->hub))
        hub_on_time(w->hub, now_ms);
    assert_int_equal(w->stored, 0);
    hub_on_time(w->hub, DEADLINE_MS);
    assert_int_equal(w->stored, 2);
    assert_int_equal(w->code, CODE_DEADLINE);
    assert_null(strstr(buf_text(&w->sent), "A1"));
    buf_truncate(&w->sent, 0);
    for (int i = 0; i < 2; i++)
        hub_on_result_stored(w->hub, "A", i, NULL, DEADLINE_MS);
    ask(w, "one", "B", "a", NULL);
    check_sent(w, "B0");
}

/* ---- sessions, cancelling */

static void a_new_session_begins_with_nothing_on_the_way(void **state)
{
    struct world *w = *state;

    limit(w, 2, 2);
    come(w, "ab");
    ask(w, "one", "A", "baaa", NULL);
    check_sent(w, "A0 A1");
    hub_on_session_end(w->hub, "a", 1, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "");
    hub_on_session(w->hub, "a", 2, BEGIN_MS);
    check_sent(w, "A1");
    hub_on_session(w->hub, "a", 3, BEGIN_MS); /* in place of the one before */
    check_sent(w, "A1");
    say_done(w, "b", "A", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "A2");
}

static void what_waits_for_its_turn_is_cancelled_at_once(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "a");
    ask(w, "one", "A", "aaa", NULL);
    ask(w, "one", "B", "a", NULL);
    hub_cancel(w->hub, "A", BEGIN_MS);
    assert_int_equal(w->stored, 2);
    assert_int_equal(w->code, CODE_CANCELLED);
    assert_int_equal(w->cancels, 1);
    check_sent(w, "A0");
    say_done(w, "a", "A", 0, BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "B0");
}

/* No answer is awaited: the next ones are sent all the same. */
static void what_ends_while_it_waits_leaves_its_turn_to_others(void **state)
{
    struct world *w = *state;

    limit(w, 1, 100);
    come(w, "a");
    ask(w, "one", "A", "a", NULL);
    ask(w, "one", "B", "a", NULL);
    ask(w, "one", "C", "a", NULL);
    check_sent(w, "A0");
    say_done(w, "a", "A", 0, BEGIN_MS); /* it is B's turn now, */
    hub_cancel(w->hub, "B", BEGIN_MS);
    assert_true(hub_next_ms(w->hub) <= BEGIN_MS);
    hub_on_time(w->hub, BEGIN_MS);
    check_sent(w, "C0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HUB_TEST(apps_take_turns),
        HUB_TEST(tasks_of_an_app_take_turns),
        HUB_TEST(a_turn_of_the_loop_sends_a_slice),
        HUB_TEST(a_large_task_is_cancelled_slice_by_slice),
        HUB_TEST(a_large_task_ends_by_its_deadline_slice_by_slice),
        HUB_TEST(an_agent_has_so_many_to_do),
        HUB_TEST(tasks_of_an_app_take_turns_at_an_agent_that_is_busy),
        HUB_TEST(what_is_not_stored_is_the_agents_still),
        HUB_TEST(what_is_not_stored_is_the_agents_in_its_next_session_too),
        HUB_TEST(so_it_is_if_the_result_comes_before_it_was_asked_again),
        HUB_TEST(an_agent_at_its_limit_does_not_delay_others),
        HUB_TEST(operations_on_one_process_stay_in_order),
        HUB_TEST(what_is_stored_later_and_was_accepted_earlier_goes_first),
        HUB_TEST(what_ends_while_it_waits_leaves_the_others_in_order),
        HUB_TEST(what_is_held_back_goes_first_when_there_is_room),
        HUB_TEST(what_is_held_back_was_never_sent),
        HUB_TEST(a_cancel_that_is_held_back_is_sent_when_there_is_room),
        HUB_TEST(what_was_sent_is_said_again_as_seldom_as_to_others),
        HUB_TEST(a_silent_agent_does_not_count),
        HUB_TEST(one_that_answers_is_not_silent),
        HUB_TEST(the_deadline_ends_what_is_on_the_way_and_what_waits),
        HUB_TEST(a_new_session_begins_with_nothing_on_the_way),
        HUB_TEST(what_waits_for_its_turn_is_cancelled_at_once),
        HUB_TEST(what_ends_while_it_waits_leaves_its_turn_to_others),
    };

    return cmocka_run_group_tests_name("hub_turns", tests, NULL, NULL);
}
