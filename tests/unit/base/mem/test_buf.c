/* SPDX-License-Identifier: MIT */
#include "base/mem/buf.h"

#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "tests/lib/random.h"

/* The model: bytes in an array. */
enum { MODEL_SIZE = 1 << 20 };
static struct {
    char bytes[MODEL_SIZE];
    size_t n;
} model;

static void model_add(const char *bytes, size_t n)
{
    memcpy(model.bytes + model.n, bytes, n);
    model.n += n;
}

static void model_drop(size_t n)
{
    n = n < model.n ? n : model.n;
    memmove(model.bytes, model.bytes + n, model.n - n);
    model.n -= n;
}

static void assert_like_the_model(const struct buf *b)
{
    assert_int_equal(b->len, model.n);
    assert_true(b->start + b->len <= b->cap);
    if (model.n)
        assert_memory_equal(buf_data(b), model.bytes, model.n);
}

static size_t random_size(uint64_t *seed)
{
    static const size_t most[] = { 3, 40, 300, 5000 };

    return random_below(seed, most[random_below(seed, ARRAY_LEN(most))]);
}

static void add_some(struct buf *b, uint64_t *seed)
{
    char bytes[5000];
    size_t n = random_size(seed);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)random_next(seed);
    if (random_below(seed, 2)) {
        buf_add(b, bytes, n);
    } else {
        memcpy(buf_reserve(b, n + 1), bytes, n);
        b->len += n;
    }
    model_add(bytes, n);
}

static void print_some(struct buf *b, uint64_t *seed)
{
    int width = (int)random_size(seed);
    int64_t number = (int64_t)random_next(seed);
    char text[6000];
    int n = snprintf(text, sizeof(text), "%*d|%" PRId64 "textc", width, 7, number);

    buf_printf(b, "%*d|", width, 7);
    buf_put_int(b, number);
    buf_puts(b, "text");
    buf_addc(b, 'c');
    model_add(text, (size_t)n);
}

static void step(struct buf *b, uint64_t *seed)
{
    size_t n = random_size(seed);

    switch (random_below(seed, 8)) {
    case 0:
    case 1:
    case 2: add_some(b, seed); break;
    case 3: print_some(b, seed); break;
    case 4:
    case 5:
        buf_drop(b, n);
        model_drop(n);
        break;
    case 6:
        buf_truncate(b, n * 8);
        model.n = n * 8 < model.n ? n * 8 : model.n;
        break;
    case 7: assert_int_equal(buf_text(b)[model.n], '\0'); break;
    }
}

static void a_buf_holds_what_was_put_in_and_not_taken_out(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct buf b = { 0 };

        model.n = 0;
        for (int i = 0; i < 500 && model.n < MODEL_SIZE - 20000; i++) {
            step(&b, &seed);
            assert_like_the_model(&b);
        }
        buf_free(&b);
        assert_null(b.block);
        model.n = 0;
        assert_like_the_model(&b);
    }
}

static void an_empty_buf_is_ready(void **state)
{
    struct buf b = { 0 };

    (void)state;
    assert_null(buf_data(&b));
    buf_drop(&b, 5);
    buf_truncate(&b, 5);
    buf_add(&b, NULL, 0);
    buf_puts(&b, "");
    assert_int_equal(b.len, 0);
    assert_string_equal(buf_text(&b), "");
    buf_free(&b);
    assert_non_null(buf_reserve(&b, 0));
    buf_free(&b);
    buf_free(&b);
}

/* The block stays small however many bytes flow through the buffer. */
static void a_stream_needs_only_the_room_of_what_waits(void **state)
{
    static const size_t waiting[] = { 0, 1, 100, 1000, 10000 };
    char chunk[100];

    (void)state;
    memset(chunk, 'x', sizeof(chunk));
    for (size_t i = 0; i < ARRAY_LEN(waiting); i++) {
        struct buf b = { 0 };

        for (int round = 0; round < 10000; round++) {
            buf_add(&b, chunk, sizeof(chunk));
            if (b.len > waiting[i])
                buf_drop(&b, b.len - waiting[i]);
        }
        assert_in_range(b.cap, 0, 4 * (waiting[i] + sizeof(chunk)) + 256);
        buf_free(&b);
    }
}

static void reserved_room_is_there_until_it_is_used(void **state)
{
    struct buf b = { 0 };
    char *room = buf_reserve(&b, 1000);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        buf_addc(&b, 'x');
        assert_ptr_equal(buf_data(&b), room);
    }
    buf_free(&b);
}

/* Sizes around the capacity of a block, before and after a part was dropped: all reserved bytes
 * are usable. */
static void room_is_there_to_the_last_byte(void **state)
{
    char block[256];

    (void)state;
    memset(block, 'x', sizeof(block));
    for (size_t dropped = 0; dropped < sizeof(block); dropped++) {
        for (size_t n = dropped; n <= dropped + 2; n++) {
            struct buf b = { 0 };

            buf_add(&b, block, sizeof(block));
            buf_drop(&b, dropped);
            memset(buf_reserve(&b, n), 'y', n);
            assert_memory_equal(buf_data(&b), block, sizeof(block) - dropped);
            buf_free(&b);
        }
    }
    for (int n = 250; n < 260; n++) {
        struct buf b = { 0 };

        buf_printf(&b, "%*d", n, 1);
        assert_int_equal(b.len, n);
        assert_int_equal(strlen(buf_text(&b)), n);
        buf_free(&b);
    }
}

static void integers_are_written_to_the_last_digit(void **state)
{
    static const int64_t cases[] = { 0,
                                     1,
                                     -1,
                                     9,
                                     10,
                                     -10,
                                     99,
                                     100,
                                     4096,
                                     INT32_MAX,
                                     INT32_MIN,
                                     INT64_MAX,
                                     INT64_MAX - 1,
                                     INT64_MIN,
                                     INT64_MIN + 1 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };
        char text[32];

        snprintf(text, sizeof(text), "%" PRId64, cases[i]);
        buf_put_int(&b, cases[i]);
        assert_string_equal(buf_text(&b), text);
        buf_free(&b);
    }
}

/* A simple reference implementation of quoting: byte by byte, with a decoder of its own. */
static size_t char_at(const unsigned char *p, size_t n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = p[0] < 0x80       ? 1
                 : p[0] >> 5 == 6  ? 2
                 : p[0] >> 4 == 14 ? 3
                 : p[0] >> 3 == 30 ? 4
                                   : 0;
    uint32_t c = p[0] & (0x7Fu >> len);

    for (size_t i = 1; i < len; i++) {
        if (i >= n || p[i] >> 6 != 2)
            return 0;
        c = c << 6 | (p[i] & 0x3F);
    }
    return len > 1 && (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) ? 0 : len;
}

static void slow_quote(const char *s, size_t n)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";

    model.n = 0;
    model_add("\"", 1);
    for (size_t i = 0; i < n;) {
        size_t len = char_at((const unsigned char *)s + i, n - i);
        const char *special = s[i] ? strchr(from, s[i]) : NULL;
        char text[8];

        if (special)
            model_add((char[]){ '\\', to[special - from] }, 2);
        else if (len == 1 && ((unsigned char)s[i] < 32 || s[i] == 127))
            model_add(text, (size_t)snprintf(text, sizeof(text), "\\u%04x", s[i]));
        else
            model_add(len ? s + i : "\xEF\xBF\xBD", len ? len : 3);
        i += len ? len : 1;
    }
    model_add("\"", 1);
}

/* buf_quote() gives the same as slow_quote(), and a strict JSON reader accepts it. */
static void check_quote(const char *s, size_t n)
{
    struct buf b = { 0 };
    char *exact = xmemdup(s, n);
    json_t *json;

    buf_quote(&b, exact, n);
    slow_quote(s, n);
    assert_like_the_model(&b);
    json = json_loadb(buf_data(&b), b.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_true(json_is_string(json));
    json_decref(json);
    free(exact);
    buf_free(&b);
}

static void every_byte_is_quoted_right_at_every_place(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at <= 16; at++) {
            char text[24];

            memset(text, 'a', sizeof(text));
            text[at] = (char)byte;
            for (size_t n = at; n <= sizeof(text); n++)
                check_quote(text, n);
            memset(text, '~', sizeof(text)); /* the byte beside the escaped one */
            text[at] = (char)byte;
            check_quote(text, sizeof(text));
        }
    }
}

static void text_is_quoted_as_it_stands_and_the_rest_replaced(void **state)
{
    static const struct {
        const char *text, *quoted;
    } cases[] = {
        { "", "\"\"" },
        { "plain text, of more than eight bytes", "\"plain text, of more than eight bytes\"" },
        { "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
        { "\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"" },
        { "\xC3\xA9|\xE4\xB8\xBB\xE6\x9C\xBA|\xF0\x9F\x98\x80",
          "\"\xC3\xA9|\xE4\xB8\xBB\xE6\x9C\xBA|\xF0\x9F\x98\x80\"" },
        { "a\xFFz", "\"a\xEF\xBF\xBDz\"" },
        { "\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
        { "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
        { "\xF4\x90\x80\x80z", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\"" },
        { "cut \xE4\xB8", "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        buf_quote(&b, cases[i].text, strlen(cases[i].text));
        assert_string_equal(buf_text(&b), cases[i].quoted);
        check_quote(cases[i].text, strlen(cases[i].text));
        buf_free(&b);
    }
}

static void nothing_is_quoted_as_nothing(void **state)
{
    struct buf b = { 0 };

    (void)state;
    buf_quote(&b, NULL, 0);
    assert_string_equal(buf_text(&b), "\"\"");
    buf_free(&b);
}

static void any_bytes_become_a_valid_string(void **state)
{
    static const char parts[][5] = { "a",    "\"",       "\\",           "\x7f",
                                     "\n",   "\xC3\xA9", "\xE4\xB8\xBB", "\xF0\x9F\x98\x80",
                                     "\xE4", "\xB8",     "\xED\xA0",     "\xFF" };
    uint64_t seed = 4;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[64];
        size_t n = 0, most = random_below(&seed, sizeof(text) - 4);

        while (n < most) {
            const char *part =
                parts[random_below(&seed, 4) ? 0 : random_below(&seed, ARRAY_LEN(parts))];

            memcpy(text + n, part, 4);
            n += strlen(part);
        }
        check_quote(text, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buf_holds_what_was_put_in_and_not_taken_out),
        cmocka_unit_test(an_empty_buf_is_ready),
        cmocka_unit_test(a_stream_needs_only_the_room_of_what_waits),
        cmocka_unit_test(reserved_room_is_there_until_it_is_used),
        cmocka_unit_test(room_is_there_to_the_last_byte),
        cmocka_unit_test(integers_are_written_to_the_last_digit),
        cmocka_unit_test(every_byte_is_quoted_right_at_every_place),
        cmocka_unit_test(text_is_quoted_as_it_stands_and_the_rest_replaced),
        cmocka_unit_test(nothing_is_quoted_as_nothing),
        cmocka_unit_test(any_bytes_become_a_valid_string),
    };

    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
