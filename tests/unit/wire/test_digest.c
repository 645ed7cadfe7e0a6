/* SPDX-License-Identifier: MIT */
#include "wire/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem.h"

static void known_bytes_have_the_known_digest(void **state)
{
    static const struct {
        const char *bytes, *digest;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[DIGEST_TEXT_SIZE];

        digest_sha256_text(cases[i].bytes, strlen(cases[i].bytes), text);
        assert_string_equal(text, cases[i].digest);
    }
}

static void md5_may_come_in_pieces(void **state)
{
    struct md5 *m = md5_new();
    char text[MD5_TEXT_SIZE];

    (void)state;
    if (!m)
        skip(); /* an OpenSSL without it */
    md5_text(m, text);
    md5_free(m);
    assert_string_equal(text, "d41d8cd98f00b204e9800998ecf8427e");
    m = md5_new();
    md5_add(m, "message ", 8);
    md5_add(m, "digest", 6);
    md5_text(m, text);
    md5_free(m);
    md5_free(NULL);
    assert_string_equal(text, "f96b697d7cb7938d525a2f31aaf161d0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes_have_the_known_digest),
        cmocka_unit_test(md5_may_come_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
