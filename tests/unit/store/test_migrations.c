/* SPDX-License-Identifier: MIT */
#include "store/migrations.h"

#include "store/store_apps.h"
#include "store/store_audit.h"
#include "tests/lib/store_rig.h"

static const char *const one[] = { "CREATE TABLE a (n BIGINT NOT NULL)", NULL };
static const char *const two[] = { "INSERT INTO a (n) VALUES (1)", "INSERT INTO a (n) VALUES (2)",
                                   NULL };
static const char *const broken[] = { "INSERT INTO a (n) VALUES (3)",
                                      "INSERT INTO b (n) VALUES (4)", NULL };
static const char *const three[] = { "INSERT INTO a (n) VALUES (5)", NULL };

static const struct migration first[] = { { "one", one }, { 0 } };
static const struct migration second[] = { { "one", one }, { "two", two }, { 0 } };
static const struct migration bad[] = { { "one", one }, { "two", two }, { "bad", broken }, { 0 } };
static const struct migration mended[] = {
    { "one", one }, { "two", two }, { "three", three }, { 0 }
};

struct number {
    int64_t number;
};
static const struct field number_fields[] = { DB_NUMBER(number, number), { 0 } };
static const struct shape number_shape = DB_SHAPE(number, number_fields);
static const struct query total = { "SELECT COUNT(*) FROM a", .out = &number_shape };

struct bench {
    struct store_rig rig;
    struct db *db;
};

static int setup(void **state)
{
    struct bench *b = xalloc(sizeof(*b));

    store_rig_place(&b->rig);
    if (db_open(b->rig.url, DB_WRITE, &b->db, &b->rig.err) ||
        db_run(b->db, &(struct query){ "DROP TABLE IF EXISTS a" }, NULL, NULL, NULL, &b->rig.err))
        fail_msg("%s", b->rig.err.text);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    db_close(b->db);
    store_rig_remove(&b->rig);
    free(b);
    return 0;
}

static void migrate(struct bench *b, const struct migration *steps)
{
    if (migrations_run(b->db, steps, &b->rig.err))
        fail_msg("%s", b->rig.err.text);
}

static int64_t rows(struct bench *b)
{
    struct list list;

    assert_int_equal(db_run(b->db, &total, NULL, &b->rig.arena, &list, &b->rig.err), 0);
    return ROW(number, list, 0)->number;
}

static void each_step_is_taken_once(void **state)
{
    migrate(*state, first);
    assert_int_equal(rows(*state), 0);
    for (int i = 0; i < 3; i++) {
        migrate(*state, second);
        assert_int_equal(rows(*state), 2);
    }
    migrate(*state, mended);
    assert_int_equal(rows(*state), 3);
}

static void a_step_that_fails_leaves_all_as_it_was(void **state)
{
    struct bench *b = *state;

    migrate(b, first);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(migrations_run(b->db, bad, &b->rig.err), -1);
        assert_non_null(strstr(b->rig.err.text, "step 3 (bad)"));
        assert_false(db_is_in(b->db));
        assert_int_equal(rows(b), 0); /* the second step, which succeeded, is rolled back too */
    }
    migrate(b, first); /* the older program can continue */
    migrate(b, mended);
    assert_int_equal(rows(b), 3);
}

static void tables_of_a_newer_program_are_refused(void **state)
{
    struct bench *b = *state;

    migrate(b, second);
    assert_int_equal(migrations_run(b->db, first, &b->rig.err), -1);
    assert_int_equal(b->rig.err.code, ERR_CONFLICT);
    assert_non_null(strstr(b->rig.err.text, "version 2"));
    assert_non_null(strstr(b->rig.err.text, "knows 1"));
    assert_int_equal(rows(b), 2);
}

/* store_open() reports it too, naming the file. */
static void a_store_of_a_newer_program_is_refused(void **state)
{
    struct bench *b = *state;
    static const struct query future = { "INSERT INTO schema_version (version) VALUES (1000)" };

    migrate(b, store_migrations);
    assert_int_equal(db_run(b->db, &future, NULL, NULL, NULL, &b->rig.err), 0);
    db_close(b->db);
    b->db = NULL;
    b->rig.options.url = b->rig.url;
    assert_int_equal(store_open(&b->rig.options, &b->rig.store, &b->rig.err), -1);
    assert_int_equal(b->rig.err.code, ERR_CONFLICT);
    assert_non_null(strstr(b->rig.err.text, b->rig.url));
    assert_non_null(strstr(b->rig.err.text, "version 1000"));
    assert_null(b->rig.store);
}

/* Data of the first release is kept; columns that it lacked are empty. */
static void processes_of_the_first_tables_are_kept(void **state)
{
    static const struct query old_row = {
        "INSERT INTO process (agent_id, space, name, labels, spec, wanted, hosted, status, pid,"
        " start_ms, version, message, register_ms, last_start_ms, report_ms)"
        " VALUES ('a', 's', 'n', '', '', 1, 1, 1, 42, 7, 'v', 'm', 1, 2, 3)",
    };
    static const struct query kept = {
        "SELECT COUNT(*) FROM process WHERE name = 'n' AND pid = 42 AND restarts = 0 AND cause = "
        "''",
        .out = &number_shape,
    };
    const struct migration old[] = { store_migrations[0], { 0 } };
    struct bench *b = *state;
    struct arena a = { 0 };
    struct list got;

    migrate(b, old);
    assert_int_equal(db_run(b->db, &old_row, NULL, NULL, NULL, &b->rig.err), 0);
    migrate(b, store_migrations);
    if (db_run(b->db, &kept, NULL, &a, &got, &b->rig.err))
        fail_msg("%s", b->rig.err.text);
    assert_int_equal(((struct number *)got.items)->number, 1);
    arena_free(&a);
}

enum { STEPS_BEFORE = 7 }; /* up to events */

/* Columns that later steps add are empty in old rows, and the verbs that read them succeed. */
static void old_tokens_and_audit_rows_are_kept(void **state)
{
    static const struct query token = {
        "INSERT INTO join_token (hash, cloud_id, biz_id, expires_ms, uses_left, note)"
        " VALUES ('sha256:0123456789ab', 1, 2, 9000, 3, 'n')",
    };
    static const struct query audit = {
        "INSERT INTO audit (at_ms, request_id, app, user_name, is_proven, peer, method, route,"
        " what, code, message, task_id)"
        " VALUES (5, 'r', 'app', 'u', 1, 'p', 'POST', '/x', '{}', 117, 'm', '')",
    };
    const struct audit_page page = { INT64_MAX, "", 0, INT64_MAX, "", "", "", 10 };
    struct migration old[STEPS_BEFORE + 1] = { 0 };
    struct bench *b = *state;
    struct store_rig *r = &b->rig;
    struct list got;

    memcpy(old, store_migrations, STEPS_BEFORE * sizeof(*old));
    migrate(b, old);
    assert_int_equal(db_run(b->db, &token, NULL, NULL, NULL, &r->err), 0);
    assert_int_equal(db_run(b->db, &audit, NULL, NULL, NULL, &r->err), 0);
    db_close(b->db);
    b->db = NULL;
    store_rig_open(r);
    store_rig_do(r, &store_token_list, &(struct store_page){ "", 10 }, &got);
    assert_int_equal(got.n, 1);
    assert_int_equal(ROW(token_row, got, 0)->uses_left, 3);
    assert_int_equal(ROW(token_row, got, 0)->created_ms, 0);
    assert_string_equal(ROW(token_row, got, 0)->app, "");
    store_rig_do(r, &store_audit_list, &page, &got);
    assert_int_equal(got.n, 1);
    assert_int_equal(ROW(audit_row, got, 0)->code, 117);
    assert_string_equal(ROW(audit_row, got, 0)->code_name, "");
    store_rig_do(r, &store_token_revoke, &(struct token_revoke_ask){ "0123456789ab", 7 }, &got);
    assert_int_equal(got.n, 1);
    assert_int_equal(ROW(token_row, got, 0)->revoked_ms, 7);
    store_rig_close(r);
}

#define STEP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(each_step_is_taken_once),
        STEP_TEST(a_step_that_fails_leaves_all_as_it_was),
        STEP_TEST(tables_of_a_newer_program_are_refused),
        STEP_TEST(a_store_of_a_newer_program_is_refused),
        STEP_TEST(processes_of_the_first_tables_are_kept),
        STEP_TEST(old_tokens_and_audit_rows_are_kept),
    };

    return cmocka_run_group_tests_name("migrations", tests, NULL, NULL);
}
