/* SPDX-License-Identifier: MIT */
/* Promises of server/sessions/logs.h. */
#include "server/sessions/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/code.h"
#include "tests/lib/rig.h"

struct logs_world {
    struct rig rig;
    struct logs *logs;
    int sent;
    char to[64];
    int64_t epoch, id; /* of the last question */
    int ended, code;   /* of the last that ended */
    char output[64];
    int again; /* how often the callback starts another query */
};

static const struct fleet_host host = { .agent_id = "a1", .epoch = 7 };

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct logs_world *w = arg;
    const struct message_log_ask *ask = message;

    assert_int_equal(type, MESSAGE_LOG_ASK);
    assert_ptr_equal(s, &message_log_ask_shape);
    assert_string_equal(ask->name, "web");
    snprintf(w->to, sizeof(w->to), "%s", agent);
    w->epoch = epoch;
    w->id = ask->id;
    w->sent++;
}

static void on_end(void *arg, const struct message_log *answer, const struct err *failure);

static int ask(struct logs_world *w, const struct fleet_host *h, struct err *err)
{
    const struct message_log_ask m = { .space = "s", .name = "web", .what = "", .at = -1 };

    return logs_ask(w->logs, h, &m, on_end, w, err);
}

static void on_end(void *arg, const struct message_log *answer, const struct err *failure)
{
    struct logs_world *w = arg;
    struct err err;

    assert_true(!answer != !failure);
    w->ended++;
    w->code = failure ? failure->code : 0;
    snprintf(w->output, sizeof(w->output), "%s", answer ? answer->output : "");
    if (w->again-- > 0)
        assert_int_equal(ask(w, &host, &err), 0);
}

static int set_up(void **state)
{
    struct logs_world *w = xalloc(sizeof(*w));

    rig_init(&w->rig);
    w->logs = logs_new(w->rig.loop, on_send, w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct logs_world *w = *state;

    logs_free(w->logs);
    rig_done(&w->rig);
    free(w);
    return 0;
}

static void answer(struct logs_world *w, const char *agent, int64_t epoch, int64_t id)
{
    const struct message_log m = { .id = id, .text = "", .output = "said" };

    logs_on_answer(w->logs, agent, epoch, &m);
}

static void an_answer_ends_its_query_once(void **state)
{
    struct logs_world *w = *state;
    struct err err;
    int64_t first;

    assert_int_equal(ask(w, &host, &err), 0);
    assert_string_equal(w->to, "a1");
    assert_int_equal(w->epoch, 7);
    first = w->id;
    assert_int_equal(ask(w, &host, &err), 0);
    assert_true(w->id != first);
    assert_int_equal(w->ended, 0);
    answer(w, "a1", 7, first);
    assert_int_equal(w->ended, 1);
    assert_string_equal(w->output, "said");
    answer(w, "a1", 7, first); /* once more */
    assert_int_equal(w->ended, 1);
}

static void only_the_session_that_was_asked_may_answer(void **state)
{
    struct logs_world *w = *state;
    struct err err;

    assert_int_equal(ask(w, &host, &err), 0);
    answer(w, "a2", 7, w->id);
    answer(w, "a1", 8, w->id);
    answer(w, "a1", 7, w->id + 1);
    assert_int_equal(w->ended, 0);
    answer(w, "a1", 7, w->id);
    assert_int_equal(w->ended, 1);
}

static void a_host_that_is_not_connected_is_not_queried(void **state)
{
    const struct fleet_host gone = { .agent_id = "a1" };
    struct logs_world *w = *state;
    struct err err;

    assert_int_equal(ask(w, &gone, &err), -1);
    assert_int_equal(err.code, CODE_OFFLINE);
    assert_non_null(strstr(err.text, "a1"));
    assert_int_equal(w->sent, 0);
}

static void a_query_without_an_answer_ends_at_its_deadline(void **state)
{
    struct logs_world *w = *state;
    struct err err;

    assert_int_equal(ask(w, &host, &err), 0);
    rig_pass_ms(&w->rig, LOGS_MS - 1);
    assert_int_equal(w->ended, 0);
    rig_pass_ms(&w->rig, 2);
    assert_int_equal(w->ended, 1);
    assert_int_equal(w->code, CODE_DEADLINE);
    answer(w, "a1", 7, w->id); /* too late */
    assert_int_equal(w->ended, 1);
}

static void a_session_that_ends_ends_its_questions(void **state)
{
    const struct fleet_host other = { .agent_id = "a2", .epoch = 7 };
    struct logs_world *w = *state;
    struct err err;

    assert_int_equal(ask(w, &other, &err), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(w, &host, &err), 0);
    logs_on_session_end(w->logs, "a1", 6); /* an older one */
    assert_int_equal(w->ended, 0);
    w->again = 1; /* the callback may start another query at once */
    logs_on_session_end(w->logs, "a1", 7);
    assert_int_equal(w->code, CODE_OFFLINE);
    assert_int_equal(w->ended, 4);
    assert_int_equal(w->sent, 5);
}

static void there_are_not_too_many(void **state)
{
    struct logs_world *w = *state;
    struct fleet_host h = { .epoch = 7 };
    char id[16];
    struct err err;

    for (int i = 0; i < LOGS_OF_ONE; i++)
        assert_int_equal(ask(w, &host, &err), 0);
    assert_int_equal(ask(w, &host, &err), -1);
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    for (int i = LOGS_OF_ONE; i < LOGS_MAX; i++) {
        snprintf(id, sizeof(id), "b%d", i);
        h.agent_id = id;
        assert_int_equal(ask(w, &h, &err), 0);
    }
    h.agent_id = "c";
    assert_int_equal(ask(w, &h, &err), -1);
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    logs_on_session_end(w->logs, "a1", 7);
    assert_int_equal(w->ended, LOGS_OF_ONE);
    assert_int_equal(ask(w, &h, &err), 0);
}

static void freeing_fails_all_queries_in_progress(void **state)
{
    struct logs_world *w = *state;
    struct err err;

    assert_int_equal(ask(w, &host, &err), 0);
    assert_int_equal(ask(w, &host, &err), 0);
    logs_free(w->logs);
    w->logs = NULL;
    assert_int_equal(w->ended, 2);
    assert_int_equal(w->code, ERR_UNAVAILABLE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_ends_its_query_once),
        TEST(only_the_session_that_was_asked_may_answer),
        TEST(a_host_that_is_not_connected_is_not_queried),
        TEST(a_query_without_an_answer_ends_at_its_deadline),
        TEST(a_session_that_ends_ends_its_questions),
        TEST(there_are_not_too_many),
        TEST(freeing_fails_all_queries_in_progress),
    };

    return cmocka_run_group_tests_name("logs", tests, NULL, NULL);
}
