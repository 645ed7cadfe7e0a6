/* SPDX-License-Identifier: MIT */
/* Resumed sessions: when a session is resumed, when it must not be, and that the server
 * identifies its peer in both cases. */
#include "wire/tls/tls_resume.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/sys.h"
#include "tests/lib/folder.h"
#include "tests/lib/pki.h"
#include "wire/tls/tls.h"

enum { ROUNDS = 50 };

struct world {
    struct folder folder;
    char path[64];
    struct pki ours, other;
    char *server_pem, *agent_pem;
    struct tickets tickets;
    struct tls *server, *client;
    struct tls_conn *s, *c;
    enum tls_status s_status, c_status;
    struct err s_err, c_err;
    int fds[2]; /* client, server */
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));
    struct err err = { 0 };

    folder_init(&w->folder);
    snprintf(w->path, sizeof(w->path), "%s/tickets", w->folder.path);
    pki_init(&w->ours, "ours");
    pki_init(&w->other, "other");
    w->server_pem =
        pki_issue(&(struct pki_wish){ CERT_SERVER, "s", &w->ours, &w->ours, -1, 1, NULL });
    w->agent_pem =
        pki_issue(&(struct pki_wish){ CERT_AGENT, "agent-7", &w->ours, NULL, -1, 1, NULL });
    if (tickets_keep(w->path, pki_now_ms(), &w->tickets, &err))
        fail_msg("%s", err.text);
    *state = w;
    return 0;
}

static void hang_up(struct world *w)
{
    if (!w->c)
        return;
    tls_conn_free(w->c);
    tls_conn_free(w->s);
    close(w->fds[0]);
    close(w->fds[1]);
    w->c = w->s = NULL;
}

static int teardown(void **state)
{
    struct world *w = *state;

    hang_up(w);
    tls_free(w->server);
    tls_free(w->client);
    pki_done(&w->ours);
    pki_done(&w->other);
    free(w->server_pem);
    free(w->agent_pem);
    folder_done(&w->folder);
    free(w);
    return 0;
}

static struct tls_config server_config(struct world *w)
{
    return (struct tls_config){ .own_pem = w->server_pem,
                                .ca_pem = buf_text(&w->ours.pem),
                                .only_1_3 = true };
}

static struct tls_config client_config(struct world *w)
{
    return (struct tls_config){ .own_pem = w->agent_pem,
                                .ca_pem = buf_text(&w->ours.pem),
                                .only_1_3 = true,
                                .keep_session = true };
}

/* A server as after a restart: only the file of the previous one is left. */
static void start_server_as(struct world *w, const struct tls_config *config)
{
    struct err err = { 0 };

    hang_up(w);
    tls_free(w->server);
    w->tickets = (struct tickets){ 0 }; /* a new server has only the keys of the file */
    if (tickets_keep(w->path, pki_now_ms(), &w->tickets, &err) ||
        tls_server_new(config, &w->server, &err))
        fail_msg("%s", err.text);
    tls_set_tickets(w->server, &w->tickets);
}

static void start_server(struct world *w)
{
    struct tls_config config = server_config(w);

    start_server_as(w, &config);
}

static void start_client_as(struct world *w, const struct tls_config *config)
{
    struct err err = { 0 };

    hang_up(w);
    tls_free(w->client);
    if (tls_client_new(config, &w->client, &err))
        fail_msg("%s", err.text);
}

static void start_client(struct world *w)
{
    struct tls_config config = client_config(w);

    start_client_as(w, &config);
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
}

/* Makes a new connection; if that succeeds, the client receives a byte, and with it the ticket. */
static void dial(struct world *w, const char *host)
{
    struct err err = { 0 };
    char byte = 0;
    size_t n;

    hang_up(w);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, w->fds), 0);
    if (tls_conn_new(w->client, w->fds[0], host, &w->c, &err) ||
        tls_conn_new(w->server, w->fds[1], NULL, &w->s, &err))
        fail_msg("%s", err.text);
    shake_hands(w);
    if (w->s_status == TLS_OK && w->c_status == TLS_OK) {
        assert_int_equal(tls_conn_write(w->s, "x", 1, &n, &err), TLS_OK);
        assert_int_equal(tls_conn_read(w->c, &byte, 1, &n, &err), TLS_OK);
    }
}

static void meets(struct world *w, bool resumed)
{
    dial(w, "localhost");
    if (w->s_status != TLS_OK)
        fail_msg("%s", w->s_err.text);
    if (w->c_status != TLS_OK)
        fail_msg("%s", w->c_err.text);
    assert_int_equal(tls_conn_is_resumed(w->s), resumed);
    assert_int_equal(tls_conn_is_resumed(w->c), resumed);
}

static struct cert_facts peer(struct world *w)
{
    struct cert_facts f;
    struct err err = { 0 };

    if (tls_conn_peer(w->s, &f, &err))
        fail_msg("%s", err.text);
    return f;
}

static void a_session_survives_restarts_of_the_server(void **state)
{
    struct world *w = *state;
    struct cert_facts first, then;

    start_server(w);
    start_client(w);
    meets(w, false);
    first = peer(w);
    assert_string_equal(first.agent_id, "agent-7");
    for (int i = 0; i < 3; i++) { /* each time with the previous connection's ticket */
        start_server(w);
        meets(w, true);
        then = peer(w);
        assert_memory_equal(&then, &first, sizeof(then));
    }
}

/* A server checks for revocation after each handshake: the certificate is not verified again,
 * but its serial number is known. */
static void a_resumed_session_tells_the_serial_for_revocation(void **state)
{
    struct world *w = *state;
    char revoked[CERT_SERIAL_SIZE];
    struct cert_facts f;

    start_server(w);
    start_client(w);
    meets(w, false);
    f = peer(w);
    snprintf(revoked, sizeof(revoked), "%s", f.serial);
    start_server(w);
    meets(w, true);
    f = peer(w);
    assert_string_equal(f.serial, revoked);
}

/* The connection is cut on one side or on both, without close_notify. */
static void a_session_survives_a_lost_connection(void **state)
{
    struct world *w = *state;
    char byte;
    size_t n;

    start_server(w);
    start_client(w);
    meets(w, false);
    shutdown(w->fds[1], SHUT_RDWR);
    assert_int_equal(tls_conn_read(w->c, &byte, 1, &n, &w->c_err), TLS_FAILED);
    meets(w, true);
    hang_up(w);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, w->fds), 0);
    assert_int_equal(tls_conn_new(w->client, w->fds[0], "localhost", &w->c, &w->c_err), 0);
    assert_int_equal(tls_conn_handshake(w->c, &w->c_err), TLS_WANT_READ);
    shutdown(w->fds[1], SHUT_RDWR);
    assert_int_equal(tls_conn_handshake(w->c, &w->c_err), TLS_FAILED);
    meets(w, true);
}

static void other_keys_mean_a_full_handshake(void **state)
{
    struct world *w = *state;

    start_server(w);
    start_client(w);
    meets(w, false);
    unlink(w->path);
    start_server(w);
    meets(w, false);
    meets(w, true);
}

static void an_older_key_opens_and_the_newest_seals(void **state)
{
    struct world *w = *state;
    struct tickets newest;
    struct err err = { 0 };

    start_server(w);
    start_client(w);
    meets(w, false);
    assert_int_equal(tickets_keep(w->path, pki_now_ms() + 25 * PKI_HOUR_MS, &w->tickets, &err), 0);
    assert_int_equal(w->tickets.n, 2);
    tls_set_tickets(w->server, &w->tickets);
    meets(w, true);
    newest = w->tickets;
    newest.n = 1;
    tls_set_tickets(w->server, &newest); /* the older key is gone */
    meets(w, true);
    assert_string_equal(peer(w).agent_id, "agent-7");
}

static void without_keys_a_session_lasts_as_long_as_the_server(void **state)
{
    struct world *w = *state;
    struct tls_config config = server_config(w);
    struct err err = { 0 };

    assert_int_equal(tls_server_new(&config, &w->server, &err), 0);
    start_client(w);
    meets(w, false);
    meets(w, true);
    assert_string_equal(peer(w).agent_id, "agent-7");
    hang_up(w);
    tls_free(w->server);
    assert_int_equal(tls_server_new(&config, &w->server, &err), 0);
    meets(w, false);
}

static void a_client_that_keeps_nothing_begins_anew(void **state)
{
    struct world *w = *state;
    struct tls_config config = client_config(w);
    struct buf bytes = { 0 };

    config.keep_session = false;
    start_server(w);
    start_client_as(w, &config);
    meets(w, false);
    meets(w, false);
    assert_false(tls_session_write(w->client, &bytes));
}

/* ---- sessions that must not be resumed ---- */

static void another_ca_takes_up_nothing(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w);

    start_server(w);
    start_client(w);
    meets(w, false);
    server.ca_pem = buf_text(&w->other.pem);
    start_server_as(w, &server);
    dial(w, "localhost");
    assert_int_equal(w->s_status, TLS_FAILED);
    assert_int_equal(w->s_err.code, ERR_DENIED);
}

static void a_session_without_a_certificate_stays_without(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w), client = client_config(w);
    struct cert_facts f;
    struct err err = { 0 };

    client.own_pem = NULL;
    server.client_cert_optional = true;
    start_server_as(w, &server);
    start_client_as(w, &client);
    meets(w, false);
    meets(w, true); /* still without a certificate */
    assert_int_equal(tls_conn_peer(w->s, &f, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    start_server(w);
    dial(w, "localhost");
    assert_int_equal(w->s_status, TLS_FAILED);
    assert_non_null(strstr(w->s_err.text, "the peer has shown no certificate"));
}

/* The certificate is valid for one second: it expires between two connections. */
static void an_expired_certificate_ends_the_session(void **state)
{
    struct world *w = *state;
    int64_t until_ms = (pki_now_ms() / 1000 + 2) * 1000;
    const struct cert_plan plan = { CERT_AGENT, "short", NULL, until_ms - PKI_HOUR_MS, until_ms };
    const struct cert_issuer by = { buf_text(&w->ours.pem), w->ours.key };
    struct tls_config client = client_config(w);
    struct cert_key *key = cert_key_new();
    struct buf own = { 0 };
    struct err err = { 0 };

    cert_key_write(key, &own);
    assert_int_equal(cert_issue(&plan, key, &by, &own, &err), 0);
    client.own_pem = buf_text(&own);
    start_server(w);
    start_client_as(w, &client);
    meets(w, false);
    while (pki_now_ms() <= until_ms + 1000) /* certificates have a resolution of seconds */
        usleep(20000);
    dial(w, "localhost");
    assert_int_equal(w->s_status, TLS_FAILED);
    assert_int_equal(w->s_err.code, ERR_DENIED);
    assert_non_null(strstr(w->s_err.text, "expired"));
    cert_key_free(key);
    buf_free(&own);
}

/* Resuming verifies no name, so a session is only for the host where it began. */
static void a_session_is_for_one_host(void **state)
{
    struct world *w = *state;

    start_server(w);
    start_client(w);
    meets(w, false);
    dial(w, "remotehost");
    assert_int_equal(w->c_status, TLS_FAILED);
    assert_non_null(strstr(w->c_err.text, "mismatch"));
}

static void a_forged_ticket_is_ignored(void **state)
{
    struct world *w = *state;
    struct tickets wrong;

    start_server(w);
    start_client(w);
    meets(w, false);
    wrong = w->tickets; /* the right name, the wrong keys */
    memset(wrong.keys[0].bytes + TICKET_NAME_SIZE, 7, TICKET_SECRET_SIZE);
    tls_set_tickets(w->server, &wrong);
    meets(w, false);
}

/* ---- as bytes ---- */

static void a_session_survives_a_restart_of_the_client(void **state)
{
    struct world *w = *state;
    struct buf bytes = { 0 };
    struct err err = { 0 };

    start_server(w);
    start_client(w);
    assert_false(tls_session_write(w->client, &bytes));
    meets(w, false);
    assert_true(tls_session_write(w->client, &bytes));
    start_client(w);
    if (tls_session_read(w->client, buf_data(&bytes), bytes.len, &err))
        fail_msg("%s", err.text);
    meets(w, true);
    assert_string_equal(peer(w).agent_id, "agent-7");
    buf_free(&bytes);
}

static void bytes_from_under_another_ca_are_refused(void **state)
{
    struct world *w = *state;
    struct tls_config client = client_config(w);
    struct buf bytes = { 0 };
    struct err err = { 0 };

    start_server(w);
    start_client(w);
    meets(w, false);
    assert_true(tls_session_write(w->client, &bytes));
    client.ca_pem = buf_text(&w->other.pem);
    start_client_as(w, &client);
    assert_int_equal(tls_session_read(w->client, buf_data(&bytes), bytes.len, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    client.ca_pem = NULL;
    client.ca_pin = w->ours.facts.fingerprint;
    start_client_as(w, &client);
    assert_int_equal(tls_session_read(w->client, buf_data(&bytes), bytes.len, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    buf_free(&bytes);
}

static void damaged_bytes_do_no_harm(void **state)
{
    struct world *w = *state;
    struct buf bytes = { 0 };
    struct err err = { 0 };

    start_server(w);
    start_client(w);
    meets(w, false);
    assert_true(tls_session_write(w->client, &bytes));
    start_client(w);
    for (size_t n = 0; n < bytes.len; n++) {
        char *cut = xmemdup(buf_data(&bytes), n);

        assert_int_equal(tls_session_read(w->client, cut, n, &err), -1);
        assert_int_equal(err.code, ERR_MALFORMED);
        free(cut);
    }
    for (size_t i = 0; i < bytes.len; i++) {
        char *bad = xmemdup(buf_data(&bytes), bytes.len);

        bad[i] ^= 1;
        if (tls_session_read(w->client, bad, bytes.len, &err) == 0) {
            dial(w, "localhost"); /* the server may report the error */
            if (w->c_status != TLS_OK || w->s_status != TLS_OK)
                meets(w, false);
        }
        free(bad);
    }
    buf_free(&bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_survives_restarts_of_the_server),
        TEST(a_resumed_session_tells_the_serial_for_revocation),
        TEST(a_session_survives_a_lost_connection),
        TEST(other_keys_mean_a_full_handshake),
        TEST(an_older_key_opens_and_the_newest_seals),
        TEST(without_keys_a_session_lasts_as_long_as_the_server),
        TEST(a_client_that_keeps_nothing_begins_anew),
        TEST(another_ca_takes_up_nothing),
        TEST(a_session_without_a_certificate_stays_without),
        TEST(an_expired_certificate_ends_the_session),
        TEST(a_session_is_for_one_host),
        TEST(a_forged_ticket_is_ignored),
        TEST(a_session_survives_a_restart_of_the_client),
        TEST(bytes_from_under_another_ca_are_refused),
        TEST(damaged_bytes_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
