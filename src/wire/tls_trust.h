/* SPDX-License-Identifier: MIT */
/* tls_trust.h - who we are and whom we believe: the part of tls.c that reads
 * certificates into a context, from files or from text. */
#ifndef WIRE_TLS_TRUST_H
#define WIRE_TLS_TRUST_H

#include <stdbool.h>

#include "base/err.h"
#include "wire/digest.h"

struct ssl_ctx_st;
struct tls_config;

struct tls_trust {
    unsigned char pin[DIGEST_SIZE]; /* of the CA, where it is pinned */
    unsigned char id[DIGEST_SIZE];  /* of all that decides whether a peer is believed */
};

/* `t` must live as long as the context. */
int tls_trust_init(struct tls_trust *t, struct ssl_ctx_st *ctx, const struct tls_config *c,
                   bool is_server, struct err *err);

/* Why no chain is accepted with a pinned CA, in words. */
extern const char tls_trust_not_pinned[];

#endif
