/* SPDX-License-Identifier: MIT */
/* Promises of wire/json/json_keys.h: a repeated key is noticed, at any depth and with any number
 * of keys, in linear time. */
#include "wire/json/json_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "tests/lib/random.h"
#include "wire/json/json.h"

/* ---- The stack, compared with a list that is searched linearly. ---- */

enum { KEYS = 300, OPEN = 60, STEPS = 200000 };

struct model {
    const char *keys[STEPS];
    size_t n, marks[OPEN], open;
};

static bool model_push(struct model *m, const char *key)
{
    for (size_t i = m->marks[m->open - 1]; i < m->n; i++) {
        if (!strcmp(m->keys[i], key))
            return false;
    }
    m->keys[m->n++] = key;
    return true;
}

static void the_stack_knows_the_keys_above_a_mark(void **state)
{
    static char names[KEYS][8];
    struct model *m = calloc(1, sizeof(*m));
    struct json_keys k = { 0 };
    uint64_t seed = 11;

    (void)state;
    for (size_t i = 0; i < KEYS; i++)
        snprintf(names[i], sizeof(names[i]), "%zx", i * 7);
    m->open = 1;
    for (size_t step = 0; step < STEPS; step++) {
        const char *key = names[random_below(&seed, KEYS)];
        uint64_t what = random_below(&seed, 100);

        if (what == 0 && m->open < OPEN) {
            m->marks[m->open++] = m->n;
        } else if (what == 1 && m->open > 1) {
            m->n = m->marks[--m->open];
            json_keys_pop(&k, m->n);
        } else {
            size_t mark = m->marks[m->open - 1];

            assert_int_equal(json_keys_push(&k, mark, key, strlen(key)), model_push(m, key));
        }
        assert_int_equal(k.n, m->n);
    }
    json_keys_pop(&k, 0);
    assert_int_equal(k.n, 0);
    assert_int_equal(k.indexed, 0);
    for (size_t i = 0; i < k.index_cap; i++)
        assert_int_equal(k.index[i], 0);
    json_keys_free(&k);
    free(m);
}

static void a_few_keys_take_no_memory(void **state)
{
    struct json_keys k = { 0 };
    char names[JSON_KEYS_FEW + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(names); i++)
        names[i] = (char)('a' + i);
    for (size_t i = 0; i < JSON_KEYS_FEW; i++)
        assert_true(json_keys_push(&k, 0, &names[i], 1));
    assert_null(k.many);
    assert_null(k.index);
    for (size_t i = 0; i < JSON_KEYS_FEW; i++)
        assert_false(json_keys_push(&k, 0, &names[i], 1));
    assert_true(json_keys_push(&k, 0, &names[JSON_KEYS_FEW], 1));
    for (size_t i = 0; i < sizeof(names); i++)
        assert_false(json_keys_push(&k, 0, &names[i], 1));
    json_keys_free(&k);
    assert_int_equal(k.n, 0);
}

/* ---- Through the reader. ---- */

static int skip_all(const struct buf *b, struct err *err)
{
    struct arena a = { 0 };
    struct json j;
    int failed;

    json_init(&j, buf_data(b), b->len, &a, err);
    failed = json_skip(&j) || json_finish(&j);
    json_done(&j);
    arena_free(&a);
    return failed ? -1 : 0;
}

/* An object with n keys, followed by a repetition of key number `again`, spelled with an escape
 * if `escaped`; no repetition if again is n. */
static void put_object(struct buf *b, size_t n, size_t again, bool escaped)
{
    buf_addc(b, '{');
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%s\"k%zu\":%zu", i ? "," : "", i, i);
    if (again < n)
        buf_printf(b, ",\"%s%zu\":0", escaped ? "\\u006b" : "k", again);
    buf_addc(b, '}');
}

static void a_repeated_key_is_noticed_among_any_number(void **state)
{
    static const size_t counts[] = { 1, 2, 15, 16, 17, 18, 31, 32, 33, 64, 100, 1000 };

    (void)state;
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        size_t n = counts[c];

        for (size_t again = 0; again <= n; again += n > 100 ? 111 : 1) {
            for (int escaped = 0; escaped < 2; escaped++) {
                struct buf b = { 0 };
                struct err err;

                put_object(&b, n, again, escaped);
                assert_int_equal(skip_all(&b, &err), again < n ? -1 : 0);
                if (again < n)
                    assert_non_null(strstr(err.text, "stands twice in one object"));
                buf_free(&b);
            }
        }
    }
}

/* Limits the memory that a hostile body can cost. */
static void an_object_has_at_most_ten_thousand_keys(void **state)
{
    struct buf b = { 0 };
    struct err err;

    (void)state;
    put_object(&b, JSON_KEYS_MAX, JSON_KEYS_MAX, false);
    assert_int_equal(skip_all(&b, &err), 0);
    buf_truncate(&b, 0);
    put_object(&b, JSON_KEYS_MAX - 1, 5000, true);
    assert_int_equal(skip_all(&b, &err), -1);
    assert_non_null(strstr(err.text, "the key \"k5000\" stands twice"));
    buf_truncate(&b, 0);
    put_object(&b, JSON_KEYS_MAX + 1, JSON_KEYS_MAX + 1, false);
    assert_int_equal(skip_all(&b, &err), -1);
    assert_non_null(strstr(err.text, "more than 10000 keys in one object"));
    buf_free(&b);
}

/* Each level has the same names, which do not count as repeated. */
static void objects_inside_objects_have_their_own_keys(void **state)
{
    struct buf b = { 0 };
    struct err err;

    (void)state;
    for (int level = 0; level < JSON_DEPTH_MAX; level++) {
        for (int i = 0; i < 40; i++)
            buf_printf(&b, "%s\"k%d\":0", i ? "," : "{", i);
        buf_puts(&b, ",\"in\":");
    }
    buf_puts(&b, "0");
    for (int level = 0; level < JSON_DEPTH_MAX; level++)
        buf_puts(&b, ",\"after\":0}");
    assert_int_equal(skip_all(&b, &err), 0);
    buf_truncate(&b, b.len - 1);
    buf_puts(&b, ",\"k39\":0}");
    assert_int_equal(skip_all(&b, &err), -1);
    assert_non_null(strstr(err.text, "the key \"k39\" stands twice"));
    buf_free(&b);
}

/* A wide outer object does not make each small inner one expensive. */
static void many_small_objects_inside_a_wide_one(void **state)
{
    struct buf b = { 0 };
    struct err err;

    (void)state;
    buf_addc(&b, '{');
    for (int i = 0; i < JSON_KEYS_MAX; i++) {
        buf_printf(&b, "%s\"k%d\":", i ? "," : "", i);
        put_object(&b, 17, 17, false);
    }
    buf_addc(&b, '}');
    assert_int_equal(skip_all(&b, &err), 0);
    buf_free(&b);
}

static void a_long_key_is_shown_cut_as_whole_characters(void **state)
{
    struct buf key = { 0 }, b = { 0 };
    struct err err;

    (void)state;
    for (int i = 0; i < 1000; i++)
        buf_puts(&key, "\xE4\xB8\xAD");
    buf_printf(&b, "{\"%s\":1,\"%s\":2}", buf_text(&key), buf_text(&key));
    assert_int_equal(skip_all(&b, &err), -1);
    assert_non_null(strstr(err.text, "\xE4\xB8\xAD\" stands twice"));
    buf_free(&b);
    buf_free(&key);
}

/* The error contains its reason, however long the escaped key is. */
static void a_key_of_control_characters_is_shown_cut(void **state)
{
    char key[64] = { 0 };
    struct buf b = { 0 };
    struct err err;

    (void)state;
    memset(key, 0x7f, sizeof(key) - 1);
    buf_printf(&b, "{\"%s\":1,\"%s\":2}", key, key);
    assert_int_equal(skip_all(&b, &err), -1);
    assert_non_null(strstr(err.text, "\\u007f\" stands twice in one object"));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stack_knows_the_keys_above_a_mark),
        cmocka_unit_test(a_few_keys_take_no_memory),
        cmocka_unit_test(a_repeated_key_is_noticed_among_any_number),
        cmocka_unit_test(an_object_has_at_most_ten_thousand_keys),
        cmocka_unit_test(objects_inside_objects_have_their_own_keys),
        cmocka_unit_test(many_small_objects_inside_a_wide_one),
        cmocka_unit_test(a_long_key_is_shown_cut_as_whole_characters),
        cmocka_unit_test(a_key_of_control_characters_is_shown_cut),
    };

    return cmocka_run_group_tests_name("json_keys", tests, NULL, NULL);
}
