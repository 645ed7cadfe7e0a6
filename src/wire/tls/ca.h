/* SPDX-License-Identifier: MIT */
/* ca.h - the certificate authority of one installation: it certifies its agents and its servers.
 *
 * Its key and its certificate are one file, DIR/ca.pem, mode 0600, created at the first start;
 * one file, so that there is never only half of it.  The file is never replaced: a damaged one
 * is an error, because all agents trust that key and no other.  Several servers of one
 * installation need the same file. */
#ifndef WIRE_TLS_CA_H
#define WIRE_TLS_CA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/tls/cert.h"

/* The name that agents expect in a server's certificate, whatever address they connect to: that
 * may be a relay's, which is in no certificate. */
#define CA_SERVER_NAME "holdfast-server"

struct ca;

/* *ret_made: the file did not exist.  A server that already has agents should report that.
 * `now_ms` is wall time, here and below. */
int ca_open(const char *dir, int64_t now_ms, bool *ret_made, struct ca **ret, struct err *err);
void ca_free(struct ca *ca); /* NULL is allowed */

const char *ca_cert(const struct ca *ca);        /* PEM; for tls_config.ca_pem, and for agents */
const char *ca_fingerprint(const struct ca *ca); /* its SHA-256 in hex; for tls_config.ca_pin */

/* A new key with its certificate, for CA_SERVER_NAME and for `names` (terminated by NULL; may be
 * empty), followed by the CA's: for tls_config.own_pem.  It is only kept in memory: a server
 * makes one at start, and another when ca_is_due(). */
int ca_issue_server(const struct ca *ca, const char *const *names, int days, int64_t now_ms,
                    struct buf *to, struct err *err);

/* The certificate of an agent, for the key of its request. */
int ca_sign_agent(const struct ca *ca, const char *request_pem, const char *agent_id, int days,
                  int64_t now_ms, struct buf *to, struct err *err);

/* Whether the certificate must be renewed: less than a third of its life is left. */
bool ca_is_due(const struct cert_facts *f, int64_t now_ms);

#endif
