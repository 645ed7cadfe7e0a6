/* SPDX-License-Identifier: MIT */
/* Verbs of the native API: request keys, task lists, cancelling. */
#include "store/store_items.h"
#include "store/store_requests.h"
#include "store/store_signatures.h"
#include "store/store_task_lists.h"
#include "tests/lib/store_rig.h"

static int setup(void **state)
{
    struct store_rig *r = xalloc(sizeof(*r));

    store_rig_place(r);
    store_rig_open(r);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct store_rig *r = *state;

    store_rig_close(r);
    store_rig_remove(r);
    free(r);
    return 0;
}

/* ---- keys of requests */

static struct request_begin_got begin(struct store_rig *r, const char *app, const char *key,
                                      int64_t now_ms)
{
    const struct request_begin_ask ask = {
        .row = { .app = app, .key = key, .digest = "d", .created_ms = now_ms },
        .oldest_ms = now_ms - 1000,
    };
    struct request_begin_got got;

    store_rig_do(r, &store_request_begin, &ask, &got);
    return got;
}

static void a_key_is_taken_once(void **state)
{
    struct store_rig *r = *state;
    const struct request_row answer = { "app", "k", "d", 5000, 200, "{}" };
    struct request_begin_got got = begin(r, "app", "k", 5000);

    assert_true(got.is_new);
    got = begin(r, "app", "k", 5001);
    assert_false(got.is_new);
    assert_int_equal(ROW(request_row, got.rows, 0)->status, 0);
    assert_true(begin(r, "other", "k", 5001).is_new);
    store_rig_do(r, &store_request_end, &answer, NULL);
    got = begin(r, "app", "k", 5002);
    assert_int_equal(ROW(request_row, got.rows, 0)->status, 200);
    assert_string_equal(ROW(request_row, got.rows, 0)->answer, "{}");
    assert_string_equal(got.task_id, "");
}

static void a_key_that_is_let_go_or_old_is_new(void **state)
{
    struct store_rig *r = *state;
    const struct request_row ref = { .app = "app", .key = "k" };

    assert_true(begin(r, "app", "k", 5000).is_new);
    store_rig_do(r, &store_request_drop, &ref, NULL);
    assert_true(begin(r, "app", "k", 5000).is_new);
    assert_false(begin(r, "app", "k", 6000).is_new);
    assert_true(begin(r, "app", "k", 6001).is_new);
}

/* Not all keys of a day are removed at once, but all count as expired. */
static void old_keys_go_a_few_at_a_time(void **state)
{
    enum { KEYS = 120 };
    struct store_rig *r = *state;
    char key[16];

    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_true(begin(r, "app", key, 5000 + i).is_new);
    }
    assert_true(begin(r, "app", key, 9000).is_new); /* the newest of them */
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(begin(r, "app", key, 9000).is_new, i + 1 < KEYS);
    }
}

/* ---- used signatures */

static bool use(struct store_rig *r, const char *app, const char *signature, int64_t expires_s,
                int64_t now_s)
{
    const struct signature_use_ask ask = { { app, signature, expires_s }, now_s };
    struct signature_use_got got;

    store_rig_do(r, &store_signature_use, &ask, &got);
    return got.is_new;
}

static void a_signature_is_used_once_until_it_expires(void **state)
{
    struct store_rig *r = *state;

    assert_true(use(r, "app", "s", 5300, 5000));
    assert_false(use(r, "app", "s", 5300, 5000));
    assert_true(use(r, "other", "s", 5300, 5000));
    assert_true(use(r, "app", "t", 5300, 5000));
    assert_false(use(r, "app", "s", 5300, 5300));
    assert_true(use(r, "app", "s", 5301, 5301)); /* it was removed because it had expired */
}

/* ---- tasks */

struct make {
    const char *id, *app, *request_key, *agent;
    int64_t created_ms, code; /* of its item; 0: unfinished */
};

static int64_t make(struct store_rig *r, const struct make *m)
{
    struct task_spec_row spec = { 0, "{}" };
    struct task_item_row item = { .agent_id = m->agent,
                                  .key = "key",
                                  .space = "gse",
                                  .name = "p",
                                  .op = 7,
                                  .state = m->code ? STORE_ITEM_DONE : STORE_ITEM_QUEUED,
                                  .code = m->code,
                                  .message = "message",
                                  .content = "" };
    const struct task_create_ask ask = {
        .task = { .id = m->id,
                  .app = m->app,
                  .user = "tom",
                  .created_ms = m->created_ms,
                  .request_key = m->request_key },
        .specs = { &spec, 1 },
        .items = { &item, 1 },
    };
    struct task_left_row made;

    store_rig_do(r, &store_task_create, &ask, &made);
    return made.task_no;
}

static void a_task_says_by_which_key_it_was_made(void **state)
{
    struct store_rig *r = *state;
    struct request_begin_got got;

    make(r, &(struct make){ "T1", "app", "k", "a", 4000, 0 }); /* from an older use of the key */
    make(r, &(struct make){ "T2", "app", "", "a", 5000, 0 });
    begin(r, "app", "k", 5000);
    assert_string_equal(begin(r, "app", "k", 5000).task_id, "");
    make(r, &(struct make){ "T3", "app", "k", "a", 5001, 0 });
    got = begin(r, "app", "k", 5002);
    assert_string_equal(got.task_id, "T3");
    assert_int_equal(got.task_items, 1);
}

static void check_list(struct store_rig *r, const struct task_list_ask *ask, const char *expected)
{
    struct buf got = { 0 };
    struct list rows;

    store_rig_do(r, &store_task_list, ask, &rows);
    for (size_t i = 0; i < rows.n; i++)
        buf_puts(&got, ROW(task_list_row, rows, i)->task.id);
    assert_string_equal(buf_text(&got), expected);
    buf_free(&got);
}

static void tasks_are_listed_by_what_is_asked(void **state)
{
    struct store_rig *r = *state;
    int64_t third;
    struct list rows;

    make(r, &(struct make){ "A", "one", "", "a", 1000000, 117 });
    make(r, &(struct make){ "B", "two", "", "b", 2000000, 0 });
    third = make(r, &(struct make){ "C", "one", "", "a", 3000000, 0 });
    make(r, &(struct make){ "D", "one", "", "a", 2500000, 0 }); /* the clock went back */
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "", false, 10 }, "DCBA");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "", false, 2 }, "DC");
    check_list(r, &(struct task_list_ask){ third, 0, "", false, 10 }, "BA");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "one", false, 10 }, "DCA");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "", true, 10 }, "DCB");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "one", true, 10 }, "DC");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "", false, 10, true }, "A");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "one", false, 10, true }, "A");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "two", false, 10, true }, "");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "", true, 10, true }, "");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 0, "one", true, 10, true }, "");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 2500000, "", false, 10 }, "DC");
    check_list(r, &(struct task_list_ask){ INT64_MAX, 2500001, "", false, 10 }, "C");
    store_rig_do(r, &store_task_list, &(struct task_list_ask){ INT64_MAX, 0, "", false, 4 }, &rows);
    assert_int_equal(ROW(task_list_row, rows, 3)->task.n_failed, 1);
    assert_int_equal(ROW(task_list_row, rows, 3)->op, 7);
    assert_string_equal(ROW(task_list_row, rows, 3)->name, "p");
}

static void the_past_of_a_process_is_found(void **state)
{
    struct store_rig *r = *state;
    struct task_past_host hosts[] = { { "b" }, { "a" }, { "none" } };
    struct task_past_ask ask = { "gse", "p", 2, { hosts, 3 } };
    struct list rows;

    for (int i = 0; i < 3; i++) {
        char id[4] = { 'T', (char)('0' + i), 0 };

        make(r, &(struct make){ id, "app", "", "a", 1000 + i, 117 });
    }
    make(r, &(struct make){ "T9", "app", "", "b", 5000, 0 });
    store_rig_do(r, &store_task_past, &ask, &rows);
    assert_int_equal(rows.n, 3);
    assert_string_equal(ROW(task_past_row, rows, 0)->id, "T9");
    assert_int_equal(ROW(task_past_row, rows, 0)->state, STORE_ITEM_QUEUED);
    assert_string_equal(ROW(task_past_row, rows, 1)->id, "T2");
    assert_string_equal(ROW(task_past_row, rows, 1)->message, "message");
    assert_string_equal(ROW(task_past_row, rows, 2)->id, "T1");
    ask.name = "q";
    store_rig_do(r, &store_task_past, &ask, &rows);
    assert_int_equal(rows.n, 0);
}

static void a_task_is_cancelled_once(void **state)
{
    struct store_rig *r = *state;
    int64_t open = make(r, &(struct make){ "A", "app", "", "a", 1000, 0 });
    int64_t ended = make(r, &(struct make){ "B", "app", "", "a", 1000, 117 });
    struct list rows;

    store_rig_do(r, &store_task_cancel, &(struct task_cancel_ask){ open, 5000 }, &rows);
    assert_int_equal(ROW(task_left_row, rows, 0)->n_left, 1);
    store_rig_do(r, &store_task_cancel, &(struct task_cancel_ask){ open, 6000 }, &rows);
    store_rig_do(r, &store_task_find, &(struct task_find_ask){ "A" }, &rows);
    assert_int_equal(ROW(task_row, rows, 0)->cancelled_ms, 5000);
    store_rig_do(r, &store_task_cancel, &(struct task_cancel_ask){ ended, 5000 }, &rows);
    assert_int_equal(rows.n, 0);
    store_rig_do(r, &store_task_find, &(struct task_find_ask){ "B" }, &rows);
    assert_int_equal(ROW(task_row, rows, 0)->cancelled_ms, 0);
}

/* Items that were already in the wanted state are no failures, if the caller says so. */
static void failures_are_counted_as_the_results_say(void **state)
{
    struct store_rig *r = *state;
    int64_t first = make(r, &(struct make){ "A", "app", "", "a", 1000, 0 });
    int64_t second = make(r, &(struct make){ "B", "app", "", "a", 1000, 0 });
    struct result_row results[] = { { first, 0, 0, 828, "so", "", 2000, false },
                                    { second, 0, 0, 828, "so", "", 2000, true } };
    const struct task_result_ask ask = { { results, 2 } };
    struct list rows;

    store_rig_do(r, &store_task_result, &ask, NULL);
    store_rig_do(r, &store_task_find, &(struct task_find_ask){ "A" }, &rows);
    assert_int_equal(ROW(task_row, rows, 0)->n_failed, 0);
    store_rig_do(r, &store_task_find, &(struct task_find_ask){ "B" }, &rows);
    assert_int_equal(ROW(task_row, rows, 0)->n_failed, 1);
    assert_int_equal(ROW(task_row, rows, 0)->n_left, 0);
}

#define REQUEST_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REQUEST_TEST(a_key_is_taken_once),
        REQUEST_TEST(a_key_that_is_let_go_or_old_is_new),
        REQUEST_TEST(old_keys_go_a_few_at_a_time),
        REQUEST_TEST(a_signature_is_used_once_until_it_expires),
        REQUEST_TEST(a_task_says_by_which_key_it_was_made),
        REQUEST_TEST(tasks_are_listed_by_what_is_asked),
        REQUEST_TEST(the_past_of_a_process_is_found),
        REQUEST_TEST(a_task_is_cancelled_once),
        REQUEST_TEST(failures_are_counted_as_the_results_say),
    };

    return cmocka_run_group_tests_name("store requests", tests, NULL, NULL);
}
