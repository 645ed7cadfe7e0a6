/* SPDX-License-Identifier: MIT */
/* tls_resume.h - TLS session resumption: encrypts a server's tickets, and keeps a client's last
 * session.  A part of tls.c. */
#ifndef WIRE_TLS_TLS_RESUME_H
#define WIRE_TLS_TLS_RESUME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/tls/cert.h"

struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;
struct tickets;
struct tls_resume;

struct tls_resume *tls_resume_new(struct ssl_ctx_st *ctx, bool is_server, bool keeps_session);
void tls_resume_free(struct tls_resume *r); /* NULL is allowed */

void tls_resume_set_tickets(struct tls_resume *r, struct ssl_ctx_st *ctx, const struct tickets *t);

/* Makes a client's new connection resume the session that is kept for the same host.  `host`
 * must live as long as the connection. */
void tls_resume_offer(struct tls_resume *r, struct ssl_st *ssl, const char *host);

/* TLS has failed, perhaps because of the offered session: forgets it. */
void tls_resume_forget(struct tls_resume *r);

/* The client's facts from a session that a ticket was made for; false: it contains none. */
bool tls_resume_facts(const struct ssl_session_st *session, struct cert_facts *ret);

bool tls_resume_write(const struct tls_resume *r, struct buf *to); /* false: no session is kept */
int tls_resume_read(struct tls_resume *r, const unsigned char trust_id[DIGEST_SIZE],
                    const char *bytes, size_t n, struct err *err);

#endif
