/* SPDX-License-Identifier: MIT */
/* identity.h - the identity of an agent: DIR/agent.key, and DIR/agent.pem with its certificate and
 * then the CA's.
 *
 * The key is made at the first start and never replaced.  The certificate comes from joining and is
 * replaced atomically by a newer one for the same key from the same CA.  Files that do not belong
 * together are an error and are left unchanged, because the program cannot know which of them is
 * right. */
#ifndef LINK_IDENTITY_H
#define LINK_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "link/message.h"
#include "wire/tls/tls.h"

struct identity;

int identity_open(const char *dir, struct identity **ret, struct err *err);
void identity_free(struct identity *id); /* NULL is fine */

bool identity_has_cert(const struct identity *id);
const char *identity_agent_id(const struct identity *id); /* "" without a certificate */

/* Whether the certificate is due for renewal, and whether it has expired.  now_ms is wall time;
 * both are false without a certificate. */
bool identity_is_due(const struct identity *id, int64_t now_ms);
bool identity_is_over(const struct identity *id, int64_t now_ms);

/* Appends a certificate signing request, as PEM. */
void identity_request(const struct identity *id, struct buf *to);

/* Checks the certificate in a server's answer and stores it in agent.pem.  It must be for our key
 * and from the CA whose SHA-256 is ca_pin; with ca_pin NULL, from the CA and for the agent id that
 * we already have.  On failure nothing changes. */
int identity_take(struct identity *id, const struct message_joined *joined, const char *ca_pin,
                  struct err *err);

/* Makes the TLS context that all connections of this identity share.  The identity must have a
 * certificate. */
int identity_tls(const struct identity *id, struct tls **ret, struct err *err);

#endif
