/* SPDX-License-Identifier: MIT */
/* What is removed, and how much at once, with any database. */
#include "tests/lib/store_rig.h"

#include <sys/stat.h>

#include "store/store_apps.h"
#include "store/store_hosts.h"
#include "store/store_items.h"
#include "store/store_retention.h"

enum { OLD_MS = 1000, NEW_MS = 2000 };

struct count {
    int64_t n;
};
static const struct field count_fields[] = { DB_NUMBER(count, n), { 0 } };
static const struct shape count_shape = DB_SHAPE(count, count_fields);

static int64_t rows_of(struct db *db, const char *table)
{
    char sql[64];
    struct query q = { sql, .out = &count_shape };
    struct arena a = { 0 };
    struct list rows;
    struct err err;
    int64_t n;

    snprintf(sql, sizeof(sql), "SELECT COUNT(*) FROM %s", table);
    if (db_run(db, &q, NULL, &a, &rows, &err))
        fail_msg("%s", err.text);
    n = ROW(count, rows, 0)->n;
    arena_free(&a);
    return n;
}

static int64_t rows_of_tasks(struct db *db)
{
    return rows_of(db, "task") + rows_of(db, "task_spec") + rows_of(db, "task_item");
}

/* Ended when it was created. */
static void make_task(struct store_rig *r, int number, int64_t at_ms, size_t n_items,
                      size_t n_specs)
{
    struct task_item_row *items = xalloc(n_items * sizeof(*items));
    struct task_spec_row *specs = xalloc(n_specs * sizeof(*specs));
    char id[32];
    struct task_create_ask ask = { .task = { .id = id, .created_ms = at_ms },
                                   .specs = { specs, n_specs },
                                   .items = { items, n_items } };

    snprintf(id, sizeof(id), "T%d", number);
    for (size_t i = 0; i < n_items; i++)
        items[i] = (struct task_item_row){ .n = (int64_t)i,
                                           .agent_id = "agent",
                                           .key = "0:10.0.0.1:gse:process",
                                           .state = STORE_ITEM_DONE,
                                           .message = "it went as such things go" };
    for (size_t i = 0; i < n_specs; i++)
        specs[i] = (struct task_spec_row){ (int64_t)i, "{\"a\":\"specification\"}" };
    store_rig_do(r, &store_task_create, &ask, NULL);
    free(items);
    free(specs);
}

static struct task_prune_got prune(struct store_rig *r, int64_t limit)
{
    struct task_prune_got got;

    store_rig_do(r, &store_task_prune, &(struct task_prune_ask){ NEW_MS, limit }, &got);
    return got;
}

/* Many small ones, and one with specs larger than a step. */
static void no_step_removes_more_than_its_limit(void **state)
{
    enum { TASKS = 40, LIMIT = 7 };
    struct store_rig *r = *state;
    struct task_prune_got got = { .more = true };
    struct db *db = NULL;
    int64_t before, after;
    int steps = 0;

    for (int i = 0; i < TASKS; i++)
        make_task(r, i, OLD_MS, 1, 1);
    make_task(r, TASKS, OLD_MS, 3, 20);
    make_task(r, TASKS + 1, NEW_MS, 2, 2);
    assert_int_equal(db_open(r->url, DB_READ, &db, &r->err), 0);
    before = rows_of_tasks(db);
    for (; got.more; steps++) {
        got = prune(r, LIMIT);
        after = rows_of_tasks(db);
        assert_in_range(before - after + got.tasks, 0, LIMIT);
        before = after;
    }
    assert_int_equal(before, 5);
    assert_in_range(steps, 3 * TASKS / LIMIT, 6 * TASKS / LIMIT);
    db_close(db);
}

static void the_clock_of_before_is_remembered(void **state)
{
    struct store_rig *r = *state;
    struct list rows;

    store_rig_do(r, &store_retention_find, NULL, &rows);
    assert_int_equal(rows.n, 0);
    store_rig_do(r, &store_retention_put, &(struct retention_row){ 5000, 0 }, NULL);
    store_rig_do(r, &store_retention_put, &(struct retention_row){ 6000, 70 }, NULL);
    store_rig_close(r);
    store_rig_open(r);
    store_rig_do(r, &store_retention_find, NULL, &rows);
    assert_int_equal(rows.n, 1);
    assert_int_equal(ROW(retention_row, rows, 0)->believed_ms, 6000);
    assert_int_equal(ROW(retention_row, rows, 0)->waited_ms, 70);
}

static struct retention_tidy_got tidy(struct store_rig *r, int64_t limit)
{
    struct retention_tidy_got got;

    store_rig_do(r, &store_retention_tidy, &(struct retention_tidy_ask){ NEW_MS, limit }, &got);
    return got;
}

static void tokens_go_when_they_have_ended(void **state)
{
    static const char *const old[] = { "a", "b", "c" };
    struct store_rig *r = *state;
    struct list rows;

    for (size_t i = 0; i < ARRAY_LEN(old); i++)
        store_rig_do(r, &store_token_put, &(struct token_row){ old[i], .expires_ms = OLD_MS },
                     NULL);
    store_rig_do(r, &store_token_put,
                 &(struct token_row){ "sha256:0123456789ab", .expires_ms = NEW_MS }, NULL);
    store_rig_do(r, &store_token_revoke, &(struct token_revoke_ask){ "0123456789ab", OLD_MS },
                 &rows);
    assert_int_equal(tidy(r, 5).tokens, 4);
    for (size_t i = 0; i < ARRAY_LEN(old); i++)
        store_rig_do(r, &store_token_put, &(struct token_row){ old[i], .expires_ms = OLD_MS },
                     NULL);
    store_rig_do(r, &store_token_put,
                 &(struct token_row){ "d", .expires_ms = NEW_MS, .revoked_ms = NEW_MS }, NULL);
    assert_int_equal(tidy(r, 2).tokens, 2);
    assert_int_equal(tidy(r, 2).tokens, 1);
    assert_int_equal(tidy(r, 2).tokens, 0);
    store_rig_do(r, &store_token_find, &(struct token_find_ask){ "d" }, &rows);
    assert_int_equal(rows.n, 1);
}

static void have_session(struct store_rig *r, const char *agent, bool is_closed, int64_t at_ms)
{
    struct list rows;

    store_rig_do(r, &store_session_open, &(struct session_open_ask){ agent, "main", at_ms }, &rows);
    if (is_closed)
        store_rig_do(r, &store_session_close,
                     &(struct session_close_ask){ agent, ROW(session_row, rows, 0)->epoch, at_ms },
                     &rows);
}

/* It has a host, operations, a session, or was connected a moment ago. */
static void sessions_go_when_their_hosts_are_gone(void **state)
{
    struct store_rig *r = *state;
    struct task_item_row item = { .agent_id = "busy", .key = "k" };
    struct task_spec_row spec = { 0, "{}" };
    const struct task_create_ask task = { .task = { .id = "T", .deadline_ms = INT64_MAX },
                                          .specs = { &spec, 1 },
                                          .items = { &item, 1 } };
    const struct host_row host = { "known", 0, "10.0.0.1", 2, "h", "1", "1", "ab", 77 };
    struct list rows;

    store_rig_do(r, &store_task_create, &task, NULL);
    store_rig_do(r, &store_host_put, &host, NULL);
    have_session(r, "busy", true, OLD_MS);
    have_session(r, "gone", true, OLD_MS);
    have_session(r, "here", false, OLD_MS);
    have_session(r, "known", true, OLD_MS);
    have_session(r, "late", true, NEW_MS);
    assert_int_equal(tidy(r, 10).sessions, 1);
    store_rig_do(r, &store_session_list, &(struct store_page){ "", 10 }, &rows);
    assert_int_equal(rows.n, 4);
    for (size_t i = 0; i < rows.n; i++)
        assert_string_not_equal(ROW(session_row, rows, i)->agent_id, "gone");
}

static int64_t size_of(const struct store_rig *r, const char *end)
{
    char path[128];
    struct stat st = { 0 };

    snprintf(path, sizeof(path), "%s%s", r->path, end);
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* The whole store is one file only after it is closed. */
static int64_t closed_size(struct store_rig *r)
{
    int64_t size;

    store_rig_close(r);
    size = size_of(r, "");
    store_rig_open(r);
    return size;
}

static void write_and_remove(struct store_rig *r, int rounds, int *number)
{
    enum { ITEMS = 1500, WAL_MAX = 8 << 20 };

    for (int i = 0; i < rounds; i++) {
        make_task(r, ++*number, OLD_MS, ITEMS, 1);
        while (prune(r, 500).more)
            ;
        assert_in_range(size_of(r, "-wal"), 0, WAL_MAX);
    }
}

/* New rows use the space of removed ones. */
static void files_stay_as_large_as_they_are(void **state)
{
    struct store_rig *r = *state;
    int number = 0;
    int64_t early;

    if (getenv("HOLDFAST_TEST_DB"))
        skip(); /* its files are not measured here */
    write_and_remove(r, 3, &number);
    early = closed_size(r);
    write_and_remove(r, 12, &number);
    assert_in_range(closed_size(r), early / 2, early + early / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(no_step_removes_more_than_its_limit),
        STORE_TEST(the_clock_of_before_is_remembered),
        STORE_TEST(tokens_go_when_they_have_ended),
        STORE_TEST(sessions_go_when_their_hosts_are_gone),
        STORE_TEST(files_stay_as_large_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
