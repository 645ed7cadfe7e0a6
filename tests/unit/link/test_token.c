/* SPDX-License-Identifier: MIT */
#include "link/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "wire/tls/secret.h"

static const char ca[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/* The format is stable: later agents read today's tokens. */
static const char known[] =
    "hf1.AAECAwQFBgcICQoLDA0ODxAREhMUASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze_9a69h";
static const char known_secret[] = "AAECAwQFBgcICQoLDA0ODxAREhMU";

static void a_token_is_one_line_and_read_again(void **state)
{
    struct token t, back;
    char text[TOKEN_TEXT_SIZE];
    struct err err = { 0 };

    (void)state;
    for (int i = 0; i < 100; i++) {
        token_new(ca, &t);
        token_write(&t, text);
        assert_int_equal(strlen(text), TOKEN_TEXT_SIZE - 1);
        assert_int_equal(strspn(text + 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                          "0123456789-_"),
                         TOKEN_TEXT_SIZE - 5);
        if (token_read(text, &back, &err))
            fail_msg("%s: %s", text, err.text);
        assert_memory_equal(&back, &t, sizeof(t));
        assert_string_equal(back.ca, ca);
    }
}

static void the_form_does_not_change(void **state)
{
    struct token t;
    struct err err = { 0 };

    (void)state;
    if (token_read(known, &t, &err))
        fail_msg("%s", err.text);
    assert_string_equal(t.secret, known_secret);
    assert_string_equal(t.ca, ca);
}

static void no_two_tokens_have_the_same_secret(void **state)
{
    struct token a, b;

    (void)state;
    token_new(ca, &a);
    token_new(ca, &b);
    assert_string_not_equal(a.secret, b.secret);
}

static void the_stored_hash_matches_and_hides_the_secret(void **state)
{
    struct token t;
    char hash[SECRET_HASH_SIZE];

    (void)state;
    token_new(ca, &t);
    secret_hash(t.secret, hash);
    assert_true(secret_matches(t.secret, hash));
    assert_null(strstr(hash, t.secret));
}

static void an_invalid_token_is_refused_with_a_reason(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "must begin with hf1." },
        { "h", "must begin with hf1." },
        { "token", "must begin with hf1." },
        { " hf1.", "must begin with hf1." },
        { "HF1.AAEC", "must begin with hf1." },
        { "hf", "not of version 1" },
        { "hf1", "not of version 1" },
        { "hf2.AAEC", "not of version 1" },
        { "hf10.AAEC", "not of version 1" },
        { "hf1.", "it has 4 characters, not 80" },
        { "hf1.AAECAwQFBgcICQoLDA0ODxAREhMUASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze_9a69h\n",
          "it has 81 characters, not 80" },
        { "hf1.AAECAwQFBgcICQoLDA0ODxAREhMUASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze_9a69",
          "it has 79 characters" },
        { "hf1.AAECAwQFBgcICQoLDA0ODxAREhMUASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze_9a69=",
          "a character that can not be in it" },
        { "hf1.AAECAwQFBgcICQoLDA0ODxAREhMUASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze_9a69 ",
          "a character that can not be in it" },
        { "hf1.AAECAwQFBgcICQoLDA0ODxAREhMUASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze_9a69A",
          "not copied faithfully" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct token t;
        struct err err = { 0 };

        assert_int_equal(token_read(cases[i].text, &t, &err), -1);
        assert_int_equal(err.code, ERR_INVALID);
        if (strncmp(err.text, "join token: ", 12) != 0 || !strstr(err.text, cases[i].error))
            fail_msg("'%s': %s", cases[i].text, err.text);
    }
}

/* Every changed bit, changed character and swapped pair is detected, and no error repeats the
 * secret. */
static void every_slip_is_noticed(void **state)
{
    char text[TOKEN_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < TOKEN_TEXT_SIZE - 1; i++) {
        for (int c = 1; c < 256; c++) {
            struct token t;
            struct err err = { 0 };

            memcpy(text, known, sizeof(text));
            if (text[i] == (char)c)
                continue;
            text[i] = (char)c;
            if (token_read(text, &t, &err) == 0)
                fail_msg("%s", text);
            assert_null(strstr(err.text, "BgcICQ"));
        }
    }
    for (size_t i = 0; i + 2 < TOKEN_TEXT_SIZE; i++) {
        struct token t;
        struct err err = { 0 };

        memcpy(text, known, sizeof(text));
        if (text[i] == text[i + 1])
            continue;
        text[i] = known[i + 1];
        text[i + 1] = known[i];
        assert_int_equal(token_read(text, &t, &err), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_one_line_and_read_again),
        cmocka_unit_test(the_form_does_not_change),
        cmocka_unit_test(no_two_tokens_have_the_same_secret),
        cmocka_unit_test(the_stored_hash_matches_and_hides_the_secret),
        cmocka_unit_test(an_invalid_token_is_refused_with_a_reason),
        cmocka_unit_test(every_slip_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
