/* SPDX-License-Identifier: MIT */
/* Which peers are accepted, over real handshakes: a table of all wrong ones. */
#include "wire/tls/tls_trust.h"

#include "tests/lib/ends.h"
#include "tests/lib/folder.h"
#include "tests/lib/pki.h"
#include "wire/tls/ca.h"

/* `twin` has the same name as `ours`, but another key. */
struct world {
    struct ends *ends;
    struct pki ours, other, twin;
    struct pki deputy; /* an agent's certificate of our CA, used to sign others */
    char *server, *agent;
};

static void make_deputy(struct pki *p, struct pki *ca)
{
    const int64_t now_ms = pki_now_ms();
    const struct cert_plan plan = { CERT_AGENT, "deputy", NULL, now_ms - PKI_HOUR_MS,
                                    now_ms + PKI_HOUR_MS };
    const struct cert_issuer by = { buf_text(&ca->pem), ca->key };
    struct err err = { 0 };

    p->key = cert_key_new();
    if (cert_issue(&plan, p->key, &by, &p->pem, &err))
        fail_msg("%s", err.text);
    buf_puts(&p->pem, buf_text(&ca->pem));
}

static int make_world(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    pki_init(&w->ours, "holdfast CA 1");
    pki_init(&w->other, "holdfast CA 2");
    pki_init(&w->twin, "holdfast CA 1");
    make_deputy(&w->deputy, &w->ours);
    w->server = pki_issue(&(struct pki_wish){ CERT_SERVER, "s", &w->ours, &w->ours, -1, 1, NULL });
    w->agent =
        pki_issue(&(struct pki_wish){ CERT_AGENT, "0:10.0.0.1", &w->ours, NULL, -1, 1, NULL });
    *state = w;
    return 0;
}

static int free_world(void **state)
{
    struct world *w = *state;

    pki_done(&w->ours);
    pki_done(&w->other);
    pki_done(&w->twin);
    pki_done(&w->deputy);
    free(w->server);
    free(w->agent);
    free(w);
    return 0;
}

static int setup(void **state)
{
    struct world *w = *state;
    void *ends = (void *)"unix";

    ends_setup(&ends);
    w->ends = ends;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *ends = w->ends;

    return ends_teardown(&ends);
}

/* Runs both ends until both know the result: the server sends a byte when it is ready, so that a
 * TLS 1.3 client learns whether it was refused. */
static void meet(struct world *w, const struct tls_config *server, const struct tls_config *client)
{
    struct ends *e = w->ends;
    struct err err = { 0 };

    if (tls_server_new(server, &e->server_tls, &err) ||
        tls_client_new(client, &e->client_tls, &err))
        fail_msg("%s", err.text);
    e->b.at = IN_READY;
    e->b.deed = DO_WRITE;
    ends_join(e);
    TURN_UNTIL(&e->rig, (e->b.readies || e->b.breaks) && (e->a.taken || e->a.breaks));
}

/* Resets the world for the next case. */
static void again(struct world *w)
{
    void *state = w;

    teardown(&state);
    setup(&state);
}

static struct tls_config server_config(struct world *w)
{
    return (struct tls_config){ .own_pem = w->server,
                                .ca_pem = buf_text(&w->ours.pem),
                                .only_1_3 = true };
}

static struct tls_config client_config(struct world *w)
{
    return (struct tls_config){ .own_pem = w->agent,
                                .ca_pem = buf_text(&w->ours.pem),
                                .only_1_3 = true };
}

static void each_side_knows_the_other(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w), client = client_config(w);
    struct cert_facts seen, true_ones;
    struct err err = { 0 };

    meet(w, &server, &client);
    if (stream_peer(w->ends->b.s, &seen, &err))
        fail_msg("%s", err.text);
    assert_int_equal(cert_read(w->agent, &true_ones, &err), 0);
    assert_string_equal(seen.agent_id, "0:10.0.0.1");
    assert_memory_equal(&seen, &true_ones, sizeof(seen));
    assert_int_equal(stream_peer(w->ends->a.s, &seen, &err), 0);
    assert_int_equal(cert_read(w->server, &true_ones, &err), 0);
    assert_int_equal(seen.role, CERT_SERVER);
    assert_memory_equal(&seen, &true_ones, sizeof(seen));
}

/* ---- with the CA of a server ---- */

static void meet_at(struct world *w, const struct tls_config *server,
                    const struct tls_config *client, const char *host)
{
    struct ends *e = w->ends;
    struct err err = { 0 };
    int fds[2];

    ends_sockets(e, fds);
    if (tls_server_new(server, &e->server_tls, &err) ||
        tls_client_new(client, &e->client_tls, &err) ||
        stream_new(e->rig.loop, fds[0], e->client_tls, host, &e->limits, &end_owner, &e->a, &e->a.s,
                   &err))
        fail_msg("%s", err.text);
    ends_make_stream(e, &e->b, fds[1]);
    TURN_UNTIL(&e->rig, (e->b.readies || e->b.breaks) && (e->a.readies || e->a.breaks));
    assert_int_equal(e->a.breaks + e->b.breaks, 0);
}

/* First without a certificate, only with the fingerprint; then with the certificate from its
 * request. */
static void an_agent_joins_and_comes_back(void **state)
{
    struct world *w = *state;
    static const char *const none[] = { NULL };
    struct folder folder;
    struct ca *ca = NULL;
    struct cert_key *key = cert_key_new();
    struct tls_config server, joining, joined;
    struct buf server_pem = { 0 }, request = { 0 }, agent_pem = { 0 };
    struct cert_facts f;
    struct err err = { 0 };
    bool made;

    folder_init(&folder);
    cert_request_write(key, &request);
    cert_key_write(key, &agent_pem);
    if (ca_open(folder.path, pki_now_ms(), &made, &ca, &err) ||
        ca_issue_server(ca, none, 30, pki_now_ms(), &server_pem, &err) ||
        ca_sign_agent(ca, buf_text(&request), "new-1", 30, pki_now_ms(), &agent_pem, &err))
        fail_msg("%s", err.text);
    server = (struct tls_config){ .own_pem = buf_text(&server_pem),
                                  .ca_pem = ca_cert(ca),
                                  .only_1_3 = true,
                                  .client_cert_optional = true };
    joining = (struct tls_config){ .ca_pin = ca_fingerprint(ca), .only_1_3 = true };
    joined = (struct tls_config){ .own_pem = buf_text(&agent_pem),
                                  .ca_pem = ca_cert(ca),
                                  .only_1_3 = true };
    meet_at(w, &server, &joining, CA_SERVER_NAME);
    assert_int_equal(stream_peer(w->ends->b.s, &f, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    again(w);
    meet_at(w, &server, &joined, CA_SERVER_NAME);
    assert_int_equal(stream_peer(w->ends->b.s, &f, &err), 0);
    assert_int_equal(f.role, CERT_AGENT);
    assert_string_equal(f.agent_id, "new-1");
    ca_free(ca);
    cert_key_free(key);
    buf_free(&server_pem);
    buf_free(&request);
    buf_free(&agent_pem);
    folder_done(&folder);
}

static void a_plain_peer_has_no_identity(void **state)
{
    struct world *w = *state;
    struct cert_facts f;
    struct err err = { 0 };

    ends_join_and_open(w->ends);
    assert_int_equal(stream_peer(w->ends->b.s, &f, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

/* ---- which clients a server accepts ---- */

static void a_wrong_agent_is_refused(void **state)
{
    struct world *w = *state;
    const struct {
        struct pki_wish wish;
        const char *error; /* NULL: accepted */
    } cases[] = {
        /* clang-format off */
        { { CERT_AGENT,  "a",  &w->ours,  NULL,     -1,  1, NULL }, NULL },
        { { CERT_AGENT,  "a",  &w->ours,  &w->ours, -1,  1, NULL }, NULL },
        { { CERT_AGENT,  "a",  &w->other, NULL,     -1,  1, NULL }, "unable to get local issuer" },
        { { CERT_AGENT,  "a",  &w->other, &w->other, -1, 1, NULL }, "self-signed certificate in" },
        { { CERT_AGENT,  "a",  &w->other, &w->ours, -1,  1, NULL }, "unable to get local issuer" },
        { { CERT_AGENT,  "a",  &w->twin,  &w->ours, -1,  1, NULL }, "unable to get local issuer" },
        { { CERT_AGENT,  "a",  &w->twin,  NULL,     -1,  1, NULL }, "unable to get local issuer" },
        { { CERT_AGENT,  "a",  NULL,      &w->ours, -1,  1, NULL }, "self-signed certificate" },
        { { CERT_AGENT,  "a",  &w->deputy, &w->deputy, -1, 1, NULL }, "invalid CA certificate" },
        { { CERT_AGENT,  "a",  &w->ours,  NULL,     -2, -1, NULL }, "has expired" },
        { { CERT_AGENT,  "a",  &w->ours,  NULL,      1,  2, NULL }, "not yet valid" },
        { { CERT_SERVER, "s",  &w->ours,  NULL,     -1,  1, NULL }, "purpose" },
        { { CERT_CA,     "ca", &w->ours,  NULL,     -1,  1, NULL }, "refused" },
        /* clang-format on */
    };

    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        struct tls_config server = server_config(w), client = client_config(w);
        const char *error = cases[i / 2].error;
        char *own = pki_issue(&cases[i / 2].wish);

        client.own_pem = own;
        server.client_cert_optional = i % 2;
        meet(w, &server, &client);
        if (w->ends->b.breaks != !!error)
            fail_msg("case %zu: %s", i / 2, error ? "welcome" : w->ends->b.why.text);
        if (error) {
            assert_int_equal(w->ends->b.readies, 0);
            assert_int_equal(w->ends->b.why.code, ERR_DENIED);
            if (!strstr(w->ends->b.why.text, error))
                fail_msg("case %zu: %s", i / 2, w->ends->b.why.text);
            assert_int_equal(w->ends->a.breaks, 1);
            assert_int_equal(w->ends->a.why.code, ERR_DENIED);
        }
        free(own);
        again(w);
    }
}

static void no_certificate_is_refused_where_it_is_a_must(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w), client = client_config(w);

    client.own_pem = NULL;
    meet(w, &server, &client);
    assert_int_equal(w->ends->b.breaks, 1);
    assert_int_equal(w->ends->b.why.code, ERR_DENIED);
    assert_non_null(strstr(w->ends->b.why.text, "the peer has shown no certificate"));
    assert_non_null(strstr(w->ends->a.why.text, "the peer asks for a certificate"));
}

static void without_an_optional_certificate_a_peer_has_no_identity(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w), client = client_config(w);
    struct cert_facts f;
    struct err err = { 0 };

    client.own_pem = NULL;
    server.client_cert_optional = true;
    meet(w, &server, &client);
    assert_int_equal(w->ends->b.readies, 1);
    assert_int_equal(stream_peer(w->ends->b.s, &f, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void a_certificate_without_a_proper_id_is_no_agents(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w), client = client_config(w);
    struct cert_facts f;
    struct err err = { 0 };
    char *own = pki_issue(&(struct pki_wish){ CERT_EITHER, "a", &w->ours, NULL, -1, 1, NULL });

    client.own_pem = own;
    meet(w, &server, &client);
    /* It is of our CA, but not of a kind that the CA issues. */
    assert_int_equal(w->ends->b.readies, 1);
    assert_int_equal(stream_peer(w->ends->b.s, &f, &err), 0);
    assert_int_equal(f.role, CERT_EITHER);
    assert_string_equal(f.agent_id, "");
    free(own);
}

/* ---- which servers a client accepts, by the CA or by its fingerprint ---- */

static void a_wrong_server_is_refused(void **state)
{
    struct world *w = *state;
    static const char no_pin[] = "it is not of the CA with the given fingerprint";
    const struct {
        struct pki_wish wish;
        const char *error, *pin_error; /* NULL: accepted */
    } cases[] = {
        /* clang-format off */
        { { CERT_SERVER, "s", &w->ours,  &w->ours,  -1,  1, NULL }, NULL, NULL },
        { { CERT_SERVER, "s", &w->ours,  NULL,      -1,  1, NULL }, NULL, no_pin },
        { { CERT_SERVER, "s", &w->ours,  &w->other, -1,  1, NULL }, NULL, no_pin },
        { { CERT_EITHER, "s", &w->ours,  &w->ours,  -1,  1, NULL }, NULL, NULL },
        { { CERT_SERVER, "s", &w->other, &w->other, -1,  1, NULL }, "self-signed", no_pin },
        /* The right certificate is in the chain, but has signed nothing in it. */
        { { CERT_SERVER, "s", &w->other, &w->ours,  -1,  1, NULL }, "local issuer", "local issuer" },
        { { CERT_SERVER, "s", &w->twin,  &w->ours,  -1,  1, NULL }, "local issuer", "local issuer" },
        { { CERT_SERVER, "s", NULL,      &w->ours,  -1,  1, NULL }, "self-signed", "self-signed" },
        { { CERT_SERVER, "s", &w->twin,  &w->twin,  -1,  1, NULL }, "self-signed", no_pin },
        /* An agent that acts as a server. */
        { { CERT_AGENT,  "a", &w->ours,  &w->ours,  -1,  1, NULL }, "purpose", "purpose" },
        { { CERT_SERVER, "s", &w->deputy, &w->deputy, -1, 1, NULL }, "invalid CA", "invalid CA" },
        { { CERT_SERVER, "s", &w->ours,  &w->ours,  -2, -1, NULL }, "has expired", "has expired" },
        { { CERT_SERVER, "s", &w->ours,  &w->ours,   1,  2, NULL }, "not yet valid", "not yet valid" },
        { { CERT_SERVER, "s", &w->ours,  &w->ours,  -1,  1, "remotehost" }, "mismatch", "mismatch" },
        /* clang-format on */
    };

    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        struct tls_config server = server_config(w), client = client_config(w);
        const char *error = i % 2 ? cases[i / 2].pin_error : cases[i / 2].error;
        char *own = pki_issue(&cases[i / 2].wish);

        server.own_pem = own;
        if (i % 2) {
            client.ca_pem = NULL;
            client.ca_pin = w->ours.facts.fingerprint;
        }
        meet(w, &server, &client);
        if (w->ends->a.breaks != !!error)
            fail_msg("case %zu.%zu: %s", i / 2, i % 2, error ? "welcome" : w->ends->a.why.text);
        if (error) {
            assert_int_equal(w->ends->a.readies, 0); /* not a byte was sent */
            assert_int_equal(w->ends->a.why.code, ERR_DENIED);
            if (!strstr(w->ends->a.why.text, error))
                fail_msg("case %zu.%zu: %s", i / 2, i % 2, w->ends->a.why.text);
        }
        free(own);
        again(w);
    }
}

static void every_bit_of_the_fingerprint_counts(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < 64; i += 7) {
        struct tls_config server = server_config(w), client = client_config(w);
        char pin[DIGEST_TEXT_SIZE];

        memcpy(pin, w->ours.facts.fingerprint, sizeof(pin));
        pin[i] = pin[i] == '0' ? '1' : '0';
        client.ca_pem = NULL;
        client.ca_pin = pin;
        meet(w, &server, &client);
        assert_int_equal(w->ends->a.readies, 0);
        assert_non_null(strstr(w->ends->a.why.text, "it is not of the CA with the given"));
        again(w);
    }
}

/* The fingerprint is that of the server's own certificate, not of a CA. */
static void a_server_is_not_its_own_authority(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w), client = client_config(w);
    struct cert_facts f;
    struct err err = { 0 };

    assert_int_equal(cert_read(w->server, &f, &err), 0);
    client.ca_pem = NULL;
    client.ca_pin = f.fingerprint;
    meet(w, &server, &client);
    assert_int_equal(w->ends->a.readies, 0);
    assert_int_equal(w->ends->a.why.code, ERR_DENIED);
}

static void a_client_that_pins_needs_no_certificate(void **state)
{
    struct world *w = *state;
    struct tls_config server = server_config(w);
    struct tls_config client = { .ca_pin = w->ours.facts.fingerprint, .only_1_3 = true };

    server.client_cert_optional = true;
    meet(w, &server, &client);
    assert_int_equal(w->ends->a.readies, 1);
    assert_int_equal(w->ends->b.readies, 1);
}

/* ---- invalid text ---- */

static void bad_text_is_told_apart(void **state)
{
    struct world *w = *state;
    char *mixed = xprintf("%.*s%s", (int)(strstr(w->agent, "-----BEGIN CERT") - w->agent), w->agent,
                          strstr(w->server, "-----BEGIN CERT"));
    char *broken =
        xprintf("%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", w->server);
    const char *only_cert = strstr(w->server, "-----BEGIN CERT"), *ca = buf_text(&w->ours.pem);
    const struct {
        bool is_server;
        struct tls_config config;
        const char *error;
    } cases[] = {
        { true, { .own_pem = "" }, "own key: not usable PEM" },
        { true, { .own_pem = only_cert }, "own key: not usable PEM" },
        { true, { .own_pem = mixed }, "own key: is not the key of the certificate" },
        { true, { .own_pem = broken }, "own certificate: not usable PEM" },
        { true, { .own_pem = w->server, .ca_pem = "" }, "CA certificates: not usable PEM" },
        { true, { .own_pem = w->server, .ca_pem = "junk" }, "CA certificates: not usable PEM" },
        { true, { .own_pem = w->server, .ca_pem = broken }, "CA certificates: not usable PEM" },
        { true, { .own_pem = w->server, .ca_pin = w->ours.facts.fingerprint }, "are a client's" },
        { true, { .own_pem = w->server, .keep_session = true }, "are a client's" },
        { true, { .own_pem = w->server, .cert_path = "c", .key_path = "k" }, "from one place" },
        { false, { .ca_pem = ca, .ca_path = "ca" }, "from one place" },
        { false, { .ca_pem = ca, .ca_pin = w->ours.facts.fingerprint }, "from one place" },
        { false, { .ca_pin = "" }, "'' is not a fingerprint" },
        { false, { .ca_pin = "abc" }, "'abc' is not a fingerprint" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tls *tls = NULL;
        struct err err = { 0 };

        assert_int_equal(cases[i].is_server ? tls_server_new(&cases[i].config, &tls, &err)
                                            : tls_client_new(&cases[i].config, &tls, &err),
                         -1);
        if (!strstr(err.text, cases[i].error))
            fail_msg("case %zu: %s", i, err.text);
    }
    free(mixed);
    free(broken);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_side_knows_the_other),
        TEST(an_agent_joins_and_comes_back),
        TEST(a_plain_peer_has_no_identity),
        TEST(a_wrong_agent_is_refused),
        TEST(no_certificate_is_refused_where_it_is_a_must),
        TEST(without_an_optional_certificate_a_peer_has_no_identity),
        TEST(a_certificate_without_a_proper_id_is_no_agents),
        TEST(a_wrong_server_is_refused),
        TEST(every_bit_of_the_fingerprint_counts),
        TEST(a_server_is_not_its_own_authority),
        TEST(a_client_that_pins_needs_no_certificate),
        TEST(bad_text_is_told_apart),
    };

    return cmocka_run_group_tests(tests, make_world, free_world);
}
