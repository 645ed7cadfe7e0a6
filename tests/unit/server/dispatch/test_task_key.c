/* SPDX-License-Identifier: MIT */
/* Promises of server/dispatch/task_key.h: a name comes out of a key as it went in. */
#include "server/dispatch/task_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"

static const char *const names[] = {
    "a1:gse:p", "a\nb:gse:p", "\n",   "a\x10:p", "a\x10n:p", "\x10\n\x10",
    "a\tb",     "a\x01",      "\r\n", "",        "\x10",     "\xE4\xB8\xAD:gse:p",
};

static void must_be(const struct task_name *got, const char *want)
{
    assert_int_equal(got->n, strlen(want));
    assert_memory_equal(got->text, want, got->n);
}

static void every_name_of_a_key_comes_back(void **state)
{
    struct arena a = { 0 };
    struct buf key = { 0 };
    struct task_name got;
    const char *at;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *line = task_key_line(names[i], &a);

        assert_null(strchr(line, '\n'));
        assert_string_equal(task_key_first(line, &a), names[i]);
        buf_printf(&key, "%s%s", i ? "\n" : "", line);
    }
    at = buf_text(&key);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_true(task_key_next(&at, &a, &got));
        must_be(&got, names[i]);
    }
    assert_false(task_key_next(&at, &a, &got));
    buf_free(&key);
    arena_free(&a);
}

/* Rows of before have lines and no escapes. */
static void a_key_without_escapes_is_its_lines(void **state)
{
    static const char key[] = "b:n:p\n0:10.0.0.1:n:p";
    const char *at = key;
    struct arena a = { 0 };
    struct task_name got;

    (void)state;
    assert_true(task_key_next(&at, &a, &got));
    must_be(&got, "b:n:p");
    assert_true(task_key_next(&at, &a, &got));
    must_be(&got, "0:10.0.0.1:n:p");
    assert_false(task_key_next(&at, &a, &got));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_of_a_key_comes_back),
        cmocka_unit_test(a_key_without_escapes_is_its_lines),
    };

    return cmocka_run_group_tests_name("task_key", tests, NULL, NULL);
}
