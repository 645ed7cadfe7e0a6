/* SPDX-License-Identifier: MIT */
/* cert.h - keys, certificates, and requests for them; as PEM text, in memory.
 *
 * All keys are ECDSA P-256.  A certificate is made for one role and is good for
 * nothing else: an agent's does not pass for a server's, nor the other way.  An
 * agent's carries its id as the common name of its subject, and that is all a
 * server believes of it.  Serials are random and never come twice. */
#ifndef WIRE_CERT_H
#define WIRE_CERT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/digest.h"

enum {
    CERT_AGENT_ID_SIZE = 65,
    CERT_SERIAL_SIZE = 41,
    CERT_PEM_MAX = 16384 /* of any text that is read here */
};

enum cert_role {
    CERT_CA,     /* signs the others */
    CERT_SERVER, /* for its names */
    CERT_AGENT,
    CERT_EITHER, /* for either side of a connection, and whatever others made */
};

struct cert_facts {
    enum cert_role role;
    char agent_id[CERT_AGENT_ID_SIZE]; /* of CERT_AGENT; "" for the others */
    char serial[CERT_SERIAL_SIZE];     /* hex */
    char fingerprint[DIGEST_TEXT_SIZE];
    char key_id[DIGEST_TEXT_SIZE]; /* of the public key: the same after a renewal */
    int64_t from_ms, until_ms;
};

/* The first certificate in the text.  An agent's without a proper id is refused.
 * It says what stands there, not whether it is true: that is the handshake's. */
int cert_read(const char *pem, struct cert_facts *ret, struct err *err);

/* NULL, or what is wrong with it.  1 to 64 of A-Z a-z 0-9 . _ : - and a letter or
 * digit in front: so it may stand in a log, a URL and a file name. */
const char *cert_check_agent_id(const char *text);

/* ---- keys ---- */

struct cert_key;

struct cert_key *cert_key_new(void);
int cert_key_read(const char *pem, struct cert_key **ret, struct err *err); /* with its secret */
void cert_key_write(const struct cert_key *k, struct buf *to);              /* so too */
void cert_key_id(const struct cert_key *k, char to[DIGEST_TEXT_SIZE]);
void cert_key_free(struct cert_key *k); /* NULL is fine */

/* A private key that has a file of its own, mode 0600: read, or made if there is
 * none.  Never replaced. */
int cert_key_keep(const char *path, struct cert_key **ret, struct err *err);

/* A request holds nothing but the public key, signed by its secret.  Reading one
 * checks that, and gives the public key alone: whatever else it asks for is not
 * even looked at. */
void cert_request_write(const struct cert_key *k, struct buf *to);
int cert_request_read(const char *pem, struct cert_key **ret, struct err *err);

/* ---- making them ---- */

struct cert_plan {
    enum cert_role role;
    const char *name;         /* the subject's common name; an agent's id */
    const char *const *names; /* CERT_SERVER, CERT_EITHER: "localhost", "::1"; ends with NULL */
    int64_t from_ms, until_ms;
};

struct cert_issuer {
    const char *pem; /* its certificate */
    const struct cert_key *key;
};

/* Appends the certificate to `to`.  `by` NULL: it signs itself. */
int cert_issue(const struct cert_plan *plan, const struct cert_key *subject,
               const struct cert_issuer *by, struct buf *to, struct err *err);

/* Whether the first certificate in the text is signed by that key. */
int cert_check_signed(const char *pem, const struct cert_key *by, struct err *err);
/* The same by the key of the first certificate in ca_pem. */
int cert_check_issued(const char *pem, const char *ca_pem, struct err *err);

/* For the other doors to OpenSSL. */
struct x509_st;
int cert_facts_of(struct x509_st *x, struct cert_facts *ret, struct err *err);

#endif
