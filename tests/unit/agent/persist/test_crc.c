/* SPDX-License-Identifier: MIT */
#include "agent/persist/crc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The examples of RFC 3720 and the usual check value. */
static void known_values_come_out(void **state)
{
    unsigned char bytes[32] = { 0 };

    (void)state;
    assert_int_equal(crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(crc32c(0, "", 0), 0);
    assert_int_equal(crc32c(0, bytes, 32), 0x8A9136AA);
    memset(bytes, 0xFF, 32);
    assert_int_equal(crc32c(0, bytes, 32), 0x62A8AB43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)i;
    assert_int_equal(crc32c(0, bytes, 32), 0x46DD794E);
}

static void pieces_give_the_same_as_the_whole(void **state)
{
    static const char digits[] = "123456789";

    (void)state;
    for (size_t cut = 0; cut <= 9; cut++)
        assert_int_equal(crc32c(crc32c(0, digits, cut), &digits[cut], 9 - cut), 0xE3069283);
}

/* Whatever the processor has to help: at every length and place in memory. */
static void the_processor_agrees_with_the_table(void **state)
{
    unsigned char bytes[100];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 151 + 7);
    for (size_t from = 0; from < 9; from++) {
        for (size_t n = 0; from + n <= sizeof(bytes); n++)
            assert_int_equal(crc32c(0x12345678, bytes + from, n),
                             crc32c_portable(0x12345678, bytes + from, n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processor_agrees_with_the_table),
        cmocka_unit_test(known_values_come_out),
        cmocka_unit_test(pieces_give_the_same_as_the_whole),
    };

    return cmocka_run_group_tests_name("crc", tests, NULL, NULL);
}
