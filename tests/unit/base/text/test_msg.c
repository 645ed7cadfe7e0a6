/* SPDX-License-Identifier: MIT */
#include "base/text/msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"

static char room[2000], shown[2000];

/* The other language of this test: three sentences, one with its arguments in another order. */
static const char *german(const char *fmt, size_t n, int lang)
{
    static const char *const rows[][2] = {
        { "%s has %lld of %zu", "von %3$zu hat %1$s %2$lld" },
        { "no such user", "kein solcher Benutzer" },
        { "start %s", "%s starten" },
    };

    for (size_t i = 0; lang && i < ARRAY_LEN(rows); i++) {
        if (strlen(rows[i][0]) == n && !memcmp(rows[i][0], fmt, n))
            return rows[i][1];
    }
    return NULL;
}

static const char *in(int lang, const char *text)
{
    msg_put(shown, sizeof(shown), text, german, lang);
    return shown;
}

static void each_conversion_is_printed_as_printf_does(void **state)
{
    char expected[400];

    (void)state;
#define SAME(...)                                                                                  \
    do {                                                                                           \
        snprintf(expected, sizeof(expected), __VA_ARGS__);                                         \
        msg_printf(room, sizeof(room), __VA_ARGS__);                                               \
        assert_true(msg_is(room) && msg_is_whole(room));                                           \
        assert_string_equal(in(0, room), expected);                                                \
    } while (0)
    SAME("no argument");
    SAME("100 %% of %d %%", 7);
    SAME("%d %i %u %x %03o", -1, 2, 3u, 0xabcu, 8u);
    SAME("%ld %lu %lld %llu %llx", -1L, 2UL, -3LL, 4ULL, 5ULL);
    SAME("%zu %5d|%-5d|", (size_t)77, 1, 2);
    SAME("%.1f %g", 93.14, 0.5);
    SAME("%c%s", 'a', "b: %s");
    SAME("%.*s and %.3s", 2, "abcdef", "uvwxyz");
    SAME("%s%s%s%s%s%s%s%s", "1", "2", "3", "4", "5", "6", "7", "8");
#undef SAME
}

static void a_translation_may_order_its_arguments_anew(void **state)
{
    (void)state;
    msg_printf(room, sizeof(room), "%s has %lld of %zu", "a", -2LL, (size_t)3);
    assert_string_equal(in(0, room), "a has -2 of 3");
    assert_string_equal(in(1, room), "von 3 hat a -2");
}

static void what_has_no_row_is_english(void **state)
{
    (void)state;
    msg_printf(room, sizeof(room), "stop %s", "a");
    assert_string_equal(in(1, room), "stop a");
}

static void a_message_may_be_an_argument(void **state)
{
    char outer[200];

    (void)state;
    msg_printf(room, sizeof(room), "start %s", "a");
    msg_printf(outer, sizeof(outer), "%s: %s", room, MSG("no such user"));
    assert_string_equal(in(0, outer), "start a: no such user");
    assert_string_equal(in(1, outer), "a starten: kein solcher Benutzer");
    msg_printf(room, sizeof(room), "%s", outer); /* alone it stays as it is */
    assert_string_equal(room, outer);
}

static void a_plain_text_stays_as_it_is(void **state)
{
    (void)state;
    assert_false(msg_is("no such user"));
    assert_true(msg_is_whole("no such user"));
    assert_string_equal(in(1, "no such user"), "no such user");
    assert_ptr_equal(msg_english(room, sizeof(room), shown), shown);
}

static void what_does_not_fit_is_english_and_cut_between_characters(void **state)
{
    char small[20];

    (void)state;
    msg_printf(small, sizeof(small), "start %s", "0123456789ab\xc3\xa4");
    assert_string_equal(small, "start 0123456789ab");
    msg_printf(small, sizeof(small), "start %s", MSG("no such user at all"));
    assert_string_equal(small, "start no such user ");
    msg_printf(room, sizeof(room), "start %s", "0123456789abc");
    assert_int_equal(msg_copy(small, sizeof(small), room), 19);
    assert_string_equal(small, "start 0123456789abc");
    assert_int_equal(msg_copy(small, sizeof(small), MSG("abc")), 5);
    assert_string_equal(small, MSG("abc"));
}

static void nine_arguments_are_too_many_for_a_message(void **state)
{
    (void)state;
    msg_printf(room, sizeof(room), "%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assert_string_equal(room, "123456789");
}

/* Cut anywhere it is not whole, and printing it reads nothing behind its end. */
static void a_message_that_was_cut_is_printed_as_it_is(void **state)
{
    char outer[200];
    size_t n;

    (void)state;
    msg_printf(room, sizeof(room), "%s has %lld of %zu", "a", 123LL, (size_t)3);
    n = msg_printf(outer, sizeof(outer), "%s: %s", room, "b");
    for (size_t i = 1; i < n; i++) {
        char *cut = xmemdup(outer, i);

        assert_false(msg_is_whole(cut));
        assert_string_equal(in(1, cut), cut);
        free(cut);
    }
}

static void what_only_looks_like_a_message_is_printed_as_it_is(void **state)
{
    static const char *const cases[] = {
        "\x01\x02",
        "\x01",
        "\x01 a",
        "\x01%s\x02",
        "\x01%s\x02"
        "9:a",
        "\x01%s\x02"
        ":a",
        "\x01%s\x02"
        "1:ab",
        "\x01%s\x02"
        "99999999999999999999:a",
        "\x01%\x02",
        "\x01 a\x02z",
        "\x01%d%d%d%d%d%d%d%d%d\x02",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(msg_is_whole(cases[i]));
        assert_string_equal(in(1, cases[i]), cases[i]);
    }
}

static void messages_in_messages_have_a_depth(void **state)
{
    char next[2000];

    (void)state;
    msg_printf(room, sizeof(room), "start %s", "x");
    for (int i = 0; i < 20; i++) {
        msg_printf(next, sizeof(next), "start %s", room);
        memcpy(room, next, sizeof(room));
    }
    assert_non_null(strstr(in(0, room), "start start start"));
    assert_null(strchr(shown, '\x01')); /* the innermost are left out */
}

static void the_size_that_is_asked_for_is_enough(void **state)
{
    (void)state;
    assert_int_equal(msg_put(NULL, 0, MSG("no such user"), german, 1), 21);
    assert_int_equal(msg_put(shown, 5, MSG("no such user"), german, 1), 21);
    assert_string_equal(shown, "kein");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_conversion_is_printed_as_printf_does),
        cmocka_unit_test(a_translation_may_order_its_arguments_anew),
        cmocka_unit_test(what_has_no_row_is_english),
        cmocka_unit_test(a_message_may_be_an_argument),
        cmocka_unit_test(a_plain_text_stays_as_it_is),
        cmocka_unit_test(what_does_not_fit_is_english_and_cut_between_characters),
        cmocka_unit_test(nine_arguments_are_too_many_for_a_message),
        cmocka_unit_test(a_message_that_was_cut_is_printed_as_it_is),
        cmocka_unit_test(what_only_looks_like_a_message_is_printed_as_it_is),
        cmocka_unit_test(messages_in_messages_have_a_depth),
        cmocka_unit_test(the_size_that_is_asked_for_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
