/* SPDX-License-Identifier: MIT */
#include "wire/tls/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { ROUNDS = 50 };

/* Two unrelated self-signed certificates, and the two ends of a connection. */
struct world {
    char dir[32], cert[64], key[64], other_cert[64], other_key[64];
    struct tls *server, *client;
    struct tls_conn *s, *c;
    enum tls_status s_status, c_status;
    struct err s_err, c_err;
    int fds[2]; /* client, server */
};

static const char *const names[] = { "localhost", "127.0.0.1", "::1", "*.example.org", NULL };

static int make_files(void **state)
{
    struct world *w = xalloc(sizeof(*w));
    struct err err = { 0 };

    snprintf(w->dir, sizeof(w->dir), "/tmp/tls-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->cert, sizeof(w->cert), "%s/cert", w->dir);
    snprintf(w->key, sizeof(w->key), "%s/key", w->dir);
    snprintf(w->other_cert, sizeof(w->other_cert), "%s/other-cert", w->dir);
    snprintf(w->other_key, sizeof(w->other_key), "%s/other-key", w->dir);
    if (tls_make_self_signed(w->cert, w->key, names, 30, &err) ||
        tls_make_self_signed(w->other_cert, w->other_key, names, 30, &err))
        fail_msg("%s", err.text);
    *state = w;
    return 0;
}

static int remove_files(void **state)
{
    struct world *w = *state;

    unlink(w->cert);
    unlink(w->key);
    unlink(w->other_cert);
    unlink(w->other_key);
    assert_int_equal(rmdir(w->dir), 0);
    free(w);
    return 0;
}

static int setup(void **state)
{
    struct world *w = *state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, w->fds), 0);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    tls_conn_free(w->c);
    tls_conn_free(w->s);
    tls_free(w->client);
    tls_free(w->server);
    close(w->fds[0]);
    close(w->fds[1]);
    w->c = w->s = NULL;
    w->client = w->server = NULL;
    return 0;
}

static void make_ends(struct world *w, const struct tls_config *server,
                      const struct tls_config *client, const char *host)
{
    struct err err = { 0 };

    if (tls_server_new(server, &w->server, &err) || tls_client_new(client, &w->client, &err) ||
        tls_conn_new(w->client, w->fds[0], host, &w->c, &err) ||
        tls_conn_new(w->server, w->fds[1], NULL, &w->s, &err))
        fail_msg("%s", err.text);
}

static bool is_waiting(enum tls_status st)
{
    return st == TLS_WANT_READ || st == TLS_WANT_WRITE;
}

static void shake_hands(struct world *w)
{
    w->c_status = w->s_status = TLS_WANT_READ;
    for (int i = 0; i < ROUNDS && (is_waiting(w->c_status) || is_waiting(w->s_status)); i++) {
        if (is_waiting(w->c_status))
            w->c_status = tls_conn_handshake(w->c, &w->c_err);
        if (is_waiting(w->s_status))
            w->s_status = tls_conn_handshake(w->s, &w->s_err);
        if (w->c_status == TLS_FAILED)
            shutdown(w->fds[0], SHUT_WR);
        if (w->s_status == TLS_FAILED)
            shutdown(w->fds[1], SHUT_WR);
    }
    assert_false(is_waiting(w->c_status) || is_waiting(w->s_status));
}

/* A correct handshake of a client with the server of `w`. */
static void shake_hands_well(struct world *w)
{
    struct tls_config server = { w->cert, w->key, NULL, false };
    struct tls_config client = { .ca_path = w->cert };

    make_ends(w, &server, &client, "localhost");
    shake_hands(w);
    assert_int_equal(w->c_status, TLS_OK);
    assert_int_equal(w->s_status, TLS_OK);
}

static void pass(struct tls_conn *from, struct tls_conn *to, const char *text)
{
    char got[64] = "";
    struct err err = { 0 };
    size_t n = 0;

    assert_int_equal(tls_conn_write(from, text, strlen(text), &n, &err), TLS_OK);
    assert_int_equal(n, strlen(text));
    if (tls_conn_read(to, got, sizeof(got) - 1, &n, &err) != TLS_OK)
        fail_msg("%s", err.text);
    got[n] = '\0';
    assert_string_equal(got, text);
}

static void bytes_pass_both_ways(void **state)
{
    struct world *w = *state;

    shake_hands_well(w);
    pass(w->c, w->s, "to the server");
    pass(w->s, w->c, "to the client");
}

static void only_1_3_still_speaks_with_one_that_can(void **state)
{
    struct world *w = *state;
    struct tls_config server = { w->cert, w->key, NULL, true };
    struct tls_config client = { .ca_path = w->cert, .only_1_3 = true };

    make_ends(w, &server, &client, "localhost");
    shake_hands(w);
    pass(w->c, w->s, "x");
}

static void a_certificate_is_good_for_its_names_only(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *host;
        bool ok;
    } cases[] = {
        { "localhost", true },     { "127.0.0.1", true }, { "::1", true },
        { "a.example.org", true }, { "LOCALHOST", true }, { "localhost.evil.org", false },
        { "127.0.0.2", false },    { "::2", false },      { "a.b.example.org", false },
        { "example.org", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tls_config server = { w->cert, w->key, NULL, false };
        struct tls_config client = { .ca_path = w->cert };

        make_ends(w, &server, &client, cases[i].host);
        shake_hands(w);
        if ((w->c_status == TLS_OK) != cases[i].ok)
            fail_msg("%s: %s", cases[i].host, w->c_err.text);
        if (!cases[i].ok) {
            assert_int_equal(w->c_err.code, ERR_DENIED);
            assert_non_null(strstr(w->c_err.text, "certificate is refused ("));
            assert_non_null(strstr(w->c_err.text, "mismatch)"));
        }
        teardown(state);
        setup(state);
    }
}

static void a_server_signed_by_another_is_refused(void **state)
{
    struct world *w = *state;
    struct tls_config server = { w->cert, w->key, NULL, false };
    struct tls_config client = { .ca_path = w->other_cert };

    make_ends(w, &server, &client, "localhost");
    shake_hands(w);
    assert_int_equal(w->c_status, TLS_FAILED);
    assert_int_equal(w->c_err.code, ERR_DENIED);
    assert_string_equal(w->c_err.text, "TLS handshake: the peer's certificate is refused "
                                       "(self-signed certificate)");
    assert_int_equal(w->s_status, TLS_FAILED);
    assert_non_null(strstr(w->s_err.text, "the peer refuses our certificate"));
}

static void the_system_does_not_trust_a_self_signed_server(void **state)
{
    struct world *w = *state;
    struct tls_config server = { w->cert, w->key, NULL, false };
    struct tls_config client = { 0 };

    make_ends(w, &server, &client, "localhost");
    shake_hands(w);
    assert_int_equal(w->c_status, TLS_FAILED);
}

/* A TLS 1.3 client learns that it was refused only when it reads. */
static void a_server_with_a_ca_takes_its_clients_only(void **state)
{
    struct world *w = *state;
    const struct {
        const char *cert, *key, *server_says, *client_says;
    } cases[] = {
        { w->cert, w->key, NULL, NULL },
        { NULL, NULL, "the peer has shown no certificate", "the peer asks for a certificate" },
        { w->other_cert, w->other_key, "the peer's certificate is refused",
          "the peer refuses our certificate" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tls_config server = { w->cert, w->key, w->cert, false };
        struct tls_config client = { cases[i].cert, cases[i].key, w->cert, false };
        char byte;
        size_t n;

        make_ends(w, &server, &client, "localhost");
        shake_hands(w);
        if (cases[i].server_says) {
            assert_int_equal(w->s_status, TLS_FAILED);
            assert_int_equal(w->s_err.code, ERR_DENIED);
            assert_non_null(strstr(w->s_err.text, cases[i].server_says));
            assert_int_equal(tls_conn_read(w->c, &byte, 1, &n, &w->c_err), TLS_FAILED);
            assert_non_null(strstr(w->c_err.text, cases[i].client_says));
        } else {
            assert_int_equal(w->s_status, TLS_OK);
            pass(w->c, w->s, "x");
        }
        teardown(state);
        setup(state);
    }
}

static void an_end_in_order_is_told_from_a_cut(void **state)
{
    struct world *w = *state;
    char byte;
    size_t n;

    shake_hands_well(w);
    assert_int_equal(tls_conn_end(w->c), TLS_OK);
    assert_int_equal(tls_conn_read(w->s, &byte, 1, &n, &w->s_err), TLS_END);
    pass(w->s, w->c, "the other way is open still");
    shutdown(w->fds[1], SHUT_WR);
    assert_int_equal(tls_conn_read(w->c, &byte, 1, &n, &w->c_err), TLS_FAILED);
    assert_int_equal(w->c_err.code, ERR_UNAVAILABLE);
    assert_string_equal(w->c_err.text, "TLS read: the peer closed the connection without ending "
                                       "TLS; bytes may be missing");
}

static void the_error_says_that_the_peer_speaks_no_tls(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *bytes, *error;
    } cases[] = {
        { "GET / HTTP/1.1\r\n\r\n", "TLS handshake: the peer speaks plain HTTP, not TLS" },
        { "POST / HTTP/1.1\r\n\r\n", "the peer speaks plain HTTP, not TLS" },
        { "SSH-2.0-OpenSSH_9.2\r\n", "the peer does not speak TLS" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tls_config server = { w->cert, w->key, NULL, false };
        ssize_t n = (ssize_t)strlen(cases[i].bytes);

        assert_int_equal(tls_server_new(&server, &w->server, &w->s_err), 0);
        assert_int_equal(tls_conn_new(w->server, w->fds[1], NULL, &w->s, &w->s_err), 0);
        assert_int_equal(write(w->fds[0], cases[i].bytes, (size_t)n), n);
        assert_int_equal(tls_conn_handshake(w->s, &w->s_err), TLS_FAILED);
        assert_int_equal(w->s_err.code, ERR_INVALID);
        if (!strstr(w->s_err.text, cases[i].error))
            fail_msg("%s", w->s_err.text);
        teardown(state);
        setup(state);
    }
}

static void a_lost_peer_is_an_error_and_not_a_signal(void **state)
{
    struct world *w = *state;
    size_t n;

    signal(SIGPIPE, SIG_DFL);
    shake_hands_well(w);
    close(w->fds[0]);
    w->fds[0] = -1;
    assert_int_equal(tls_conn_write(w->s, "x", 1, &n, &w->s_err), TLS_FAILED);
    assert_int_equal(w->s_err.sys, EPIPE);
    assert_int_equal(tls_conn_end(w->s), TLS_OK);
}

static void a_full_socket_takes_the_same_bytes_later(void **state)
{
    struct world *w = *state;
    size_t len = 1 << 20, sent = 0, got = 0, n = 0;
    char *out = xalloc(len), *in = xalloc(len);
    enum tls_status st = TLS_OK;

    for (size_t i = 0; i < len; i++)
        out[i] = (char)(i * 7 + (i >> 9));
    shake_hands_well(w);
    while (sent < len || got < len) {
        char *moved = xmemdup(out + sent, len - sent); /* the same bytes at another address */

        n = 0;
        st = sent < len ? tls_conn_write(w->s, moved, len - sent, &n, &w->s_err) : TLS_WANT_READ;
        sent += n;
        free(moved);
        if (st == TLS_OK)
            continue;
        assert_true(is_waiting(st));
        do {
            n = 0;
            st = tls_conn_read(w->c, in + got, len - got, &n, &w->c_err);
            got += n;
        } while (st == TLS_OK && got < len);
        assert_true(st == TLS_OK || st == TLS_WANT_READ);
    }
    assert_memory_equal(in, out, len);
    free(in);
    free(out);
}

static void what_waits_inside_is_known(void **state)
{
    struct world *w = *state;
    char bytes[8];
    size_t n;

    shake_hands_well(w);
    assert_int_equal(tls_conn_write(w->c, "12345678", 8, &n, &w->c_err), TLS_OK);
    assert_int_equal(tls_conn_read(w->s, bytes, 3, &n, &w->s_err), TLS_OK);
    assert_true(tls_conn_has_pending(w->s));
    assert_false(tls_conn_is_drained(w->s));
    assert_int_equal(tls_conn_read(w->s, bytes, 8, &n, &w->s_err), TLS_OK);
    assert_int_equal(n, 5);
    assert_false(tls_conn_has_pending(w->s));
    assert_true(tls_conn_is_drained(w->s));
}

static void the_shared_part_outlives_its_maker(void **state)
{
    struct world *w = *state;

    shake_hands_well(w);
    tls_free(w->server);
    tls_free(w->client);
    w->server = w->client = NULL;
    pass(w->c, w->s, "x");
}

static void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

static void bad_files_are_named_with_the_cause(void **state)
{
    struct world *w = *state;
    char junk[64];
    const struct {
        struct tls_config config;
        const char *error, *path;
    } cases[] = {
        { { NULL, NULL, NULL, false }, "a server needs a certificate and its key", "" },
        { { w->cert, NULL, NULL, false }, "a certificate needs its key", "" },
        { { "/nowhere/c", w->key, NULL, false }, "No such file or directory", "/nowhere/c" },
        { { w->cert, "/nowhere/k", NULL, false }, "No such file or directory", "/nowhere/k" },
        { { w->cert, w->key, "/nowhere/a", false }, "No such file or directory", "/nowhere/a" },
        { { junk, w->key, NULL, false }, "not usable PEM (no start line)", junk },
        { { w->cert, junk, NULL, false }, "not usable PEM", junk },
        { { w->cert, w->key, junk, false }, "not usable PEM", junk },
        { { w->key, w->key, NULL, false }, "not usable PEM", w->key },
        { { w->cert, w->other_key, NULL, false }, "is not the key of certificate", w->other_key },
    };

    snprintf(junk, sizeof(junk), "%s/junk", w->dir);
    put_text(junk, "this is not PEM\n");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };

        assert_int_equal(tls_server_new(&cases[i].config, &w->server, &err), -1);
        if (!strstr(err.text, cases[i].error) || !strstr(err.text, cases[i].path))
            fail_msg("case %zu gave: %s", i, err.text);
    }
    unlink(junk);
}

static void the_key_is_for_its_owner_only_and_stays(void **state)
{
    struct world *w = *state;
    struct stat before, after;
    struct err err = { 0 };

    assert_int_equal(stat(w->key, &before), 0);
    assert_int_equal(before.st_mode & 0777, 0600);
    assert_int_equal(tls_make_self_signed(w->cert, w->key, names, 30, &err), 0);
    assert_int_equal(stat(w->key, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    shake_hands_well(w);
    chmod(w->key, 0666);
    assert_int_equal(tls_make_self_signed(w->cert, w->key, names, 30, &err), -1);
    assert_non_null(strstr(err.text, w->key));
    chmod(w->key, 0600);
}

static void a_certificate_for_nothing_is_not_made(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *names[2];
        int days;
        const char *error;
    } cases[] = {
        { { NULL }, 30, "at least one name" },
        { { "a b" }, 30, "'a b' is neither a host name nor an address" },
        { { "a,DNS:b" }, 30, "neither" },
        { { "" }, 30, "neither" },
        { { "localhost" }, 0, "valid for 1 to 36500 days, not 0" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };

        assert_int_equal(tls_make_self_signed(w->cert, w->key, cases[i].names, cases[i].days, &err),
                         -1);
        assert_non_null(strstr(err.text, cases[i].error));
    }
}

/* Whatever fails during a renewal, there is a key with a matching certificate. */
static void every_failure_of_renewing_leaves_a_pair_that_fits(void **state)
{
    struct world *w = *state;
    const struct tls_config pair = { .cert_path = w->cert, .key_path = w->key };
    char beside[80];
    long nth = 1;

    snprintf(beside, sizeof(beside), "%s.new", w->cert);
    for (;; nth++) {
        struct err err = { 0 };
        struct tls *t;
        int bad;

        sys_fault("any", nth, EIO);
        bad = tls_make_self_signed(w->cert, w->key, names, 30, &err);
        if (!sys_fault_hit())
            break;
        sys_fault("any", 0, 0);
        assert_int_equal(bad, -1);
        assert_non_null(strstr(err.text, w->dir));
        assert_int_equal(access(beside, F_OK), -1);
        if (tls_server_new(&pair, &t, &err))
            fail_msg("call %ld: %s", nth, err.text);
        tls_free(t);
    }
    sys_fault("any", 0, 0);
    assert_true(nth > 6); /* open, write, fsync, rename, and open, fsync of the folder at least */
}

static void a_host_goes_with_a_client_only(void **state)
{
    struct world *w = *state;
    struct err err;

    shake_hands_well(w);
    tls_conn_free(w->c);
    tls_conn_free(w->s);
    w->c = w->s = NULL;
    assert_int_equal(tls_conn_new(w->client, w->fds[0], NULL, &w->c, &err), -1);
    assert_int_equal(tls_conn_new(w->client, w->fds[0], "", &w->c, &err), -1);
    assert_int_equal(tls_conn_new(w->server, w->fds[1], "localhost", &w->s, &err), -1);
}

/* A client that uses OpenSSL directly, for what ours does not do. */
static SSL *shake_hands_by_hand(struct world *w, SSL_CTX *ctx)
{
    const struct tls_config server = { w->cert, w->key, NULL, true };
    enum tls_status st = TLS_WANT_READ;
    SSL *ssl = SSL_new(ctx);
    int rc = 0;

    if (tls_server_new(&server, &w->server, &w->s_err) ||
        tls_conn_new(w->server, w->fds[1], NULL, &w->s, &w->s_err))
        fail_msg("%s", w->s_err.text);
    SSL_set_fd(ssl, w->fds[0]);
    for (int i = 0; i < ROUNDS && (rc != 1 || st != TLS_OK); i++) {
        rc = SSL_connect(ssl);
        st = tls_conn_handshake(w->s, &w->s_err);
    }
    assert_true(rc == 1 && st == TLS_OK);
    return ssl;
}

/* Makes the records end where almost nothing of the next one was read with them: OpenSSL 3.0
 * reads that many bytes at once, and continues as long as a record is incomplete. */
static size_t pad_some(SSL *ssl, int type, size_t n, void *arg)
{
    enum { AT_ONCE = 16709, RECORD = 27, BEGUN = 3, FEW = (AT_ONCE - BEGUN) / RECORD };
    int *count = arg;

    (void)ssl;
    (void)type;
    (void)n;
    return ++*count % FEW == 0 ? AT_ONCE - BEGUN - FEW * RECORD : 0;
}

/* The reader gets no bytes from key updates, but the call must return soon. */
static void endless_key_updates_do_not_block_the_reader(void **state)
{
    enum { UPDATES = 4000 };
    struct world *w = *state;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = shake_hands_by_hand(w, ctx);
    BIO *updates = BIO_new(BIO_s_mem());
    char got[16], *bytes;
    int left = 0, padded = 0;
    size_t n;
    long all;

    SSL_set0_wbio(ssl, updates);
    SSL_set_record_padding_callback(ssl, pad_some);
    SSL_set_record_padding_callback_arg(ssl, &padded);
    for (int i = 0; i < UPDATES; i++) {
        assert_int_equal(SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(ssl), 1);
    }
    all = BIO_get_mem_data(updates, &bytes);
    assert_int_equal(write(w->fds[0], bytes, (size_t)all), all);
    assert_int_equal(tls_conn_read(w->s, got, sizeof(got), &n, &w->s_err), TLS_WANT_READ);
    assert_int_equal(ioctl(w->fds[1], FIONREAD, &left), 0);
    assert_true(left > all / 2);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_pass_both_ways),
        TEST(only_1_3_still_speaks_with_one_that_can),
        TEST(a_certificate_is_good_for_its_names_only),
        TEST(a_server_signed_by_another_is_refused),
        TEST(the_system_does_not_trust_a_self_signed_server),
        TEST(a_server_with_a_ca_takes_its_clients_only),
        TEST(an_end_in_order_is_told_from_a_cut),
        TEST(the_error_says_that_the_peer_speaks_no_tls),
        TEST(a_lost_peer_is_an_error_and_not_a_signal),
        TEST(a_full_socket_takes_the_same_bytes_later),
        TEST(what_waits_inside_is_known),
        TEST(the_shared_part_outlives_its_maker),
        TEST(bad_files_are_named_with_the_cause),
        TEST(the_key_is_for_its_owner_only_and_stays),
        TEST(a_certificate_for_nothing_is_not_made),
        TEST(every_failure_of_renewing_leaves_a_pair_that_fits),
        TEST(a_host_goes_with_a_client_only),
        TEST(endless_key_updates_do_not_block_the_reader),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
