/* SPDX-License-Identifier: MIT */
#include "store/db.h"

#include "tests/lib/store_rig.h"

struct pair {
    int64_t number;
    const char *text;
};
static const struct field pair_fields[] = { DB_NUMBER(pair, number), DB_TEXT(pair, text), { 0 } };
static const struct shape pair_shape = DB_SHAPE(pair, pair_fields);

struct nested {
    bool flag;
    struct pair pair;
    const char *json;
};
static const struct field nested_fields[] = {
    DB_FLAG(nested, flag),
    DB_PART(nested, pair, pair_shape),
    DB_JSON(nested, json),
    { 0 },
};
static const struct shape nested_shape = DB_SHAPE(nested, nested_fields);

struct number {
    int64_t number;
};
static const struct field number_fields[] = { DB_NUMBER(number, number), { 0 } };
static const struct shape number_shape = DB_SHAPE(number, number_fields);

struct text {
    const char *text;
};
static const struct field text_fields[] = { DB_TEXT(text, text), { 0 } };
static const struct shape text_shape = DB_SHAPE(text, text_fields);

static const struct query make = { "CREATE TABLE pair (number BIGINT NOT NULL PRIMARY KEY,"
                                   " text TEXT NOT NULL)" };
static const struct query insert = { "INSERT INTO pair (number, text) VALUES ($1, $2)",
                                     .in = &pair_shape, .conflict = "this number is taken" };
static const struct query insert_each = { "INSERT INTO pair (text, number) VALUES ($1, $2)"
                                          " RETURNING number, text",
                                          .in = &text_shape, .each = &number_shape,
                                          .out = &pair_shape };
static const struct query list = { "SELECT number, text FROM pair ORDER BY number",
                                   .out = &pair_shape };

struct bench {
    struct store_rig rig;
    struct db *db;
};

static int setup(void **state)
{
    struct bench *b = xalloc(sizeof(*b));

    store_rig_place(&b->rig);
    if (db_open(b->rig.url, DB_WRITE, &b->db, &b->rig.err) ||
        db_run(b->db, &(struct query){ "DROP TABLE IF EXISTS pair" }, NULL, NULL, NULL,
               &b->rig.err) ||
        db_run(b->db, &make, NULL, NULL, NULL, &b->rig.err))
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

static void run(struct bench *b, const struct query *q, const void *in, struct list *rows)
{
    if (db_run(b->db, q, in, &b->rig.arena, rows, &b->rig.err))
        fail_msg("%s", b->rig.err.text);
}

static void refused(struct bench *b, const struct query *q, const void *in, int code)
{
    struct list rows;

    assert_int_equal(db_run(b->db, q, in, &b->rig.arena, &rows, &b->rig.err), -1);
    assert_int_equal(b->rig.err.code, code);
}

static size_t count(struct bench *b)
{
    struct list rows;

    run(b, &list, NULL, &rows);
    return rows.n;
}

static void put(struct bench *b, int64_t number)
{
    run(b, &insert, &(struct pair){ number, "x" }, NULL);
}

static void an_url_must_name_a_database(void **state)
{
    static const char *const urls[] = {
        "",           "/tmp/x.db",       "sqlite",    "sqlite:",       "sqlite:x.db",
        "sqlite:./x", "sqlite::memory:", "mysql://x", "SQLITE:/tmp/x", "file:/tmp/x.db",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct err err = { 0 };
        struct db *db = NULL;

        if (db_open(urls[i], DB_WRITE, &db, &err) != -1 || err.code != ERR_INVALID || db)
            fail_msg("\"%s\" was accepted", urls[i]);
        assert_non_null(strstr(err.text, "sqlite:/path"));
    }
    db_close(NULL);
}

static void structs_go_in_and_come_out(void **state)
{
    static const struct query echo = {
        "SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT)",
        .in = &nested_shape,
        .out = &nested_shape,
    };
    struct nested cases[] = {
        { true, { 42, "text" }, "{\"a\":1}" },
        { false, { INT64_MIN, "" }, NULL },
        { false, { -1, NULL }, "null" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct list rows;
        const struct nested *got;

        run(*state, &echo, &cases[i], &rows);
        assert_int_equal(rows.n, 1);
        got = rows.items;
        assert_int_equal(got->flag, cases[i].flag);
        assert_int_equal(got->pair.number, cases[i].pair.number);
        assert_string_equal(got->pair.text, cases[i].pair.text ? cases[i].pair.text : "");
        assert_int_equal(!got->json, !cases[i].json);
        if (got->json)
            assert_string_equal(got->json, cases[i].json);
    }
}

struct three {
    int64_t a, b;
    const char *c;
};
static const struct field three_fields[] = {
    DB_NUMBER(three, a),
    DB_NUMBER(three, b),
    DB_TEXT(three, c),
    { 0 },
};
static const struct shape three_shape = DB_SHAPE(three, three_fields);

static void arguments_go_by_their_number(void **state)
{
    static const struct query swapped = {
        "SELECT CAST($2 AS BIGINT) - CAST($1 AS BIGINT), CAST($3 AS TEXT)"
        " WHERE CAST($2 AS BIGINT) > CAST($1 AS BIGINT)",
        .in = &three_shape,
        .out = &pair_shape,
    };
    struct list rows;

    run(*state, &swapped, &(struct three){ 3, 10, "text" }, &rows);
    assert_int_equal(rows.n, 1);
    assert_int_equal(ROW(pair, rows, 0)->number, 7);
    assert_string_equal(ROW(pair, rows, 0)->text, "text");
}

static void a_list_goes_in_item_by_item(void **state)
{
    static const size_t sizes[] = { 0, 1, 511, 512, 513, 3000 };
    struct bench *b = *state;
    int64_t next = 0;

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct number *numbers = xalloc((sizes[i] + 1) * sizeof(*numbers));
        struct list items = { numbers, sizes[i] }, rows = { 0 };

        for (size_t k = 0; k < sizes[i]; k++)
            numbers[k].number = next++;
        assert_int_equal(db_run_each(b->db, &insert_each, &(struct text){ "same" }, &items,
                                     &b->rig.arena, &rows, &b->rig.err),
                         0);
        assert_int_equal(rows.n, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(ROW(pair, rows, k)->number, numbers[k].number);
            assert_string_equal(ROW(pair, rows, k)->text, "same");
        }
        free(numbers);
    }
    assert_int_equal(count(b), next);
}

static void a_conflict_says_what_it_means_here(void **state)
{
    struct bench *b = *state;

    put(b, 1);
    refused(b, &insert, &(struct pair){ 1, "y" }, ERR_CONFLICT);
    assert_string_equal(b->rig.err.text, "this number is taken");
    put(b, 2); /* and does not affect other rows */
    assert_int_equal(count(b), 2);
}

static void a_query_that_does_not_fit_is_refused(void **state)
{
    static const struct query cases[] = {
        { "SELEC 1" },
        { "SELECT number FROM nowhere", .out = &number_shape },
        { "INSERT INTO pair (number, text) VALUES ($1, $2)", .in = &number_shape },
        { "INSERT INTO pair (number, text) VALUES ($1, 'x')", .in = &pair_shape },
        { "SELECT number FROM pair", .out = &pair_shape },
        { "SELECT number, text, number FROM pair", .out = &pair_shape },
        { "SELECT text, number FROM pair", .out = &pair_shape },
        { "SELECT number, number FROM pair", .out = &pair_shape },
        { "SELECT text FROM pair", .out = &number_shape },
        { "SELECT NULL AS number FROM pair", .out = &number_shape },
    };

    put(*state, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        refused(*state, &cases[i], &(struct pair){ 5, "x" }, ERR_SYSTEM);
    assert_int_equal(count(*state), 1);
}

static void a_transaction_is_all_or_nothing(void **state)
{
    struct bench *b = *state;

    assert_false(db_is_in(b->db));
    assert_int_equal(db_begin(b->db, DB_WRITE, &b->rig.err), 0);
    assert_true(db_is_in(b->db));
    put(b, 1);
    db_rollback(b->db);
    assert_false(db_is_in(b->db));
    assert_int_equal(count(b), 0);
    assert_int_equal(db_begin(b->db, DB_WRITE, &b->rig.err), 0);
    put(b, 1);
    put(b, 2);
    assert_int_equal(db_commit(b->db, &b->rig.err), 0);
    assert_false(db_is_in(b->db));
    assert_int_equal(count(b), 2);
    db_rollback(b->db); /* without a transaction */
    assert_int_equal(db_commit(b->db, &b->rig.err), -1);
    assert_int_equal(db_part_keep(b->db, &b->rig.err), -1);
}

static void a_part_is_taken_back_alone(void **state)
{
    struct bench *b = *state;
    struct list rows;

    assert_int_equal(db_begin(b->db, DB_WRITE, &b->rig.err), 0);
    for (int64_t i = 0; i < 6; i++) {
        assert_int_equal(db_part_begin(b->db, &b->rig.err), 0);
        put(b, i);
        assert_int_equal(
            i % 2 ? db_part_undo(b->db, &b->rig.err) : db_part_keep(b->db, &b->rig.err), 0);
    }
    assert_int_equal(db_commit(b->db, &b->rig.err), 0);
    run(b, &list, NULL, &rows);
    assert_int_equal(rows.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ROW(pair, rows, i)->number, 2 * i);
}

static void a_reader_sees_one_state_and_writes_nothing(void **state)
{
    struct bench *b = *state, reader = { 0 };

    assert_int_equal(db_open(b->rig.url, DB_READ, &reader.db, &b->rig.err), 0);
    assert_int_equal(db_begin(reader.db, DB_READ, &b->rig.err), 0);
    assert_int_equal(count(&reader), 0);
    put(b, 1);
    assert_int_equal(count(&reader), 0);
    assert_int_equal(db_commit(reader.db, &b->rig.err), 0);
    assert_int_equal(count(&reader), 1);
    refused(&reader, &insert, &(struct pair){ 2, "x" }, ERR_SYSTEM);
    db_close(reader.db);
    arena_free(&reader.rig.arena);
}

#define DB_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_url_must_name_a_database),
        DB_TEST(structs_go_in_and_come_out),
        DB_TEST(arguments_go_by_their_number),
        DB_TEST(a_list_goes_in_item_by_item),
        DB_TEST(a_conflict_says_what_it_means_here),
        DB_TEST(a_query_that_does_not_fit_is_refused),
        DB_TEST(a_transaction_is_all_or_nothing),
        DB_TEST(a_part_is_taken_back_alone),
        DB_TEST(a_reader_sees_one_state_and_writes_nothing),
    };

    return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}
