/* SPDX-License-Identifier: MIT */
#include "base/text/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static void every_byte_goes_there_and_back(void **state)
{
    unsigned char bytes[256], back[256];
    char text[HEX_SIZE(256)];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    hex_write(bytes, sizeof(bytes), text);
    assert_memory_equal(text, "000102030405060708090a0b", 24);
    assert_string_equal(text + 508, "feff");
    assert_true(hex_read(text, back, sizeof(back)));
    assert_memory_equal(back, bytes, sizeof(bytes));
    hex_write(bytes, 0, text);
    assert_string_equal(text, "");
    assert_true(hex_read("", back, 0));
}

static void other_text_is_refused(void **state)
{
    static const char *const cases[] = { "",     "00",    "000",  "00000", "000000", "0g00", "00 0",
                                         "00A0", " 0000", "0x00", "000:",  "/000",   "-100" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned char two[2];

        if (hex_read(cases[i], two, 2))
            fail_msg("'%s' was read", cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_goes_there_and_back),
        cmocka_unit_test(other_text_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
