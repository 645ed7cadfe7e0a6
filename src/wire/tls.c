/* SPDX-License-Identifier: MIT */
/* tls.c - see tls.h.
 *
 * OpenSSL reaches the socket through a BIO of ours: so every read and write
 * goes through base/sys (no SIGPIPE, faults can be injected), and we know the
 * true reason when the socket fails.  Its error queue belongs to the thread:
 * it is cleared before each operation, and read only right after one. */
#include "wire/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"

struct tls {
    SSL_CTX *ctx;
    BIO_METHOD *socket;
    bool is_server;
    atomic_size_t users; /* who made it, and its connections */
};

struct tls_conn {
    struct tls *tls;
    SSL *ssl;
    int fd;
    int sys;      /* errno of a failed socket; 0: it has not failed */
    bool at_eof;  /* the peer has closed the socket */
    bool drained; /* the last recv() got less than there was room for */
    bool failed;
};

/* Reasons that we can say better than OpenSSL, whose words follow in brackets. */
static const struct {
    int reason, code;
    const char *text;
} reasons[] = {
    { SSL_R_HTTP_REQUEST, ERR_INVALID, "the peer speaks plain HTTP, not TLS" },
    { SSL_R_HTTPS_PROXY_REQUEST, ERR_INVALID, "the peer speaks plain HTTP, not TLS" },
    { SSL_R_WRONG_VERSION_NUMBER, ERR_INVALID, "the peer does not speak TLS" },
    { SSL_R_UNSUPPORTED_PROTOCOL, ERR_INVALID, "the peer's TLS version is too old" },
    { SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, ERR_DENIED, "the peer has shown no certificate" },
    { SSL_R_CERTIFICATE_VERIFY_FAILED, ERR_DENIED, "the peer's certificate is refused" },
    { SSL_R_TLSV1_ALERT_UNKNOWN_CA, ERR_DENIED, "the peer refuses our certificate" },
    { SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, ERR_DENIED, "the peer refuses our certificate" },
    { SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, ERR_DENIED, "the peer refuses our certificate" },
    { SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, ERR_DENIED, "the peer refuses our certificate" },
    { SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, ERR_DENIED, "the peer refuses our certificate" },
    { SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, ERR_DENIED, "the peer asks for a certificate" },
    { SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, ERR_INVALID, "the peer refuses our TLS version" },
};

/* The oldest error in the queue is the cause; later ones are its consequences. */
static const char *queued_words(unsigned long e)
{
    const char *words = NULL;

    if (e && ERR_SYSTEM_ERROR(e))
        return strerror(ERR_GET_REASON(e));
    if (e)
        words = ERR_reason_error_string(e);
    return words ? words : "no reason given";
}

/* ---- the socket, as OpenSSL sees it ---- */

static int socket_read(BIO *bio, char *to, int n)
{
    struct tls_conn *c = BIO_get_data(bio);
    ssize_t got = sys_recv(c->fd, to, (size_t)n);

    BIO_clear_retry_flags(bio);
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
    return command == BIO_CTRL_FLUSH; /* nothing is held back; all else is not for us */
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

/* ---- what connections share ---- */

/* A key under a passphrase is refused; without this OpenSSL would ask for it on
 * the terminal, and the daemon would hang. */
static int no_passphrase(char *to, int size, int writing, void *arg)
{
    (void)to;
    (void)size;
    (void)writing;
    (void)arg;
    return -1;
}

static int fail_file(struct err *err, const char *kind, const char *path)
{
    unsigned long e = ERR_peek_error();

    if (e && ERR_SYSTEM_ERROR(e)) {
        errno = ERR_GET_REASON(e);
        return err_sys(err, "%s %s", kind, path);
    }
    return err_set(err, ERR_INVALID, "%s %s: not usable PEM (%s)", kind, path, queued_words(e));
}

static int load_own(SSL_CTX *ctx, const struct tls_config *c, struct err *err)
{
    if (SSL_CTX_use_certificate_chain_file(ctx, c->cert_path) != 1)
        return fail_file(err, "certificate", c->cert_path);
    if (SSL_CTX_use_PrivateKey_file(ctx, c->key_path, SSL_FILETYPE_PEM) != 1 &&
        ERR_GET_LIB(ERR_peek_error()) != ERR_LIB_X509)
        return fail_file(err, "key", c->key_path);
    if (SSL_CTX_check_private_key(ctx) != 1)
        return err_set(err, ERR_INVALID, "key %s: is not the key of certificate %s", c->key_path,
                       c->cert_path);
    return 0;
}

static int load_trust(SSL_CTX *ctx, const struct tls_config *c, bool is_server, struct err *err)
{
    int mode = SSL_VERIFY_PEER | (is_server ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);

    if (is_server && !c->ca_path)
        return 0;
    SSL_CTX_set_verify(ctx, mode, NULL);
    if (c->ca_path && SSL_CTX_load_verify_file(ctx, c->ca_path) != 1)
        return fail_file(err, "CA certificates", c->ca_path);
    if (!c->ca_path && SSL_CTX_set_default_verify_paths(ctx) != 1)
        return err_set(err, ERR_SYSTEM, "the system's CA certificates cannot be read");
    return 0;
}

/* Reading ahead saves a system call per record, and with RELEASE_BUFFERS costs
 * an idle connection nothing.  Sessions live in tickets, not in our memory; the
 * context binds a ticket to us, and one is enough for a client that comes back. */
static int set_up(SSL_CTX *ctx, const struct tls_config *c, bool is_server, struct err *err)
{
    static const unsigned char session_context[] = "holdfast";

    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 1);
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
    if (SSL_CTX_set_min_proto_version(ctx, c->only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1 ||
        SSL_CTX_set1_groups_list(ctx, "X25519:P-256:P-384") != 1 ||
        SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1) != 1)
        return err_set(err, ERR_SYSTEM, "TLS: %s", queued_words(ERR_peek_error()));
    if (load_trust(ctx, c, is_server, err))
        return -1;
    return c->cert_path ? load_own(ctx, c, err) : 0;
}

static int tls_new(const struct tls_config *c, bool is_server, struct tls **ret, struct err *err)
{
    struct tls *t;

    if (!c->cert_path != !c->key_path)
        return err_set(err, ERR_INVALID,
                       "TLS: a certificate needs its key, and a key its certificate");
    ERR_clear_error();
    t = xalloc(sizeof(*t));
    *t = (struct tls){ .is_server = is_server, .users = 1, .socket = socket_method() };
    t->ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (!t->ctx)
        abort();
    if (set_up(t->ctx, c, is_server, err)) {
        tls_free(t);
        return -1;
    }
    *ret = t;
    return 0;
}

int tls_server_new(const struct tls_config *c, struct tls **ret, struct err *err)
{
    if (!c->cert_path)
        return err_set(err, ERR_INVALID, "TLS: a server needs a certificate and its key");
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
    BIO_meth_free(t->socket);
    free(t);
}

/* ---- one connection ---- */

/* The peer's certificate must be for `host`: an address by its bytes, a name
 * also sent ahead so that the server can choose its certificate. */
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
    if (host && expect_host(c->ssl, host, err)) {
        tls_conn_free(c);
        return -1;
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
    const char *words = queued_words(e);
    long verdict = SSL_get_verify_result(c->ssl);

    if (ERR_GET_REASON(e) == SSL_R_CERTIFICATE_VERIFY_FAILED && verdict != X509_V_OK)
        words = X509_verify_cert_error_string(verdict);
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (ERR_GET_LIB(e) == ERR_LIB_SSL && ERR_GET_REASON(e) == reasons[i].reason) {
            err_set(err, reasons[i].code, "TLS %s: %s (%s)", doing, reasons[i].text, words);
            return;
        }
    }
    err_set(err, ERR_UNAVAILABLE, "TLS %s: %s", doing, words);
}

/* What OpenSSL found wrong comes before what the socket says: that may only
 * have failed when the alert was sent. */
static enum tls_status explain(struct tls_conn *c, const char *doing, struct err *err)
{
    unsigned long e = ERR_peek_error();

    c->failed = true;
    if (e && ERR_GET_REASON(e) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        explain_queued(c, doing, e, err);
    } else if (c->sys) {
        errno = c->sys;
        err_sys(err, "TLS %s", doing);
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

enum tls_status tls_conn_handshake(struct tls_conn *c, struct err *err)
{
    enum tls_status st;

    ERR_clear_error();
    st = status(c, SSL_do_handshake(c->ssl), "handshake", err);
    return st == TLS_END ? explain(c, "handshake", err) : st;
}

enum tls_status tls_conn_read(struct tls_conn *c, void *to, size_t n, size_t *ret_got,
                              struct err *err)
{
    ERR_clear_error();
    return status(c, SSL_read_ex(c->ssl, to, n, ret_got), "read", err);
}

enum tls_status tls_conn_write(struct tls_conn *c, const void *from, size_t n, size_t *ret_put,
                               struct err *err)
{
    enum tls_status st;

    ERR_clear_error();
    st = status(c, SSL_write_ex(c->ssl, from, n, ret_put), "write", err);
    return st == TLS_END ? explain(c, "write", err) : st;
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
        return TLS_OK; /* there is nobody to tell */
    ERR_clear_error();
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
    free(c);
}

/* ---- a certificate of our own ---- */

static int add_name(GENERAL_NAMES *list, const char *name, struct err *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_*";
    GENERAL_NAME *one = GENERAL_NAME_new();
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(name);

    if (!one || sk_GENERAL_NAME_push(list, one) <= 0)
        abort();
    if (address) {
        GENERAL_NAME_set0_value(one, GEN_IPADD, address);
        return 0;
    }
    if (!*name || strlen(name) > 253 || name[strspn(name, allowed)])
        return err_set(err, ERR_INVALID, "certificate: '%s' is neither a host name nor an address",
                       name);
    address = ASN1_IA5STRING_new();
    if (!address || ASN1_STRING_set(address, name, -1) != 1)
        abort();
    GENERAL_NAME_set0_value(one, GEN_DNS, address);
    return 0;
}

static int add_names(X509 *cert, const char *const *names, struct err *err)
{
    GENERAL_NAMES *list = GENERAL_NAMES_new();
    int bad = 0;

    if (!list)
        abort();
    if (!names[0])
        bad = err_set(err, ERR_INVALID, "certificate: it must be for at least one name");
    for (size_t i = 0; names[i] && !bad; i++)
        bad = add_name(list, names[i], err);
    if (!bad && X509_add1_ext_i2d(cert, NID_subject_alt_name, list, 0, 0) != 1)
        bad = err_set(err, ERR_SYSTEM, "certificate: %s", queued_words(ERR_peek_error()));
    GENERAL_NAMES_free(list);
    return bad;
}

static bool add_extensions(X509 *cert)
{
    static const struct {
        int nid;
        const char *value;
    } rows[] = {
        { NID_basic_constraints, "critical,CA:FALSE" },
        { NID_key_usage, "critical,digitalSignature" },
        { NID_ext_key_usage, "serverAuth,clientAuth" },
        { NID_subject_key_identifier, "hash" },
    };
    X509V3_CTX context;
    bool ok = true;

    X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows) && ok; i++) {
        X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &context, rows[i].nid, rows[i].value);

        ok = ext && X509_add_ext(cert, ext, -1) == 1;
        X509_EXTENSION_free(ext);
    }
    return ok;
}

/* Valid from an hour ago: the peer's clock may be behind ours. */
static int fill_certificate(X509 *cert, EVP_PKEY *key, const char *const *names, int days,
                            struct err *err)
{
    X509_NAME *name = X509_get_subject_name(cert);
    uint64_t serial;

    sys_random(&serial, sizeof(serial));
    if (add_names(cert, names, err))
        return -1;
    if (X509_set_version(cert, X509_VERSION_3) != 1 ||
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial | 1) != 1 ||
        !X509_gmtime_adj(X509_getm_notBefore(cert), -3600) ||
        !X509_time_adj_ex(X509_getm_notAfter(cert), days, 0, NULL) ||
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"holdfast", -1,
                                   -1, 0) != 1 ||
        X509_set_issuer_name(cert, name) != 1 || X509_set_pubkey(cert, key) != 1 ||
        !add_extensions(cert) || X509_sign(cert, key, EVP_sha256()) == 0)
        return err_set(err, ERR_SYSTEM, "certificate: %s", queued_words(ERR_peek_error()));
    return 0;
}

/* A file left behind by a crash is in nobody's use. */
static int create(const char *path, mode_t mode)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = sys_open(path, flags, mode);

    if (fd < 0 && errno == EEXIST && sys_unlink(path) == 0)
        fd = sys_open(path, flags, mode);
    return fd;
}

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t put = sys_write(fd, bytes, n);

        if (put < 0)
            return -1;
        bytes += put;
        n -= (size_t)put;
    }
    return sys_fsync(fd);
}

/* Writes what `pem` holds beside `path` and moves it there. */
static int put_file(const char *path, mode_t mode, BIO *pem, struct err *err)
{
    char *beside = xprintf("%s.new", path), *bytes;
    long n = BIO_get_mem_data(pem, &bytes);
    int fd = create(beside, mode), bad;

    bad = fd < 0 || write_all(fd, bytes, (size_t)n) || sys_rename(beside, path);
    if (bad) {
        err_sys(err, "write %s", path);
        if (fd >= 0)
            (void)sys_unlink(beside); /* the first failure is the one to tell */
    }
    sys_close(fd);
    free(beside);
    return bad ? -1 : 0;
}

static int put_pair(const char *cert_path, const char *key_path, X509 *cert, EVP_PKEY *key,
                    struct err *err)
{
    BIO *key_pem = BIO_new(BIO_s_mem()), *cert_pem = BIO_new(BIO_s_mem());
    int bad;

    if (!key_pem || !cert_pem ||
        PEM_write_bio_PKCS8PrivateKey(key_pem, key, NULL, NULL, 0, NULL, NULL) != 1 ||
        PEM_write_bio_X509(cert_pem, cert) != 1)
        bad = err_set(err, ERR_SYSTEM, "certificate: %s", queued_words(ERR_peek_error()));
    else
        bad = put_file(key_path, 0600, key_pem, err) || put_file(cert_path, 0644, cert_pem, err);
    BIO_free(key_pem); /* wipes the key as well */
    BIO_free(cert_pem);
    return bad ? -1 : 0;
}

int tls_make_self_signed(const char *cert_path, const char *key_path, const char *const *names,
                         int days, struct err *err)
{
    EVP_PKEY *key;
    X509 *cert;
    int bad;

    if (days < 1 || days > 36500)
        return err_set(err, ERR_INVALID, "certificate: valid for 1 to 36500 days, not %d", days);
    ERR_clear_error();
    key = EVP_EC_gen("P-256");
    cert = X509_new();
    if (!key || !cert)
        abort();
    bad = fill_certificate(cert, key, names, days, err) ||
          put_pair(cert_path, key_path, cert, key, err);
    X509_free(cert);
    EVP_PKEY_free(key);
    return bad ? -1 : 0;
}
