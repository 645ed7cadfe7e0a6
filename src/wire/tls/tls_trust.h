/* SPDX-License-Identifier: MIT */
/* tls_trust.h - the configuration of TLS: our certificate and the trusted CAs, and how they are
 * read into an OpenSSL context, from files or from text. */
#ifndef WIRE_TLS_TLS_TRUST_H
#define WIRE_TLS_TLS_TRUST_H

#include <stdbool.h>

#include "base/text/err.h"
#include "wire/tls/digest.h"

struct ssl_ctx_st;

/* For tls_server_new() and tls_client_new(). */
struct tls_config {
    const char *cert_path, *key_path; /* PEM; required for a server; for a client both or none */
    const char *ca_path; /* CAs that may sign the peer's certificate; NULL on a server: no client
                          * certificate is requested; NULL on a client: those of the system */
    bool only_1_3;

    /* The same in memory, instead of the files. */
    const char *own_pem; /* key and certificate, then the intermediate ones up to the CA */
    const char *ca_pem;

    /* For a client that only knows the SHA-256 of the CA's certificate, in hex: the server must
     * present the CA's certificate and one of its own that the CA has signed. */
    const char *ca_pin;

    bool client_cert_optional; /* a server with a CA: accepts clients without a certificate too */
    bool keep_session; /* a client: keeps the last session and resumes it with the same host; all
                        * its connections must belong to one thread then */
};

struct tls_trust {
    unsigned char pin[DIGEST_SIZE]; /* SHA-256 of the CA's certificate, if it is pinned */
    unsigned char id[DIGEST_SIZE]; /* digest of everything that decides whether a peer is trusted */
};

/* For tls.c.  `t` must live as long as the context. */
int tls_trust_init(struct tls_trust *t, struct ssl_ctx_st *ctx, const struct tls_config *c,
                   bool is_server, struct err *err);

/* Error text: no chain of the peer leads to the pinned CA. */
extern const char tls_trust_not_pinned[];

#endif
