/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/net/frame.h"

static size_t put(struct buf *b, uint8_t type, uint16_t flags, uint64_t seq, const char *body)
{
    size_t mark = frame_begin(b, type, flags, seq);
    struct err err = { 0 };

    buf_puts(b, body);
    assert_int_equal(frame_end(b, mark, &err), 0);
    return mark;
}

static void bytes_are_as_documented(void **state)
{
    static const unsigned char want[] = {
        0, 0, 0, 2, 1, 7, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8, '{', '}',
    };
    struct buf b = { 0 };

    (void)state;
    put(&b, 7, 0x1234, 0x0102030405060708, "{}");
    assert_int_equal(b.len, sizeof(want));
    assert_memory_equal(buf_data(&b), want, sizeof(want));
    buf_free(&b);
}

static void frames_come_back_in_order(void **state)
{
    static const char *const bodies[] = { "", "{}", "{\"a\":1}" };
    struct buf b = { 0 };
    struct err err = { 0 };
    struct frame f;
    size_t used;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        put(&b, (uint8_t)(250 + i), (uint16_t)(65530 + i), UINT64_MAX - i, bodies[i]);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(frame_read(buf_data(&b), b.len, &f, &used, &err), FRAME_READY);
        assert_int_equal(f.type, 250 + i);
        assert_int_equal(f.flags, 65530 + i);
        assert_true(f.seq == UINT64_MAX - i);
        assert_int_equal(f.body_n, strlen(bodies[i]));
        assert_memory_equal(f.body, bodies[i], f.body_n);
        buf_drop(&b, used);
    }
    assert_int_equal(b.len, 0);
    buf_free(&b);
}

static void every_shorter_piece_asks_for_more(void **state)
{
    struct buf b = { 0 };
    struct err err = { 0 };
    struct frame f;
    size_t used;

    (void)state;
    put(&b, 1, 0, 1, "{\"some\":\"body\"}");
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(frame_read(buf_data(&b), n, &f, &used, &err), FRAME_MORE);
    buf_free(&b);
}

static void what_can_not_be_is_refused_at_the_head(void **state)
{
    static const struct {
        unsigned char head[FRAME_HEAD_SIZE];
        const char *want;
    } cases[] = {
        { { 0, 0, 0, 0, 2 }, "a frame of version 2, this side speaks 1" },
        { { 0, 0, 0, 0, 0 }, "a frame of version 0, this side speaks 1" },
        { { 0, 0x10, 0, 1, 1 }, "a frame's body of 1048577 bytes, at most 1048576 go in one" },
        { { 255, 255, 255, 255, 1 },
          "a frame's body of 4294967295 bytes, at most 1048576 go in one" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = { 0 };
        struct frame f;
        size_t used;

        assert_int_equal(frame_read((const char *)cases[i].head, FRAME_HEAD_SIZE, &f, &used, &err),
                         FRAME_BAD);
        assert_string_equal(err.text, cases[i].want);
    }
}

static void a_body_at_the_limit_goes_and_one_byte_more_does_not(void **state)
{
    struct buf b = { 0 };
    struct err err = { 0 };
    struct frame f;
    size_t mark, used;

    (void)state;
    buf_puts(&b, "before");
    mark = frame_begin(&b, 1, 0, 1);
    memset(buf_reserve(&b, FRAME_BODY_MAX), 'x', FRAME_BODY_MAX);
    b.len += FRAME_BODY_MAX;
    assert_int_equal(frame_end(&b, mark, &err), 0);
    assert_int_equal(frame_read(buf_data(&b) + mark, b.len - mark, &f, &used, &err), FRAME_READY);
    buf_addc(&b, 'x');
    assert_int_equal(frame_end(&b, mark, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(buf_text(&b), "before");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_documented),
        cmocka_unit_test(frames_come_back_in_order),
        cmocka_unit_test(every_shorter_piece_asks_for_more),
        cmocka_unit_test(what_can_not_be_is_refused_at_the_head),
        cmocka_unit_test(a_body_at_the_limit_goes_and_one_byte_more_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
