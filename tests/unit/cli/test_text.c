/* SPDX-License-Identifier: MIT */
#include "cli/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

#include "base/text/utf8.h"
#include "cli/commands.h"

/* The placeholders {0} to {9} of a text, as a set of bits. */
static unsigned places(const char *text)
{
    unsigned found = 0;

    for (const char *p = text; *p; p++) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '9' && p[2] == '}')
            found |= 1u << (p[1] - '0');
    }
    return found;
}

static void every_text_is_there_in_both_languages(void **state)
{
    (void)state;
    for (int id = 0; id < TEXTS; id++) {
        const char *en = text_get(LANG_EN, (enum text)id), *zh = text_get(LANG_ZH, (enum text)id);

        if (!en || !zh || !*en || !*zh)
            fail_msg("text %d is missing", id);
        assert_int_equal(utf8_valid(en, strlen(en)), strlen(en));
        assert_int_equal(utf8_valid(zh, strlen(zh)), strlen(zh));
        if (places(en) != places(zh))
            fail_msg("these do not say the same: %s | %s", en, zh);
        if (places(en) & (places(en) + 1))
            fail_msg("its places are not {0}, {1} and so on: %s", en);
    }
}

/* Texts without letters may be the same in both languages. */
static void the_chinese_texts_are_chinese(void **state)
{
    static const enum text same[] = { TEXT_PID, TEXT_AGENT, TEXT_CPU };

    (void)state;
    for (int id = 0; id < TEXTS; id++) {
        bool chinese = false;

        for (size_t i = 0; i < ARRAY_LEN(same); i++)
            chinese |= id == (int)same[i];

        for (const char *p = text_get(LANG_ZH, (enum text)id); *p; p++)
            chinese |= (unsigned char)*p >= 0xE3;
        if (!chinese)
            fail_msg("text %d: %s", id, text_get(LANG_ZH, (enum text)id));
        for (const char *p = text_get(LANG_EN, (enum text)id); *p; p++)
            assert_true((unsigned char)*p < 0x80);
    }
}

static void places_are_filled_in_any_order(void **state)
{
    struct buf b = { 0 };

    (void)state;
    text_put(&b, LANG_ZH, TEXT_ALL_WELL, TEXT_ARGS("a", "1", "2", "{0}"));
    assert_string_equal(buf_text(&b), "a：2 个中完成 1 个，{0}");
    buf_truncate(&b, 0);
    text_put(&b, LANG_EN, TEXT_REQUEST, TEXT_ARGS("only one"));
    assert_string_equal(buf_text(&b), "only one, request {1}");
    buf_truncate(&b, 0);
    text_put(&b, LANG_EN, TEXT_REQUEST, NULL);
    assert_string_equal(buf_text(&b), "{0}, request {1}");
    buf_free(&b);
}

static void a_message_is_put_in_the_language_of_the_text(void **state)
{
    const char *why = MSG("a quote that is not closed");
    struct buf b = { 0 };

    (void)state;
    text_put(&b, LANG_ZH, TEXT_WITH_DETAIL, TEXT_ARGS("x", why));
    assert_string_equal(buf_text(&b), "x：引号没有闭合");
    buf_truncate(&b, 0);
    text_put(&b, LANG_EN, TEXT_WITH_DETAIL, TEXT_ARGS("x", why));
    assert_string_equal(buf_text(&b), "x: a quote that is not closed");
    buf_free(&b);
}

static void an_err_of_a_text_has_its_code(void **state)
{
    struct err err = { 0 };

    (void)state;
    assert_int_equal(text_err(&err, ERR_DENIED, LANG_EN, TEXT_TWICE, TEXT_ARGS("100%s")), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_string_equal(err.text, "--100%s: given twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_is_there_in_both_languages),
        cmocka_unit_test(the_chinese_texts_are_chinese),
        cmocka_unit_test(places_are_filled_in_any_order),
        cmocka_unit_test(a_message_is_put_in_the_language_of_the_text),
        cmocka_unit_test(an_err_of_a_text_has_its_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
