/* SPDX-License-Identifier: MIT */
/* cert.h - keys, certificates and certificate requests, as PEM text in memory.
 *
 * All keys are ECDSA P-256.  A certificate has one role and is valid for no other: an agent's is
 * not accepted as a server's, nor the other way.  An agent's certificate has the agent's id as
 * the common name of its subject, and a server uses nothing else of it.  Serial numbers are
 * random, so they do not repeat. */
#ifndef WIRE_TLS_CERT_H
#define WIRE_TLS_CERT_H

#include <stdint.h>

#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/tls/digest.h"

enum {
    CERT_AGENT_ID_SIZE = 65,
    CERT_SERIAL_SIZE = 41,
    CERT_PEM_MAX = 16384 /* of any text that is read here */
};

enum cert_role {
    CERT_CA,     /* signs other certificates */
    CERT_SERVER, /* for the names in it */
    CERT_AGENT,
    CERT_EITHER, /* for both sides of a connection, and certificates of other origin */
};

struct cert_facts {
    enum cert_role role;
    char agent_id[CERT_AGENT_ID_SIZE]; /* for CERT_AGENT; "" for the others */
    char serial[CERT_SERIAL_SIZE];     /* hex */
    char fingerprint[DIGEST_TEXT_SIZE];
    char key_id[DIGEST_TEXT_SIZE]; /* of the public key: does not change with a renewal */
    int64_t from_ms, until_ms;
};

/* Reads the first certificate in the text.  An agent's without a valid id is refused.  Nothing
 * is verified: that is done in the handshake. */
int cert_read(const char *pem, struct cert_facts *ret, struct err *err);

/* NULL if the id is valid, else what is wrong.  1 to 64 of A-Z a-z 0-9 . _ : - starting with a
 * letter or digit: so it is safe in a log, a URL and a file name. */
const char *cert_check_agent_id(const char *text);

/* ---- keys ---- */

struct cert_key;

struct cert_key *cert_key_new(void);
int cert_key_read(const char *pem, struct cert_key **ret, struct err *err); /* a private key */
/* Writes the private key. */
void cert_key_write(const struct cert_key *k, struct buf *to);
void cert_key_id(const struct cert_key *k, char to[DIGEST_TEXT_SIZE]);
void cert_key_free(struct cert_key *k); /* NULL is allowed */

/* A private key in a file of its own, mode 0600: reads it, or creates it if there is none.
 * Never replaces it. */
int cert_key_keep(const char *path, struct cert_key **ret, struct err *err);

/* A request contains nothing but the public key, signed with the private one.  Reading verifies
 * the signature and returns the public key; all else in the request is ignored. */
void cert_request_write(const struct cert_key *k, struct buf *to);
int cert_request_read(const char *pem, struct cert_key **ret, struct err *err);

/* ---- issuing ---- */

struct cert_plan {
    enum cert_role role;
    const char *name; /* common name of the subject; for an agent its id */
    const char *const
        *names; /* for CERT_SERVER, CERT_EITHER: "localhost", "::1"; terminated by NULL */
    int64_t from_ms, until_ms;
};

struct cert_issuer {
    const char *pem; /* its certificate */
    const struct cert_key *key;
};

/* Appends the certificate to `to`.  `by` NULL: self-signed. */
int cert_issue(const struct cert_plan *plan, const struct cert_key *subject,
               const struct cert_issuer *by, struct buf *to, struct err *err);

/* Fails unless the first certificate in the text is signed by that key. */
int cert_check_signed(const char *pem, const struct cert_key *by, struct err *err);
/* The same, with the key of the first certificate in ca_pem. */
int cert_check_issued(const char *pem, const char *ca_pem, struct err *err);

/* For the other modules that use OpenSSL. */
struct x509_st;
int cert_facts_of(struct x509_st *x, struct cert_facts *ret, struct err *err);

#endif
