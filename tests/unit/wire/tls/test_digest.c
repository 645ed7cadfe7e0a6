/* SPDX-License-Identifier: MIT */
#include "wire/tls/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/text/hex.h"

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
        skip(); /* OpenSSL without MD5 */
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

/* RFC 2202, and keys of a block and of a block and one byte (values from Python's hmac). */
static void hmac_may_come_in_pieces(void **state)
{
    static const struct {
        const char *key, *text, *hmac;
    } cases[] = {
        { "Jefe", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79" },
        { "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
          "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00" },
        { "", "", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d" },
        { "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", "x",
          "2c31eadf68d9ba971ad29339d28ce725b03c11f6" },
        { "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", "x",
          "7209aca75ec680871725fd309aa689746677dbd4" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = strlen(cases[i].text);

        for (size_t cut = 0; cut <= n; cut++) {
            const struct digest_piece pieces[] = { { cases[i].text, cut },
                                                   { cases[i].text + cut, n - cut } };
            unsigned char hmac[DIGEST_HMAC_SIZE];
            char text[HEX_SIZE(DIGEST_HMAC_SIZE)];

            digest_hmac_sha1(cases[i].key, strlen(cases[i].key), pieces, 2, hmac);
            hex_write(hmac, sizeof(hmac), text);
            assert_string_equal(text, cases[i].hmac);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmac_may_come_in_pieces),
        cmocka_unit_test(known_bytes_have_the_known_digest),
        cmocka_unit_test(md5_may_come_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
