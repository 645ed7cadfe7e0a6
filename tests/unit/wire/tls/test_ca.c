/* SPDX-License-Identifier: MIT */
#include "wire/tls/ca.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/folder.h"
#include "tests/lib/requests.h"

static const int64_t now_ms = 1800000000000, hour_ms = 3600 * 1000, day_ms = 24 * 3600 * 1000;
static const char *const names[] = { "localhost", "10.0.0.1", NULL };

struct world {
    struct folder folder;
    char path[64];
    struct ca *ca; /* NULL: not open */
    struct buf text;
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    folder_init(&w->folder);
    snprintf(w->path, sizeof(w->path), "%s/ca.pem", w->folder.path);
    *state = w;
    return 0;
}

static void shut(struct world *w)
{
    ca_free(w->ca);
    w->ca = NULL;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    shut(w);
    buf_free(&w->text);
    folder_done(&w->folder);
    free(w);
    return 0;
}

/* Returns whether it was created. */
static bool open_ca(struct world *w)
{
    struct err err = { 0 };
    bool made;

    shut(w);
    if (ca_open(w->folder.path, now_ms, &made, &w->ca, &err))
        fail_msg("%s", err.text);
    return made;
}

static void it_is_made_once_and_then_the_same(void **state)
{
    struct world *w = *state;
    char first[DIGEST_TEXT_SIZE], *cert;
    struct cert_facts f;
    struct err err = { 0 };

    assert_true(open_ca(w));
    snprintf(first, sizeof(first), "%s", ca_fingerprint(w->ca));
    cert = xstrdup(ca_cert(w->ca));
    assert_false(open_ca(w));
    assert_string_equal(ca_fingerprint(w->ca), first);
    assert_string_equal(ca_cert(w->ca), cert);
    assert_int_equal(folder_mode(w->path), 0600);
    assert_int_equal(cert_read(cert, &f, &err), 0);
    assert_int_equal(f.role, CERT_CA);
    assert_string_equal(f.fingerprint, first);
    assert_true(f.until_ms - now_ms > 29 * 365 * day_ms);
    free(cert);
    assert_int_equal(folder_sweep(&w->folder), 1);
}

static void two_are_never_the_same(void **state)
{
    struct world *w = *state;
    char first[DIGEST_TEXT_SIZE];

    open_ca(w);
    snprintf(first, sizeof(first), "%s", ca_fingerprint(w->ca));
    folder_sweep(&w->folder);
    assert_true(open_ca(w));
    assert_string_not_equal(ca_fingerprint(w->ca), first);
}

/* An operator may have put the certificate before the key. */
static void the_key_is_never_in_what_goes_out(void **state)
{
    struct world *w = *state;
    char *text, *turned;
    const char *cert;

    open_ca(w);
    text = folder_text(w->path);
    cert = strstr(text, "-----BEGIN CERTIFICATE-----");
    turned = xprintf("a note\n%s\n%.*s%s", cert, (int)(cert - text), text, cert);
    folder_put(w->path, 0600, turned, strlen(turned));
    assert_false(open_ca(w));
    assert_null(strstr(ca_cert(w->ca), "PRIVATE"));
    assert_string_equal(ca_cert(w->ca), cert);
    assert_int_equal(ca_issue_server(w->ca, names, 30, now_ms, &w->text, NULL), 0);
    assert_null(strstr(strstr(buf_text(&w->text), "BEGIN CERT"), "PRIVATE"));
    free(turned);
    free(text);
}

/* ---- damage ---- */

static void is_refused(struct world *w, const char *text, mode_t mode, const char *error)
{
    struct err err = { 0 };
    char *after;
    bool made;

    folder_put(w->path, mode, text, strlen(text));
    if (ca_open(w->folder.path, now_ms, &made, &w->ca, &err) == 0)
        fail_msg("taken for good: %s", text);
    if (!strstr(err.text, error) || !strstr(err.text, w->path))
        fail_msg("%s", err.text);
    after = folder_text(w->path);
    assert_string_equal(after, text);
    free(after);
}

static char *authority(enum cert_role role, int64_t until_ms)
{
    const struct cert_plan plan = { role, "x", names, now_ms - 2 * day_ms, until_ms };
    struct cert_key *key = cert_key_new();
    struct buf text = { 0 };
    struct err err = { 0 };
    char *copy;

    cert_key_write(key, &text);
    assert_int_equal(cert_issue(&plan, key, NULL, &text, &err), 0);
    copy = xstrdup(buf_text(&text));
    cert_key_free(key);
    buf_free(&text);
    return copy;
}

static void a_damaged_one_is_named_and_never_replaced(void **state)
{
    struct world *w = *state;
    char *good, *other, *expired, *server;
    struct buf mixed = { 0 };
    const char *cert;

    good = authority(CERT_CA, now_ms + day_ms);
    other = authority(CERT_CA, now_ms + day_ms);
    expired = authority(CERT_CA, now_ms);
    server = authority(CERT_SERVER, now_ms + day_ms);
    cert = strstr(good, "-----BEGIN CERT");
    buf_add(&mixed, good, (size_t)(cert - good));
    buf_puts(&mixed, strstr(other, "-----BEGIN CERT"));
    is_refused(w, "", 0600, "no certificate in it");
    is_refused(w, "junk", 0600, "no certificate in it");
    is_refused(w, cert, 0600, "key: not usable PEM");
    is_refused(w, buf_text(&mixed), 0600, "not signed by this key");
    is_refused(w, expired, 0600, "has expired");
    is_refused(w, server, 0600, "not the certificate of an authority");
    is_refused(w, good, 0640, "others may use it (mode 640)");
    is_refused(w, good, 0604, "others may use it");
    for (size_t n = strlen(good) - 2; n > 40; n -= 37) {
        char *cut = xmemdup(good, n);

        is_refused(w, cut, 0600, "ca.pem");
        free(cut);
    }
    folder_put(w->path, 0600, good, strlen(good));
    assert_false(open_ca(w));
    free(good);
    free(other);
    buf_free(&mixed);
    free(expired);
    free(server);
}

static void a_touched_certificate_is_refused(void **state)
{
    struct world *w = *state;
    char *good = authority(CERT_CA, now_ms + day_ms);
    size_t at = (size_t)(strstr(good, "-----BEGIN CERT") - good) + 28, n = strlen(good) - 32;

    for (; at < n; at += 5) {
        char *bad = xstrdup(good);

        if (bad[at] != '\n') {
            bad[at] = bad[at] == 'A' ? 'Q' : 'A';
            is_refused(w, bad, 0600, "ca.pem");
        }
        free(bad);
    }
    free(good);
}

static void every_failure_leaves_a_whole_one_or_none(void **state)
{
    struct world *w = *state;
    long nth = 1;

    for (;; nth++) {
        struct err err = { 0 };
        bool made, was_there;
        int bad;

        shut(w);
        folder_sweep(&w->folder);
        sys_fault("any", nth, EIO);
        bad = ca_open(w->folder.path, now_ms, &made, &w->ca, &err);
        if (!sys_fault_hit())
            break;
        sys_fault("any", 0, 0);
        if (bad)
            assert_non_null(strstr(err.text, w->path));
        was_there = access(w->path, F_OK) == 0;
        assert_int_equal(open_ca(w), !was_there);
    }
    assert_true(nth > 10);
}

/* Opens the CA in a child process that dies at the nth system call. */
static bool dies_making(struct world *w, long nth)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct err err;
        bool made;

        sys_fault("any", nth, 0);
        _exit(ca_open(w->folder.path, now_ms, &made, &w->ca, &err) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), SIGKILL);
    else
        assert_int_equal(status, 0);
    return WIFSIGNALED(status);
}

static void a_crash_at_any_step_leaves_a_whole_one_or_none(void **state)
{
    struct world *w = *state;
    long nth = 1;

    for (; dies_making(w, nth); nth++) {
        bool was_there = access(w->path, F_OK) == 0;

        assert_int_equal(open_ca(w), !was_there);
        folder_sweep(&w->folder);
    }
    assert_true(nth > 10);
}

static void two_that_create_it_at_once_get_the_same(void **state)
{
    struct world *w = *state;
    enum { MAKERS = 6 };
    int fds[2];
    char first[DIGEST_TEXT_SIZE], next[DIGEST_TEXT_SIZE];

    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < MAKERS; i++) {
        if (fork() == 0) {
            struct err err;
            bool made;

            if (ca_open(w->folder.path, now_ms, &made, &w->ca, &err) == 0 &&
                write(fds[1], ca_fingerprint(w->ca), DIGEST_TEXT_SIZE) == DIGEST_TEXT_SIZE)
                _exit(0);
            _exit(1);
        }
    }
    for (int i = 0, status; i < MAKERS; i++) {
        wait(&status);
        assert_int_equal(status, 0);
        assert_int_equal(read(fds[0], i ? next : first, sizeof(first)), sizeof(first));
        if (i)
            assert_string_equal(next, first);
    }
    close(fds[0]);
    close(fds[1]);
}

/* ---- issuing ---- */

static void only_the_key_of_a_request_counts(void **state)
{
    struct world *w = *state;
    char key_id[DIGEST_TEXT_SIZE];
    struct cert_key *public;
    struct cert_facts f;
    struct err err = { 0 };

    open_ca(w);
    assert_int_equal(cert_request_read(request_greedy, &public, &err), 0);
    cert_key_id(public, key_id);
    cert_key_free(public);
    if (ca_sign_agent(w->ca, request_greedy, "agent-1", 30, now_ms, &w->text, &err))
        fail_msg("%s", err.text);
    assert_int_equal(cert_read(buf_text(&w->text), &f, &err), 0);
    assert_int_equal(f.role, CERT_AGENT); /* neither a CA nor a server */
    assert_string_equal(f.agent_id, "agent-1");
    assert_string_equal(f.key_id, key_id);
    assert_int_equal(f.from_ms, now_ms - hour_ms);
    assert_int_equal(f.until_ms, now_ms + 30 * day_ms);
}

static void a_bad_request_gets_nothing(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *request, *id;
        int days;
        const char *error;
    } cases[] = {
        { "", "a", 30, "certificate request: not usable PEM" },
        { request_rsa, "a", 30, "P-256" },
        { request_greedy, "a/b", 30, "agent id: must consist of" },
        { request_greedy, "", 30, "agent id: must not be empty" },
        { request_greedy, "a", 0, "valid for 1 to 3650 days, not 0" },
        { request_greedy, "a", 3651, "valid for 1 to 3650 days" },
    };

    open_ca(w);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };

        assert_int_equal(ca_sign_agent(w->ca, cases[i].request, cases[i].id, cases[i].days, now_ms,
                                       &w->text, &err),
                         -1);
        if (!strstr(err.text, cases[i].error))
            fail_msg("%s", err.text);
        assert_int_equal(w->text.len, 0);
    }
}

static void nothing_lives_longer_than_the_authority(void **state)
{
    struct world *w = *state;
    char *text = authority(CERT_CA, now_ms + 5 * day_ms);
    struct cert_facts f;
    struct err err = { 0 };

    folder_put(w->path, 0600, text, strlen(text));
    open_ca(w);
    assert_int_equal(ca_sign_agent(w->ca, request_greedy, "a", 30, now_ms, &w->text, &err), 0);
    assert_int_equal(cert_read(buf_text(&w->text), &f, &err), 0);
    assert_int_equal(f.until_ms, now_ms + 5 * day_ms);
    free(text);
}

static void a_server_gets_key_certificate_and_authority(void **state)
{
    struct world *w = *state;
    static const char *const none[] = { NULL }, *const bad[] = { "a b", NULL };
    struct cert_key *key = NULL;
    struct cert_facts f;
    char key_id[DIGEST_TEXT_SIZE];
    struct err err = { 0 };

    open_ca(w);
    assert_int_equal(ca_issue_server(w->ca, bad, 30, now_ms, &w->text, &err), -1);
    assert_int_equal(w->text.len, 0);
    if (ca_issue_server(w->ca, none, 30, now_ms, &w->text, &err))
        fail_msg("%s", err.text);
    assert_int_equal(cert_read(buf_text(&w->text), &f, &err), 0);
    assert_int_equal(cert_key_read(buf_text(&w->text), &key, &err), 0);
    cert_key_id(key, key_id);
    assert_int_equal(f.role, CERT_SERVER);
    assert_string_equal(f.key_id, key_id);
    assert_non_null(strstr(buf_text(&w->text), ca_cert(w->ca)));
    cert_key_free(key);
}

static void a_certificate_is_due_in_its_last_third(void **state)
{
    const struct cert_facts f = { .from_ms = now_ms, .until_ms = now_ms + 30 * day_ms };

    (void)state;
    assert_false(ca_is_due(&f, now_ms));
    assert_false(ca_is_due(&f, now_ms + 20 * day_ms));
    assert_true(ca_is_due(&f, now_ms + 20 * day_ms + 1));
    assert_true(ca_is_due(&f, now_ms + 40 * day_ms));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_made_once_and_then_the_same),
        TEST(two_are_never_the_same),
        TEST(the_key_is_never_in_what_goes_out),
        TEST(a_damaged_one_is_named_and_never_replaced),
        TEST(a_touched_certificate_is_refused),
        TEST(every_failure_leaves_a_whole_one_or_none),
        TEST(a_crash_at_any_step_leaves_a_whole_one_or_none),
        TEST(two_that_create_it_at_once_get_the_same),
        TEST(only_the_key_of_a_request_counts),
        TEST(a_bad_request_gets_nothing),
        TEST(nothing_lives_longer_than_the_authority),
        TEST(a_server_gets_key_certificate_and_authority),
        TEST(a_certificate_is_due_in_its_last_third),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
