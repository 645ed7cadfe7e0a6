/* SPDX-License-Identifier: MIT */
/* Moments that the tests of tasks can not hold still; worlds by the seed do the rest. */
#include "server/hub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

enum { BEGIN_MS = 1000, DEADLINE_MS = BEGIN_MS + 60 * 1000 };

struct world {
    struct hub *hub;
    struct proc_spec spec;
    struct hub_item item;
    struct hub_task task;
    int stored, sent;
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

    (void)agent;
    (void)epoch;
    (void)s;
    (void)message;
    w->sent += type == MESSAGE_COMMAND;
}

static const struct hub_hands hands = { on_task, on_result, on_send };

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    w->hub = hub_new(&hands, w, BEGIN_MS);
    shape_defaults(&proc_spec_shape, &w->spec);
    w->item = (struct hub_item){
        .agent = "a",
        .key = "key",
        .op = PROC_OP_START,
        .meta = { .space = "gse", .name = "p" },
        .spec = &w->spec,
        .deadline_ms = DEADLINE_MS,
        .code = CODE_WAITING,
        .text = "",
    };
    w->task = (struct hub_task){ "T", { &w->item, 1 } };
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    hub_free(w->hub);
    free(w);
    return 0;
}

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
    assert_int_equal(w->sent, 1); /* the agent knows what came of it */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_deadline_that_passes_before_the_task_is_stored_still_ends_it, setup, teardown),
        cmocka_unit_test_setup_teardown(what_may_have_run_before_a_restart_is_not_called_offline,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_never_sent_is_offline_when_the_window_has_passed,
                                        setup, teardown),
    };

    return cmocka_run_group_tests_name("hub", tests, NULL, NULL);
}
