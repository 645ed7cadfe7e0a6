/* SPDX-License-Identifier: MIT */
#include "wire/tls/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/text/base64.h"

static void a_new_secret_is_256_bits_and_no_other(void **state)
{
    char one[SECRET_TEXT_SIZE], two[SECRET_TEXT_SIZE];
    unsigned char bytes[SECRET_BYTES];

    (void)state;
    secret_new(one);
    secret_new(two);
    assert_true(base64_read(one, bytes, sizeof(bytes)));
    assert_string_not_equal(one, two);
}

static void a_secret_fits_its_own_hash_only(void **state)
{
    static const char abc[] =
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    static const struct {
        const char *text, *hash;
    } bad[] = {
        { "abd", abc },
        { "", abc },
        { "abc ", abc },
        { "ABC", abc },
        { abc, abc },
        { "abc", "" },
        { "abc", "abc" },
        { "abc", "sha256:" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abc", "md5256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abc", "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a" },
        { "abc", "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad0" },
        { "abc", "sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD" },
    };
    char hash[SECRET_HASH_SIZE];

    (void)state;
    secret_hash("abc", hash);
    assert_string_equal(hash, abc);
    assert_true(secret_matches("abc", abc));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (secret_matches(bad[i].text, bad[i].hash))
            fail_msg("'%s' fits '%s'", bad[i].text, bad[i].hash);
    }
}

static void any_bit_makes_bytes_differ(void **state)
{
    unsigned char a[64] = { 0 }, b[64] = { 0 };

    (void)state;
    assert_true(secret_equal(a, b, sizeof(a)));
    assert_true(secret_equal("x", "y", 0));
    for (size_t bit = 0; bit < 8 * sizeof(a); bit++) {
        b[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_false(secret_equal(a, b, sizeof(a)));
        assert_true(secret_equal(a, b, bit / 8)); /* the bytes before the changed one */
        b[bit / 8] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_secret_is_256_bits_and_no_other),
        cmocka_unit_test(a_secret_fits_its_own_hash_only),
        cmocka_unit_test(any_bit_makes_bytes_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
