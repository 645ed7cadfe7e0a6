/* SPDX-License-Identifier: MIT */
#include "base/mem/mem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void memory_comes_zeroed(void **state)
{
    (void)state;
    for (size_t n = 0; n < 5000; n = n * 2 + 1) {
        char *p = xalloc(n);

        assert_non_null(p);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        free(p);
    }
}

static void resize_keeps_what_was_there(void **state)
{
    char *p = xresize(NULL, 4);

    (void)state;
    memcpy(p, "abc", 4);
    p = xresize(p, 100000);
    assert_string_equal(p, "abc");
    p = xresize(p, 2);
    assert_memory_equal(p, "ab", 2);
    p = xresize(p, 0);
    assert_non_null(p);
    free(p);
}

static void copies_are_the_callers_own(void **state)
{
    char from[] = "abc";
    char *s = xstrdup(from), *bytes = xmemdup("a\0b", 3), *part = xmemdup(from, 2);

    (void)state;
    from[0] = 'x';
    assert_string_equal(s, "abc");
    assert_string_equal(part, "ab");
    assert_memory_equal(bytes, "a\0b", 4);
    free(s);
    free(bytes);
    free(part);
}

static void a_copy_of_nothing_is_an_empty_text(void **state)
{
    char *s = xmemdup(NULL, 0);

    (void)state;
    assert_string_equal(s, "");
    free(s);
}

static void printf_makes_a_text_of_any_length(void **state)
{
    char *s = xprintf("%5000d|%s", 7, "end");

    (void)state;
    assert_int_equal(strlen(s), 5004);
    assert_string_equal(s + 4999, "7|end");
    free(s);
}

static void take_all(volatile size_t size)
{
    free(xalloc(size));
}

static void take_more(volatile size_t size)
{
    free(xresize(NULL, size));
}

static void copy_all(volatile size_t size)
{
    free(xmemdup("", size));
}

static void out_of_memory_ends_the_program(void **state)
{
    static void (*const cases[])(volatile size_t) = { take_all, take_more };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases) + 1; i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0) {
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
            if (i < ARRAY_LEN(cases))
                cases[i](SIZE_MAX / 2);
            else
                copy_all(SIZE_MAX);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* mem_give_back() keeps memory that is in use. */
static void what_is_in_use_stays(void **state)
{
    char *kept[100], *gone[100];

    (void)state;
    mem_share_heap();
    for (int i = 0; i < 100; i++) {
        gone[i] = xalloc(8000);
        memset(gone[i], 1, 8000);
        kept[i] = xprintf("kept %d", i);
    }
    for (int i = 0; i < 100; i++)
        free(gone[i]);
    mem_give_back();
    mem_give_back();
    for (int i = 0; i < 100; i++) {
        char *text = xprintf("kept %d", i);

        assert_string_equal(kept[i], text);
        free(text);
        free(kept[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_comes_zeroed),
        cmocka_unit_test(resize_keeps_what_was_there),
        cmocka_unit_test(copies_are_the_callers_own),
        cmocka_unit_test(a_copy_of_nothing_is_an_empty_text),
        cmocka_unit_test(printf_makes_a_text_of_any_length),
        cmocka_unit_test(what_is_in_use_stays),
        cmocka_unit_test(out_of_memory_ends_the_program),
    };

    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
