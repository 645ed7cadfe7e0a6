/* SPDX-License-Identifier: MIT */
/* tls.h - TLS: the part that connections share, and the state of one connection.
 *
 * A `struct tls` holds what all connections of one listener (or of one client) share.  It is
 * reference-counted: freed while connections exist, it lives until the last of them.  The lowest
 * version is TLS 1.2, or 1.3 if the caller wants it.  A tls_conn works on a non-blocking socket
 * and never waits: it returns what it waits for.  An idle connection holds no buffers.  Errors
 * contain OpenSSL's reason as text.  An end without close_notify is an error, because bytes may
 * be missing. */
#ifndef WIRE_TLS_TLS_H
#define WIRE_TLS_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/tls/cert.h"
#include "wire/tls/ticket.h"
#include "wire/tls/tls_trust.h"

struct tls;
struct tls_conn;

int tls_server_new(const struct tls_config *c, struct tls **ret, struct err *err);
int tls_client_new(const struct tls_config *c, struct tls **ret, struct err *err);
void tls_free(struct tls *t); /* NULL is allowed */

/* Keys for a server's tickets, from a file: with them sessions can be resumed after a restart.
 * Copied; call it again after they have changed, from the thread of the connections. */
void tls_set_tickets(struct tls *t, const struct tickets *keys);

/* The session that a client keeps, as bytes, which are as secret as its key; false if there is
 * none.  Reading a session that began under another CA is ERR_CONFLICT. */
bool tls_session_write(const struct tls *t, struct buf *to);
int tls_session_read(struct tls *t, const char *bytes, size_t n, struct err *err);

/* Makes a P-256 key and a self-signed certificate, valid for `days` and for the given names and
 * addresses ("localhost", "127.0.0.1"; terminated by NULL).  An existing key file is used again,
 * a new one has mode 0600; so a renewal that fails leaves a matching pair. */
int tls_make_self_signed(const char *cert_path, const char *key_path, const char *const *names,
                         int days, struct err *err);

enum tls_status {
    TLS_OK,
    TLS_WANT_READ,
    TLS_WANT_WRITE,
    TLS_END,    /* the peer has closed in an orderly way; no more bytes will come */
    TLS_FAILED, /* *err is set; only tls_conn_free() may follow */
};

/* `host`: for a client, the name (or numeric address) for which the certificate must be valid;
 * NULL on a server. */
int tls_conn_new(struct tls *t, int fd, const char *host, struct tls_conn **ret, struct err *err);
enum tls_status tls_conn_handshake(struct tls_conn *c, struct err *err);

/* After the handshake: the facts of the peer's certificate, which was verified when the session
 * began.  ERR_NOT_FOUND: the peer has none.  A resumed session verifies nothing, so the caller
 * must check for revocation each time. */
int tls_conn_peer(const struct tls_conn *c, struct cert_facts *ret, struct err *err);
bool tls_conn_is_resumed(const struct tls_conn *c);

enum tls_status tls_conn_read(struct tls_conn *c, void *to, size_t n, size_t *ret_got,
                              struct err *err);

/* After TLS_WANT_x the next write must begin with the same bytes, and have at least as many;
 * their address may change. */
enum tls_status tls_conn_write(struct tls_conn *c, const void *from, size_t n, size_t *ret_put,
                               struct err *err);

/* Whether there are decrypted bytes to read, for which an empty socket causes no event. */
bool tls_conn_has_pending(const struct tls_conn *c);

/* Whether the last read took all bytes from OpenSSL and the socket: reading again before the
 * socket is ready would be a useless system call. */
bool tls_conn_is_drained(const struct tls_conn *c);

/* Sends close_notify.  TLS_WANT_WRITE: the socket is full, call again; otherwise it is sent, or
 * cannot be. */
enum tls_status tls_conn_end(struct tls_conn *c);
void tls_conn_free(struct tls_conn *c); /* does not close the socket; NULL is allowed */

#endif
