/* SPDX-License-Identifier: MIT */
#include "base/text/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "tests/lib/random.h"

static const struct {
    const char *bytes, *text;
} cases[] = {
    { "", "" },
    { "f", "Zg" },
    { "fo", "Zm8" },
    { "foo", "Zm9v" },
    { "foob", "Zm9vYg" },
    { "fooba", "Zm9vYmE" },
    { "foobar", "Zm9vYmFy" },
    { "\xfb\xff\xbf", "-_-_" },
};

static void known_bytes_have_the_known_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = strlen(cases[i].bytes);
        char text[16], back[16];

        base64_write(cases[i].bytes, n, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(strlen(text) + 1, BASE64_SIZE(n));
        assert_true(base64_read(text, back, n));
        assert_memory_equal(back, cases[i].bytes, n);
    }
}

static void all_bytes_of_all_lengths_go_there_and_back(void **state)
{
    unsigned char bytes[100], back[100];
    char text[BASE64_SIZE(100)];
    uint64_t seed = 1;

    (void)state;
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)random_next(&seed);
        base64_write(bytes, n, text);
        assert_int_equal(strlen(text) + 1, BASE64_SIZE(n));
        assert_true(base64_read(text, back, n));
        assert_memory_equal(back, bytes, n);
    }
}

/* Two bytes are three characters, of which the last has two bits that must be 0. */
static void other_text_is_refused(void **state)
{
    static const char *const bad[] = { "",    "AA",  "AAAA", "AA=", "AA ", "A\nA", "AA+",
                                       "A/A", "AAB", "AAC",  "AA_", "=AA", "A.A" };
    char two[2];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (base64_read(bad[i], two, 2))
            fail_msg("'%s' was read", bad[i]);
    }
    assert_true(base64_read("AAE", two, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes_have_the_known_text),
        cmocka_unit_test(all_bytes_of_all_lengths_go_there_and_back),
        cmocka_unit_test(other_text_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
