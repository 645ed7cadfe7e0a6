/* SPDX-License-Identifier: MIT */
#include "model/translate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/text/err.h"
#include "model/cron.h"
#include "model/rules.h"
#include "wire/json/shape.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static const char *chinese(const char *text)
{
    return translate(text, LANG_ZH, &arena);
}

/* An argument for each conversion of a row: "v1", "v2", ... */
static const char *sample_of(const char *fmt)
{
    struct buf b = { 0 };
    int n = 0;

    buf_puts(&b, "\x01");
    buf_puts(&b, fmt);
    buf_puts(&b, "\x02");
    for (const char *p = fmt; (p = strchr(p, '%')); p += 1 + (p[1] == '%')) {
        if (p[1] != '%')
            buf_printf(&b, "%d:<v%d>", 4, ++n);
    }
    fmt = arena_memdup(&arena, buf_data(&b), b.len);
    buf_free(&b);
    return fmt;
}

/* Each row prints all of its arguments, in both languages. */
static void all_rows_print_their_arguments(void **state)
{
    size_t n = 0;

    (void)state;
    for (const struct translation *t = translations; t->text[LANG_EN]; t++, n++) {
        const char *sample = sample_of(t->text[LANG_EN]);

        assert_true(msg_is_whole(sample));
        for (int lang = 0; lang < LANGS; lang++) {
            const char *text = translate(sample, (enum lang)lang, &arena);

            assert_null(strchr(text, '\x01'));
            for (const char *p = sample; (p = strchr(p, '<')); p++) {
                const char *value = arena_memdup(&arena, p, 4);

                if (p[1] == 'v' && !strstr(text, value))
                    fail_msg("%s: no %s in %s", t->text[LANG_EN], value, text);
            }
        }
        arena_reset(&arena);
    }
    assert_true(n > 300);
}

static void an_error_is_translated_with_all_that_was_wrapped_around_it(void **state)
{
    struct err err;

    (void)state;
    errno = ENOENT;
    err_sys(&err, "open %s", "/etc/x");
    err_wrap(&err, "%s", "spec.identity");
    assert_string_equal(err.text, "spec.identity: open /etc/x: No such file or directory");
    assert_string_equal(chinese(err_msg(&err)), "spec.identity：打开 /etc/x：没有该文件或目录");
    assert_string_equal(translate(err_msg(&err), LANG_EN, &arena), err.text);
}

/* A name is never taken for a sentence. */
static void an_argument_that_reads_as_a_sentence_stays(void **state)
{
    struct err err;

    (void)state;
    err_set(&err, ERR_INVALID, "open %s", "required");
    assert_string_equal(chinese(err_msg(&err)), "打开 required");
}

/* Clients look for it, so BlueKing's interfaces have it in every language; ours do not. */
static void a_sentence_of_gse_is_the_same_everywhere_but_in_our_own_interfaces(void **state)
{
    static const char gse[] = "Script exit code non-zero. Error msessage: [no such file]";
    char text[200], outer[400];

    (void)state;
    msg_printf(text, sizeof(text), "Script exit code non-zero. Error msessage: [%s]",
               "no such file");
    assert_string_equal(translate(text, LANG_EN, &arena), gse);
    assert_string_equal(chinese(text), gse);
    assert_string_equal(translate_own(text, LANG_EN, &arena),
                        "the command failed; its output: [no such file]");
    assert_string_equal(translate_own(text, LANG_ZH, &arena),
                        "命令执行失败；其输出：[no such file]");
    msg_printf(outer, sizeof(outer), "%s: %s", "x", text);
    assert_string_equal(translate_own(outer, LANG_EN, &arena),
                        "x: the command failed; its output: [no such file]");
    assert_string_equal(translate_own(MSG("bytes"), LANG_ZH, &arena), "字节");
    assert_ptr_equal(translate_own(gse, LANG_EN, &arena), gse);
}

static void a_text_that_is_no_message_stays(void **state)
{
    static const char text[] = "no such field";

    (void)state;
    assert_ptr_equal(translate(text, LANG_EN, &arena), text);
}

static void a_message_without_a_row_is_english(void **state)
{
    (void)state;
    assert_string_equal(chinese("\x01%s is new here\x02"
                                "1:a"),
                        "a is new here");
}

static const char *read_error(const struct shape *s, const char *json)
{
    char *out = arena_alloc(&arena, s->size);
    struct err err;

    assert_int_equal(shape_read(s, json, strlen(json), SHAPE_ASKED, &arena, out, &err), -1);
    return arena_strdup(&arena, chinese(err_msg(&err)));
}

struct sample {
    const char *text;
    int64_t number, kind;
    struct list list;
};

#define AT(member) .offset = offsetof(struct sample, member)

static const struct enum_name kinds[] = { { 0, "start" }, { 1, "stop" }, { 0 } };
static const struct field item_fields[] = {
    { "text", .type = FIELD_STR, AT(text), .max = 5, .check = rule_path },
    { 0 },
};
static const struct shape item_shape = { "item", sizeof(struct sample), item_fields };
static const struct field fields[] = {
    { "text", .type = FIELD_STR, AT(text), .min = 1, .max = 9, .flags = FIELD_REQUIRED },
    { "number", .type = FIELD_INT, AT(number), .min = 1, .max = 9 },
    { "kind", .type = FIELD_ENUM, AT(kind), .names = kinds },
    { "list", .type = FIELD_LIST, AT(list), .max = 2, .sub = &item_shape },
    { 0 },
};
static const struct shape sample_shape = { "sample", sizeof(struct sample), fields };

static void bad_fields_are_explained_in_chinese(void **state)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        { "{}", "text：必填" },
        { "{\"text\":\"\"}", "text：不能为空" },
        { "{\"text\":\"0123456789\"}", "text：必须是 1 到 9 字节的字符串，实际为 10" },
        { "{\"text\":7}", "text：必须是 1 到 9 字节的字符串，不能是数字" },
        { "{\"text\":\"a\",\"number\":10}", "number：必须是 1 到 9 的整数，不能是 10" },
        { "{\"text\":\"a\",\"kind\":5}", "kind：必须是 0 (start), 1 (stop) 之一，不能是 5" },
        { "{\"text\":\"a\",\"list\":[{},{},{}]}", "list：必须是至多 2 项的列表，实际至少有 3" },
        { "{\"text\":\"a\",\"list\":[{\"text\":\"a\"}]}", "list[0].text：必须是绝对路径" },
        { "{\"text\":\"a\",\"txt\":1}", "txt：没有这个字段；是否为 text？" },
        { "{\"text\":\"a\",\"text\":\"b\"}", "text：重复出现" },
        { "{\"text\":\"a\"", "第 11 字节：应为 ',' 或 '}'，文本却已结束" },
        { "{\"text\":x}", "第 8 字节：应为值，却是 'x'" },
        { "[]", "请求体：必须是对象，不能是列表" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(read_error(&sample_shape, cases[i].json), cases[i].text);
}

static void bad_schedules_are_explained_in_chinese(void **state)
{
    (void)state;
    assert_string_equal(chinese(cron_check("61 * * * *")), "minute：61 大于 59");
    assert_string_equal(chinese(cron_check("a * * * *")), "minute：\"a\" 不是数字");
    assert_string_equal(chinese(cron_check("* *")), "有 2 个字段，必须有五个：分 时 日 月 星期");
    assert_string_equal(chinese(cron_check("1/2 * * * *")),
                        "minute：\"1/2\" 带步长，必须是范围或 *");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_rows_print_their_arguments, tear_down),
        cmocka_unit_test_teardown(an_error_is_translated_with_all_that_was_wrapped_around_it,
                                  tear_down),
        cmocka_unit_test_teardown(an_argument_that_reads_as_a_sentence_stays, tear_down),
        cmocka_unit_test_teardown(
            a_sentence_of_gse_is_the_same_everywhere_but_in_our_own_interfaces, tear_down),
        cmocka_unit_test_teardown(a_text_that_is_no_message_stays, tear_down),
        cmocka_unit_test_teardown(a_message_without_a_row_is_english, tear_down),
        cmocka_unit_test_teardown(bad_fields_are_explained_in_chinese, tear_down),
        cmocka_unit_test_teardown(bad_schedules_are_explained_in_chinese, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
