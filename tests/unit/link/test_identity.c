/* SPDX-License-Identifier: MIT */
#include "link/identity.h"

#include <errno.h>

#include "base/os/sys.h"
#include "tests/lib/folder.h"
#include "tests/lib/pki.h"

struct world {
    struct folder folder;
    char key[64], pem[64];
    struct pki ours, other;
    struct identity *id;
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    folder_init(&w->folder);
    snprintf(w->key, sizeof(w->key), "%s/agent.key", w->folder.path);
    snprintf(w->pem, sizeof(w->pem), "%s/agent.pem", w->folder.path);
    pki_init(&w->ours, "holdfast CA 1");
    pki_init(&w->other, "holdfast CA 2");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    identity_free(w->id);
    pki_done(&w->ours);
    pki_done(&w->other);
    folder_done(&w->folder);
    free(w);
    return 0;
}

static void open_it(struct world *w)
{
    struct err err = { 0 };

    identity_free(w->id);
    w->id = NULL;
    if (identity_open(w->folder.path, &w->id, &err))
        fail_msg("%s", err.text);
}

static void refuses_to_open(struct world *w, int code, const char *path, const char *text)
{
    struct err err = { 0 };

    identity_free(w->id);
    w->id = NULL;
    assert_int_equal(identity_open(w->folder.path, &w->id, &err), -1);
    assert_null(w->id);
    if (err.code != code || !strstr(err.text, path) || !strstr(err.text, text))
        fail_msg("%d: %s", err.code, err.text);
}

/* A certificate for the key of a request (NULL: for another key), valid from and until hours from
 * now. */
static char *sign(struct world *w, struct pki *by, enum cert_role role, const char *agent_id,
                  const struct identity *of, int from_h, int until_h)
{
    const int64_t now_ms = pki_now_ms();
    static const char *const names[] = { "localhost", NULL };
    const struct cert_plan plan = { role, agent_id, role == CERT_SERVER ? names : NULL,
                                    now_ms + (int64_t)from_h * PKI_HOUR_MS,
                                    now_ms + (int64_t)until_h * PKI_HOUR_MS };
    const struct cert_issuer issuer = { buf_text(&by->pem), by->key };
    struct cert_key *key = NULL;
    struct buf request = { 0 }, cert = { 0 };
    struct err err = { 0 };
    char *text;

    (void)w;
    if (of) {
        identity_request(of, &request);
        assert_int_equal(cert_request_read(buf_text(&request), &key, &err), 0);
    } else {
        key = cert_key_new();
    }
    if (cert_issue(&plan, key, &issuer, &cert, &err))
        fail_msg("%s", err.text);
    text = xstrdup(buf_text(&cert));
    cert_key_free(key);
    buf_free(&request);
    buf_free(&cert);
    return text;
}

static int take(struct world *w, const char *agent_id, const char *cert, const char *ca,
                const char *pin, struct err *err)
{
    const struct message_joined joined = { .agent_id = agent_id, .cert = cert, .ca = ca };

    return identity_take(w->id, &joined, pin, err);
}

static void join(struct world *w)
{
    char *cert = sign(w, &w->ours, CERT_AGENT, "a-1", w->id, -1, 2);
    struct err err = { 0 };

    if (take(w, "a-1", cert, buf_text(&w->ours.pem), w->ours.facts.fingerprint, &err))
        fail_msg("%s", err.text);
    free(cert);
}

static void the_key_is_made_once(void **state)
{
    struct world *w = *state;
    char *first, *second;

    open_it(w);
    assert_false(identity_has_cert(w->id));
    assert_string_equal(identity_agent_id(w->id), "");
    assert_false(identity_is_due(w->id, pki_now_ms()));
    assert_false(identity_is_over(w->id, INT64_MAX));
    assert_int_equal(folder_mode(w->key), 0600);
    first = folder_text(w->key);
    open_it(w);
    second = folder_text(w->key);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void a_certificate_survives_a_restart(void **state)
{
    struct world *w = *state;
    struct err err = { 0 };
    struct tls *tls;

    open_it(w);
    join(w);
    for (int i = 0; i < 2; i++) {
        assert_true(identity_has_cert(w->id));
        assert_string_equal(identity_agent_id(w->id), "a-1");
        assert_false(identity_is_due(w->id, pki_now_ms()));
        assert_true(identity_is_due(w->id, pki_now_ms() + 70 * 60 * 1000));
        assert_false(identity_is_over(w->id, pki_now_ms() + 70 * 60 * 1000));
        assert_true(identity_is_over(w->id, pki_now_ms() + 2 * PKI_HOUR_MS));
        if (identity_tls(w->id, &tls, &err))
            fail_msg("%s", err.text);
        tls_free(tls);
        open_it(w);
    }
    assert_int_equal(folder_mode(w->pem), 0600);
}

static void another_certificate_of_the_same_ca_may_follow(void **state)
{
    struct world *w = *state;
    struct err err = { 0 };
    char *next, *before, *after;

    open_it(w);
    join(w);
    before = folder_text(w->pem);
    next = sign(w, &w->ours, CERT_AGENT, "a-1", w->id, -1, 9);
    assert_int_equal(take(w, "a-1", next, buf_text(&w->ours.pem), NULL, &err), 0);
    after = folder_text(w->pem);
    assert_string_not_equal(before, after);
    open_it(w);
    assert_false(identity_is_over(w->id, pki_now_ms() + 8 * PKI_HOUR_MS));
    free(next);
    free(before);
    free(after);
}

/* Answers of a broken or foreign server. */
static void foreign_certificates_are_refused(void **state)
{
    struct world *w = *state;
    char *ours, *of_other_ca, *of_other_key, *of_server, *other_id, *two, *before, *after;
    const char *ca = buf_text(&w->ours.pem), *other_ca = buf_text(&w->other.pem);
    const char *pin = w->ours.facts.fingerprint, *other_pin = w->other.facts.fingerprint;

    open_it(w);
    ours = sign(w, &w->ours, CERT_AGENT, "a-1", w->id, -1, 2);
    of_other_ca = sign(w, &w->other, CERT_AGENT, "a-1", w->id, -1, 2);
    of_other_key = sign(w, &w->ours, CERT_AGENT, "a-1", NULL, -1, 2);
    of_server = sign(w, &w->ours, CERT_SERVER, "a-1", w->id, -1, 2);
    other_id = sign(w, &w->ours, CERT_AGENT, "a-2", w->id, -1, 2);
    two = xprintf("%s%s", ours, ours);
    const struct {
        const char *agent_id, *cert, *ca, *pin;
        int code;
        const char *text;
    } cases[] = {
        /* clang-format off */
        { "a-1", ours, ca, other_pin, ERR_DENIED, "CA: not the one that the join token names" },
        { "a-1", of_other_ca, other_ca, pin, ERR_DENIED, "CA: not the one that the join token names" },
        { "a-1", of_other_ca, ca, pin, ERR_INVALID, "not signed by this key" },
        { "a-1", of_other_key, ca, pin, ERR_INVALID, "not for the key in" },
        { "a-1", of_server, ca, pin, ERR_INVALID, "not one of an agent" },
        { "a-2", ours, ca, pin, ERR_INVALID, "for the agent a-1, not a-2" },
        { "a-1", two, ca, pin, ERR_MALFORMED, "certificate: there must be one" },
        { "a-1", ours, two, pin, ERR_MALFORMED, "CA: there must be one" },
        { "a-1", ours, ours, pin, ERR_INVALID, "not the certificate of an authority" },
        { "a-1", "hello", ca, pin, ERR_MALFORMED, "certificate: there must be one" },
        { "a-1", ours, "", pin, ERR_MALFORMED, "CA: there must be one" },
        { "a-1", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", ca, pin, ERR_MALFORMED, "" },
        /* renewals */
        { "a-2", other_id, ca, NULL, ERR_INVALID, "for the agent a-2, not a-1" },
        { "a-1", of_other_ca, other_ca, NULL, ERR_DENIED, "CA: not the one that this agent has joined" },
        /* clang-format on */
    };

    join(w);
    before = folder_text(w->pem);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };

        assert_int_equal(take(w, cases[i].agent_id, cases[i].cert, cases[i].ca, cases[i].pin, &err),
                         -1);
        if (err.code != cases[i].code || !strstr(err.text, cases[i].text))
            fail_msg("case %zu: %d %s", i, err.code, err.text);
        after = folder_text(w->pem);
        assert_string_equal(before, after);
        assert_string_equal(identity_agent_id(w->id), "a-1");
        free(after);
    }
    free(ours);
    free(of_other_ca);
    free(of_other_key);
    free(of_server);
    free(other_id);
    free(two);
    free(before);
}

static void a_full_disk_leaves_the_old_one(void **state)
{
    static const char *const calls[] = { "open", "write", "fsync", "rename" };
    struct world *w = *state;
    char *next, *before, *after;

    open_it(w);
    join(w);
    before = folder_text(w->pem);
    next = sign(w, &w->ours, CERT_AGENT, "a-1", w->id, -1, 9);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct err err = { 0 };

        sys_fault(calls[i], 1, ENOSPC);
        assert_int_equal(take(w, "a-1", next, buf_text(&w->ours.pem), NULL, &err), -1);
        assert_true(sys_fault_hit());
        assert_int_equal(err.sys, ENOSPC);
        assert_non_null(strstr(err.text, w->pem));
        after = folder_text(w->pem);
        assert_string_equal(before, after);
        assert_true(identity_is_over(w->id, pki_now_ms() + 8 * PKI_HOUR_MS));
        free(after);
    }
    free(next);
    free(before);
}

/* No file is replaced, and the error names the file. */
static void damaged_files_are_an_error_and_stay(void **state)
{
    struct world *w = *state;
    char *pem, *key, *cut, *spoilt, *of_other_key, *wrong_key, *after;
    const char *ca = buf_text(&w->ours.pem);

    open_it(w);
    join(w);
    pem = folder_text(w->pem);
    key = folder_text(w->key);
    cut = xmemdup(pem, strlen(pem) / 2);
    spoilt = xstrdup(pem);
    spoilt[100] = spoilt[100] == 'A' ? 'B' : 'A';
    of_other_key = sign(w, &w->ours, CERT_AGENT, "a-1", NULL, -1, 2);
    wrong_key = xprintf("%s%s", of_other_key, ca);
    const struct {
        const char *path, *text;
        const char *says;
        int code;
    } cases[] = {
        { w->pem, "", "two certificates", ERR_MALFORMED },
        { w->pem, "rubbish", "two certificates", ERR_MALFORMED },
        { w->pem, cut, "two certificates", ERR_MALFORMED },
        { w->pem, ca, "two certificates", ERR_MALFORMED },
        { w->pem, wrong_key, "not for the key in", ERR_INVALID },
        { w->key, "", "", ERR_MALFORMED },
        { w->key, "rubbish", "", ERR_MALFORMED },
        { w->key, pem, "", ERR_MALFORMED },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        folder_put(w->pem, 0600, pem, strlen(pem));
        folder_put(w->key, 0600, key, strlen(key));
        folder_put(cases[i].path, 0600, cases[i].text, strlen(cases[i].text));
        refuses_to_open(w, cases[i].code, cases[i].path, cases[i].says);
        after = folder_text(cases[i].path);
        assert_string_equal(after, cases[i].text);
        free(after);
    }
    folder_put(w->key, 0600, key, strlen(key));
    folder_put(w->pem, 0600, spoilt, strlen(spoilt));
    assert_int_equal(identity_open(w->folder.path, &w->id, &(struct err){ 0 }), -1);
    free(pem);
    free(key);
    free(cut);
    free(spoilt);
    free(of_other_key);
    free(wrong_key);
}

static void a_certificate_whose_key_is_lost_is_an_error(void **state)
{
    struct world *w = *state;

    open_it(w);
    join(w);
    assert_int_equal(unlink(w->key), 0);
    refuses_to_open(w, ERR_NOT_FOUND, w->key, "restore the key");
    assert_int_equal(access(w->key, F_OK), -1); /* no key was made */
}

static void a_key_that_others_may_read_is_refused(void **state)
{
    struct world *w = *state;

    open_it(w);
    assert_int_equal(chmod(w->key, 0644), 0);
    refuses_to_open(w, ERR_DENIED, w->key, "");
}

static void a_disk_that_fails_is_an_error(void **state)
{
    static const char *const calls[] = { "open", "read", "fstat" };
    struct world *w = *state;

    open_it(w);
    join(w);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        sys_fault(calls[i], 1, EIO);
        refuses_to_open(w, ERR_SYSTEM, w->pem, "");
        assert_true(sys_fault_hit());
    }
    sys_fault("stat", 1, EIO);
    refuses_to_open(w, ERR_SYSTEM, w->key, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_key_is_made_once),
        TEST(a_certificate_survives_a_restart),
        TEST(another_certificate_of_the_same_ca_may_follow),
        TEST(foreign_certificates_are_refused),
        TEST(a_full_disk_leaves_the_old_one),
        TEST(damaged_files_are_an_error_and_stay),
        TEST(a_certificate_whose_key_is_lost_is_an_error),
        TEST(a_key_that_others_may_read_is_refused),
        TEST(a_disk_that_fails_is_an_error),
    };

    return cmocka_run_group_tests_name("link/identity", tests, NULL, NULL);
}
