/* SPDX-License-Identifier: MIT */
#include "base/text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "tests/lib/random.h"
#include "tests/lib/wide_text.h"

/* Decodes by arithmetic what utf8.c decides by ranges: combines the bits and checks whether the
 * code point needs this many bytes. */
static size_t decode(const unsigned char *p, size_t n, uint32_t *ret_c)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = p[0] < 0x80       ? 1
                 : p[0] >> 5 == 6  ? 2
                 : p[0] >> 4 == 14 ? 3
                 : p[0] >> 3 == 30 ? 4
                                   : 0;
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7Fu >> len);

    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        c = c << 6 | (p[i] & 0x3F);
    }
    if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return 0;
    *ret_c = c;
    return len;
}

/* One sequence: utf8_char() agrees with decode() for each length to which it may be cut, and
 * utf8_put() writes what utf8_char() reads. */
static void check(const unsigned char *p, size_t n)
{
    for (size_t cut = 1; cut <= n; cut++) {
        uint32_t c = 0;
        size_t len = decode(p, cut, &c);
        char again[4];

        if (utf8_char((const char *)p, cut) != len)
            fail_msg("%02x %02x %02x %02x of %zu bytes", p[0], p[1], p[2], p[3], cut);
        if (len && (utf8_put(again, c) != len || memcmp(again, p, len) != 0))
            fail_msg("U+%04X is written otherwise", c);
    }
}

static void all_sequences_of_up_to_three_bytes_are_judged_right(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            for (unsigned c = 0; c < 256; c++) {
                unsigned char p[4] = { (unsigned char)a, (unsigned char)b, (unsigned char)c, 0 };
                uint32_t code;

                if (utf8_char((char *)p, 3) != decode(p, 3, &code))
                    check(p, 3);
            }
            check((unsigned char[4]){ (unsigned char)a, (unsigned char)b, 0x80 }, 3);
        }
    }
}

static void all_leads_and_seconds_of_four_bytes_are_judged_right(void **state)
{
    static const unsigned char ends[] = { 0x00, 0x7F, 0x80, 0x81, 0xAF, 0xBF, 0xC0, 0xFF };

    (void)state;
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            for (size_t c = 0; c < ARRAY_LEN(ends); c++) {
                for (size_t d = 0; d < ARRAY_LEN(ends); d++)
                    check(
                        (unsigned char[4]){ (unsigned char)a, (unsigned char)b, ends[c], ends[d] },
                        4);
            }
        }
    }
}

static void all_code_points_are_written_and_read(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        uint32_t back = 0;
        char p[4];
        size_t len;

        if (c >= 0xD800 && c < 0xE000)
            continue;
        len = utf8_put(p, c);
        if (decode((unsigned char *)p, len, &back) != len || back != c || utf8_char(p, len) != len)
            fail_msg("U+%04X", c);
    }
}

static void nothing_is_valid_and_no_character(void **state)
{
    (void)state;
    assert_int_equal(utf8_char("a", 0), 0);
    assert_int_equal(utf8_char(NULL, 0), 0);
    assert_int_equal(utf8_valid(NULL, 0), 0);
    assert_int_equal(utf8_whole(NULL, 0), 0);
}

/* A bad byte at each position around the eight bytes that are checked at once. */
static void valid_stops_at_the_first_bad_byte(void **state)
{
    static const char *const bad[] = { "\x80",         "\xFF",     "\xC0\x80",
                                       "\xED\xA0\x80", "\xE4\xB8", "\xF5" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        for (size_t at = 0; at < 40; at++) {
            char text[64];

            memset(text, 'a', sizeof(text));
            memcpy(text + at, bad[i], strlen(bad[i]));
            assert_int_equal(utf8_valid(text, sizeof(text)), at);
            assert_int_equal(utf8_valid(text, at), at);
        }
    }
}

static size_t random_text(uint64_t *seed, char *to, size_t size)
{
    static const uint32_t most[] = { 0x80, 0x800, 0x10000, 0x110000 };
    size_t n = 0;

    while (n + 4 <= size) {
        uint32_t c = (uint32_t)random_below(seed, most[random_below(seed, 4)]);

        n += utf8_put(to + n, c >= 0xD800 && c < 0xE000 ? 'x' : c);
    }
    return n;
}

static void a_text_cut_anywhere_is_made_whole(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        char text[64];
        size_t n = random_text(&seed, text, sizeof(text)), end = 0;

        for (size_t cut = 0; cut <= n; cut++) {
            uint32_t c;
            size_t len = cut < n ? decode((unsigned char *)text + end, n - end, &c) : 0;

            if (len && end + len <= cut)
                end += len;
            assert_int_equal(utf8_valid(text, cut), cut == n ? n : end);
            assert_int_equal(utf8_whole(text, cut), cut == n ? n : end);
        }
    }
}

static void whole_takes_off_only_what_could_go_on(void **state)
{
    static const struct {
        const char *text;
        size_t whole;
    } cases[] = {
        { "", 0 },
        { "abc", 3 },
        { "ab\xC3", 2 },
        { "ab\xE4\xB8", 2 },
        { "ab\xF0\x9F\x98", 2 },
        { "ab\xF0\x9F\x98\x80", 6 },
        { "\xF0", 0 },
        { "ab\x80", 3 },               /* a continuation byte without a first byte */
        { "\x80\x80\x80\x80\x80", 5 }, /* the same */
        { "ab\xFF", 3 },               /* no first byte of any character */
        { "ab\xC3\xA9\xA9", 5 },       /* the character before is complete */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(utf8_whole(cases[i].text, strlen(cases[i].text)), cases[i].whole);
}

/* At each offset: characters of 2, 3 and 4 bytes behind some of ASCII. */
static void a_text_is_cut_and_printed_with_whole_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        const char *text = wide_text(i);

        for (size_t max = 0; max < 64; max++) {
            char to[64 + 1 + 8];
            size_t n = utf8_cut(text, max), put;

            assert_int_equal(utf8_valid(text, n), n);
            assert_true(n <= max && max - n < 4);
            memset(to, 'Z', sizeof(to));
            put = utf8_printf(to, max + 1, "%s", text);
            assert_int_equal(put, n);
            assert_int_equal(strlen(to), n);
            assert_memory_equal(to, text, n);
            assert_int_equal(to[max + 1], 'Z');
        }
    }
    assert_int_equal(utf8_cut("ab\xC3\xA9", 4), 4); /* it fits */
    assert_int_equal(utf8_cut("ab\xC3\xA9", 100), 4);
    assert_int_equal(utf8_printf((char[8]){ 0 }, 8, "%d", 12), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sequences_of_up_to_three_bytes_are_judged_right),
        cmocka_unit_test(all_leads_and_seconds_of_four_bytes_are_judged_right),
        cmocka_unit_test(all_code_points_are_written_and_read),
        cmocka_unit_test(nothing_is_valid_and_no_character),
        cmocka_unit_test(valid_stops_at_the_first_bad_byte),
        cmocka_unit_test(a_text_cut_anywhere_is_made_whole),
        cmocka_unit_test(whole_takes_off_only_what_could_go_on),
        cmocka_unit_test(a_text_is_cut_and_printed_with_whole_characters),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
