/* SPDX-License-Identifier: MIT */
/* Whose item is sent next, and how many at once. */
#include "server/hub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { BEGIN_MS = 1000, DEADLINE_MS = BEGIN_MS + 60 * 1000, MANY = 1000, SILENT_MS = 1000 };

struct world {
    struct hub *hub;
    struct proc_spec spec;
    struct buf sent; /* "A0 A1 B0": the tasks' ids and the items' numbers, as they went */
    int n_sent, cancels, stored;
    int64_t code; /* of the result that was stored last */
};

static void on_task(void *arg, const struct hub_task *task)
{
    (void)arg;
    (void)task;
}

static void on_result(void *arg, const char *task, int64_t item,
                      const struct message_result *result)
{
    struct world *w = arg;

    (void)task;
    (void)item;
    w->stored++;
    w->code = result->code;
}

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct world *w = arg;
    const struct message_command *m = message;

    (void)agent;
    (void)epoch;
    (void)s;
    w->cancels += type == MESSAGE_CANCEL;
    if (type != MESSAGE_COMMAND)
        return;
    w->n_sent++;
    buf_printf(&w->sent, "%s%s%lld", w->sent.len ? " " : "", m->task, (long long)m->item);
}

static const struct hub_hands hands = { on_task, on_result, on_send };

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    w->hub = hub_new(&hands, w, BEGIN_MS);
    shape_defaults(&proc_spec_shape, &w->spec);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    hub_free(w->hub);
    buf_free(&w->sent);
    free(w);
    return 0;
}

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
        items[i] = (struct hub_item){ .agent = texts[i][0],
                                      .key = "key",
                                      .op = PROC_OP_START,
                                      .meta = { .space = "gse", .name = texts[i][1] },
                                      .spec = &w->spec,
                                      .deadline_ms = DEADLINE_MS,
                                      .code = CODE_WAITING,
                                      .text = "" };
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
    struct message_result m = { .task = task, .item = item, .code = CODE_OK, .text = "" };

    shape_defaults(&proc_view_shape, &m.view);
    m.view.space = m.view.name = "";
    hub_on_message(w->hub, agent, 1, MESSAGE_RESULT, &m, now_ms);
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

static void a_turn_of_the_loop_sends_a_slice(void **state)
{
    struct world *w = *state;
    char agents[MANY + 1];
    int slice;

    memset(agents, 'a', MANY);
    agents[MANY] = 0;
    limit(w, 2 * MANY, 2 * MANY);
    come(w, "ab");
    ask(w, "one", "A", agents, NULL);
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

static void what_can_not_go_holds_up_nobody(void **state)
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

/* Nobody has an answer to wait for: those who are next are woken all the same. */
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

#define TURNS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TURNS_TEST(apps_take_turns),
        TURNS_TEST(tasks_of_an_app_take_turns),
        TURNS_TEST(a_turn_of_the_loop_sends_a_slice),
        TURNS_TEST(an_agent_has_so_many_to_do),
        TURNS_TEST(what_can_not_go_holds_up_nobody),
        TURNS_TEST(operations_on_one_process_stay_in_order),
        TURNS_TEST(a_silent_agent_does_not_count),
        TURNS_TEST(one_that_answers_is_not_silent),
        TURNS_TEST(the_deadline_ends_what_is_on_the_way_and_what_waits),
        TURNS_TEST(a_new_session_begins_with_nothing_on_the_way),
        TURNS_TEST(what_waits_for_its_turn_is_cancelled_at_once),
        TURNS_TEST(what_ends_while_it_waits_leaves_its_turn_to_others),
    };

    return cmocka_run_group_tests_name("hub_turns", tests, NULL, NULL);
}
