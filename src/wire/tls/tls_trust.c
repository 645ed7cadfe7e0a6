/* SPDX-License-Identifier: MIT */
/* tls_trust.c - see tls_trust.h. */
#include "wire/tls/tls_trust.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/text/hex.h"
#include "base/text/msg.h"
#include "wire/tls/secret.h"
#include "wire/tls/tls_reason.h"

const char tls_trust_not_pinned[] = MSG("it is not of the CA with the given fingerprint");

/* ---- files ---- */

static int fail_file(struct err *err, const char *kind, const char *path)
{
    unsigned long e = ERR_peek_error();

    if (e && ERR_SYSTEM_ERROR(e)) {
        errno = ERR_GET_REASON(e);
        return err_sys(err, "%s %s", kind, path);
    }
    return err_set(err, ERR_INVALID, "%s %s: not usable PEM (%s)", kind, path, tls_reason(e));
}

static int load_own(SSL_CTX *ctx, const struct tls_config *c, struct err *err)
{
    if (SSL_CTX_use_certificate_chain_file(ctx, c->cert_path) != 1)
        return fail_file(err, MSG("certificate"), c->cert_path);
    if (SSL_CTX_use_PrivateKey_file(ctx, c->key_path, SSL_FILETYPE_PEM) != 1 &&
        ERR_GET_LIB(ERR_peek_error()) != ERR_LIB_X509)
        return fail_file(err, MSG("key"), c->key_path);
    if (SSL_CTX_check_private_key(ctx) != 1)
        return err_set(err, ERR_INVALID, "key %s: is not the key of certificate %s", c->key_path,
                       c->cert_path);
    return 0;
}

/* ---- text ---- */

static BIO *bio_of(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);

    if (!bio)
        abort();
    return bio;
}

static int fail_text(struct err *err, const char *kind)
{
    return err_set(err, ERR_INVALID, "%s: not usable PEM (%s)", kind, tls_first_reason());
}

/* Calls use() for each certificate of the text; use() returns 1 on success. */
static int each_cert(const char *pem, int (*use)(SSL_CTX *ctx, X509 *x, int nth), SSL_CTX *ctx)
{
    BIO *bio = bio_of(pem);
    bool ok = true;
    int n = 0;
    X509 *x;

    while (ok && (x = PEM_read_bio_X509(bio, NULL, tls_no_passphrase, NULL))) {
        ok = use(ctx, x, n++) == 1;
        X509_free(x);
    }
    BIO_free(bio);
    if (ok && n > 0 && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE)
        ERR_clear_error(); /* only the end of the text */
    return ok && n > 0 && !ERR_peek_error() ? 0 : -1;
}

/* The first certificate is ours, the others are the chain to the CA. */
static int use_own(SSL_CTX *ctx, X509 *x, int nth)
{
    return nth ? (int)SSL_CTX_add1_chain_cert(ctx, x) : SSL_CTX_use_certificate(ctx, x);
}

static int use_trusted(SSL_CTX *ctx, X509 *x, int nth)
{
    (void)nth;
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), x);
}

/* Presents exactly the certificates of the text: OpenSSL would otherwise complete the chain from
 * the trusted ones. */
static int read_own(SSL_CTX *ctx, const char *pem, struct err *err)
{
    BIO *bio = bio_of(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, tls_no_passphrase, NULL);
    int bad = 0;

    BIO_free(bio);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    if (!key)
        return fail_text(err, MSG("own key"));
    if (each_cert(pem, use_own, ctx))
        bad = fail_text(err, MSG("own certificate"));
    else if (SSL_CTX_use_PrivateKey(ctx, key) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        bad = err_set(err, ERR_INVALID, "own key: is not the key of the certificate");
    EVP_PKEY_free(key);
    return bad;
}

/* ---- a pinned CA ---- */

static bool is_pinned(const X509 *x, const unsigned char pin[DIGEST_SIZE])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    return X509_digest(x, EVP_sha256(), digest, &n) == 1 && n == DIGEST_SIZE &&
           secret_equal(digest, pin, n);
}

/* The server presents its CA's certificate.  If that is the pinned one, it becomes the only
 * root, and then everything is verified as usual: signatures, times, usage and name.  So a chain
 * that merely contains the right certificate is not accepted. */
static int verify_pinned(X509_STORE_CTX *store, void *arg)
{
    STACK_OF(X509) *shown = X509_STORE_CTX_get0_untrusted(store), *roots = sk_X509_new_null();
    const struct tls_trust *t = arg;
    int ok = 0;

    if (!roots)
        abort();
    for (int i = 0; i < sk_X509_num(shown) && sk_X509_num(roots) == 0; i++) {
        if (is_pinned(sk_X509_value(shown, i), t->pin) &&
            sk_X509_push(roots, sk_X509_value(shown, i)) <= 0)
            abort();
    }
    if (sk_X509_num(roots) == 1) {
        X509_STORE_CTX_set0_trusted_stack(store, roots);
        ok = X509_verify_cert(store) == 1;
        X509_STORE_CTX_set0_trusted_stack(store, NULL);
    } else {
        X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    }
    sk_X509_free(roots);
    return ok;
}

/* ---- trust ---- */

static int set_roots(struct tls_trust *t, SSL_CTX *ctx, const struct tls_config *c, struct err *err)
{
    if (c->ca_pin) {
        if (!hex_read(c->ca_pin, t->pin, sizeof(t->pin)))
            return err_set(err, ERR_INVALID, "TLS: '%s' is not a fingerprint", c->ca_pin);
        SSL_CTX_set_cert_verify_callback(ctx, verify_pinned, t);
        return 0;
    }
    if (c->ca_pem)
        return each_cert(c->ca_pem, use_trusted, ctx) ? fail_text(err, MSG("CA certificates")) : 0;
    if (c->ca_path)
        return SSL_CTX_load_verify_file(ctx, c->ca_path) == 1
                   ? 0
                   : fail_file(err, MSG("CA certificates"), c->ca_path);
    if (SSL_CTX_set_default_verify_paths(ctx) != 1)
        return err_set(err, ERR_SYSTEM, "the system's CA certificates cannot be read");
    return 0;
}

/* A session is resumed only if the same rules decide about the peer: under another CA, or if a
 * certificate has become required, a full handshake follows.  The same holds for a server that
 * expects the certificate in the session instead of the facts (tls_resume.c). */
static int set_id(struct tls_trust *t, SSL_CTX *ctx, const struct tls_config *c, bool is_server,
                  struct err *err)
{
    STACK_OF(X509_OBJECT) *roots = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
    struct buf all = { 0 };

    buf_printf(&all, "holdfast %d %s", SSL_CTX_get_verify_mode(ctx),
               is_server   ? "facts"
               : c->ca_pin ? c->ca_pin
                           : "");
    for (int i = 0; i < sk_X509_OBJECT_num(roots); i++) {
        const X509 *x = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(roots, i));
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned n = 0;

        if (x && X509_digest(x, EVP_sha256(), digest, &n) == 1)
            buf_add(&all, digest, n);
    }
    digest_sha256(buf_data(&all), all.len, t->id);
    buf_free(&all);
    if (SSL_CTX_set_session_id_context(ctx, t->id, sizeof(t->id)) != 1)
        return err_set(err, ERR_SYSTEM, "TLS: %s", tls_first_reason());
    return 0;
}

int tls_trust_init(struct tls_trust *t, struct ssl_ctx_st *ctx, const struct tls_config *c,
                   bool is_server, struct err *err)
{
    bool asks = !is_server || c->ca_path || c->ca_pem;
    bool must = is_server && !c->client_cert_optional;

    if (asks) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | (must ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                           NULL);
        if (set_roots(t, ctx, c, err))
            return -1;
    }
    if (set_id(t, ctx, c, is_server, err))
        return -1;
    if (c->own_pem)
        return read_own(ctx, c->own_pem, err);
    return c->cert_path ? load_own(ctx, c, err) : 0;
}
