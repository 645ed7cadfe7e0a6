/* SPDX-License-Identifier: MIT */
/* Promises of wire/json/shape.h: every type of field, its limits and defaults, writing, and
 * error messages. */
#include "wire/json/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"
#include "tests/lib/every_type.h"

enum { TEXT = SHAPE_TEXT, STRICT = SHAPE_STRICT, OVERLAY = SHAPE_OVERLAY };

/* Both structs start with garbage, so that a member that is not set is noticed. */
static int read_every(const char *json, unsigned flags, struct arena *a, struct every *out,
                      struct err *err)
{
    size_t n = strlen(json);
    char *copy = n ? malloc(n) : NULL; /* exactly n bytes */
    int failed;

    memset(err, 'x', sizeof(*err));
    if (n)
        memcpy(copy, json, n);
    if (!(flags & SHAPE_OVERLAY))
        memset(out, 0xA5, sizeof(*out));
    failed = shape_read(&every_shape, copy, n, flags, a, out, err);
    if (n)
        memset(copy, 'x', n); /* no value may point into the text */
    free(copy);
    if (failed) {
        assert_true(err->code == ERR_LIMIT ||
                    err->code == (strncmp(err->text, "byte ", 5) ? ERR_INVALID : ERR_MALFORMED));
        assert_non_null(memchr(err->text, '\0', sizeof(err->text)));
        assert_int_equal(utf8_valid(err->text, strlen(err->text)), strlen(err->text));
    } else {
        assert_int_equal(err->text[0], 'x');
    }
    return failed;
}

/* ---- Reading, checked through writing. ---- */

struct value_case {
    const char *field;
    const char *given;   /* as JSON; NULL: the field is absent */
    const char *written; /* likewise */
};

#define SAME(field, value)                                                                         \
    {                                                                                              \
        field, value, value                                                                        \
    }

/* clang-format off */
static const struct value_case values[] = {
    /* STR */
    { "text", NULL, "\"\"" }, { "text", "null", "\"\"" }, SAME("text", "\"\""), SAME("text", "\"abc\""),
    SAME("text", "\"0123456789abcdef\""), SAME("text", "\"\xE4\xB8\xAD\\n\\\"\\\\\\u0001\""),
    { "text", "\"\\u0041\\ud83d\\ude00\\/\"", "\"A\xF0\x9F\x98\x80/\"" },
    { "text", "\"\\u4e2d\\u4e2d\\u4e2d\\u4e2d\\u4e2d\"", "\"\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\"" },
    { "word", NULL, "\"none\"" }, { "word", "null", "\"none\"" }, SAME("word", "\"x\""), SAME("word", "\"12345678\""),
    { "secret", "\"hush\"", NULL }, { "secret", NULL, NULL },
    { "note", NULL, NULL }, { "note", "\"\"", NULL }, SAME("note", "\"n\""),
    { "maybe", NULL, NULL }, SAME("maybe", "null"), SAME("maybe", "\"\""), SAME("maybe", "\"m\""),
    /* INT */
    { "count", NULL, "0" }, { "count", "null", "0" }, SAME("count", "0"), { "count", "-0", "0" }, SAME("count", "-1"),
    SAME("count", "9223372036854775807"), SAME("count", "-9223372036854775808"),
    { "port", NULL, "7020" }, { "port", "null", "7020" }, SAME("port", "1"), SAME("port", "65535"),
    { "tries", NULL, NULL }, SAME("tries", "null"), { "tries", "0", "3" }, SAME("tries", "1"), SAME("tries", "10"), { "tries", "-0", "3" },
    /* FLOAT */
    { "ratio", NULL, "0" }, { "ratio", "null", "0" }, SAME("ratio", "0"), { "ratio", "0.0", "0" }, SAME("ratio", "100"), { "ratio", "100.0", "100" },
    SAME("ratio", "0.1"), SAME("ratio", "33.333333333333336"), { "ratio", "1e-5", "1e-05" }, { "ratio", "1E1", "10" },
    { "scale", NULL, "2" }, { "scale", "0", "2" }, { "scale", "-0.0", "2" }, { "scale", "1e-400", "2" }, SAME("scale", "-1.5"), SAME("scale", "9007199254740992"),
    /* BOOL */
    { "on", NULL, "true" }, { "on", "null", "true" }, SAME("on", "true"), SAME("on", "false"),
    { "flag", NULL, NULL }, { "flag", "false", NULL }, SAME("flag", "true"),
    /* ENUM */
    { "kind", NULL, "1" }, { "kind", "null", "1" }, SAME("kind", "0"), SAME("kind", "5"), SAME("kind", "-2"), { "kind", "\"five\"", "5" }, { "kind", "\"zero\"", "0" },
    { "kind", "\"minus two\"", "-2" }, { "kind", "\"\\u006fne\"", "1" },
    { "mode", NULL, "\"zero\"" }, { "mode", "5", "\"five\"" }, SAME("mode", "\"one\""),
    /* OBJ */
    { "sub", NULL, "{\"user\":\"\"}" }, { "sub", "null", "{\"user\":\"\"}" }, { "sub", "{}", "{\"user\":\"\"}" },
    SAME("sub", "{\"user\":\"u\",\"level\":-9}"), SAME("sub", "{\"user\":\"u\",\"level\":null}"), { "sub", "{\"account\":\"u\"}", "{\"user\":\"u\"}" },
    { "sub", "{\"x\":{\"y\":[1,{}]},\"level\":9}", "{\"user\":\"\",\"level\":9}" },
    { "spare", NULL, NULL }, SAME("spare", "null"), { "spare", "{}", "{\"user\":\"\"}" },
    /* LIST */
    { "items", NULL, "[]" }, { "items", "null", "[]" }, SAME("items", "[]"),
    { "items", "[{\"name\":\"a\"},{\"size\":0,\"name\":\"b\",\"owner\":{\"owner\":\"o\"}}]",
      "[{\"name\":\"a\",\"size\":4,\"owner\":{\"user\":\"\"}},{\"name\":\"b\",\"size\":0,\"owner\":{\"user\":\"o\"}}]" },
    SAME("names", "[\"a\",\"b\",\"c\",\"d\"]"), SAME("numbers", "[1,9]"), { "numbers", "[]", NULL },
    SAME("mixed", "[\"a\",1.50,true,false,null,-0,1E5]"),
    /* MAP */
    { "labels", NULL, "{}" }, SAME("labels", "{\"a\":\"x\",\"b\":1.0,\"c\":true,\"\":null,\"\xE4\xB8\xAD\":\"\"}"), { "labels", "{\"\\u0061\":1}", "{\"a\":1}" },
    SAME("env", "{\"a\":\"1\",\"b\":\"\"}"), { "env", "{}", NULL }, { "groups", "{\"g\":{}}", "{\"g\":{\"user\":\"\"}}" },
    /* SCALAR */
    { "any", NULL, "null" }, SAME("any", "null"), SAME("any", "\"a\""), SAME("any", "1.50"), SAME("any", "-0.0"), SAME("any", "1E+05"), SAME("any", "true"), SAME("any", "false"), SAME("any", "\"\""),
    { "any", "\"\\u0041\"", "\"A\"" },
    /* RAW */
    { "raw", NULL, "null" }, SAME("raw", "null"), SAME("raw", "{ \"a\" : [ 1.0 , \"\\u0041\" ],\n\"b\":{}}"), SAME("raw", "1.0"), SAME("raw", "\"\\/\""), SAME("raw", "false"), SAME("raw", "[]"),
    { "extra", NULL, NULL }, SAME("extra", "null"), SAME("extra", "0"),
};
/* clang-format on */

/* The text of one member of a written object. */
static char *member(const struct buf *json, const char *name)
{
    struct arena a = { 0 };
    struct json j;
    struct json_walk w;
    struct err err;
    char *found = NULL;
    bool more;

    json_init(&j, buf_data(json), json->len, &a, &err);
    assert_int_equal(json_enter(&j, JSON_KIND_OBJECT, &w), 0);
    while (json_next(&j, &w, &more) == 0 && more) {
        const char *start = j.p;

        assert_int_equal(json_note_key(&j, &w), 0);
        assert_int_equal(json_skip(&j), 0);
        if (json_text_is(&w.key, name))
            found = xmemdup(start, (size_t)(j.p - start));
    }
    assert_int_equal(json_finish(&j), 0);
    json_done(&j);
    arena_free(&a);
    return found;
}

static void check_value(const struct value_case *c)
{
    struct arena a = { 0 };
    struct buf in = { 0 }, out = { 0 };
    struct every every;
    struct err err;
    char *got;

    if (c->given)
        buf_printf(&in, "{\"%s\": %s }", c->field, c->given);
    else
        buf_puts(&in, "{}");
    if (read_every(buf_text(&in), STRICT, &a, &every, &err))
        if (!strstr(err.text,
                    "no such setting")) /* an unknown "x" inside is ignored without SHAPE_STRICT */
            fail_msg("%s: %s", buf_text(&in), err.text);
    assert_int_equal(read_every(buf_text(&in), 0, &a, &every, &err), 0);
    shape_write(&every_shape, &every, &out);
    got = member(&out, c->field);
    if ((got == NULL) != (c->written == NULL) || (got && strcmp(got, c->written) != 0))
        fail_msg("%s is written as %s: %s", buf_text(&in), c->field, got ? got : "nothing");
    free(got);
    buf_free(&in);
    buf_free(&out);
    arena_free(&a);
}

static void fields_are_read_and_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        check_value(&values[i]);
}

/* ---- The values in the struct. ---- */

static void members_hold_what_was_given(void **state)
{
    static const char json[] =
        "{\"text\":\"t\",\"count\":-5,\"ratio\":1.5,\"on\":false,\"kind\":\"five\","
        "\"sub\":{\"level\":3},\"items\":[{\"name\":\"a\"},{\"name\":\"b\",\"size\":1}],"
        "\"labels\":{\"k\":1.50,\"n\":null},\"any\":true,\"raw\":[ 1 ],\"mixed\":[null,\"x\",2]}";
    struct arena a = { 0 };
    struct every e;
    struct err err;
    const struct every_item *items;
    const struct every_label *labels;
    const struct every_scalar *mixed;

    (void)state;
    assert_int_equal(read_every(json, 0, &a, &e, &err), 0);
    assert_string_equal(e.text, "t");
    assert_string_equal(e.word, "none");
    assert_string_equal(e.secret, "");
    assert_int_equal(e.count, -5);
    assert_int_equal(e.port, 7020);
    assert_true(e.ratio == 1.5 && e.scale == 2);
    assert_true(!e.on && !e.flag);
    assert_int_equal(e.kind, 5);
    assert_int_equal(e.sub.level, 3);
    assert_int_equal(e.sub.has_level, PRESENCE_GIVEN);
    assert_int_equal(e.spare.has_level, PRESENCE_ABSENT);
    assert_int_equal(e.has_spare, PRESENCE_ABSENT);
    assert_string_equal(e.spare.user, "");
    assert_string_equal(e.maybe, "perhaps");
    assert_int_equal(e.items.n, 2);
    items = e.items.items;
    assert_string_equal(items[0].name, "a");
    assert_int_equal(items[0].size, 4);
    assert_string_equal(items[0].owner.user, "");
    assert_int_equal(items[1].size, 1);
    labels = e.labels.items;
    assert_int_equal(e.labels.n, 2);
    assert_string_equal(labels[0].key, "k");
    assert_int_equal(labels[0].value.kind, SCALAR_NUMBER);
    assert_string_equal(labels[0].value.text, "1.50");
    assert_int_equal(labels[1].value.kind, SCALAR_NULL);
    assert_null(labels[1].value.text);
    mixed = e.mixed.items;
    assert_int_equal(mixed[0].value.kind, SCALAR_NULL);
    assert_null(mixed[0].value.text);
    assert_int_equal(mixed[1].value.kind, SCALAR_TEXT);
    assert_string_equal(mixed[2].value.text, "2");
    assert_int_equal(e.any.kind, SCALAR_BOOL);
    assert_string_equal(e.any.text, "true");
    assert_string_equal(e.raw, "[ 1 ]");
    assert_string_equal(e.extra, "{\"x\":1}");
    assert_null(e.names.items);
    assert_int_equal(e.names.n, 0);
    arena_free(&a);
}

static void defaults_are_those_of_an_empty_object(void **state)
{
    struct arena a = { 0 };
    struct every read, defaults;
    struct buf one = { 0 }, other = { 0 };
    struct err err;

    (void)state;
    assert_int_equal(read_every(" {\n} ", 0, &a, &read, &err), 0);
    memset(&defaults, 0x5A, sizeof(defaults));
    shape_defaults(&every_shape, &defaults);
    shape_write(&every_shape, &read, &one);
    shape_write(&every_shape, &defaults, &other);
    assert_string_equal(buf_text(&one), buf_text(&other));
    assert_null(defaults.raw);
    assert_string_equal(defaults.secret, "");
    assert_int_equal(defaults.any.kind, SCALAR_NULL);
    assert_null(defaults.any.text);
    buf_free(&one);
    buf_free(&other);
    arena_free(&a);
}

static void presence_tells_absent_null_and_given_apart(void **state)
{
    static const struct {
        const char *json;
        enum presence presence;
        const char *value;
    } rows[] = {
        { "{}", PRESENCE_ABSENT, "perhaps" },
        { "{\"maybe\":null}", PRESENCE_NULL, "perhaps" },
        { "{\"maybe\":\"\"}", PRESENCE_GIVEN, "" },
        { "{\"maybe\":\"x\"}", PRESENCE_GIVEN, "x" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct every e;
        struct err err;

        assert_int_equal(read_every(rows[i].json, 0, &a, &e, &err), 0);
        assert_int_equal(e.has_maybe, rows[i].presence);
        assert_string_equal(e.maybe, rows[i].value);
        arena_free(&a);
    }
}

/* ---- Refusals and their messages. ---- */

struct error_case {
    unsigned flags;
    const char *json, *error;
};

/* clang-format off */
static const struct error_case errors[] = {
    /* Not an object, or not JSON. */
    { 0, "", "byte 0: the text ends where a value should be" },
    { 0, "  ", "byte 2: the text ends where a value should be" },
    { 0, "[]", "the body: must be an object, not a list" },
    { 0, "\"{}\"", "the body: must be an object, not a string" },
    { TEXT, "\"{}\"", "the body: must be an object, not a string" },
    { 0, "null", "the body: must be an object, not null" },
    { 0, "1", "the body: must be an object, not a number" },
    { 0, "{", "byte 1: the text ends where a key in quotes should be" },
    { 0, "{}x", "byte 2: 'x' where the end should be" },
    { 0, "{} {}", "byte 3: '{' where the end should be" },
    { 0, "{\"text\":}", "byte 8: '}' where a value should be" },
    { 0, "{\"text\":\"a\",}", "byte 12: '}' where a key in quotes should be" },
    { 0, "{\"on\":tru}", "byte 6: 't' where true or false should be" },
    { 0, "{\"count\":01}", "byte 9: a number with a leading zero" },
    { 0, "{\"unknown\":01}", "byte 11: a number with a leading zero" },
    { 0, "{\"raw\":[1,]}", "byte 10: ']' where a value should be" },
    /* Types. */
    { 0, "{\"text\":1}", "text: must be a string of at most 16 bytes, not a number" },
    { 0, "{\"text\":[]}", "text: must be a string of at most 16 bytes, not a list" },
    { 0, "{\"word\":{}}", "word: must be a string of 1 to 8 bytes, not an object" },
    { 0, "{\"count\":\"1\"}", "count: must be an integer, not a string" },
    { 0, "{\"count\":true}", "count: must be an integer, not a boolean" },
    { 0, "{\"ratio\":\"1\"}", "ratio: must be a number from 0 to 100, not a string" },
    { 0, "{\"on\":1}", "on: must be true or false, not a number" },
    { 0, "{\"on\":\"true\"}", "on: must be true or false, not a string" },
    { 0, "{\"kind\":true}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not a boolean" },
    { 0, "{\"sub\":[]}", "sub: must be an object, not a list" },
    { 0, "{\"items\":{}}", "items: must be a list of at most 20 items, not an object" },
    { 0, "{\"labels\":[]}", "labels: must be an object of at most 20 entries, not a list" },
    { 0, "{\"any\":[]}", "any: must be a string, number or boolean of at most 8 bytes, not a list" },
    { 0, "{\"any\":{}}", "any: must be a string, number or boolean of at most 8 bytes, not an object" },
    { 0, "{\"names\":[null]}", "names[0]: must be a string of 1 to 8 bytes, not null" },
    { 0, "{\"env\":{\"a\":null}}", "env.a: must be a string of at most 8 bytes, not null" },
    /* Limits. */
    { 0, "{\"text\":\"0123456789abcdefg\"}", "text: must be a string of at most 16 bytes, has 17" },
    { 0, "{\"word\":\"\"}", "word: must not be empty" },
    { 0, "{\"word\":\"a b\"}", "word: must not have blanks" },
    { 0, "{\"port\":0}", "port: must be an integer from 1 to 65535, not 0" },
    { 0, "{\"port\":65536}", "port: must be an integer from 1 to 65535, not 65536" },
    { 0, "{\"tcp_port\":-1}", "tcp_port: must be an integer from 1 to 65535, not -1" },
    { 0, "{\"port\":1.0}", "port: must be an integer from 1 to 65535, not 1.0" },
    { 0, "{\"port\":1e2}", "port: must be an integer from 1 to 65535, not 1e2" },
    { 0, "{\"count\":0.5}", "count: must be an integer, not 0.5" },
    { 0, "{\"count\":9223372036854775808}", "count: must be an integer, not 9223372036854775808" },
    { 0, "{\"port\":99999999999999999999, \"a\":1}",
      "port: must be an integer from 1 to 65535, not 99999999999999999999" },
    { 0, "{\"ratio\":1e999}", "ratio: must be a number from 0 to 100, not 1e999" },
    { 0, "{\"kind\":99999999999999999999}",
      "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not 99999999999999999999" },
    { 0, "{\"tries\":11}", "tries: must be an integer from 1 to 10, not 11" },
    { 0, "{\"tries\":-1}", "tries: must be an integer from 1 to 10, not -1" },
    { 0, "{\"tries\":0.0}", "tries: must be an integer from 1 to 10, not 0.0" },
    { 0, "{\"ratio\":100.00000000000001}", "ratio: must be a number from 0 to 100, not 100.00000000000001" },
    { 0, "{\"ratio\":-1e-9}", "ratio: must be a number from 0 to 100, not -1e-9" },
    { 0, "{\"kind\":2}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not 2" },
    { 0, "{\"kind\":1.0}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not 1.0" },
    { 0, "{\"kind\":\"two\"}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not two" },
    { 0, "{\"kind\":\"\"}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not \"\"" },
    { 0, "{\"kind\":\"a\\nb\"}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not \"a\\nb\"" },
    { 0, "{\"kind\":\"1\"}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not 1" },
    { 0, "{\"names\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}", "names: must be a list of at most 4 items, has at least 5" },
    { 0, "{\"names\":[\"a\",\"123456789\"]}", "names[1]: must be a string of 1 to 8 bytes, has 9" },
    { 0, "{\"numbers\":[1,10]}", "numbers[1]: must be an integer from 1 to 9, not 10" },
    { 0, "{\"items\":[{\"name\":\"a\"},{\"name\":\"a\",\"size\":11}]}", "items[1].size: must be an integer from 0 to 10, not 11" },
    { 0, "{\"items\":[{\"name\":\"a\"},1]}", "items[1]: must be an object, not a number" },
    { 0, "{\"items\":[null]}", "items[0]: must be an object, not null" },
    { 0, "{\"env\":{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\",\"e\":\"\"}}", "env: must be an object of at most 4 entries, has at least 5" },
    { 0, "{\"env\":{\"\":\"x\"}}", "env.\"\": must not be empty" },
    { 0, "{\"env\":{\"123456789\":\"x\"}}", "env.123456789: must be a string of 1 to 8 bytes, has 9" },
    { 0, "{\"env\":{\"a b\":\"x\"}}", "env.a b: must not have blanks" },
    { 0, "{\"env\":{\"a\":\"123456789\"}}", "env.a: must be a string of at most 8 bytes, has 9" },
    { 0, "{\"any\":\"123456789\"}", "any: must be a string, number or boolean of at most 8 bytes, has 9" },
    { 0, "{\"any\":123456789}", "any: must be a string, number or boolean of at most 8 bytes, has 9" },
    { 0, "{\"groups\":{\"g\":{\"level\":10}}}", "groups.g.level: must be an integer from -9 to 9, not 10" },
    /* Required. */
    { 0, "{\"items\":[{}]}", "items[0].name: required" },
    { 0, "{\"items\":[{\"name\":\"a\"},{\"size\":1}]}", "items[1].name: required" },
    { 0, "{\"items\":[{\"name\":null}]}", "items[0].name: must be a string of 1 to 8 bytes, not null" },
    /* Twice. */
    { 0, "{\"text\":\"a\",\"text\":\"a\"}", "text: given twice" },
    { 0, "{\"text\":\"a\",\"\\u0074ext\":\"a\"}", "text: given twice" },
    { 0, "{\"text\":null,\"text\":\"a\"}", "text: given twice" },
    { 0, "{\"port\":1,\"tcp_port\":1}", "tcp_port: given twice, it is another name of port" },
    { 0, "{\"mot\":\"a\",\"wort\":\"b\"}", "wort: given twice, it is another name of word" },
    { 0, "{\"sub\":{\"account\":\"a\",\"owner\":\"b\"}}", "sub.owner: given twice, it is another name of user" },
    { 0, "{\"x\":1,\"x\":2}", "x: given twice" },
    { 0, "{\"x\":1,\"text\":\"\",\"\\u0078\":2}", "x: given twice" },
    { 0, "{\"x\":{\"y\":1,\"y\":2}}", "byte 12: the key \"y\" stands twice in one object" },
    { 0, "{\"raw\":{\"y\":1,\"y\":2}}", "byte 14: the key \"y\" stands twice in one object" },
    { 0, "{\"raw\":[{\"y\":1,\"\\u0079\":2}]}", "byte 15: the key \"y\" stands twice in one object" },
    { 0, "{\"labels\":{\"y\":1,\"y\":2}}", "labels.y: given twice" },
    { 0, "{\"labels\":{\"y\":1,\"\\u0079\":2}}", "labels.y: given twice" },
    { 0, "{\"sub\":{\"x\":1,\"x\":2}}", "sub.x: given twice" },
    /* The path is in the caller's spelling. */
    { 0, "{\"items\":[{\"name\":\"a\",\"owner\":{\"account\":\"123456789\"}}]}", "items[0].owner.account: must be a string of at most 8 bytes, has 9" },
    { 0, "{\"items\":[{\"name\":\"a\",\"owner\":{\"user\":\"123456789\"}}]}", "items[0].owner.user: must be a string of at most 8 bytes, has 9" },
    { 0, "{\"s\\u0075b\":{\"\\u0075ser\":1}}", "sub.user: must be a string of at most 8 bytes, not a number" },
    { 0, "{\"groups\":{\"a.b\":{\"level\":10}}}", "groups.a.b.level: must be an integer from -9 to 9, not 10" },
    { 0, "{\"groups\":{\"\":{\"level\":10}}}", "groups.\"\".level: must be an integer from -9 to 9, not 10" },
    { 0, "{\"groups\":{\"a\\u001b[31m\\n\":{\"level\":10}}}", "groups.\"a\\u001b[31m\\n\".level: must be an integer from -9 to 9, not 10" },
    { 0, "{\"groups\":{\"\xE4\xB8\xAD\":{\"level\":10}}}", "groups.\xE4\xB8\xAD.level: must be an integer from -9 to 9, not 10" },
    /* Strictness. */
    { STRICT, "{\"x\":1}", "x: no such setting, see --help" },
    { STRICT, "{\"\":1}", "\"\": no such setting, see --help" },
    { STRICT, "{\"Text\":1}", "Text: no such setting; did you mean text?" },
    { STRICT, "{\"texts\":1}", "texts: no such setting; did you mean text?" },
    { SHAPE_ASKED, "{\"sub\":{\"a.b\":1}}", "sub.a.b: no such field, see /openapi.json" },
    { SHAPE_ASKED, "{\"prot\":1}", "prot: no such field; did you mean port?" },
    { SHAPE_ASKED, "{\"sub\":{\"uesr\":1}}", "sub.uesr: no such field; did you mean user?" },
    { SHAPE_ASKED, "{\"a name that is longer than any that can be meant by it\":1}",
      "a name that is longer than any that can be meant by it: no such field, see /openapi.json" },
    { STRICT, "{\"tex\":1}", "tex: no such setting; did you mean text?" },
    { STRICT, "{\"wort mot\":1}", "wort mot: no such setting, see --help" },
    { STRICT, "{\"sub\":{\"x\":1}}", "sub.x: no such setting, see --help" },
    { STRICT, "{\"items\":[{\"name\":\"a\",\"owner\":{\"x\\u0079\":1}}]}", "items[0].owner.xy: no such setting, see --help" },
    { STRICT, "{\"groups\":{\"g\":{\"x\":1}}}", "groups.g.x: no such setting, see --help" },
    /* A string for any value. */
    { TEXT, "{\"port\":\"x\"}", "port: must be an integer from 1 to 65535, not x" },
    { TEXT, "{\"port\":\"\"}", "port: must be an integer from 1 to 65535, not \"\"" },
    { TEXT, "{\"port\":\"0\"}", "port: must be an integer from 1 to 65535, not 0" },
    { TEXT, "{\"port\":\"+1\"}", "port: must be an integer from 1 to 65535, not +1" },
    { TEXT, "{\"port\":\"-\"}", "port: must be an integer from 1 to 65535, not -" },
    { TEXT, "{\"port\":\"01\"}", "port: must be an integer from 1 to 65535, not 01" },
    { TEXT, "{\"port\":\"0x10\"}", "port: must be an integer from 1 to 65535, not 0x10" },
    { TEXT, "{\"port\":\" 1\"}", "port: must be an integer from 1 to 65535, not  1" },
    { TEXT, "{\"port\":\"1 \"}", "port: must be an integer from 1 to 65535, not 1 " },
    { TEXT, "{\"port\":\"1-1\"}", "port: must be an integer from 1 to 65535, not 1-1" },
    { TEXT, "{\"port\":\"99999999999999999999\"}", "port: must be an integer from 1 to 65535, not 99999999999999999999" },
    { TEXT, "{\"port\":\"[1]\"}", "port: must be an integer from 1 to 65535, not [1]" },
    { TEXT, "{\"port\":\"{\"}", "port: must be an integer from 1 to 65535, not {" },
    { TEXT, "{\"port\":true}", "port: must be an integer from 1 to 65535, not a boolean" },
    { TEXT, "{\"ratio\":\"101\"}", "ratio: must be a number from 0 to 100, not 101" },
    { TEXT, "{\"ratio\":\"nan\"}", "ratio: must be a number from 0 to 100, not nan" },
    { TEXT, "{\"on\":\"maybe\"}", "on: must be true or false, not maybe" },
    { TEXT, "{\"on\":\"[true]\"}", "on: must be true or false, not [true]" },
    { TEXT, "{\"kind\":\"two\"}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not two" },
    { TEXT, "{\"kind\":\"2\"}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not 2" },
    { TEXT, "{\"kind\":\"01\"}", "kind: must be one of 0 (zero), 1 (one), 5 (five), -2 (minus two), not 01" },
    { TEXT, "{\"sub\":\"x\"}", "sub: must be an object, not x" },
    { TEXT, "{\"sub\":\"[]\"}", "sub: must be an object, not []" },
    { TEXT, "{\"sub\":\"\"}", "sub: must be an object, not \"\"" },
    { TEXT, "{\"sub\":\"{\"}", "sub: not valid JSON: byte 1: the text ends where a key in quotes should be" },
    { TEXT, "{\"sub\":\"{} x\"}", "sub: not valid JSON: byte 3: 'x' where the end should be" },
    { TEXT, "{\"sub\":\"{\\\"x\\\":1,\\\"x\\\":1}\"}", "sub.x: given twice" },
    { TEXT, "{\"sub\":\"{\\\"level\\\":\\\"10\\\"}\"}", "sub.level: must be an integer from -9 to 9, not 10" },
    { TEXT | STRICT, "{\"sub\":\"{\\\"x\\\":1}\"}", "sub.x: no such setting, see --help" },
    { TEXT, "{\"labels\":\"a=b\"}", "labels: must be an object of at most 20 entries, not a=b" },
    { TEXT, "{\"numbers\":\"1,x\"}", "numbers[1]: must be an integer from 1 to 9, not x" },
    { TEXT, "{\"numbers\":\"1,10\"}", "numbers[1]: must be an integer from 1 to 9, not 10" },
    { TEXT, "{\"numbers\":\"[1,\"}", "numbers: not valid JSON: byte 3: the text ends where a value should be" },
    { TEXT, "{\"numbers\":\"[1,[\"}", "numbers[1]: must be an integer from 1 to 9, not a list" },
    { TEXT, "{\"numbers\":\"[1]]\"}", "numbers: not valid JSON: byte 3: ']' where the end should be" },
    { TEXT, "{\"names\":\"a,b,c,d,e\"}", "names: must be a list of at most 4 items, has at least 5" },
    { TEXT, "{\"names\":\"a,,b\"}", "names[1]: must not be empty" },
    { TEXT, "{\"names\":\"a,\"}", "names[1]: must not be empty" },
    { TEXT, "{\"items\":\"[{}]\"}", "items[0].name: required" },
    { TEXT, "{\"items\":\"a\"}", "items[0]: must be an object, not a string" },
    { TEXT, "{\"items\":[\"{}\"]}", "items[0]: must be an object, not a string" },
    { TEXT, "{\"text\":1}", "text: must be a string of at most 16 bytes, not a number" },
    /* Items of lists are new, so required fields are required even with OVERLAY. */
    { OVERLAY, "{\"items\":[{}]}", "items[0].name: required" },
    { OVERLAY, "{\"items\":[{\"name\":null}]}", "items[0].name: must be a string of 1 to 8 bytes, not null" },
    { OVERLAY, "{\"port\":0}", "port: must be an integer from 1 to 65535, not 0" },
};
/* clang-format on */

static void errors_name_the_field_and_what_it_wants(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        const struct error_case *c = &errors[i];
        struct arena a = { 0 };
        struct every e;
        struct err err;

        shape_defaults(&every_shape, &e);
        if (!read_every(c->json, c->flags, &a, &e, &err)) {
            print_error("%s\n     is accepted, expected: %s\n", c->json, c->error);
            wrong++;
        } else if (strcmp(err.text, c->error) != 0) {
            print_error("%s\n     says: %s\n expected: %s\n", c->json, err.text, c->error);
            wrong++;
        }
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Long paths. ---- */

static void a_long_path_keeps_its_end(void **state)
{
    static const char *const pieces[] = { "x", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80" };

    (void)state;
    for (size_t p = 0; p < ARRAY_LEN(pieces); p++) {
        for (size_t n = 225; n < 300; n++) {
            struct buf json = { 0 };
            struct arena a = { 0 };
            struct every e;
            struct err err;

            buf_puts(&json, "{\"groups\":{\"");
            for (size_t i = 0; i + strlen(pieces[p]) <= n; i += strlen(pieces[p]))
                buf_puts(&json, pieces[p]);
            buf_puts(&json, "\":{\"level\":10}}}");
            assert_int_equal(read_every(buf_text(&json), 0, &a, &e, &err), -1);
            assert_non_null(strstr(err.text, ".level: must be an integer from -9 to 9, not 10"));
            if (strncmp(err.text, "groups.", 7) != 0)
                assert_memory_equal(err.text, "...", 3);
            assert_in_range(strlen(err.text), 200, 300);
            buf_free(&json);
            arena_free(&a);
        }
    }
}

static void a_huge_key_is_no_trouble(void **state)
{
    struct buf json = { 0 };
    struct arena a = { 0 };
    struct every e;
    struct err err;

    (void)state;
    buf_puts(&json, "{\"");
    for (int i = 0; i < 1000000; i++)
        buf_addc(&json, (char)('a' + i % 26));
    buf_puts(&json, "\":1}");
    assert_int_equal(read_every(buf_text(&json), 0, &a, &e, &err), 0);
    assert_int_equal(read_every(buf_text(&json), STRICT, &a, &e, &err), -1);
    assert_memory_equal(err.text, "...", 3);
    assert_non_null(strstr(err.text, ": no such setting"));
    buf_free(&json);
    arena_free(&a);
}

/* ---- A string for any value. ---- */

static const struct value_case texts[] = {
    { "port", "\"7021\"", "7021" },
    { "count", "\"-5\"", "-5" },
    { "tries", "\"0\"", "3" },
    { "ratio", "\"1.5\"", "1.5" },
    { "ratio", "\"1e1\"", "10" },
    { "on", "\"false\"", "false" },
    { "on", "\"no\"", "false" },
    { "on", "\"off\"", "false" },
    { "on", "\"0\"", "false" },
    { "flag", "\"true\"", "true" },
    { "flag", "\"yes\"", "true" },
    { "flag", "\"on\"", "true" },
    { "flag", "\"1\"", "true" },
    { "kind", "\"five\"", "5" },
    { "kind", "\"5\"", "5" },
    { "kind", "\"-2\"", "-2" },
    { "kind", "\"0\"", "0" },
    { "mode", "\"5\"", "\"five\"" },
    { "names", "\"\"", "[]" },
    { "names", "\"a\"", "[\"a\"]" },
    { "names", "\"a,b\"", "[\"a\",\"b\"]" },
    { "names", "\"[\\\"a,b\\\",\\\"c\\\"]\"", "[\"a,b\",\"c\"]" },
    { "names", "\"\\\\,\\\"\"", "[\"\\\\\",\"\\\"\"]" },
    { "numbers", "\"1,2,3\"", "[1,2,3]" },
    { "numbers", "[\"1\",2]", "[1,2]" },
    { "numbers", "\"[1,\\\"2\\\"]\"", "[1,2]" },
    { "mixed", "\"a,1\"", "[\"a\",\"1\"]" },
    { "sub", "\"{\\\"user\\\":\\\"u\\\",\\\"level\\\":\\\"3\\\"}\"",
      "{\"user\":\"u\",\"level\":3}" },
    { "sub", "{\"level\":\"3\"}", "{\"user\":\"\",\"level\":3}" },
    { "items", "\"[{\\\"name\\\":\\\"a\\\",\\\"size\\\":\\\"2\\\"}]\"",
      "[{\"name\":\"a\",\"size\":2,\"owner\":{\"user\":\"\"}}]" },
    { "labels", "\"{\\\"a\\\":1}\"", "{\"a\":1}" },
    { "text", "\"{}\"", "\"{}\"" },
    { "any", "\"1\"", "\"1\"" },
    { "raw", "\"{}\"", "\"{}\"" },
};

static void a_string_may_stand_for_any_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arena a = { 0 };
        struct buf in = { 0 }, out = { 0 };
        struct every e;
        struct err err;
        char *got;

        buf_printf(&in, "{\"%s\":%s}", texts[i].field, texts[i].given);
        if (read_every(buf_text(&in), TEXT, &a, &e, &err))
            fail_msg("%s: %s", buf_text(&in), err.text);
        shape_write(&every_shape, &e, &out);
        got = member(&out, texts[i].field);
        assert_non_null(got);
        assert_string_equal(got, texts[i].written);
        free(got);
        buf_free(&in);
        buf_free(&out);
        arena_free(&a);
    }
}

/* Depth is counted through strings too. */
static void text_does_not_hide_depth(void **state)
{
    struct buf json = { 0 };
    struct arena a = { 0 };
    struct every e;
    struct err err;

    (void)state;
    for (int depth = 60; depth < 66; depth++) {
        buf_truncate(&json, 0);
        buf_puts(&json, "{\"sub\":\"{\\\"x\\\":");
        for (int i = 0; i < depth; i++)
            buf_addc(&json, '[');
        for (int i = 0; i < depth; i++)
            buf_addc(&json, ']');
        buf_puts(&json, "}\"}");
        assert_int_equal(read_every(buf_text(&json), TEXT, &a, &e, &err),
                         depth + 2 <= JSON_DEPTH_MAX ? 0 : -1);
    }
    assert_non_null(strstr(err.text, "sub: not valid JSON: byte 67: nested deeper than 64"));
    buf_free(&json);
    arena_free(&a);
}

/* ---- Overlay. ---- */

struct needy {
    const char *name;
    struct every_item item;
    enum presence has_name;
};

static const struct field needy_fields[] = {
    { "name", .type = FIELD_STR, .offset = offsetof(struct needy, name), .flags = FIELD_REQUIRED,
      .max = 8 },
    { "item", .type = FIELD_OBJ, .offset = offsetof(struct needy, item), .flags = FIELD_REQUIRED,
      .sub = &every_item_shape },
    { 0 },
};
static const struct shape needy_shape = { "needy", sizeof(struct needy), needy_fields };

static void overlay(struct arena *a, struct every *e, const char *json)
{
    struct err err;

    if (read_every(json, OVERLAY | TEXT | STRICT, a, e, &err))
        fail_msg("%s: %s", json, err.text);
}

static void an_overlay_changes_only_what_it_names(void **state)
{
    struct arena a = { 0 };
    struct every e;
    const struct every_item *item;

    (void)state;
    shape_defaults(&every_shape, &e);
    overlay(&a, &e,
            "{\"port\":1,\"text\":\"a\",\"sub\":{\"user\":\"u\",\"level\":1},"
            "\"names\":[\"x\",\"y\"],\"maybe\":\"m\",\"raw\":[1]}");
    overlay(&a, &e, "{\"port\":2,\"sub\":{\"level\":2},\"items\":[{\"name\":\"i\"}]}");
    assert_int_equal(e.port, 2);
    assert_string_equal(e.text, "a");
    assert_string_equal(e.sub.user, "u");
    assert_int_equal(e.sub.level, 2);
    assert_int_equal(e.names.n, 2);
    assert_int_equal(e.has_maybe, PRESENCE_GIVEN);
    assert_string_equal(e.word, "none");
    /* An item is new, whatever the list contained before: it has its defaults. */
    item = e.items.items;
    assert_int_equal(item->size, 4);
    assert_string_equal(item->owner.user, "");
    overlay(&a, &e, "{\"names\":\"z\",\"groups\":{\"g\":{}}}");
    assert_int_equal(e.names.n, 1);
    assert_string_equal(((struct every_group *)e.groups.items)->value.user, "");
    assert_int_equal(e.items.n, 1);
    arena_free(&a);
}

/* null is the same as absent, so it changes nothing; with a `has` member it is distinguished. */
static void null_in_an_overlay_is_as_absent(void **state)
{
    struct arena a = { 0 };
    struct every e;

    (void)state;
    shape_defaults(&every_shape, &e);
    overlay(&a, &e, "{\"port\":1,\"text\":\"a\",\"sub\":{\"user\":\"u\"},\"maybe\":\"m\"}");
    overlay(&a, &e, "{\"port\":null,\"text\":null,\"sub\":null,\"maybe\":null}");
    assert_int_equal(e.port, 1);
    assert_string_equal(e.text, "a");
    assert_string_equal(e.sub.user, "u");
    assert_int_equal(e.has_maybe, PRESENCE_NULL);
    assert_string_equal(e.maybe, "perhaps");
    arena_free(&a);
}

static void an_overlay_requires_nothing(void **state)
{
    static const char *const rows[] = { "{}", "{\"item\":{}}", "{\"name\":\"n\"}",
                                        "{\"item\":{\"size\":1}}", "{\"name\":null}" };
    struct arena a = { 0 };
    struct needy needy;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        shape_defaults(&needy_shape, &needy);
        assert_int_equal(
            shape_read(&needy_shape, rows[i], strlen(rows[i]), OVERLAY, &a, &needy, &err), 0);
        assert_int_equal(shape_read(&needy_shape, rows[i], strlen(rows[i]), 0, &a, &needy, &err),
                         -1);
    }
    arena_free(&a);
}

/* ---- The position of an error, for callers that report lines. ---- */

static void the_reader_stands_at_what_is_wrong(void **state)
{
    /* '^' marks the position and is removed from the text. */
    static const struct {
        unsigned flags;
        const char *json;
    } rows[] = {
        { 0, "^[]" },
        { 0, "{\"text\": ^1}" },
        { 0, "{\"port\": ^0}" },
        { 0, "{\"text\":\"a\", ^\"text\":\"b\"}" },
        { STRICT, "{\"text\":\"a\", ^\"x\":1}" },
        { 0, "{\"items\":[ ^{\"size\":1}]}" },
        { 0, "{\"items\":[{\"name\":\"a\",\"size\":^99}]}" },
        { 0, "{\"names\": ^[\"a\",\"b\",\"c\",\"d\",\"e\"]}" },
        { 0, "{\"labels\":{\"y\":1, ^\"y\":2}}" },
        { 0, "{\"env\":{\"a\":\"1\", ^\"\":\"2\"}}" },
        { 0, "{\"env\": ^{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\",\"e\":\"\"}}" },
        { TEXT, "{\"numbers\": ^\"1,x\"}" },
        { TEXT, "{\"sub\": ^\"{\"}" },
        { 0, "{\"on\": ^tru}" },
        { 0, "{\"text\":\"a\",^}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *mark = strchr(rows[i].json, '^');
        struct arena a = { 0 };
        struct buf b = { 0 };
        struct json j;
        struct every e;
        struct err err;

        buf_add(&b, rows[i].json, (size_t)(mark - rows[i].json));
        buf_puts(&b, mark + 1);
        json_init(&j, buf_data(&b), b.len, &a, &err);
        assert_int_equal(shape_read_json(&every_shape, &j, rows[i].flags, &e), -1);
        if (j.p - j.start != mark - rows[i].json)
            fail_msg("%s: at %d", rows[i].json, (int)(j.p - j.start));
        json_done(&j);
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- Many fields, items and keys. ---- */

static void many_unknown_keys_are_passed_over(void **state)
{
    struct buf json = { 0 };
    struct arena a = { 0 };
    struct every e;
    struct err err;

    (void)state;
    buf_puts(&json, "{");
    for (int i = 0; i < JSON_KEYS_MAX - 1; i++)
        buf_printf(&json, "\"k%d\":{\"text\":0},", i);
    buf_puts(&json, "\"text\":\"t\"}");
    assert_int_equal(read_every(buf_text(&json), 0, &a, &e, &err), 0);
    assert_string_equal(e.text, "t");
    buf_truncate(&json, json.len - 1);
    buf_puts(&json, ",\"k5000\":1}");
    assert_int_equal(read_every(buf_text(&json), 0, &a, &e, &err), -1);
    assert_string_equal(err.text, "k5000: given twice");
    buf_truncate(&json, json.len - strlen(",\"k5000\":1}"));
    buf_puts(&json, ",\"x\":1,\"y\":1}");
    assert_int_equal(read_every(buf_text(&json), 0, &a, &e, &err), -1);
    assert_non_null(strstr(err.text, "more than 10000 keys in one object"));
    buf_free(&json);
    arena_free(&a);
}

static void lists_grow_and_stay_in_order(void **state)
{
    struct buf json = { 0 };
    struct arena a = { 0 };
    struct every e;
    struct err err;

    (void)state;
    for (size_t n = 0; n <= 21; n++) {
        buf_truncate(&json, 0);
        buf_puts(&json, "{\"labels\":{");
        for (size_t i = 0; i < n; i++)
            buf_printf(&json, "%s\"k%zu\":%zu", i ? "," : "", i, i);
        buf_puts(&json, "}}");
        assert_int_equal(read_every(buf_text(&json), 0, &a, &e, &err), n <= 20 ? 0 : -1);
        for (size_t i = 0; i < n && n <= 20; i++) {
            const struct every_label *l = (const struct every_label *)e.labels.items + i;
            char key[8];

            snprintf(key, sizeof(key), "k%zu", i);
            assert_string_equal(l->key, key);
            assert_string_equal(l->value.text, key + 1);
        }
    }
    buf_free(&json);
    arena_free(&a);
}

/* ---- Writing. ---- */

static void a_struct_of_zeroes_can_be_written(void **state)
{
    struct every e = { 0 };
    struct buf out = { 0 };
    json_t *parsed;
    json_error_t error;

    (void)state;
    shape_write(&every_shape, &e, &out);
    parsed = json_loadb(buf_data(&out), out.len, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(parsed);
    assert_string_equal(json_string_value(json_object_get(parsed, "text")), "");
    json_decref(parsed);
    buf_free(&out);
}

static void nothing_to_write_is_an_empty_object(void **state)
{
    static const struct field fields[] = {
        { "a", .type = FIELD_STR, .offset = offsetof(struct every, note), .max = 8,
          .flags = FIELD_OMIT_EMPTY },
        { "b", .type = FIELD_STR, .offset = offsetof(struct every, secret), .max = 8,
          .flags = FIELD_SECRET },
        { 0 },
    };
    static const struct shape shape = { "little", sizeof(struct every), fields };
    struct every e = { .secret = "hush" };
    struct buf out = { 0 };

    (void)state;
    shape_write(&shape, &e, &out);
    assert_string_equal(buf_text(&out), "{}");
    e.note = "n";
    buf_truncate(&out, 0);
    shape_write(&shape, &e, &out);
    assert_string_equal(buf_text(&out), "{\"a\":\"n\"}");
    buf_free(&out);
}

static void an_enum_without_a_name_is_written_as_a_number(void **state)
{
    struct every e;
    struct buf out = { 0 };
    char *mode;

    (void)state;
    shape_defaults(&every_shape, &e);
    e.mode = 77;
    shape_write(&every_shape, &e, &out);
    mode = member(&out, "mode");
    assert_string_equal(mode, "77");
    free(mode);
    buf_free(&out);
}

/* ---- The reference. ---- */

static void the_reference_has_a_row_for_every_field(void **state)
{
    static const struct enum_name either[] = { { 0, "a" }, { 1, "b" }, { 0 } };
    static const struct field fields[] = {
        { "n", "m old", .type = FIELD_INT, .min = 1, .max = 9, .fallback = 5, .doc = "x | y" },
        { "s", .type = FIELD_STR, .max = 8, .fallback_text = "a|b", .doc = "text" },
        { "r", .type = FIELD_STR, .max = 8, .flags = FIELD_REQUIRED, .doc = "needed" },
        { "e", .type = FIELD_ENUM, .names = either, .fallback = 1, .doc = "which" },
        { "l", .type = FIELD_LIST, .max = 4, .sub = &every_text_shape, .doc = "words" },
        { "i", .type = FIELD_LIST, .min = 1, .max = 20, .sub = &every_item_shape, .doc = "items" },
        { 0 },
    };
    static const struct shape shape = { "thing", sizeof(struct every), fields, .doc = "A thing." };
    struct buf out = { 0 };

    (void)state;
    shape_doc(&shape, "objects.md", &out);
    assert_string_equal(
        buf_text(&out),
        "### thing\n\nA thing.\n\n"
        "| field | type | default | meaning |\n|---|---|---|---|\n"
        "| `n`, `m`, `old` | integer from 1 to 9 | `5` | x \\| y |\n"
        "| `s` | string of at most 8 bytes | `a\\|b` | text |\n"
        "| `r` | string of at most 8 bytes | required | needed |\n"
        "| `e` | one of 0 (a), 1 (b) | `b` | which |\n"
        "| `l` | list of at most 4 items, each a string of 1 to 8 bytes |  | words |\n"
        "| `i` | list of 1 to 20 items: [item](objects.md#item) |  | items |\n\n");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_and_written),
        cmocka_unit_test(members_hold_what_was_given),
        cmocka_unit_test(defaults_are_those_of_an_empty_object),
        cmocka_unit_test(presence_tells_absent_null_and_given_apart),
        cmocka_unit_test(errors_name_the_field_and_what_it_wants),
        cmocka_unit_test(a_long_path_keeps_its_end),
        cmocka_unit_test(a_huge_key_is_no_trouble),
        cmocka_unit_test(a_string_may_stand_for_any_value),
        cmocka_unit_test(text_does_not_hide_depth),
        cmocka_unit_test(an_overlay_changes_only_what_it_names),
        cmocka_unit_test(null_in_an_overlay_is_as_absent),
        cmocka_unit_test(an_overlay_requires_nothing),
        cmocka_unit_test(the_reader_stands_at_what_is_wrong),
        cmocka_unit_test(many_unknown_keys_are_passed_over),
        cmocka_unit_test(lists_grow_and_stay_in_order),
        cmocka_unit_test(a_struct_of_zeroes_can_be_written),
        cmocka_unit_test(nothing_to_write_is_an_empty_object),
        cmocka_unit_test(an_enum_without_a_name_is_written_as_a_number),
        cmocka_unit_test(the_reference_has_a_row_for_every_field),
    };

    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
