/* SPDX-License-Identifier: MIT */
/* tls.h - TLS: what connections share, and one connection's state.
 *
 * A `struct tls` holds what all connections of one listener (or of one client)
 * share; freed while some of them live, it goes with the last.  TLS 1.2 is the
 * least spoken, 1.3 where the caller asks for it.  tls_conn works on a socket
 * that does not block and never waits: it says what it is waiting for.  An idle
 * connection holds no buffers.  Errors say OpenSSL's reason in words; an end
 * without TLS's own goodbye is an error, because bytes may be missing. */
#ifndef WIRE_TLS_H
#define WIRE_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/cert.h"
#include "wire/ticket.h"

struct tls;
struct tls_conn;

struct tls_config {
    const char *cert_path, *key_path; /* PEM; needed by a server, both or none for a client */
    const char *ca_path; /* who may sign the peer; NULL on a server: no client certificate asked;
                            NULL on a client: whom the system trusts */
    bool only_1_3;

    /* The same in memory, instead of the files. */
    const char *own_pem; /* key and certificate, then those between it and the CA */
    const char *ca_pem;

    /* Of a client that knows no more of the CA than its SHA-256, in hex: the server
     * must show the CA's certificate, and have its own from it. */
    const char *ca_pin;

    bool client_cert_optional; /* a server with a CA: one without a certificate may come too */
    bool keep_session; /* a client: the last one is kept, and taken up again with the same host;
                          its connections then belong to one thread */
};

int tls_server_new(const struct tls_config *c, struct tls **ret, struct err *err);
int tls_client_new(const struct tls_config *c, struct tls **ret, struct err *err);
void tls_free(struct tls *t);       /* NULL is fine */
struct tls *tls_use(struct tls *t); /* another user, who must free it too; the same is returned */

/* Keys for a server's tickets, of a file: with them sessions are taken up again
 * after a restart.  Copied; call it again after they have changed, from the thread
 * of its connections. */
void tls_set_tickets(struct tls *t, const struct tickets *keys);

/* The session that a client keeps, as bytes that let whoever has them in; false if
 * there is none.  Reading one that began under another CA is ERR_CONFLICT. */
bool tls_session_write(const struct tls *t, struct buf *to);
int tls_session_read(struct tls *t, const char *bytes, size_t n, struct err *err);

/* Makes a P-256 key and a certificate that signs itself, valid for `days` and for
 * the given names and addresses ("localhost", "127.0.0.1"; ends with NULL).  A
 * key file that is there is used again, one that is made has mode 0600; so a
 * renewal that fails leaves the pair that was there. */
int tls_make_self_signed(const char *cert_path, const char *key_path, const char *const *names,
                         int days, struct err *err);

enum tls_status {
    TLS_OK,
    TLS_WANT_READ,
    TLS_WANT_WRITE,
    TLS_END,    /* the peer has ended in order; nothing more will come */
    TLS_FAILED, /* *err is set; only tls_conn_free() is left */
};

/* `host`: for a client, the name (or numeric address) the certificate must be
 * for; NULL on a server. */
int tls_conn_new(struct tls *t, int fd, const char *host, struct tls_conn **ret, struct err *err);
enum tls_status tls_conn_handshake(struct tls_conn *c, struct err *err);

/* Once hands are shaken: what the peer's certificate says, which was verified when
 * the session began.  ERR_NOT_FOUND: it has shown none.  A session that is taken
 * up again verifies nothing, so who may have been revoked is asked for each time. */
int tls_conn_peer(const struct tls_conn *c, struct cert_facts *ret, struct err *err);
bool tls_conn_is_resumed(const struct tls_conn *c);

enum tls_status tls_conn_read(struct tls_conn *c, void *to, size_t n, size_t *ret_got,
                              struct err *err);

/* After TLS_WANT_x the next write must begin with the same bytes, and have as
 * many of them or more; they may have moved. */
enum tls_status tls_conn_write(struct tls_conn *c, const void *from, size_t n, size_t *ret_put,
                               struct err *err);

/* Whether bytes wait inside that the socket, being empty, will not tell of. */
bool tls_conn_has_pending(const struct tls_conn *c);

/* Whether the last read took all there was, inside and in the socket: trying
 * again before the socket is ready would be a system call for nothing. */
bool tls_conn_is_drained(const struct tls_conn *c);

/* Tells the peer that we end.  TLS_WANT_WRITE: the socket is full, call again;
 * otherwise it is said, or cannot be. */
enum tls_status tls_conn_end(struct tls_conn *c);
void tls_conn_free(struct tls_conn *c); /* does not close the socket; NULL is fine */

#endif
