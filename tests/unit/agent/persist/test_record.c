/* SPDX-License-Identifier: MIT */
#include "agent/persist/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"

enum { ID = 0x12345678, COUNT = 6 };

/* Records of 0, 7, 14 ... bytes; where each begins, and a mark behind `synced` of them. */
static size_t build(struct buf *b, int synced, size_t starts[COUNT + 1])
{
    size_t marked = 0;

    record_put_head(b, ID);
    for (int i = 0; i < COUNT; i++) {
        char body[64];

        if (i == synced && i) {
            marked = b->len;
            record_put_mark(b, ID, b->len, b->len);
        }
        starts[i] = b->len;
        memset(body, 'a' + i, sizeof(body));
        record_put(b, ID, b->len, (uint8_t)(i + 1), body, (size_t)i * 7);
    }
    starts[COUNT] = b->len;
    if (synced == COUNT) {
        marked = b->len;
        record_put_mark(b, ID, b->len, b->len);
    }
    return marked;
}

static int on_record(void *arg, uint8_t type, const char *body, size_t n, struct err *err)
{
    int *next = arg;

    (void)err;
    assert_int_equal(type, *next + 1);
    assert_int_equal(n, *next * 7);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(body[i], 'a' + *next);
    ++*next;
    return 0;
}

static int count_of(const char *bytes, const struct record_file *f)
{
    struct err err;
    int n = 0;

    assert_int_equal(record_each(bytes, f, on_record, &n, &err), 0);
    assert_int_equal(n, f->count);
    return n;
}

static void records_come_back_as_they_were_put(void **state)
{
    (void)state;
    for (int synced = 0; synced <= COUNT; synced++) {
        size_t starts[COUNT + 1];
        struct buf b = { 0 };
        struct record_file f;
        struct err err;

        build(&b, synced, starts);
        assert_int_equal(record_scan(buf_data(&b), b.len, &f, &err), 0);
        assert_int_equal(f.id, ID);
        assert_int_equal(f.end, b.len);
        assert_int_equal(count_of(buf_data(&b), &f), COUNT);
        buf_free(&b);
    }
}

/* Cut behind any byte: what was whole before it comes back, and no more; a cut in what
 * a mark vouches for takes that mark too, so it is an end like any other. */
static void a_file_torn_at_any_byte_gives_all_before(void **state)
{
    size_t starts[COUNT + 1];
    struct buf b = { 0 };

    (void)state;
    build(&b, 3, starts);
    for (size_t n = 0; n <= b.len; n++) {
        char *part = malloc(n ? n : 1); /* exact, for ASan */
        struct record_file f;
        struct err err = { 0 };
        int whole = 0;

        memcpy(part, buf_data(&b), n);
        while (whole < COUNT && (whole + 1 < COUNT ? starts[whole + 1] : b.len) <= n)
            whole++;
        if (whole == 2 && n >= starts[3] - RECORD_HEAD - 8)
            whole = 3; /* the mark stands between the third and the fourth */
        if (n < RECORD_FILE_HEAD) {
            assert_int_equal(record_scan(part, n, &f, &err), -1);
            assert_int_equal(err.code, ERR_MALFORMED);
        } else {
            assert_int_equal(record_scan(part, n, &f, &err), 0);
            assert_true(f.end <= n);
            assert_int_equal(count_of(part, &f), whole);
        }
        free(part);
    }
    buf_free(&b);
}

/* One bit turned anywhere: in what a mark vouches for it is damage, with its place; in
 * the rest the file ends there.  Never is a record given that was not put. */
static void a_bit_turned_anywhere_is_seen(void **state)
{
    static const int synced_cases[] = { 0, 3, COUNT };

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(synced_cases); k++) {
        size_t starts[COUNT + 1], marked;
        struct buf b = { 0 };

        marked = build(&b, synced_cases[k], starts);
        for (size_t bit = 0; bit < b.len * 8; bit++) {
            struct record_file f;
            struct err err = { 0 };
            int result;

            buf_data(&b)[bit / 8] ^= (char)(1 << bit % 8);
            result = record_scan(buf_data(&b), b.len, &f, &err);
            if (bit / 8 < RECORD_FILE_HEAD || bit / 8 < marked) {
                size_t at = 0;

                assert_int_equal(result, -1);
                assert_int_equal(err.code, ERR_MALFORMED);
                assert_int_equal(sscanf(err.text, "damaged at byte %zu", &at), 1);
                assert_true(at <= bit / 8);
            } else {
                assert_int_equal(result, 0);
                assert_true(f.end <= bit / 8);
                count_of(buf_data(&b), &f);
                assert_true(f.count >= (size_t)synced_cases[k]);
            }
            buf_data(&b)[bit / 8] ^= (char)(1 << bit % 8);
        }
        buf_free(&b);
    }
}

/* A whole journal as the body of a record, and one of the same file at another place. */
static void what_stands_inside_a_body_is_never_a_record(void **state)
{
    size_t starts[COUNT + 1];
    struct buf inner = { 0 }, b = { 0 };
    struct record_file f;
    struct err err;

    (void)state;
    build(&inner, COUNT, starts);
    buf_puts(&inner, "x"); /* to be torn off */
    record_put_head(&b, ID);
    record_put(&b, ID, b.len, 1, "", 0);
    record_put(&b, ID, b.len, 9, buf_data(&inner), inner.len);
    b.len -= 1; /* torn */
    assert_int_equal(record_scan(buf_data(&b), b.len, &f, &err), 0);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.end, RECORD_FILE_HEAD + RECORD_HEAD);
    buf_free(&inner);
    buf_free(&b);
}

/* What an older file left in a block that this one got: whole records, at their places. */
static void records_of_another_file_are_none(void **state)
{
    size_t starts[COUNT + 1];
    struct buf old = { 0 }, b = { 0 };
    struct record_file f;
    struct err err;

    (void)state;
    build(&old, COUNT, starts);
    record_put_head(&b, ID + 1);
    record_put(&b, ID + 1, b.len, 1, "", 0);
    buf_add(&b, buf_data(&old) + b.len, old.len - b.len);
    assert_int_equal(record_scan(buf_data(&b), b.len, &f, &err), 0);
    assert_int_equal(f.count, 1);
    buf_free(&old);
    buf_free(&b);
}

/* A crash may leave a later block on the disk and an earlier one not. They were not reported
 * as durable, so it is no damage. */
static void a_hole_that_no_mark_vouches_for_is_an_end(void **state)
{
    size_t starts[COUNT + 1];
    struct buf b = { 0 };
    struct record_file f;
    struct err err;

    (void)state;
    build(&b, 2, starts);
    memset(buf_data(&b) + starts[3], 0, starts[4] - starts[3]);
    assert_int_equal(record_scan(buf_data(&b), b.len, &f, &err), 0);
    assert_int_equal(f.count, 3);
    assert_int_equal(f.end, starts[3]);
    memset(buf_data(&b) + starts[1], 0, 4);
    assert_int_equal(record_scan(buf_data(&b), b.len, &f, &err), -1);
    assert_non_null(strstr(err.text, "damaged at byte"));
    buf_free(&b);
}

static int refuse(void *arg, uint8_t type, const char *body, size_t n, struct err *err)
{
    (void)arg, (void)body, (void)n;
    return type == 3 ? err_set(err, ERR_INVALID, "not this one") : 0;
}

static void a_reader_may_refuse_a_record(void **state)
{
    size_t starts[COUNT + 1];
    struct buf b = { 0 };
    struct record_file f;
    struct err err;

    (void)state;
    build(&b, COUNT, starts);
    assert_int_equal(record_scan(buf_data(&b), b.len, &f, &err), 0);
    assert_int_equal(record_each(buf_data(&b), &f, refuse, NULL, &err), -1);
    assert_string_equal(err.text, "not this one");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_as_they_were_put),
        cmocka_unit_test(a_file_torn_at_any_byte_gives_all_before),
        cmocka_unit_test(a_bit_turned_anywhere_is_seen),
        cmocka_unit_test(what_stands_inside_a_body_is_never_a_record),
        cmocka_unit_test(records_of_another_file_are_none),
        cmocka_unit_test(a_hole_that_no_mark_vouches_for_is_an_end),
        cmocka_unit_test(a_reader_may_refuse_a_record),
    };

    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
