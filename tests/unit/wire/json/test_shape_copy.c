/* SPDX-License-Identifier: MIT */
/* Promises of shape_copy(): the same values, and no memory shared with the original. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/lib/every_type.h"
#include "wire/json/shape.h"

static const char full[] =
    "{\"text\":\"some text\",\"word\":\"w\",\"note\":\"n\",\"count\":7,\"port\":80,\"tries\":2,"
    "\"ratio\":1.5,\"on\":true,\"sub\":{\"user\":\"u\",\"level\":3},"
    "\"items\":[{\"name\":\"a\",\"size\":1,\"owner\":{\"user\":\"o\"}},{\"name\":\"b\"}],"
    "\"names\":[\"x\",\"y\"],\"numbers\":[1,2],\"mixed\":[\"t\",1.50,true],"
    "\"labels\":{\"k\":\"v\",\"n\":12},\"env\":{\"A\":\"1\",\"B\":\"\"},"
    "\"groups\":{\"g\":{\"user\":\"m\",\"level\":-1}},\"any\":\"thing\",\"raw\":{\"a\":[1]},"
    "\"maybe\":null,\"extra\":[2]}";

static void read_into(const char *json, struct arena *a, struct every *out)
{
    struct err err;

    if (shape_read(&every_shape, json, strlen(json), 0, a, out, &err))
        fail_msg("%s", err.text);
}

static void see_same(const struct every *a, const struct every *b)
{
    struct buf one = { 0 }, other = { 0 };

    shape_write(&every_shape, a, &one);
    shape_write(&every_shape, b, &other);
    assert_string_equal(buf_text(&one), buf_text(&other));
    buf_free(&one);
    buf_free(&other);
}

/* The original is freed before the copy is read: AddressSanitizer reports shared memory. */
static void a_copy_is_the_same_and_its_own(void **state)
{
    struct arena from = { 0 }, again = { 0 }, to = { 0 };
    struct every original, copy, expected;

    (void)state;
    read_into(full, &from, &original);
    memset(&copy, 0xA5, sizeof(copy));
    shape_copy(&every_shape, &original, &to, &copy);
    memset(&original, 0xA5, sizeof(original));
    arena_free(&from);
    read_into(full, &again, &expected);
    see_same(&copy, &expected);
    assert_int_equal(copy.items.n, 2);
    assert_string_equal(((struct every_item *)copy.items.items)[0].owner.user, "o");
    arena_free(&again);
    arena_free(&to);
}

/* An empty struct needs no memory: there are thousands of them. */
static void what_is_empty_costs_nothing(void **state)
{
    struct arena to = { 0 };
    struct every original, copy;

    (void)state;
    shape_defaults(&every_shape, &original);
    original.text = original.word = original.note =
        NULL; /* as in a struct that was not read by shape_read() */
    original.maybe = NULL;
    shape_copy(&every_shape, &original, &to, &copy);
    assert_string_equal(copy.text, "");
    assert_null(copy.items.items);
    assert_int_equal(copy.items.n, 0);
    original.text = original.word = original.note = "";
    see_same(&copy, &original);
    arena_free(&to);
}

static void a_secret_is_copied(void **state)
{
    struct arena to = { 0 };
    struct every original, copy;

    (void)state;
    shape_defaults(&every_shape, &original);
    original.secret = "hush";
    shape_copy(&every_shape, &original, &to, &copy);
    assert_string_equal(copy.secret, "hush");
    assert_ptr_not_equal(copy.secret, original.secret);
    arena_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_the_same_and_its_own),
        cmocka_unit_test(what_is_empty_costs_nothing),
        cmocka_unit_test(a_secret_is_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
