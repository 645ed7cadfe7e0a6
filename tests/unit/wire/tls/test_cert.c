/* SPDX-License-Identifier: MIT */
#include "wire/tls/cert.h"

#include <errno.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/folder.h"
#include "tests/lib/requests.h"

static const int64_t from_ms = 1700000000000, until_ms = 1800000000000;
static const char *const names[] = { "localhost", "127.0.0.1", NULL };

/* A CA; `pem` is the last certificate that it issued. */
struct world {
    struct folder folder;
    char path[64];
    struct cert_key *ca_key, *key;
    struct buf ca, pem;
};

static int setup(void **state)
{
    const struct cert_plan plan = { CERT_CA, "an authority", NULL, from_ms, until_ms };
    struct world *w = xalloc(sizeof(*w));
    struct err err = { 0 };

    folder_init(&w->folder);
    snprintf(w->path, sizeof(w->path), "%s/key", w->folder.path);
    w->ca_key = cert_key_new();
    w->key = cert_key_new();
    if (cert_issue(&plan, w->ca_key, NULL, &w->ca, &err))
        fail_msg("%s", err.text);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    cert_key_free(w->ca_key);
    cert_key_free(w->key);
    buf_free(&w->ca);
    buf_free(&w->pem);
    folder_done(&w->folder);
    free(w);
    return 0;
}

static int issue(struct world *w, enum cert_role role, const char *name, struct err *err)
{
    const struct cert_plan plan = { role, name, names, from_ms, until_ms };
    const struct cert_issuer by = { buf_text(&w->ca), w->ca_key };

    buf_free(&w->pem);
    return cert_issue(&plan, w->key, &by, &w->pem, err);
}

static struct cert_facts facts_of(struct buf *pem)
{
    struct cert_facts f;
    struct err err = { 0 };

    if (cert_read(buf_text(pem), &f, &err))
        fail_msg("%s", err.text);
    return f;
}

static void a_certificate_says_what_was_planned(void **state)
{
    struct world *w = *state;
    static const struct {
        enum cert_role role;
        const char *name, *agent_id;
    } cases[] = {
        { CERT_SERVER, "a server", "" },
        { CERT_AGENT, "0:10.0.0.1", "0:10.0.0.1" },
        { CERT_AGENT, "0200000000525400f8b3c21700000000001a",
          "0200000000525400f8b3c21700000000001a" },
        { CERT_EITHER, "anybody", "" },
        { CERT_CA, "an authority below", "" },
    };
    char key_id[DIGEST_TEXT_SIZE];
    struct err err = { 0 };

    cert_key_id(w->key, key_id);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cert_facts f;

        if (issue(w, cases[i].role, cases[i].name, &err))
            fail_msg("%s", err.text);
        f = facts_of(&w->pem);
        assert_int_equal(f.role, cases[i].role);
        assert_string_equal(f.agent_id, cases[i].agent_id);
        assert_string_equal(f.key_id, key_id);
        assert_int_equal(f.from_ms, from_ms);
        assert_int_equal(f.until_ms, until_ms);
        assert_int_equal(strlen(f.serial), 32);
        assert_int_equal(cert_check_signed(buf_text(&w->pem), w->ca_key, &err), 0);
        assert_int_equal(cert_check_signed(buf_text(&w->pem), w->key, &err), -1);
    }
}

static void no_two_certificates_are_the_same(void **state)
{
    struct world *w = *state;
    struct cert_facts a, b;
    struct err err = { 0 };

    assert_int_equal(issue(w, CERT_AGENT, "a", &err), 0);
    a = facts_of(&w->pem);
    assert_int_equal(issue(w, CERT_AGENT, "a", &err), 0);
    b = facts_of(&w->pem);
    assert_string_not_equal(a.serial, b.serial);
    assert_string_not_equal(a.fingerprint, b.fingerprint);
    assert_string_equal(a.key_id, b.key_id);
}

static void times_after_2049_are_kept(void **state)
{
    struct world *w = *state;
    const struct cert_plan plan = { CERT_CA, "long", NULL, from_ms, 4000000000000 };
    struct err err = { 0 };

    assert_int_equal(cert_issue(&plan, w->key, NULL, &w->pem, &err), 0);
    assert_int_equal(facts_of(&w->pem).until_ms, 4000000000000);
}

static const char sixty_four[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static void an_agent_id_is_plain_text(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *id, *error;
    } cases[] = {
        { "a", NULL },
        { "0:10.0.0.1", NULL },
        { "0:fe80::1", NULL },
        { "A-b_c.d", NULL },
        { sixty_four, NULL },
        { "", "must not be empty" },
        { "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0", "64 bytes at most" },
        { ".", "must begin with a letter" },
        { "..", "must begin with a letter" },
        { "-rf", "must begin with a letter" },
        { ":1", "must begin with a letter" },
        { "a/b", "must consist of" },
        { "a b", "must consist of" },
        { "a\nb", "must consist of" },
        { "a,CN=b", "must consist of" },
        { "a\xc3\xa4", "must consist of" },
        { "\xe4", "must begin with a letter" },
        { "a*", "must consist of" },
        { "a%00", "must consist of" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *wrong = cert_check_agent_id(cases[i].id);
        struct err err = { 0 };

        if (!wrong != !cases[i].error || (wrong && !strstr(wrong, cases[i].error)))
            fail_msg("'%s': %s", cases[i].id, wrong ? wrong : "is fine");
        assert_int_equal(issue(w, CERT_AGENT, cases[i].id, &err), cases[i].error ? -1 : 0);
        if (cases[i].error)
            assert_non_null(strstr(err.text, "agent id: must"));
        else
            assert_string_equal(facts_of(&w->pem).agent_id, cases[i].id);
    }
}

/* Swapped times, no names, an invalid name. */
static void a_certificate_for_nothing_is_not_made(void **state)
{
    struct world *w = *state;
    static const char *const none[] = { NULL }, *const bad[] = { "localhost", "a b", NULL };
    const struct {
        struct cert_plan plan;
        const char *error;
    } cases[] = {
        { { CERT_SERVER, "s", none, from_ms, until_ms }, "at least one name" },
        { { CERT_SERVER, "s", NULL, from_ms, until_ms }, "at least one name" },
        { { CERT_SERVER, "s", bad, from_ms, until_ms }, "'a b' is neither" },
        { { CERT_SERVER, "s", names, until_ms, from_ms }, "end before it begins" },
        { { CERT_SERVER, "s", names, from_ms, INT64_MAX / 2 }, "certificate: " },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };

        assert_int_equal(cert_issue(&cases[i].plan, w->key, NULL, &w->pem, &err), -1);
        if (!strstr(err.text, cases[i].error))
            fail_msg("%s", err.text);
        assert_int_equal(w->pem.len, 0);
    }
}

static void what_is_no_certificate_is_refused(void **state)
{
    static const char *const cases[] = {
        "",          "x",      "-----BEGIN CERTIFICATE-----\n",
        request_rsa, key_p384, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    };
    char *huge = xalloc(CERT_PEM_MAX + 2);
    struct cert_facts f;
    struct err err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(cert_read(cases[i], &f, &err), -1);
        assert_int_equal(err.code, ERR_MALFORMED);
    }
    memset(huge, 'A', CERT_PEM_MAX + 1);
    assert_int_equal(cert_read(huge, &f, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    free(huge);
}

/* ---- requests ---- */

static void a_request_gives_its_key(void **state)
{
    struct world *w = *state;
    char asked[DIGEST_TEXT_SIZE], got[DIGEST_TEXT_SIZE];
    struct buf request = { 0 };
    struct cert_key *public = NULL;
    struct err err = { 0 };

    cert_request_write(w->key, &request);
    if (cert_request_read(buf_text(&request), &public, &err))
        fail_msg("%s", err.text);
    cert_key_id(w->key, asked);
    cert_key_id(public, got);
    assert_string_equal(got, asked);
    cert_key_free(public);
    buf_free(&request);
}

/* Changes each character of a request.  It is refused, unless the character does not matter:
 * then the key is still the one that signed. */
static void a_request_that_was_touched_is_refused(void **state)
{
    struct world *w = *state;
    char asked[DIGEST_TEXT_SIZE], got[DIGEST_TEXT_SIZE], *text;
    struct buf request = { 0 };
    int refused = 0, denied = 0;

    cert_key_id(w->key, asked);
    cert_request_write(w->key, &request);
    text = xstrdup(buf_text(&request));
    for (size_t i = 0; text[i]; i++) {
        struct cert_key *public = NULL;
        struct err err = { 0 };
        char was = text[i];

        text[i] = was == 'A' ? 'B' : 'A';
        if (cert_request_read(text, &public, &err)) {
            refused++;
            denied += err.code == ERR_DENIED;
        } else {
            cert_key_id(public, got);
            assert_string_equal(got, asked);
            cert_key_free(public);
        }
        text[i] = was;
    }
    assert_true(refused >= (int)strlen(text) - 40);
    assert_true(denied > 50); /* at least the characters of the signature */
    free(text);
    buf_free(&request);
}

/* The signature is by another key: the body of one request, the end of another. */
static void a_request_for_another_ones_key_is_refused(void **state)
{
    struct world *w = *state;
    struct buf a = { 0 }, b = { 0 };
    struct cert_key *public = NULL;
    struct err err = { 0 };
    char *mixed;
    const char *cut;

    cert_request_write(w->key, &a);
    cert_request_write(w->ca_key, &b);
    cut = strstr(buf_text(&a), "-----END") - 70; /* within the signature */
    mixed = xprintf("%.*s%s", (int)(cut - buf_text(&a)), buf_text(&a),
                    strstr(buf_text(&b), "-----END") - 70);
    if (cert_request_read(mixed, &public, &err) == 0)
        fail_msg("it was accepted");
    free(mixed);
    buf_free(&a);
    buf_free(&b);
}

static void a_request_of_another_kind_is_refused(void **state)
{
    static const struct {
        const char *pem, *error;
    } cases[] = {
        { request_rsa, "not one for ECDSA with P-256" },
        { request_p384, "not one for ECDSA with P-256" },
        { request_explicit, "not one for ECDSA with P-256" },
        { "", "not usable PEM" },
        { key_p384, "not usable PEM" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cert_key *key = NULL;
        struct err err = { 0 };

        assert_int_equal(cert_request_read(cases[i].pem, &key, &err), -1);
        if (!strstr(err.text, cases[i].error) ||
            strncmp(err.text, "certificate request: ", 21) != 0)
            fail_msg("case %zu: %s", i, err.text);
    }
}

/* ---- keys in files ---- */

static void a_key_is_made_once_and_kept(void **state)
{
    struct world *w = *state;
    char first[DIGEST_TEXT_SIZE], again[DIGEST_TEXT_SIZE];

    for (int i = 0; i < 2; i++) {
        struct cert_key *key = NULL;
        struct err err = { 0 };

        if (cert_key_keep(w->path, &key, &err))
            fail_msg("%s", err.text);
        cert_key_id(key, i ? again : first);
        cert_key_free(key);
    }
    assert_string_equal(first, again);
    assert_int_equal(folder_mode(w->path), 0600);
}

static void a_bad_key_file_is_named_and_left_alone(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *text;
        mode_t mode;
        const char *error;
    } cases[] = {
        { "", 0600, "not usable PEM" },
        { "junk\n", 0600, "not usable PEM" },
        { request_rsa, 0600, "not usable PEM" },
        { key_locked, 0600, "not usable PEM" }, /* no prompt for a passphrase */
        { key_p384, 0600, "not one for ECDSA with P-256" },
        { key_p384, 0644, "others may use it" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cert_key *key = NULL;
        struct err err = { 0 };
        char *after;

        folder_put(w->path, cases[i].mode, cases[i].text, strlen(cases[i].text));
        assert_int_equal(cert_key_keep(w->path, &key, &err), -1);
        if (!strstr(err.text, cases[i].error) || !strstr(err.text, w->path))
            fail_msg("case %zu: %s", i, err.text);
        after = folder_text(w->path);
        assert_string_equal(after, cases[i].text);
        free(after);
    }
}

static void every_failure_leaves_a_whole_key_or_none(void **state)
{
    struct world *w = *state;
    long nth = 1;

    for (;; nth++) {
        struct cert_key *key = NULL;
        struct err err = { 0 };
        int bad;

        folder_sweep(&w->folder);
        sys_fault("any", nth, EIO);
        bad = cert_key_keep(w->path, &key, &err);
        cert_key_free(key);
        if (!sys_fault_hit())
            break;
        sys_fault("any", 0, 0);
        if (bad)
            assert_non_null(strstr(err.text, w->path));
        if (cert_key_keep(w->path, &key, &err))
            fail_msg("%s", err.text);
        cert_key_free(key);
    }
    assert_true(nth > 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_certificate_says_what_was_planned),
        TEST(no_two_certificates_are_the_same),
        TEST(times_after_2049_are_kept),
        TEST(an_agent_id_is_plain_text),
        TEST(a_certificate_for_nothing_is_not_made),
        TEST(what_is_no_certificate_is_refused),
        TEST(a_request_gives_its_key),
        TEST(a_request_that_was_touched_is_refused),
        TEST(a_request_for_another_ones_key_is_refused),
        TEST(a_request_of_another_kind_is_refused),
        TEST(a_key_is_made_once_and_kept),
        TEST(a_bad_key_file_is_named_and_left_alone),
        TEST(every_failure_leaves_a_whole_key_or_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
