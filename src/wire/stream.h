/* SPDX-License-Identifier: MIT */
/* stream.h - a connection, plain or TLS, that never takes more memory than it
 * was allowed.
 *
 * Bytes in: the owner's on_bytes() is shown everything unread and says how much
 * of it is done with; the rest is kept and shown again when more has come.  An
 * owner that is shown `in_max` bytes and takes none of them breaks the stream
 * with ERR_LIMIT.  stream_pause() stops reading from the socket, which is the
 * back-pressure the peer feels.  An idle stream holds no input buffer at all.
 *
 * Bytes out: stream_write() sends at once what the socket takes and keeps the
 * rest, up to `out_max`; over that the stream breaks with ERR_LIMIT.  An owner
 * that produces without end watches stream_pending() and goes on in
 * on_drained(), which is called when all that was kept has gone out.
 *
 * The end: on_end() with `why` NULL means that the peer has ended its side in
 * order; the owner may still write, and closes in its own time.  With a reason
 * the stream is broken and only stream_free() is left; that may also follow an
 * end in order, when what the owner still writes cannot be sent.  Each is called
 * at most once.  stream_end() writes out what is kept, then closes and
 * frees the stream and says so by on_closed(), nothing else being called before
 * that; a peer that does not take the rest within linger_ms loses it.  What the
 * peer still sends meanwhile is thrown away, because closing with bytes unread
 * would destroy an answer on its way.  stream_free() drops everything at once,
 * also after stream_end(), and calls nothing.
 *
 * Callbacks come from the loop only, never out of a call made by the owner, and
 * may call everything here, stream_end() and stream_free() included. */
#ifndef WIRE_STREAM_H
#define WIRE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "wire/tls.h"

struct pace;
struct stream;

struct stream_owner {
    size_t (*on_bytes)(void *arg, const char *bytes, size_t n);
    void (*on_drained)(void *arg);                    /* may be NULL */
    void (*on_end)(void *arg, const struct err *why); /* why NULL: in order */
    void (*on_ready)(void *arg);                      /* connected, handshake done; may be NULL */
    void (*on_closed)(void *arg);                     /* stream_end() is through; may be NULL */
};

struct stream_limits {
    size_t in_max, out_max;
    int64_t handshake_ms; /* for connecting and the TLS handshake together */
    int64_t linger_ms;    /* how long stream_end() tries */
    struct pace *pace; /* where the steps of a handshake wait for their turn; NULL: they do not */
};

/* Takes over a connected (or, for a client, connecting) socket that does not
 * block; on failure it is still the caller's.  `tls` NULL: plain.  `host` as in
 * tls_conn_new(); non-NULL makes it the client's side.  The limits are copied,
 * the owner's table is not.  What is written before on_ready() is kept until
 * then.  A loop must not be freed before its ended streams are gone. */
int stream_new(struct loop *loop, int fd, struct tls *tls, const char *host,
               const struct stream_limits *limits, const struct stream_owner *owner, void *arg,
               struct stream **ret, struct err *err);

void stream_write(struct stream *s, const void *bytes, size_t n);
size_t stream_pending(const struct stream *s); /* bytes kept, not yet taken by the socket */
/* How long such bytes have waited without the socket taking any; 0: none wait. */
int64_t stream_stuck_ms(const struct stream *s);

/* From on_ready() on; see tls_conn_peer(). */
int stream_peer(const struct stream *s, struct cert_facts *ret, struct err *err);
bool stream_is_resumed(const struct stream *s); /* the handshake took up an earlier session */

void stream_pause(struct stream *s);  /* neither on_bytes() nor an end in order until resumed */
void stream_resume(struct stream *s); /* shows what was kept, from the next turn on */

void stream_end(struct stream *s);
void stream_free(struct stream *s); /* NULL is fine */

#endif
