/* SPDX-License-Identifier: MIT */
/* ca.h - the authority of one installation: who is an agent of it, and who its
 * server.
 *
 * Its key and its certificate are one file, DIR/ca.pem, mode 0600, made at the
 * first start; one file, so that there is never a half of it.  Nothing here ever
 * replaces it: a damaged one is an error, because every agent was told to trust
 * that key and no other.  Whoever runs several servers gives all the same file. */
#ifndef WIRE_CA_H
#define WIRE_CA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/cert.h"

/* What an agent asks a server's certificate to be for, whatever address it has
 * dialled: that may be a relay's, which no certificate knows. */
#define CA_SERVER_NAME "holdfast-server"

struct ca;

/* *ret_made says that there was none: a server that knows agents already should
 * wonder.  `now_ms` is wall time, here and below. */
int ca_open(const char *dir, int64_t now_ms, bool *ret_made, struct ca **ret, struct err *err);
void ca_free(struct ca *ca); /* NULL is fine */

const char *ca_cert(const struct ca *ca);        /* PEM; for tls_config.ca_pem, and for agents */
const char *ca_fingerprint(const struct ca *ca); /* its SHA-256 in hex; for tls_config.ca_pin */

/* A fresh key with its certificate, for CA_SERVER_NAME and for `names` (ends with
 * NULL; may be empty), and behind them the CA's: for tls_config.own_pem.  It
 * lives in memory only: a server makes one at start, and another when it is due. */
int ca_issue_server(const struct ca *ca, const char *const *names, int days, int64_t now_ms,
                    struct buf *to, struct err *err);

/* The certificate of an agent, for the key of its request. */
int ca_sign_agent(const struct ca *ca, const char *request_pem, const char *agent_id, int days,
                  int64_t now_ms, struct buf *to, struct err *err);

/* Whether it is time for another certificate: a third of its life is left. */
bool ca_is_due(const struct cert_facts *f, int64_t now_ms);

#endif
