/* SPDX-License-Identifier: MIT */
/* identity.h - who an agent is: DIR/agent.key, and DIR/agent.pem, which is its
 * certificate and then the CA's.
 *
 * The key is made at the first start and never replaced.  The certificate comes by
 * joining and is replaced, whole or not at all, by a newer one for the same key from
 * the same CA.  Files that do not belong together are an error that leaves them as they
 * are: whoever can say which of them is right is not this program. */
#ifndef LINK_IDENTITY_H
#define LINK_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "link/join.h"
#include "wire/tls.h"

struct identity;

int identity_open(const char *dir, struct identity **ret, struct err *err);
void identity_free(struct identity *id); /* NULL is fine */

bool identity_has_cert(const struct identity *id);
const char *identity_agent_id(const struct identity *id); /* "" without a certificate */

/* In wall time; both are false without a certificate. */
bool identity_is_due(const struct identity *id, int64_t now_ms);
bool identity_is_over(const struct identity *id, int64_t now_ms);

/* A request for a certificate, as PEM. */
void identity_request(const struct identity *id, struct buf *to);

/* Takes what a server has answered, and keeps it on the disk: a certificate for our
 * key, of the CA whose SHA-256 is ca_pin.  NULL: of the CA, and with the agent id, that
 * we have.  On failure nothing has changed. */
int identity_take(struct identity *id, const struct message_joined *joined, const char *ca_pin,
                  struct err *err);

/* What all connections of this identity share; the certificate must be there. */
int identity_tls(const struct identity *id, struct tls **ret, struct err *err);

#endif
