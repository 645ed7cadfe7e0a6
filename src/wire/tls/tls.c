/* SPDX-License-Identifier: MIT */
/* tls.c - see tls.h.
 *
 * OpenSSL reaches the socket through a BIO of ours: so every read and write goes through
 * base/os/sys.h (no SIGPIPE, faults can be injected), and we know the errno when the socket
 * fails. */
#include "wire/tls/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "base/text/msg.h"
#include "wire/tls/tls_reason.h"
#include "wire/tls/tls_resume.h"
#include "wire/tls/tls_trust.h"

struct tls {
    SSL_CTX *ctx;
    BIO_METHOD *socket;
    struct tls_trust trust;
    struct tls_resume *resume;
    bool is_server;
    atomic_size_t users; /* reference count: tls_new() or tls_use(), and connections */
};

struct tls_conn {
    struct tls *tls;
    SSL *ssl;
    char *host; /* for a client: the server's name */
    int fd;
    int recvs;    /* calls of recv() in this operation */
    int sys;      /* errno of a failed socket; 0: not failed */
    bool at_eof;  /* the peer has closed the socket */
    bool drained; /* the last recv() got less than there was room for */
    bool failed;
};

/* Reasons that we describe better than OpenSSL; its text follows in parentheses. */
static const struct {
    int reason, code;
    const char *text;
} reasons[] = {
    { SSL_R_HTTP_REQUEST, ERR_INVALID, MSG("the peer speaks plain HTTP, not TLS") },
    { SSL_R_HTTPS_PROXY_REQUEST, ERR_INVALID, MSG("the peer speaks plain HTTP, not TLS") },
    { SSL_R_WRONG_VERSION_NUMBER, ERR_INVALID, MSG("the peer does not speak TLS") },
    { SSL_R_UNSUPPORTED_PROTOCOL, ERR_INVALID, MSG("the peer's TLS version is too old") },
    { SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, ERR_DENIED,
      MSG("the peer has shown no certificate") },
    { SSL_R_CERTIFICATE_VERIFY_FAILED, ERR_DENIED, MSG("the peer's certificate is refused") },
    { SSL_R_TLSV1_ALERT_UNKNOWN_CA, ERR_DENIED, MSG("the peer refuses our certificate") },
    { SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, ERR_DENIED, MSG("the peer refuses our certificate") },
    { SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, ERR_DENIED, MSG("the peer refuses our certificate") },
    { SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, ERR_DENIED, MSG("the peer refuses our certificate") },
    { SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, ERR_DENIED,
      MSG("the peer refuses our certificate") },
    { SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, ERR_DENIED, MSG("the peer refuses our certificate") },
    { SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, ERR_DENIED, MSG("the peer asks for a certificate") },
    { SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, ERR_INVALID, MSG("the peer refuses our TLS version") },
};

/* ---- the socket for OpenSSL ---- */

/* A peer may send key updates without end and nothing else, and would keep the reader busy.
 * Bytes left in the socket make the loop call it again. */
enum { RECVS_MAX = 2 };

static int socket_read(BIO *bio, char *to, int n)
{
    struct tls_conn *c = BIO_get_data(bio);
    ssize_t got;

    BIO_clear_retry_flags(bio);
    if (c->recvs++ >= RECVS_MAX) {
        c->drained = false;
        BIO_set_retry_read(bio);
        return -1;
    }
    got = sys_recv(c->fd, to, (size_t)n);
    c->drained = got < n;
    c->at_eof = got == 0;
    if (got < 0 && sys_again())
        BIO_set_retry_read(bio);
    else if (got < 0)
        c->sys = errno;
    return (int)got;
}

static int socket_write(BIO *bio, const char *from, int n)
{
    struct tls_conn *c = BIO_get_data(bio);
    ssize_t put = sys_send(c->fd, from, (size_t)n);

    BIO_clear_retry_flags(bio);
    if (put < 0 && sys_again())
        BIO_set_retry_write(bio);
    else if (put < 0)
        c->sys = errno;
    return (int)put;
}

static long socket_ctrl(BIO *bio, int command, long number, void *pointer)
{
    struct tls_conn *c = BIO_get_data(bio);

    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF)
        return c->at_eof;
    return command == BIO_CTRL_FLUSH; /* nothing is buffered; other commands are not supported */
}

static int socket_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *socket_method(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "holdfast socket");

    if (!m)
        abort();
    BIO_meth_set_read(m, socket_read);
    BIO_meth_set_write(m, socket_write);
    BIO_meth_set_ctrl(m, socket_ctrl);
    BIO_meth_set_create(m, socket_create);
    return m;
}

/* ---- shared by connections ---- */

/* Reading ahead saves a system call per record, and with RELEASE_BUFFERS costs an idle
 * connection no memory. */
static int set_up(struct tls *t, const struct tls_config *c, struct err *err)
{
    SSL_CTX *ctx = t->ctx;

    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_default_passwd_cb(ctx, tls_no_passphrase);
    if (SSL_CTX_set_min_proto_version(ctx, c->only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1 ||
        SSL_CTX_set1_groups_list(ctx, "X25519:P-256:P-384") != 1)
        return err_set(err, ERR_SYSTEM, "TLS: %s", tls_first_reason());
    return tls_trust_init(&t->trust, ctx, c, t->is_server, err);
}

static int check_config(const struct tls_config *c, bool is_server, struct err *err)
{
    if (!c->cert_path != !c->key_path)
        return err_set(err, ERR_INVALID,
                       "TLS: a certificate needs its key, and a key its certificate");
    if (is_server && !c->cert_path && !c->own_pem)
        return err_set(err, ERR_INVALID, "TLS: a server needs a certificate and its key");
    if ((c->own_pem && c->cert_path) || !!c->ca_path + !!c->ca_pem + !!c->ca_pin > 1)
        return err_set(err, ERR_INVALID, "TLS: a certificate comes from one place");
    if (is_server && (c->ca_pin || c->keep_session))
        return err_set(err, ERR_INVALID, "TLS: a pinned CA and a kept session are a client's");
    return 0;
}

static int tls_new(const struct tls_config *c, bool is_server, struct tls **ret, struct err *err)
{
    struct tls *t;

    if (check_config(c, is_server, err))
        return -1;
    ERR_clear_error();
    t = xalloc(sizeof(*t));
    *t = (struct tls){ .is_server = is_server, .users = 1, .socket = socket_method() };
    t->ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (!t->ctx)
        abort();
    t->resume = tls_resume_new(t->ctx, is_server, c->keep_session);
    if (set_up(t, c, err)) {
        tls_free(t);
        return -1;
    }
    *ret = t;
    return 0;
}

int tls_server_new(const struct tls_config *c, struct tls **ret, struct err *err)
{
    return tls_new(c, true, ret, err);
}

int tls_client_new(const struct tls_config *c, struct tls **ret, struct err *err)
{
    return tls_new(c, false, ret, err);
}

void tls_free(struct tls *t)
{
    if (!t || atomic_fetch_sub(&t->users, 1) != 1)
        return;
    SSL_CTX_free(t->ctx);
    tls_resume_free(t->resume);
    BIO_meth_free(t->socket);
    free(t);
}

void tls_set_tickets(struct tls *t, const struct tickets *keys)
{
    tls_resume_set_tickets(t->resume, t->ctx, keys);
}

bool tls_session_write(const struct tls *t, struct buf *to)
{
    return tls_resume_write(t->resume, to);
}

int tls_session_read(struct tls *t, const char *bytes, size_t n, struct err *err)
{
    return tls_resume_read(t->resume, t->trust.id, bytes, n, err);
}

/* ---- one connection ---- */

/* The peer's certificate must be for `host`: an address is compared by its bytes, a name is also
 * sent (SNI), so that the server can choose its certificate. */
static int expect_host(SSL *ssl, const char *host, struct err *err)
{
    unsigned char address[sizeof(struct in6_addr)];
    bool ok;

    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        ok = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    else
        ok = *host && SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
    return ok ? 0 : err_set(err, ERR_INVALID, "TLS: '%s' is not a host name", host);
}

int tls_conn_new(struct tls *t, int fd, const char *host, struct tls_conn **ret, struct err *err)
{
    struct tls_conn *c;
    BIO *bio;

    if (t->is_server != !host)
        return err_set(err, ERR_INVALID, "TLS: a client names the host, a server does not");
    ERR_clear_error();
    c = xalloc(sizeof(*c));
    *c = (struct tls_conn){ .tls = t, .fd = fd, .ssl = SSL_new(t->ctx) };
    bio = BIO_new(t->socket);
    if (!c->ssl || !bio)
        abort();
    atomic_fetch_add(&t->users, 1);
    BIO_set_data(bio, c);
    SSL_set_bio(c->ssl, bio, bio);
    if (host) {
        c->host = xstrdup(host);
        if (expect_host(c->ssl, host, err)) {
            tls_conn_free(c);
            return -1;
        }
        tls_resume_offer(t->resume, c->ssl, c->host);
    }
    if (t->is_server)
        SSL_set_accept_state(c->ssl);
    else
        SSL_set_connect_state(c->ssl);
    *ret = c;
    return 0;
}

static void explain_queued(const struct tls_conn *c, const char *doing, unsigned long e,
                           struct err *err)
{
    const char *words = tls_reason(e);
    long verdict = SSL_get_verify_result(c->ssl);

    if (ERR_GET_REASON(e) == SSL_R_CERTIFICATE_VERIFY_FAILED && verdict != X509_V_OK)
        words = verdict == X509_V_ERR_APPLICATION_VERIFICATION
                    ? tls_trust_not_pinned
                    : X509_verify_cert_error_string(verdict);
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (ERR_GET_LIB(e) == ERR_LIB_SSL && ERR_GET_REASON(e) == reasons[i].reason) {
            err_set(err, reasons[i].code, "TLS %s: %s (%s)", doing, reasons[i].text, words);
            return;
        }
    }
    err_set(err, ERR_UNAVAILABLE, "TLS %s: %s", doing, words);
}

/* OpenSSL's reason takes precedence over errno: the socket may only have failed when the alert
 * was sent. */
static enum tls_status explain(struct tls_conn *c, const char *doing, struct err *err)
{
    unsigned long e = ERR_peek_error();

    c->failed = true;
    if (c->sys) { /* newer versions of OpenSSL add an error of their own */
        errno = c->sys;
        err_sys(err, "TLS %s", doing);
    } else if (e && ERR_GET_REASON(e) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        explain_queued(c, doing, e, err);
        if (!c->tls->is_server)
            tls_resume_forget(c->tls->resume); /* the next connection starts a new session */
    } else {
        err_set(err, ERR_UNAVAILABLE,
                "TLS %s: the peer closed the connection without ending TLS; bytes may be missing",
                doing);
    }
    return TLS_FAILED;
}

static enum tls_status status(struct tls_conn *c, int result, const char *doing, struct err *err)
{
    switch (result == 1 ? SSL_ERROR_NONE : SSL_get_error(c->ssl, result)) {
    case SSL_ERROR_NONE: return TLS_OK;
    case SSL_ERROR_WANT_READ: return TLS_WANT_READ;
    case SSL_ERROR_WANT_WRITE: return TLS_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN: return TLS_END;
    default: return explain(c, doing, err); /* OpenSSL's numbers, not an enum of ours */
    }
}

static void begin_call(struct tls_conn *c)
{
    ERR_clear_error();
    c->recvs = 0;
}

enum tls_status tls_conn_handshake(struct tls_conn *c, struct err *err)
{
    enum tls_status st;

    begin_call(c);
    st = status(c, SSL_do_handshake(c->ssl), "handshake", err);
    return st == TLS_END ? explain(c, MSG("handshake"), err) : st;
}

int tls_conn_peer(const struct tls_conn *c, struct cert_facts *ret, struct err *err)
{
    bool is_open = SSL_is_init_finished(c->ssl);
    X509 *peer = is_open ? SSL_get0_peer_certificate(c->ssl) : NULL;

    if (is_open && tls_resume_facts(SSL_get0_session(c->ssl), ret))
        return 0;
    if (!peer || SSL_get_verify_result(c->ssl) != X509_V_OK)
        return err_set(err, ERR_NOT_FOUND, "the peer has shown no certificate");
    return cert_facts_of(peer, ret, err);
}

bool tls_conn_is_resumed(const struct tls_conn *c)
{
    return SSL_session_reused(c->ssl) == 1;
}

enum tls_status tls_conn_read(struct tls_conn *c, void *to, size_t n, size_t *ret_got,
                              struct err *err)
{
    begin_call(c);
    return status(c, SSL_read_ex(c->ssl, to, n, ret_got), "read", err);
}

enum tls_status tls_conn_write(struct tls_conn *c, const void *from, size_t n, size_t *ret_put,
                               struct err *err)
{
    enum tls_status st;

    begin_call(c);
    st = status(c, SSL_write_ex(c->ssl, from, n, ret_put), "write", err);
    return st == TLS_END ? explain(c, MSG("write"), err) : st;
}

bool tls_conn_has_pending(const struct tls_conn *c)
{
    return SSL_has_pending(c->ssl) == 1;
}

bool tls_conn_is_drained(const struct tls_conn *c)
{
    return c->drained && !tls_conn_has_pending(c);
}

enum tls_status tls_conn_end(struct tls_conn *c)
{
    int result;

    if (c->failed || !SSL_is_init_finished(c->ssl))
        return TLS_OK; /* the connection is gone, so no close_notify can be sent */
    begin_call(c);
    result = SSL_shutdown(c->ssl);
    if (result < 0 && SSL_get_error(c->ssl, result) == SSL_ERROR_WANT_WRITE)
        return TLS_WANT_WRITE;
    return TLS_OK;
}

void tls_conn_free(struct tls_conn *c)
{
    if (!c)
        return;
    SSL_free(c->ssl);
    tls_free(c->tls);
    free(c->host);
    free(c);
}

/* ---- self-signed certificates ---- */

/* Valid from an hour ago, because the peer's clock may be behind ours. */
int tls_make_self_signed(const char *cert_path, const char *key_path, const char *const *names,
                         int days, struct err *err)
{
    const int64_t now_ms = clock_wall_ms(&clock_system), hour_ms = 3600 * 1000;
    const struct cert_plan plan = { CERT_EITHER, "holdfast", names, now_ms - hour_ms,
                                    now_ms + days * 24 * hour_ms };
    struct cert_key *key = NULL;
    struct buf cert = { 0 };
    int bad;

    if (days < 1 || days > 36500)
        return err_set(err, ERR_INVALID, "certificate: valid for 1 to 36500 days, not %d", days);
    bad = cert_key_keep(key_path, &key, err) || cert_issue(&plan, key, NULL, &cert, err) ||
          file_replace(cert_path, 0644, buf_data(&cert), cert.len, err);
    buf_free(&cert);
    cert_key_free(key);
    return bad ? -1 : 0;
}
