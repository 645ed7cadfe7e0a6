/* SPDX-License-Identifier: MIT */
/* tls_resume.c - see tls_resume.h.
 *
 * A ticket contains the whole session and the facts of the client's certificate.  So a server
 * that has decrypted a ticket knows its peer as after a full handshake, although nothing was
 * verified again.  Facts that may have changed with time are checked here. */
#include "wire/tls/tls_resume.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "wire/tls/ticket.h"

struct tls_resume {
    struct tickets tickets; /* for a server; none: OpenSSL uses keys of its own until it exits */
    bool keeps_session;     /* for a client */
    SSL_SESSION *kept;      /* the last session; NULL: none */
    char *kept_host;        /* the host of that session */
};

/* Stored in a ticket instead of the certificate: parsing that again costs as much as the rest of
 * resuming a session. */
struct client_facts {
    char kind[8]; /* changes if the layout of the facts changes */
    struct cert_facts facts;
};

static const struct client_facts no_facts = { .kind = "facts 1" };

/* ---- server ---- */

static const struct ticket_key *find_key(const struct tickets *t, const unsigned char *name)
{
    for (size_t i = 0; i < t->n; i++) {
        if (!memcmp(t->keys[i].bytes, name, TICKET_NAME_SIZE))
            return &t->keys[i];
    }
    return NULL;
}

/* OpenSSL asks for the key to encrypt a ticket, or to decrypt the ticket with this `name`.
 * Returns 0: there is no such key, so a full handshake follows; 2: the ticket is valid but must
 * be renewed.  A ticket of today's key is not renewed, which saves many encryptions when a whole
 * fleet reconnects. */
static int on_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                         EVP_MAC_CTX *mac, int sealing)
{
    struct tls_resume *r = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const struct ticket_key *k = sealing ? &r->tickets.keys[0] : find_key(&r->tickets, name);
    unsigned char *mac_key, *cipher_key;
    OSSL_PARAM params[3];

    if (!k)
        return 0;
    mac_key = (unsigned char *)k->bytes + TICKET_NAME_SIZE; /* OSSL_PARAM has no const */
    cipher_key = mac_key + TICKET_SECRET_SIZE;
    params[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, mac_key, TICKET_SECRET_SIZE);
    params[1] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char[]){ "SHA256" }, 0);
    params[2] = OSSL_PARAM_construct_end();
    if (sealing) {
        memcpy(name, k->bytes, TICKET_NAME_SIZE);
        sys_random(iv, EVP_MAX_IV_LENGTH);
    }
    if (EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, cipher_key, iv, sealing) != 1 ||
        EVP_MAC_CTX_set_params(mac, params) != 1)
        return -1;
    return k == &r->tickets.keys[0] ? 1 : 2;
}

bool tls_resume_facts(const struct ssl_session_st *session, struct cert_facts *ret)
{
    struct client_facts f;
    void *data;
    size_t n;

    if (SSL_SESSION_get0_ticket_appdata((SSL_SESSION *)session, &data, &n) != 1 || n != sizeof(f))
        return false;
    memcpy(&f, data, n);
    if (memcmp(f.kind, no_facts.kind, sizeof(f.kind)) != 0)
        return false;
    *ret = f.facts;
    return true;
}

/* The time functions of OpenSSL before 3.3 use long, which overflows in 2038 if long has 32
 * bits; OpenSSL 3.4 deprecates them. */
#if OPENSSL_VERSION_PREREQ(3, 3)
static bool copy_time(SSL_SESSION *to, const SSL_SESSION *from)
{
    return SSL_SESSION_set_time_ex(to, SSL_SESSION_get_time_ex(from)) != 0;
}
#else
static bool copy_time(SSL_SESSION *to, const SSL_SESSION *from)
{
    return SSL_SESSION_set_time(to, SSL_SESSION_get_time(from)) != 0;
}
#endif

/* A copy of the session with the facts instead of the certificate. */
static SSL_SESSION *session_with(const SSL_SESSION *session, const struct client_facts *f)
{
    unsigned char secret[SSL_MAX_MASTER_KEY_LENGTH];
    size_t secret_n = SSL_SESSION_get_master_key(session, secret, sizeof(secret));
    unsigned context_n = 0;
    const unsigned char *context = SSL_SESSION_get0_id_context(session, &context_n);
    SSL_SESSION *to = SSL_SESSION_new();

    if (!to || SSL_SESSION_set1_master_key(to, secret, secret_n) != 1 ||
        SSL_SESSION_set1_id_context(to, context, context_n) != 1 ||
        SSL_SESSION_set_cipher(to, SSL_SESSION_get0_cipher(session)) != 1 ||
        SSL_SESSION_set_protocol_version(to, SSL_SESSION_get_protocol_version(session)) != 1 ||
        !copy_time(to, session) ||
        SSL_SESSION_set_timeout(to, SSL_SESSION_get_timeout(session)) != 1 ||
        SSL_SESSION_set1_ticket_appdata(to, f, sizeof(*f)) != 1)
        abort(); /* out of memory */
    explicit_bzero(secret, sizeof(secret));
    return to;
}

/* OpenSSL is about to make a ticket of the session.  The only way to remove the certificate from
 * the session is to decode one without it over it.  A certificate that we cannot read stays, and
 * tls_conn_peer() reports it. */
static int on_new_ticket(SSL *ssl, void *arg)
{
    SSL_SESSION *session = SSL_get_session(ssl), *bare;
    X509 *peer = SSL_SESSION_get0_peer(session);
    struct client_facts f = no_facts;
    unsigned char *der = NULL;
    const unsigned char *at;
    struct err ignored;
    int n;

    (void)arg;
    if (!peer || SSL_version(ssl) != TLS1_3_VERSION || SSL_get_verify_result(ssl) != X509_V_OK ||
        cert_facts_of(peer, &f.facts, &ignored))
        return 1;
    bare = session_with(session, &f);
    n = i2d_SSL_SESSION(bare, &der);
    at = der;
    if (n > 0) {
        /* On failure the certificate stays in the session. */
        (void)d2i_SSL_SESSION(&session, &at, n);
        OPENSSL_clear_free(der, (size_t)n);
    }
    SSL_SESSION_free(bare);
    return 1;
}

/* Whether the peer is still acceptable: its certificate may have expired.  (The session's
 * context covers whether a certificate is required.) */
static bool is_still_good(SSL_SESSION *session)
{
    X509 *peer = SSL_SESSION_get0_peer(session);
    struct cert_facts f;

    if (tls_resume_facts(session, &f))
        return clock_wall_ms(&clock_system) < f.until_ms;
    return !peer || X509_cmp_current_time(X509_get0_notAfter(peer)) > 0;
}

/* An ignored ticket leads to a full handshake, which tells the client the error. */
static SSL_TICKET_RETURN on_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
                                   size_t name_n, SSL_TICKET_STATUS status, void *arg)
{
    (void)ssl;
    (void)name;
    (void)name_n;
    (void)arg;
    if ((status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) ||
        !is_still_good(session))
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

void tls_resume_set_tickets(struct tls_resume *r, struct ssl_ctx_st *ctx, const struct tickets *t)
{
    r->tickets = *t;
    SSL_CTX_set_timeout(ctx, TICKET_LIFE_S);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket_key);
}

/* ---- client ---- */

void tls_resume_forget(struct tls_resume *r)
{
    SSL_SESSION_free(r->kept);
    free(r->kept_host);
    r->kept = NULL;
    r->kept_host = NULL;
}

/* OpenSSL marks the session of a connection that ends without close_notify as not resumable, but
 * a lost connection is exactly when it is needed: so connections use copies. */
static SSL_SESSION *copy_of(const SSL_SESSION *session)
{
    SSL_SESSION *copy = SSL_SESSION_dup(session);

    if (!copy)
        abort();
    return copy;
}

/* A ticket was received, perhaps one of several: the last one is kept. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_resume *r = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const char *host = SSL_get_app_data(ssl);

    if (!host || SSL_get_verify_result(ssl) != X509_V_OK || !SSL_SESSION_is_resumable(session))
        return 0;
    tls_resume_forget(r);
    r->kept = copy_of(session);
    r->kept_host = xstrdup(host);
    return 0; /* OpenSSL keeps its own reference */
}

void tls_resume_offer(struct tls_resume *r, struct ssl_st *ssl, const char *host)
{
    SSL_SESSION *copy;

    if (!r->keeps_session)
        return;
    SSL_set_app_data(ssl, (char *)host); /* never written to */
    if (!r->kept || strcmp(r->kept_host, host) != 0)
        return;
    copy = copy_of(r->kept);
    if (!is_still_good(copy) || SSL_set_session(ssl, copy) != 1)
        tls_resume_forget(r);
    SSL_SESSION_free(copy);
}

/* The bytes are the host, a NUL, and the session. */
bool tls_resume_write(const struct tls_resume *r, struct buf *to)
{
    unsigned char *der = NULL;
    int n = r->kept ? i2d_SSL_SESSION(r->kept, &der) : 0;

    if (n <= 0)
        return false;
    buf_add(to, r->kept_host, strlen(r->kept_host) + 1);
    buf_add(to, der, (size_t)n);
    OPENSSL_clear_free(der, (size_t)n);
    return true;
}

static bool has_context(const SSL_SESSION *session, const unsigned char trust_id[DIGEST_SIZE])
{
    unsigned n = 0;
    const unsigned char *context = SSL_SESSION_get0_id_context(session, &n);

    return n == DIGEST_SIZE && !memcmp(context, trust_id, n);
}

/* Resuming verifies nothing, so a session depends on the CA that was trusted when it began;
 * under another CA it is invalid. */
int tls_resume_read(struct tls_resume *r, const unsigned char trust_id[DIGEST_SIZE],
                    const char *bytes, size_t n, struct err *err)
{
    size_t host_n = strnlen(bytes, n);
    const unsigned char *der = (const unsigned char *)bytes + host_n + 1;
    SSL_SESSION *session = NULL;

    if (!r->keeps_session)
        return err_set(err, ERR_INVALID, "TLS session: this side keeps none");
    if (host_n < n)
        session = d2i_SSL_SESSION(NULL, &der, (long)(n - host_n - 1));
    if (!session || der != (const unsigned char *)bytes + n) {
        SSL_SESSION_free(session);
        return err_set(err, ERR_MALFORMED, "TLS session: the bytes are not one");
    }
    if (!has_context(session, trust_id)) {
        SSL_SESSION_free(session);
        return err_set(err, ERR_CONFLICT, "TLS session: it began under another trust");
    }
    tls_resume_forget(r);
    r->kept = session;
    r->kept_host = xstrdup(bytes);
    return 0;
}

/* ---- both ---- */

struct tls_resume *tls_resume_new(struct ssl_ctx_st *ctx, bool is_server, bool keeps_session)
{
    struct tls_resume *r = xalloc(sizeof(*r));

    SSL_CTX_set_app_data(ctx, r);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 1);
    if (is_server)
        SSL_CTX_set_session_ticket_cb(ctx, on_new_ticket, on_ticket, NULL);
    if (is_server || !keeps_session)
        return r;
    r->keeps_session = true;
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, on_session);
    return r;
}

void tls_resume_free(struct tls_resume *r)
{
    if (!r)
        return;
    tls_resume_forget(r);
    explicit_bzero(&r->tickets, sizeof(r->tickets));
    free(r);
}
