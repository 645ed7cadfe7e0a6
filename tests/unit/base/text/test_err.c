/* SPDX-License-Identifier: MIT */
#include "base/text/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"

static void each_general_code_has_its_name(void **state)
{
    static const struct {
        int code;
        const char *name;
    } cases[] = {
        { ERR_NONE, "ok" },
        { ERR_INVALID, "invalid" },
        { ERR_MALFORMED, "malformed" },
        { ERR_NOT_FOUND, "not_found" },
        { ERR_CONFLICT, "conflict" },
        { ERR_DENIED, "denied" },
        { ERR_LIMIT, "limit" },
        { ERR_TIMEOUT, "timeout" },
        { ERR_UNAVAILABLE, "unavailable" },
        { ERR_SYSTEM, "system" },
    };

    (void)state;
    assert_int_equal(ARRAY_LEN(cases), ERR_BASE_CODES);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(err_name(cases[i].code), cases[i].name);
    assert_null(err_name(-1));
    assert_null(err_name(ERR_BASE_CODES));
    assert_null(err_name(1850100));
}

static void set_gives_code_and_text_and_no_errno(void **state)
{
    struct err e = { .code = 77, .sys = EIO, .text = "before" };

    (void)state;
    assert_int_equal(err_set(&e, ERR_INVALID, "%s: %d is too many", "count", 12), -1);
    assert_int_equal(e.code, ERR_INVALID);
    assert_int_equal(e.sys, 0);
    assert_string_equal(e.text, "count: 12 is too many");
}

static void set_may_use_the_text_it_replaces(void **state)
{
    struct err e;

    (void)state;
    err_set(&e, ERR_INVALID, "no such user");
    err_set(&e, ERR_DENIED, "refused (%s), code was %d", e.text, e.code);
    assert_int_equal(e.code, ERR_DENIED);
    assert_string_equal(e.text, "refused (no such user), code was 1");
}

static void wrap_tells_the_story_from_the_outside_in(void **state)
{
    struct err e;

    (void)state;
    errno = EACCES;
    err_sys(&e, "open %s", "/x");
    assert_int_equal(err_wrap(&e, "read spec %d", 7), -1);
    assert_int_equal(err_wrap(&e, "host %s", "a"), -1);
    assert_string_equal(e.text, "host a: read spec 7: open /x: Permission denied");
    assert_int_equal(e.code, ERR_SYSTEM);
    assert_int_equal(e.sys, EACCES);
}

/* However long the path is. */
static void the_reason_is_always_there(void **state)
{
    char path[1000];

    (void)state;
    for (size_t n = 100; n < sizeof(path); n += 20) {
        struct err e;

        memset(path, 'x', n);
        path[n] = '\0';
        errno = EACCES;
        err_sys(&e, "open %s", path);
        assert_non_null(strstr(e.text, "Permission denied"));
        assert_non_null(strstr(err_msg(&e), "Permission denied"));
        err_set(&e, ERR_INVALID, "no such user");
        err_wrap(&e, "read %s", path);
        assert_non_null(strstr(e.text, "no such user"));
        assert_non_null(strstr(err_msg(&e), "no such user"));
    }
}

static void wrap_keeps_a_code_of_a_higher_layer(void **state)
{
    struct err e;

    (void)state;
    err_set(&e, 1850100, "busy");
    err_wrap(&e, "%s said: %s", "agent", e.text);
    assert_int_equal(e.code, 1850100);
    assert_int_equal(e.sys, 0);
    assert_string_equal(e.text, "agent said: busy: busy");
}

static void the_text_of_errno_is_kept_however_long_the_rest(void **state)
{
    char path[2000];

    (void)state;
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    for (int number = 1; number < 134; number++) {
        char tail[64];
        struct err e;

        snprintf(tail, sizeof(tail), "%s", strerror(number));
        errno = number;
        assert_int_equal(err_sys(&e, "open %s", path), -1);
        assert_int_equal(e.code, ERR_SYSTEM);
        assert_int_equal(e.sys, number);
        assert_true(strlen(e.text) > strlen(tail));
        assert_string_equal(e.text + strlen(e.text) - strlen(tail), tail);
        assert_memory_equal(e.text, "open ppp", 8);
    }
}

static void nothing(struct err *e, const char *text)
{
    err_set(e, ERR_INVALID, "%s", text);
}

static void sys(struct err *e, const char *text)
{
    errno = EIO;
    err_sys(e, "%s", text);
}

static void wrap(struct err *e, const char *text)
{
    err_set(e, ERR_INVALID, "cause");
    err_wrap(e, "%s", text);
}

static void wrapped(struct err *e, const char *text)
{
    err_set(e, ERR_INVALID, "%s", text);
    err_wrap(e, "a");
    err_wrap(e, "\xC3\xA9%s", text);
}

/* Characters of all lengths, cut at every place inside them. */
static void a_cut_text_ends_with_a_whole_character(void **state)
{
    static const char *const chars[] = { "x", "\xC3\xA9", "\xE4\xB8\xBB", "\xF0\x9F\x98\x80" };
    static void (*const makers[])(struct err *, const char *) = { nothing, sys, wrap, wrapped };

    (void)state;
    for (size_t c = 0; c < ARRAY_LEN(chars); c++) {
        for (size_t shift = 0; shift < 4; shift++) {
            size_t len = strlen(chars[c]), n = shift;
            char text[1200] = "aaa";

            for (; n + len < sizeof(text); n += len)
                memcpy(text + n, chars[c], len + 1);
            for (size_t m = 0; m < ARRAY_LEN(makers); m++) {
                struct err e;

                makers[m](&e, text);
                assert_int_equal(utf8_valid(e.text, strlen(e.text)), strlen(e.text));
                assert_true(strlen(e.text) > sizeof(e.text) / 2 - 4);
                if (makers[m] == nothing)
                    assert_true(strlen(e.text) > sizeof(e.text) - 1 - len);
            }
        }
    }
}

static void a_text_that_just_fits_is_not_cut(void **state)
{
    struct err e;
    char text[sizeof(e.text)];

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text + sizeof(text) - 3, "\xC3\xA9", 3);
    err_set(&e, ERR_INVALID, "%s", text);
    assert_string_equal(e.text, text);
}

/* A wide character that the locale lacks makes printf() itself fail. */
static void what_printf_refuses_still_leaves_a_text(void **state)
{
    struct err e;

    (void)state;
    memset(&e, 'x', sizeof(e));
    assert_int_equal(err_set(&e, ERR_INVALID, "%ls", L"\x1F600"), -1);
    assert_int_equal(e.code, ERR_INVALID);
    assert_string_equal(e.text, "");
    errno = EIO;
    memset(e.text, 'x', sizeof(e.text));
    err_sys(&e, "%ls", L"\x1F600");
    assert_int_equal(e.sys, EIO);
    assert_string_equal(e.text, ": Input/output error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_general_code_has_its_name),
        cmocka_unit_test(set_gives_code_and_text_and_no_errno),
        cmocka_unit_test(set_may_use_the_text_it_replaces),
        cmocka_unit_test(wrap_tells_the_story_from_the_outside_in),
        cmocka_unit_test(the_reason_is_always_there),
        cmocka_unit_test(wrap_keeps_a_code_of_a_higher_layer),
        cmocka_unit_test(the_text_of_errno_is_kept_however_long_the_rest),
        cmocka_unit_test(a_cut_text_ends_with_a_whole_character),
        cmocka_unit_test(a_text_that_just_fits_is_not_cut),
        cmocka_unit_test(what_printf_refuses_still_leaves_a_text),
    };

    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
