/* SPDX-License-Identifier: MIT */
/* Promises of wire/json/json.h: what is valid JSON and what is not, at which byte it becomes
 * invalid, the values of numbers and strings; and the same results as jansson. */
#include "wire/json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"
#include "tests/lib/json_oracle.h"
#include "tests/lib/random.h"

struct json_case {
    const char *text;
    size_t n;
    long bad; /* the refused byte; -1: the text is valid */
};

#define YES(s)                                                                                     \
    {                                                                                              \
        s, sizeof(s) - 1, -1                                                                       \
    }
#define NO(at, s)                                                                                  \
    {                                                                                              \
        s, sizeof(s) - 1, at                                                                       \
    }

/* The families of the public conformance suites: structure, words, numbers, strings, escapes,
 * UTF-8.  A refusal names the first byte at which no continuation can be valid JSON, or the
 * start of the doubtful token. */
/* clang-format off */
static const struct json_case cases[] = {
    /* Structure. */
    YES("{}"), YES("[]"), YES(" [] "), YES("\t\n\r []\r\n\t "), YES("[[]]"), YES("[{}]"), YES("{\"a\":{}}"),
    YES("[[],[[]],{}]"), YES("{\"\":0}"), YES("{\"a\":[],\"b\":{}}"), YES("[null, 1, \"1\", {}]"),
    YES("{\"min\": -1.0e+28, \"max\": 1.0e+28}"), YES("{\"a\" :\n1 ,\t\"b\":\r2}"), YES("[1\n]"), YES("[ 1]"), YES("[1,null,null,null,2]"),
    YES("{\"x\":[{\"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}], \"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}"),
    YES("{\"a\":{\"a\":{\"a\":{\"a\":1}}}}"), YES("[{\"a\":1},{\"a\":1}]"), YES("{\"a\":[{\"a\":1,\"b\":2}],\"b\":{\"a\":1}}"),
    NO(0, ""), NO(1, " "), NO(4, " \n\t "), NO(1, "["), NO(1, "{"), NO(0, "]"), NO(0, "}"), NO(0, ","), NO(0, ":"),
    NO(1, "[,]"), NO(1, "[,1]"), NO(3, "[1,]"), NO(3, "[1,,2]"), NO(2, "[1"), NO(3, "[1,"), NO(4, "[1,\n"), NO(3, "[1 2]"),
    NO(2, "[]]"), NO(2, "[][]"), NO(2, "{}{}"), NO(3, "[1]x"), NO(3, "[] 1"), NO(2, "1 1"), NO(1, "[}"), NO(1, "{]"),
    NO(2, "[1}"), NO(6, "{\"a\":1]"), NO(1, "{,}"), NO(1, "{,\"a\":1}"), NO(7, "{\"a\":1,}"), NO(8, "{\"a\":1, ,\"b\":2}"),
    NO(7, "{\"a\":1,,\"b\":2}"), NO(4, "{\"a\"}"), NO(5, "{\"a\":}"), NO(5, "{\"a\":"), NO(4, "{\"a\""), NO(2, "{\""), NO(6, "{\"a\":1"),
    NO(7, "{\"a\":1 \"b\":2}"), NO(7, "{\"a\":1,"), NO(5, "{\"a\" 1}"), NO(4, "{\"a\",1}"), NO(5, "{\"a\"::1}"), NO(4, "{\"a\";1}"),
    NO(1, "{1:1}"), NO(1, "{a:1}"), NO(1, "{null:1}"), NO(1, "{[]:1}"), NO(1, "{'a':1}"), NO(1, "{:1}"), NO(7, "{\"a\":1 1}"),
    NO(7, "{\"a\":1}}"), NO(7, "{\"a\":1}#"), NO(8, "{\"a\":1} x"), NO(2, "[1;2]"), NO(2, "[1:2]"), NO(4, "[\"a\":1]"), NO(5, "[\"a\" \"b\"]"),
    NO(1, "[<a>]"), NO(0, "<null>"), NO(0, "*"), NO(0, "#{}"), NO(0, "=1"), NO(1, "[*]"), NO(1, "[(1)]"), NO(1, "[a]"), NO(1, "[\\n]"),
    NO(1, "[\f]"), NO(1, "[\v]"), NO(0, "\f[]"), NO(0, "\v1"), NO(2, "[]\f"), NO(1, "[\xC2\xA0]"), NO(0, "\xE2\x81\xA0[]"), NO(0, "\xE3\x80\x80[]"),
    NO(0, "\xEF\xBB\xBF{}"), NO(0, "\xEF\xBB\xBF"), NO(0, "\xFF\xFE[\0]\0"), NO(0, "\0[\0]"), NO(0, "\0"), NO(2, "[]\0"), NO(1, "[\0]"), NO(2, "[1\0]"),
    NO(3, "123\0"), NO(1, "1\0" "1"), NO(0, "\xE5"), NO(1, "[\xFF]"), NO(2, "[1\xE5]"),
    NO(0, "/**/[]"), NO(0, "//\n[]"), NO(2, "[]//"), NO(2, "[]/**/"), NO(1, "[/*1*/1]"), NO(5, "{\"a\":/**/1}"), NO(3, "[1 /* */]"), NO(7, "{\"a\":1}/**/"),
    NO(62, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["), NO(6, "[[[]]]]"), NO(5, "[[[]]"), NO(5, "[{\"a\"]}"), NO(1, "[\x1B[0m]"),
    /* Words. */
    YES("true"), YES("false"), YES("null"), YES(" null\n"), YES("[true,false,null]"), YES("{\"null\":null}"),
    NO(0, "tru"), NO(0, "t"), NO(0, "fals"), NO(0, "nul"), NO(0, "n"), NO(0, "nan"), NO(0, "NaN"), NO(0, "Null"), NO(0, "TRUE"), NO(0, "True"), NO(0, "FALSE"),
    NO(4, "truee"), NO(4, "nullnull"), NO(5, "falsefalse"), NO(4, "null1"), NO(1, "[tru]"), NO(1, "[nul"), NO(1, "[True]"), NO(1, "[NULL]"), NO(5, "[trueX]"),
    NO(0, "undefined"), NO(0, "abc"), NO(4, "true,"), NO(5, "{\"a\":tru}"), NO(5, "{\"a\":N}"), NO(0, "nu\0l"), NO(4, "null\0"), NO(1, "[tr\0ue]"),
    /* Numbers. */
    YES("0"), YES("-0"), YES("1"), YES("-1"), YES("12"), YES("[0,1,-2]"), YES("0.0"), YES("-0.0"), YES("0e0"), YES("0E0"), YES("0e+1"), YES("0e-1"), YES("1e1"), YES("1E22"),
    YES("1E-2"), YES("1E+2"), YES("123e65"), YES("123.456e78"), YES("123.456789"), YES("-123.5"), YES("1.5e+99"), YES("0.1"), YES("0e99999999999999999999"),
    YES("0.0e999999"), YES("1e-99999"), YES("-1e-99999"), YES("1e00000000000000000001"), YES("1.000000000000000000000000000000000000000000000000000000000000000000000000001"),
    YES("9223372036854775807"), YES("-9223372036854775808"), YES("1.7976931348623157e308"), YES("-1.7976931348623157e308"), YES("4.9406564584124654e-324"), YES("2.2250738585072014e-308"),
    YES("20e1"), YES("1.0e0"), YES("9223372036854775808.0"), YES("1e18"), YES(" 4 "), YES("-0e5"), YES("100"), YES("10.01"),
    NO(1, "-"), NO(2, "[-]"), NO(1, "--1"), NO(1, "-x"), NO(1, "- 1"), NO(0, "+1"), NO(0, "++1"), NO(1, "-+1"), NO(1, "[+1]"), NO(0, "+Inf"), NO(0, ".5"), NO(1, "-.5"), NO(0, "."), NO(1, "[.1]"),
    NO(2, "1."), NO(2, "1.e1"), NO(2, "0.e1"), NO(3, "-1."), NO(3, "[1.]"), NO(2, "2.e+3"), NO(2, "2.e3"), NO(3, "1.5.5"), NO(2, "1..5"), NO(2, "1.x"), NO(2, "1e"), NO(2, "1E"), NO(3, "1e+"), NO(3, "1E-"),
    NO(3, "0e+"), NO(4, "1.0e"), NO(5, "1.0e+"), NO(5, "1.0e-"), NO(3, "1e+x"), NO(2, "1ee1"), NO(3, "1e1e1"), NO(2, "1e e"), NO(3, "1e1.5"), NO(2, "9.e"), NO(3, "0E+"), NO(2, "0e"),
    NO(0, "01"), NO(1, "-01"), NO(1, "[012]"), NO(0, "00"), NO(1, "-00"), NO(0, "00.5"), NO(1, "-012.5"), NO(0, "007"), NO(1, "0x1"), NO(1, "0x"), NO(1, "0X1F"), NO(1, "0b1"), NO(1, "0o7"), NO(1, "1_000"),
    NO(0, "Infinity"), NO(1, "-Infinity"), NO(1, "-inf"), NO(1, "-NaN"), NO(0, "Inf"), NO(1, "1a"), NO(1, "1f"), NO(1, "1L"), NO(1, "1'000"), NO(2, "1 000"), NO(2, "1 ,"), NO(1, "1,2"),
    NO(0, "9223372036854775808"), NO(0, "-9223372036854775809"), NO(0, "18446744073709551616"), NO(0, "100000000000000000000"), NO(1, "[99999999999999999999999]"),
    NO(0, "1e309"), NO(0, "-1e309"), NO(0, "1.7976931348623159e308"), NO(0, "1e99999999999999999999"), NO(1, "[1E400]"), NO(0, "0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999969999999006"),
    NO(0, "\xEF\xBC\x91"), NO(2, "[1\xEF\xBC\x91]"), NO(1, "[\xE2\x88\x92" "1]"),
    /* Strings. */
    YES("\"\""), YES("\"a\""), YES("\" \""), YES("\"0123456789abcdef0123456789abcdef\""), YES("\"\x7F\""), YES("\"'\""), YES("\"//\""), YES("\"/*\""), YES("\"{}[],:\""), YES("[\"a\",\"b\"]"),
    NO(1, "\""), NO(2, "\"a"), NO(3, "[\"a"), NO(9, "\"01234567"), NO(0, "'a'"), NO(1, "['a']"), NO(0, "`a`"), NO(0, "a\""), NO(3, "\"a\"x"), NO(3, "\"a\"\"b\""), NO(2, "[\"\0\"]"), NO(1, "\"\0\""), NO(2, "\"a\0b\""),
    NO(1, "\"\n\""), NO(1, "\"\t\""), NO(1, "\"\r\""), NO(1, "\"\x01\""), NO(1, "\"\x1F\""), NO(2, "\"a\n\""), NO(10, "\"012345678\x1F" "abcdefgh\""), NO(0, "\xE2\x80\x9C" "a\xE2\x80\x9D"), NO(2, "{\"\t\":1}"), NO(6, "{\"a\":\"\n\"}"),
    /* Escapes. */
    YES("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), YES("\"\\u0061\\u30af\\u30EA\\u30b9\""), YES("\"\\u0001\""), YES("\"\\u001f\""), YES("\"\\u007F\""), YES("\"\\uFFFF\""), YES("\"\\ufdd0\""), YES("\"\\u2028\\u2029\""),
    YES("\"\\uD834\\uDd1e\""), YES("\"\\ud800\\udc00\""), YES("\"\\uDBFF\\uDFFF\""), YES("\"\\uD7FF\\uE000\""), YES("\"\\\\u0000\""), YES("\"\\\\\\\"\""), YES("\"a\\\\\""), YES("{\"\\u0061\":1,\"b\":2}"),
    NO(1, "\"\\"), NO(1, "\"\\x41\""), NO(3, "\"\\\""), NO(5, "\"\\\\\\\""), NO(1, "\"\\a\""), NO(1, "\"\\v\""), NO(1, "\"\\e\""), NO(1, "\"\\0\""), NO(1, "\"\\'\""), NO(1, "\"\\ \""), NO(1, "\"\\\n\""), NO(1, "\"\\U0041\""), NO(1, "\"\\\xF0\x9F\x8C\x80\""),
    NO(1, "\"\\\0\""), NO(1, "\"\\u\""), NO(1, "\"\\u0\""), NO(1, "\"\\u00A\""), NO(1, "\"\\u00G0\""), NO(1, "\"\\u 041\""), NO(1, "\"\\u+041\""), NO(1, "\"\\u-041\""), NO(1, "\"\\u0x41\""), NO(1, "\"\\u004"), NO(1, "\"\\u"), NO(1, "\"\\u00\xE5" "0\""), NO(2, "\"a\\uqqqq\""),
    NO(1, "\"\\u0000\""), NO(3, "\"ab\\u0000\""), NO(1, "\"\\u0000a\""), NO(2, "{\"\\u0000\":1}"),
    NO(1, "\"\\uD800\""), NO(1, "\"\\uDFFF\""), NO(1, "\"\\uDC00\""), NO(1, "\"\\uD800\\uD800\""), NO(1, "\"\\uDC00\\uD800\""), NO(1, "\"\\uD834\\u0041\""), NO(1, "\"\\uD834x\""), NO(1, "\"\\uD834\\n\""), NO(1, "\"\\uD834\\\""), NO(1, "\"\\uD834\\u\""),
    NO(1, "\"\\uD834\\uDd\""), NO(1, "\"\\uD834\\uDd1\""), NO(1, "\"\\uD834\\uDd1"), NO(1, "\"\\uD834\\u"), NO(1, "\"\\uD834\\UDd1e\""), NO(2, "\"a\\ud800abc\""), NO(13, "\"\\ud800\\udc00\\udc00\""), NO(7, "\"\\u0041\\udc00\""), NO(1, "\"\\uD888\\u1234\""),
    /* UTF-8. */
    YES("\"\xC2\x80\""), YES("\"\xDF\xBF\""), YES("\"\xE0\xA0\x80\""), YES("\"\xED\x9F\xBF\""), YES("\"\xEE\x80\x80\""), YES("\"\xEF\xBF\xBF\""), YES("\"\xF0\x90\x80\x80\""), YES("\"\xF4\x8F\xBF\xBF\""), YES("\"\xEF\xBB\xBF\""), YES("\"\xE2\x80\xA8\xE2\x80\xA9\""),
    YES("\"\xE4\xB8\xAD\xE6\x96\x87\""), YES("{\"\xE4\xB8\xAD\":\"\xF0\x9F\x98\x80\"}"), YES("\"\xF0\x9B\xBF\xBF\""), YES("\"\xEF\xB7\x90\""),
    NO(1, "\"\x80\""), NO(1, "\"\xBF\""), NO(1, "\"\xC0\x80\""), NO(1, "\"\xC0\xAF\""), NO(1, "\"\xC1\xBF\""), NO(1, "\"\xE0\x80\xAF\""), NO(1, "\"\xE0\x9F\xBF\""), NO(1, "\"\xF0\x80\x80\xAF\""), NO(1, "\"\xF0\x8F\xBF\xBF\""), NO(1, "\"\xFC\x80\x80\x80\x80\x80\""),
    NO(1, "\"\xED\xA0\x80\""), NO(1, "\"\xED\xBF\xBF\""), NO(1, "\"\xED\xA0\x80\xED\xB0\x80\""), NO(1, "\"\xF4\x90\x80\x80\""), NO(1, "\"\xF5\x80\x80\x80\""), NO(1, "\"\xF8\x88\x80\x80\x80\""), NO(1, "\"\xFF\""), NO(1, "\"\xFE\""), NO(1, "\"\xE9\""), NO(1, "\"\xC2\""),
    NO(1, "\"\xC2"), NO(1, "\"\xE4\xB8\""), NO(1, "\"\xE4\xB8"), NO(1, "\"\xF0\x9F\x98\""), NO(1, "\"\xE4\x41\xAD\""), NO(1, "\"\xE4\xB8\x41\""), NO(2, "\"a\xB5\""), NO(4, "\"\xE4\xB8\xAD\xE4\""), NO(2, "{\"\xE5\":1}"), NO(9, "\"01234567\x81\""), NO(8, "[1,2,3,\"\xC0\"]"),
    /* The same key twice. */
    NO(7, "{\"a\":1,\"a\":2}"), NO(7, "{\"a\":1,\"a\":1}"), NO(6, "{\"\":1,\"\":2}"), NO(7, "{\"a\":1,\"\\u0061\":2}"), NO(12, "{\"\\u0061\":1,\"a\":2}"), NO(8, "[{\"a\":1,\"a\":1}]"), NO(12, "{\"b\":{\"a\":1,\"a\":1}}"), NO(13, "{\"a\":{\"b\":1},\"a\":1}"),
    NO(9, "{\"/\":1,  \"\\/\":2}"), NO(9, "{\"\xE4\xB8\xAD\":1,\"\\u4e2d\":2}"), NO(10, "{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude00\":2}"),
    YES("{\"a\":1,\"A\":2}"), YES("{\"a\":1,\"a \":2}"), YES("{\"a\":1,\"\\\\u0061\":2}"), YES("{\"a\":1,\"b\":{\"a\":1}}"), YES("{\"a\":{\"b\":1},\"b\":1}"),
};
/* clang-format on */

static void show(const char *text, size_t n)
{
    struct buf b = { 0 };

    for (size_t i = 0; i < n && i < 2000; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= 32 && c < 127)
            buf_addc(&b, (char)c);
        else
            buf_printf(&b, "\\x%02X", c);
    }
    print_error("the text: %s\n", buf_text(&b));
    buf_free(&b);
}

/* Reads a whole text; returns the byte at which it was refused, or -1. */
static long refused_at(const char *text, size_t n, struct err *err)
{
    /* A copy of exactly n bytes, so that the sanitizer reports a read beyond it. */
    char *copy = n ? malloc(n) : NULL;
    struct arena a = { 0 };
    struct json j;
    long at = -1;

    if (n)
        memcpy(copy, text, n);
    *err = (struct err){ 0 };
    json_init(&j, copy, n, &a, err);
    if (json_skip(&j) || json_finish(&j)) {
        assert_int_equal(err->code, strstr(err->text, "too large") ? ERR_LIMIT : ERR_MALFORMED);
        assert_int_equal(sscanf(err->text, "byte %ld: ", &at), 1);
        assert_int_equal(at, j.p - j.start);
        assert_int_equal(utf8_valid(err->text, strlen(err->text)), strlen(err->text));
    } else {
        assert_int_equal(err->code, ERR_NONE);
        assert_ptr_equal(j.p, j.end);
    }
    json_done(&j);
    arena_free(&a);
    free(copy);
    return at;
}

static void json_is_told_from_what_is_none(void **state)
{
    int wrong = 0;

    (void)state;
    assert_true(ARRAY_LEN(cases) >= 200);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct json_case *c = &cases[i];
        struct err err;
        long at = refused_at(c->text, c->n, &err);
        const char *differs = oracle_check(c->text, c->n);

        if (at == c->bad && !differs)
            continue;
        wrong++;
        show(c->text, c->n);
        print_error("refused at %ld, expected %ld: %s; %s\n", at, c->bad, err.text,
                    differs ? differs : "as jansson");
    }
    assert_int_equal(wrong, 0);
}

/* Every proper prefix of a document is refused at its end or at the token that was cut. */
static void every_cut_text_is_refused(void **state)
{
    static const char text[] = "{\"a\\u0041\\ud83d\\ude00\xE4\xB8\xAD\":[true,null,false,\"\\n\"],"
                               "\"b\":{\"c\":-1.5e+10}}";

    (void)state;
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        struct err err;
        long at = refused_at(text, n, &err);

        assert_in_range(at, n > 12 ? n - 12 : 0, n);
    }
}

static char *nested(char open, size_t depth, size_t *ret_n)
{
    const char *one = open == '[' ? "[" : "{\"a\":";
    struct buf b = { 0 };

    for (size_t i = 0; i < depth; i++)
        buf_puts(&b, one);
    buf_puts(&b, "1");
    for (size_t i = 0; i < depth; i++)
        buf_addc(&b, open == '[' ? ']' : '}');
    *ret_n = b.len;
    return b.block; /* nothing was dropped from it, so the text starts there */
}

static void nesting_ends_at_its_limit(void **state)
{
    static const struct {
        char open;
        size_t depth;
        long bad;
    } rows[] = {
        { '[', 1, -1 },   { '[', JSON_DEPTH_MAX, -1 }, { '[', JSON_DEPTH_MAX + 1, 64 },
        { '[', 65, 64 },  { '[', 100000, 64 },         { '{', JSON_DEPTH_MAX, -1 },
        { '{', 65, 320 }, { '{', 100000, 320 },
    };
    struct err err;
    size_t n;

    (void)state;
    assert_int_equal(JSON_DEPTH_MAX, 64);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = nested(rows[i].open, rows[i].depth, &n);

        assert_int_equal(refused_at(text, n, &err), rows[i].bad);
        if (rows[i].bad >= 0)
            assert_non_null(strstr(err.text, "nested deeper than 64"));
        free(text);
    }
}

/* Depth counts open lists, not closed ones. */
static void closed_lists_do_not_count_as_depth(void **state)
{
    struct buf b = { 0 };
    struct err err;

    (void)state;
    buf_addc(&b, '[');
    for (int i = 0; i < 1000; i++)
        buf_puts(&b, "[{\"a\":[]}],");
    buf_puts(&b, "1]");
    assert_int_equal(refused_at(buf_data(&b), b.len, &err), -1);
    buf_free(&b);
}

static int read_number(const char *text, struct json_number *ret)
{
    struct err err;
    struct json j;
    int failed;

    json_init(&j, text, strlen(text), NULL, &err);
    failed = json_read_number(&j, ret) || json_finish(&j);
    json_done(&j);
    return failed ? -1 : 0;
}

static void integers_are_exact(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        { "0", 0 },
        { "-0", 0 },
        { "9223372036854775807", INT64_MAX },
        { "9223372036854775806", INT64_MAX - 1 },
        { "-9223372036854775808", INT64_MIN },
        { "-9223372036854775807", INT64_MIN + 1 },
        { "9007199254740993", 9007199254740993 },
    };
    struct json_number n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(read_number(rows[i].text, &n), 0);
        assert_true(n.is_int);
        assert_true(n.i == rows[i].value);
        assert_true(n.d == (double)rows[i].value);
        assert_int_equal(n.n, strlen(rows[i].text));
    }
}

static void a_refused_number_leaves_the_result_alone(void **state)
{
    static const char *const texts[] = { "-", "1.", "1e", "01", "1e309", "9223372036854775808" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct json_number n = { .is_int = true, .i = 7, .d = 7 }, m = { .i = 7, .d = 7 };

        assert_int_equal(read_number(texts[i], &n), -1);
        assert_true(n.is_int && n.i == 7 && n.d == 7 && !n.p && !n.n);
        assert_int_equal(read_number(texts[i], &m), -1);
        assert_false(m.is_int);
    }
}

static void doubles_are_the_nearest(void **state)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        { "0.1", 0.1 },
        { "-0.0", 0 },
        { "1.7976931348623157e308", DBL_MAX },
        { "-1.7976931348623157e+308", -DBL_MAX },
        { "1.7976931348623158e308", DBL_MAX }, /* rounds down */
        { "2.2250738585072014e-308", DBL_MIN },
        { "2.2250738585072011e-308", 2.2250738585072011e-308 },
        { "5e-324", 4.9406564584124654e-324 },
        { "3e-324", 4.9406564584124654e-324 },
        { "2e-324", 0 },
        { "1e-400", 0 },
        { "1e23", 1e23 },
        { "9007199254740993.0", 9007199254740992.0 },
        { "1.00000000000000011102230246251565404236316680908203125",
          1.0 }, /* half way: rounds to even */
        { "1.00000000000000011102230246251565404236316680908203126", 1.0000000000000002 },
        { "0.00000000000000000000000000000000000000000000000000000000000000000000001e71", 1.0 },
        { "10000000000000000000000000000000000000000000000000000000000000000000000.0e-70", 1.0 },
    };
    struct json_number n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(read_number(rows[i].text, &n), 0);
        assert_false(n.is_int);
        assert_true(n.d == rows[i].value);
    }
}

/* The length of a number is bounded, so that reading it takes no memory; the exact value of
 * every double is shorter. */
static void numbers_have_at_most_so_many_bytes(void **state)
{
    char text[2000];
    struct json_number n;
    struct err err;

    (void)state;
    assert_true((size_t)snprintf(text, sizeof(text), "%.1074f", 4.9406564584124654e-324) <
                JSON_NUMBER_MAX);
    assert_int_equal(read_number(text, &n), 0);
    assert_true(n.d == 4.9406564584124654e-324);
    memset(text, '0', sizeof(text));
    text[1] = '.';
    assert_int_equal(refused_at(text, JSON_NUMBER_MAX, &err), -1);
    assert_int_equal(refused_at(text, JSON_NUMBER_MAX + 1, &err), 0);
    assert_non_null(strstr(err.text, "a number of more than"));
    memset(text, '9', sizeof(text));
    assert_int_equal(refused_at(text, JSON_NUMBER_MAX + 1, &err), 0);
}

static double random_double(uint64_t *seed)
{
    double d;

    do {
        uint64_t bits = random_next(seed);

        if (random_below(seed, 4) == 0)
            bits &= 0x800FFFFFFFFFFFFFu; /* denormal */
        memcpy(&d, &bits, sizeof(d));
    } while (!isfinite(d));
    switch (random_below(seed, 4)) {
    case 0: return d;
    case 1: return (double)(int64_t)random_next(seed) / 1000;
    case 2: return (double)((int64_t)random_next(seed) >> random_below(seed, 64));
    default: return ldexp((double)random_next(seed), (int)random_below(seed, 2000) - 1030);
    }
}

static void written_doubles_read_back_the_same(void **state)
{
    static const double some[] = { 0,
                                   -0.0,
                                   0.1,
                                   1e15,
                                   999999999999999,
                                   -1e15,
                                   1e16,
                                   1e22,
                                   1e23,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   DBL_MIN,
                                   5e-324,
                                   0.5,
                                   1 / 3.0,
                                   1e-7,
                                   123456789012345680.0,
                                   9007199254740993.0,
                                   0x1p63,
                                   -0x1p63,
                                   0x1p64 };
    uint64_t seed = 7;
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < 200000; i++) {
        double d = i < ARRAY_LEN(some) ? some[i] : random_double(&seed);
        struct json_number n;

        if (!isfinite(d))
            continue;
        buf_truncate(&b, 0);
        json_put_double(&b, d);
        assert_in_range(b.len, 1, 24);
        if (read_number(buf_text(&b), &n) || n.d != d)
            fail_msg("%a was written as %s", d, buf_text(&b));
    }
    buf_free(&b);
}

/* Such as percentages. */
static void few_decimals_read_back_the_same(void **state)
{
    uint64_t seed = 11;
    struct buf b = { 0 };

    (void)state;
    for (int64_t i = -120000; i < 120000; i++) {
        double d = (double)(i % 2 ? i : (int64_t)random_below(&seed, 1000000000000000)) / 10000;
        char text[40];
        struct json_number n;

        buf_truncate(&b, 0);
        json_put_double(&b, d);
        snprintf(text, sizeof(text), "%.15g", d);
        assert_string_equal(buf_text(&b), text);
        if (read_number(text, &n) || n.d != d)
            fail_msg("%a was written as %s", d, text);
    }
    buf_free(&b);
}

static void doubles_are_written_shortly(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        { 0, "0" },
        { -0.0, "0" },
        { 10.0, "10" },
        { -3, "-3" },
        { 0.1, "0.1" },
        { 1.5, "1.5" },
        { 1e14, "100000000000000" },
        { 1e300, "1e+300" },
        { 0.3, "0.3" },
        { 100.25, "100.25" },
        { -0.5, "-0.5" },
        { 0.0001, "0.0001" },
        { -12.3456, "-12.3456" },
        { 99999999999.99, "99999999999.99" },
        { 0.00012, "0.00012" },
        { 7.10005, "7.10005" },
        { 1e-7, "1e-07" },
        { 1 / 3.0, "0.3333333333333333" },
        { NAN, "null" },
        { INFINITY, "null" },
        { -INFINITY, "null" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b = { 0 };

        json_put_double(&b, rows[i].value);
        assert_string_equal(buf_text(&b), rows[i].text);
        buf_free(&b);
    }
}

struct text_case {
    const char *json, *says;
};

static const struct text_case texts[] = {
    { "\"\"", "" },
    { "\"abc\"", "abc" },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
    { "\"\\u0061\\u00e9\\u4E2D\\uD83D\\uDE00z\"", "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80z" },
    { "\"\\uFFFF\\u0001\\u007f\"", "\xEF\xBF\xBF\x01\x7F" },
    { "\"\\u0080\\u07ff\\u0800\\ud800\\udc00\\udbff\\udfff\"",
      "\xC2\x80\xDF\xBF\xE0\xA0\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF" },
    { "\"\\\\u0041\"", "\\u0041" },
    { "\"x\\\\\\\"y\"", "x\\\"y" },
};

static struct json_text read_text(const char *json)
{
    struct json_text t;
    struct json j;
    struct err err;

    json_init(&j, json, strlen(json), NULL, &err);
    assert_int_equal(json_read_string(&j, &t), 0);
    assert_int_equal(json_finish(&j), 0);
    json_done(&j);
    return t;
}

static void escapes_say_what_they_stand_for(void **state)
{
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct json_text t = read_text(texts[i].json);
        char plain[64];
        size_t n, len = strlen(texts[i].says);

        assert_string_equal(json_text_copy(&t, &a, &n), texts[i].says);
        assert_int_equal(n, len);
        assert_int_equal(json_unescape(&t, plain), len);
        assert_int_equal(json_text_len(&t), len);
        assert_true(json_text_is(&t, texts[i].says));
        assert_false(json_text_is(&t, "something else"));
        assert_int_equal(t.escaped, strchr(texts[i].json, '\\') != NULL);
    }
    arena_free(&a);
}

/* Of any length: a key that is not recognized is a check that is missed. */
static void a_text_is_recognized_in_any_spelling(void **state)
{
    (void)state;
    for (size_t n = 0; n < 400; n += n < 70 ? 1 : 37) {
        struct buf json = { 0 }, word = { 0 };
        struct json_text t;

        buf_addc(&json, '"');
        for (size_t i = 0; i < n; i++) {
            buf_printf(&json, "\\u%04x", (unsigned)('a' + i % 26));
            buf_addc(&word, (char)('a' + i % 26));
        }
        buf_puts(&json, "\\n\"");
        buf_addc(&word, '\n');
        t = read_text(buf_text(&json));
        assert_true(json_text_is(&t, buf_text(&word)));
        buf_addc(&word, 'x');
        assert_false(json_text_is(&t, buf_text(&word)));
        buf_truncate(&word, n);
        assert_false(json_text_is(&t, buf_text(&word)));
        buf_free(&json);
        buf_free(&word);
    }
}

static void a_failed_step_leaves_the_result_alone(void **state)
{
    static const char *const steps[] = { "{", "{1", "{\"a\"", "{\"a\" 1" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct json_walk w;
        struct json j;
        struct err err;
        bool more = false;

        json_init(&j, steps[i], strlen(steps[i]), NULL, &err);
        assert_int_equal(json_enter(&j, JSON_KIND_OBJECT, &w), 0);
        assert_int_equal(json_next(&j, &w, &more), -1);
        assert_false(more);
        json_done(&j);
    }
}

static void no_text_at_all_is_refused_politely(void **state)
{
    struct json j;
    struct err err;
    enum json_kind kind;

    (void)state;
    json_init(&j, NULL, 0, NULL, &err);
    assert_int_equal(json_peek(&j, &kind), -1);
    assert_string_equal(err.text, "byte 0: the text ends where a value should be");
    json_done(&j);
}

static void errors_say_what_stands_there(void **state)
{
    static const struct {
        const char *json, *text;
    } rows[] = {
        { "", "byte 0: the text ends where a value should be" },
        { "[1,]", "byte 3: ']' where a value should be" },
        { "[1 \x01]", "byte 3: 0x01 where ',' or ']' should be" },
        { "{\"a\":1 2}", "byte 7: '2' where ',' or '}' should be" },
        { "{a", "byte 1: 'a' where a key in quotes should be" },
        { "{\"a\"1", "byte 4: '1' where ':' should be" },
        { "1 1", "byte 2: '1' where the end should be" },
        { "nil", "byte 0: 'n' where null should be" },
        { "\xEF\xBB\xBF[]", "byte 0: 0xef where a value should be" },
        { "\"\\x\"", "byte 1: no such escape in a string" },
        { "\"\x02\"", "byte 1: control character 0x02 in a string" },
        { "\"\xC0\"", "byte 1: invalid UTF-8" },
        { "1e999", "byte 0: a number too large for a double" },
        { "9223372036854775808", "byte 0: an integer too large for 64 bits" },
        { "01", "byte 0: a number with a leading zero" },
        { "{\"x\":0,\"x\":0}", "byte 7: the key \"x\" stands twice in one object" },
        { "{\"\\n\":0,\"\\u000A\":0}", "byte 8: the key \"\\n\" stands twice in one object" },
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        refused_at(rows[i].json, strlen(rows[i].json), &err);
        assert_string_equal(err.text, rows[i].text);
    }
}

/* ---- The same results as jansson, on random texts. ---- */

static void put_blanks(struct buf *b, uint64_t *seed)
{
    while (random_below(seed, 8) == 0)
        buf_addc(b, " \t\n\r"[random_below(seed, 4)]);
}

static void put_some_string(struct buf *b, uint64_t *seed)
{
    static const char *const pieces[] = { "a",
                                          "b",
                                          "c",
                                          "key",
                                          "\\n",
                                          "\\\"",
                                          "\\\\",
                                          "\\/",
                                          "\\u0061",
                                          "\\u00e9",
                                          "\\ud83d\\ude00",
                                          "\xC3\xA9",
                                          "\xE4\xB8\xAD",
                                          "\xF0\x9F\x98\x80",
                                          "\x7F",
                                          " ",
                                          "01234567",
                                          "\\u0000",
                                          "\\ud800" };
    /* The last two are refused; they are rare, or hardly any text would be valid. */
    size_t n = random_below(seed, 5);

    buf_addc(b, '"');
    while (n--)
        buf_puts(b, pieces[random_below(seed, random_below(seed, 100) ? 17 : 19)]);
    buf_addc(b, '"');
}

static void put_some_number(struct buf *b, uint64_t *seed)
{
    static const char *const odd[] = { "0",
                                       "-0",
                                       "0.5",
                                       "1e5",
                                       "-1E-5",
                                       "9223372036854775807",
                                       "1e308",
                                       "-9223372036854775808",
                                       "9223372036854775808",
                                       "1e309",
                                       "1.0",
                                       "123456789.125",
                                       "5e-324",
                                       "00",
                                       "1e400" };

    switch (random_below(seed, 4)) {
    case 0: buf_put_int(b, (int64_t)(random_next(seed) >> random_below(seed, 64))); return;
    case 1: json_put_double(b, random_double(seed)); return;
    default:
        buf_puts(b, odd[random_below(seed, random_below(seed, 50) ? 8 : ARRAY_LEN(odd))]);
        return;
    }
}

static void put_some_value(struct buf *b, uint64_t *seed, int depth)
{
    static const char *const words[] = { "true", "false", "null" };
    uint64_t what = random_below(seed, depth > 6 ? 3 : 5);
    size_t n = random_below(seed, random_below(seed, 20) ? 6 : 40);

    put_blanks(b, seed);
    switch (what) {
    case 0: buf_puts(b, words[random_below(seed, 3)]); break;
    case 1: put_some_number(b, seed); break;
    case 2: put_some_string(b, seed); break;
    default:
        buf_addc(b, what == 3 ? '[' : '{');
        for (size_t i = 0; i < n; i++) {
            if (i)
                buf_addc(b, ',');
            put_blanks(b, seed);
            if (what == 4) {
                if (random_below(seed, 30)) /* otherwise any key, perhaps a repeated one */
                    buf_printf(b, "\"%zu\"", i);
                else
                    put_some_string(b, seed);
                put_blanks(b, seed);
                buf_addc(b, ':');
            }
            put_some_value(b, seed, depth + 1);
        }
        put_blanks(b, seed);
        buf_addc(b, what == 3 ? ']' : '}');
    }
    put_blanks(b, seed);
}

/* Changes, drops, adds or doubles a few bytes. */
static void damage(struct buf *b, uint64_t *seed)
{
    static const char likely[] = "[]{},:\"\\0123456789.eE+-tfnu \x01\x80\xC3\xE4\xF0";
    char *p = buf_data(b);
    size_t at = random_below(seed, b->len), n = 1 + random_below(seed, 4);
    char copy[8];

    if (n > b->len - at)
        n = b->len - at;
    switch (random_below(seed, 4)) {
    case 0: p[at] = likely[random_below(seed, sizeof(likely) - 1)]; break;
    case 1:
        memmove(p + at, p + at + n, b->len - at - n);
        b->len -= n;
        break;
    case 2: p[at] = (char)random_next(seed); break;
    default:
        memcpy(copy, p + at, n);
        p = buf_reserve(b, n);
        p = buf_data(b);
        memmove(p + at + n, p + at, b->len - at);
        memcpy(p + at, copy, n);
        b->len += n;
    }
}

static void random_texts_are_judged_as_by_jansson(void **state)
{
    enum { TEXTS = 20000 };
    size_t valid = 0;

    (void)state;
    for (uint64_t i = 0; i < TEXTS; i++) {
        uint64_t seed = i;
        struct buf b = { 0 };
        const char *wrong;
        json_t *theirs;

        put_some_value(&b, &seed, 0);
        for (uint64_t n = random_below(&seed, 3); n && b.len; n--)
            damage(&b, &seed);
        wrong = oracle_check(buf_data(&b), b.len);
        if (wrong) {
            show(buf_data(&b), b.len);
            fail_msg("seed %llu: %s", (unsigned long long)i, wrong);
        }
        theirs = oracle_load(buf_data(&b), b.len);
        valid += theirs != NULL;
        json_decref(theirs);
        buf_free(&b);
    }
    assert_in_range(valid, TEXTS / 4, TEXTS * 3 / 4); /* there are many of both kinds */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_told_from_what_is_none),
        cmocka_unit_test(every_cut_text_is_refused),
        cmocka_unit_test(nesting_ends_at_its_limit),
        cmocka_unit_test(closed_lists_do_not_count_as_depth),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(a_refused_number_leaves_the_result_alone),
        cmocka_unit_test(doubles_are_the_nearest),
        cmocka_unit_test(few_decimals_read_back_the_same),
        cmocka_unit_test(numbers_have_at_most_so_many_bytes),
        cmocka_unit_test(written_doubles_read_back_the_same),
        cmocka_unit_test(doubles_are_written_shortly),
        cmocka_unit_test(escapes_say_what_they_stand_for),
        cmocka_unit_test(a_text_is_recognized_in_any_spelling),
        cmocka_unit_test(a_failed_step_leaves_the_result_alone),
        cmocka_unit_test(no_text_at_all_is_refused_politely),
        cmocka_unit_test(errors_say_what_stands_there),
        cmocka_unit_test(random_texts_are_judged_as_by_jansson),
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
