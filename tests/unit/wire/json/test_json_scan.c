/* SPDX-License-Identifier: MIT */
/* Promises of wire/json/json_scan.h: it finds the same values as shape_read(), and allocates
 * nothing, whatever the text. */
#include "wire/json/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "wire/json/json.h"
#include "wire/json/shape.h"

/* ---- Counts every allocation of the program: with the sanitizer's hook if
 * there is one, else by replacing malloc(). ---- */

static volatile size_t
    allocations; /* volatile: the compiler assumes that malloc() changes no variables */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_HOOK 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAS_HOOK 1
#endif

#ifdef HAS_HOOK
void __sanitizer_malloc_hook(const volatile void *p, size_t n);
void __sanitizer_malloc_hook(const volatile void *p, size_t n)
{
    (void)p;
    (void)n;
    allocations++;
}
#else
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    allocations++;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    allocations++;
    return __libc_realloc(p, n);
}
#endif

static void allocations_are_counted(void **state)
{
    size_t before = allocations;
    void *volatile p = malloc(10);

    (void)state;
    free(p);
    assert_true(allocations > before);
}

/* ---- A wanted value of at most 7 bytes, and another. ---- */

struct scan_case {
    const char *json;
    const char *a;     /* NULL: not found */
    const char *error; /* end of the error's text; NULL: no error */
};

/* clang-format off */
static const struct scan_case cases[] = {
    { "{}", NULL, NULL },
    { "{\"a\":\"x\"}", "x", NULL },
    { " { \"a\" : \"x\" } ", "x", NULL },
    { "{\"z\":1,\"a\":\"x\",\"y\":2}", "x", NULL },
    { "{\"a\":\"\"}", "", NULL },
    { "{\"a\":null}", NULL, NULL },
    { "{\"a\":12}", "12", NULL },
    { "{\"a\":-1.50}", "-1.50", NULL },
    { "{\"a\":\"1234567\"}", "1234567", NULL },
    { "{\"a\":1234567}", "1234567", NULL },
    /* Values are compared after unescaping. */
    { "{\"\\u0061\":\"\\u0078\\n\"}", "x\n", NULL },
    { "{\"a\":\"\\u0041\\u0042\\u0043\\u0044\\u0045\\u0046\\u0047\"}", "ABCDEFG", NULL },
    { "{\"a\":\"\\u4e2d\\u6587\"}", "\xE4\xB8\xAD\xE6\x96\x87", NULL },
    { "{\"a\":\"\\ud83d\\ude00\"}", "\xF0\x9F\x98\x80", NULL },
    { "{\"A\":\"x\",\"a \":\"x\",\"\":\"x\",\"aa\":\"x\"}", NULL, NULL },
    /* Only members of the outermost object count. */
    { "{\"b\":{\"a\":\"x\"}}", NULL, "b must be a string, not an object" },
    { "{\"c\":{\"a\":\"x\"},\"d\":[{\"a\":\"y\"}]}", NULL, NULL },
    { "{\"c\":{\"a\":\"y\"},\"a\":\"x\"}", "x", NULL },
    { "{\"c\":\"\\\"a\\\":\\\"y\\\"\",\"a\":\"x\"}", "x", NULL },
    /* Refused. */
    { "{\"a\":\"12345678\"}", NULL, "byte 5: a is longer than 7 bytes" },
    { "{\"a\": \"12345678\"}", NULL, "byte 6: a is longer than 7 bytes" },
    { "{\"a\":12345678}", NULL, "byte 5: a is longer than 7 bytes" },
    { "{\"a\":\"\\u0041\\u0042\\u0043\\u0044\\u0045\\u0046\\u0047\\u0048\"}", NULL, "longer than 7 bytes" },
    { "{\"a\":true}", NULL, "byte 5: a must be a string, not a boolean" },
    { "{\"a\":[\"x\"]}", NULL, "byte 5: a must be a string, not a list" },
    { "{\"a\":{}}", NULL, "byte 5: a must be a string, not an object" },
    { "{\"a\":\"x\",\"a\":\"x\"}", NULL, "byte 9: a stands twice" },
    { "{\"a\":\"x\",\"\\u0061\":\"y\"}", NULL, "byte 9: a stands twice" },
    { "{\"a\":\"x\",\"a\":null}", NULL, "byte 9: a stands twice" },
    { "{\"a\":null,\"a\":\"x\"}", NULL, "byte 10: a stands twice" },
    { "{\"a\":null,\"a\":null}", NULL, "byte 10: a stands twice" },
    { "{\"a\":\"x\"", NULL, "byte 8: the text ends where ',' or '}' should be" },
    { "{\"a\":\"x\"}}", NULL, "byte 9: '}' where the end should be" },
    { "{\"a\":\"x\"} {}", NULL, "where the end should be" },
    { "{\"a\":\"x\",\"b\":tru}", NULL, "byte 13: b must be a string, not a boolean" },
    { "{\"a\":\"x\",\"z\":01}", NULL, "byte 13: a number with a leading zero" },
    { "{\"a\":\"x\",}", NULL, "a key in quotes should be" },
    { "[{\"a\":\"x\"}]", NULL, "byte 0: must be an object, not a list" },
    { "\"a\"", NULL, "byte 0: must be an object, not a string" },
    { "", NULL, "byte 0: the text ends where a value should be" },
};
/* clang-format on */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

static void values_are_found_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct scan_case *c = &cases[i];
        char a[8] = "before", b[8] = "before";
        struct json_want wants[] = { { "a", a, sizeof(a), true }, { "b", b, sizeof(b), true } };
        struct err err = { 0 };
        size_t before = allocations;
        int failed = json_scan(c->json, strlen(c->json), wants, 2, &err);

        assert_int_equal(allocations, before);
        if (failed != (c->error ? -1 : 0) || !ends_with(err.text, c->error ? c->error : ""))
            fail_msg("%s: %s", c->json, failed ? err.text : "accepted");
        /* Nothing counts as found in a refused text. */
        assert_int_equal(wants[0].found, c->a != NULL);
        if (c->a)
            assert_string_equal(a, c->a);
        assert_false(wants[1].found);
    }
}

/* Unwanted values are checked and skipped without allocating memory. */
static void nothing_is_allocated_for_what_is_not_wanted(void **state)
{
    struct buf b = { 0 };
    char a[8];
    struct json_want want = { "a", a, sizeof(a), false };
    struct err err;
    size_t before;

    (void)state;
    buf_puts(&b, "{\"long\":0.");
    for (int i = 0; i < 1000; i++)
        buf_addc(&b, '1');
    buf_puts(&b, ",\"deep\":");
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++)
        buf_puts(&b, "{\"x\\u0041\":");
    buf_puts(&b, "0");
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++)
        buf_addc(&b, '}');
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, ",\"k\\u0041%d\":[\"%0100d\\n\"]", i, i);
    buf_puts(&b, ",\"a\":\"x\"}");
    before = allocations;
    assert_int_equal(json_scan(buf_data(&b), b.len, &want, 1, &err), 0);
    assert_int_equal(allocations, before);
    assert_true(want.found);
    for (size_t n = 0; n < b.len; n += 97) {
        json_scan(buf_data(&b), n, &want, 1, &err);
        assert_int_equal(allocations, before);
        assert_false(want.found);
    }
    buf_free(&b);
}

static void a_key_of_any_length_is_found_in_any_spelling(void **state)
{
    struct buf b = { 0 }, key = { 0 };
    char a[8];
    struct err err;

    (void)state;
    buf_puts(&b, "{\"");
    for (int i = 0; i < 60; i++) {
        buf_puts(&b, "\\u0061");
        buf_addc(&key, 'a');
    }
    buf_puts(&b, "\":\"x\"}");
    {
        struct json_want want = { buf_text(&key), a, sizeof(a), false };

        assert_int_equal(json_scan(buf_data(&b), b.len, &want, 1, &err), 0);
        assert_true(want.found);
    }
    buf_free(&b);
    buf_free(&key);
}

/* ---- Both readers see the same value. ---- */

struct login {
    const char *a, *b;
};

static const struct field login_fields[] = {
    { "a", .type = FIELD_STR, .offset = offsetof(struct login, a), .max = 7 },
    { "b", .type = FIELD_STR, .offset = offsetof(struct login, b), .max = 7 },
    { 0 },
};
static const struct shape login_shape = { "login", sizeof(struct login), login_fields };

static void shape_read_sees_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct scan_case *c = &cases[i];
        char a[8], b[8];
        struct json_want wants[] = { { "a", a, sizeof(a), false }, { "b", b, sizeof(b), false } };
        struct arena arena = { 0 };
        struct login login;
        struct err err;
        int scanned = json_scan(c->json, strlen(c->json), wants, 2, &err);
        int read = shape_read(&login_shape, c->json, strlen(c->json), 0, &arena, &login, &err);

        if (read == 0) {
            assert_int_equal(scanned, 0);
            assert_string_equal(login.a, wants[0].found ? a : "");
            assert_string_equal(login.b, wants[1].found ? b : "");
        } else if (scanned == 0) { /* only the scan accepts numbers */
            assert_non_null(strstr(err.text, "must be a string of at most 7 bytes, not a number"));
        }
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_counted),
        cmocka_unit_test(values_are_found_or_refused),
        cmocka_unit_test(nothing_is_allocated_for_what_is_not_wanted),
        cmocka_unit_test(a_key_of_any_length_is_found_in_any_spelling),
        cmocka_unit_test(shape_read_sees_the_same),
    };

    return cmocka_run_group_tests_name("json_scan", tests, NULL, NULL);
}
