/* SPDX-License-Identifier: MIT */
/* stream.h - a connection, plain or TLS, with bounded memory.
 *
 * Input: on_bytes() gets all unread bytes and returns how many it has consumed; the rest is kept
 * and passed again when more has arrived.  An owner that consumes nothing of `in_max` bytes breaks
 * the stream with ERR_LIMIT.  stream_pause() stops reading from the socket (back-pressure).  An
 * idle stream has no input buffer.
 *
 * Output: stream_write() sends what the socket accepts and keeps the rest, up to `out_max`; beyond
 * that the stream breaks with ERR_LIMIT.  An owner with unlimited output checks stream_pending()
 * and continues in on_drained(), which is called when everything kept has been sent.
 *
 * End: on_end() with `why` NULL means that the peer has closed its side; the owner may still write,
 * and closes when it likes.  With a reason the stream is broken and only stream_free() is allowed;
 * that may also follow an orderly end, when the owner's output cannot be sent.  Each is called at
 * most once.  stream_end() sends what is kept, closes and frees the stream, and then calls
 * on_closed() and nothing before it; a peer that does not read the rest within linger_ms loses it.
 * Input is discarded meanwhile, because closing with unread bytes would reset the connection and
 * destroy an answer in transit.  stream_free() drops everything at once, also after stream_end(),
 * and calls nothing.
 *
 * Callbacks come from the loop only, never from within a call of the owner, and may call every
 * function here, stream_end() and stream_free() included. */
#ifndef WIRE_NET_STREAM_H
#define WIRE_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io/loop.h"
#include "base/text/err.h"
#include "wire/tls/tls.h"

struct timeslice;
struct stream;

struct stream_owner {
    size_t (*on_bytes)(void *arg, const char *bytes, size_t n);
    void (*on_drained)(void *arg);                    /* may be NULL */
    void (*on_end)(void *arg, const struct err *why); /* why NULL: orderly */
    void (*on_ready)(void *arg);                      /* connected, handshake done; may be NULL */
    void (*on_closed)(void *arg);                     /* stream_end() has completed; may be NULL */
};

struct stream_limits {
    size_t in_max, out_max;
    int64_t handshake_ms;        /* for connecting and the TLS handshake together */
    int64_t linger_ms;           /* time limit of stream_end() */
    struct timeslice *timeslice; /* queue for steps of a handshake; NULL: none */
};

/* Takes ownership of a connected (or, for a client, connecting) non-blocking socket; on failure the
 * caller keeps it.  `tls` NULL: plain.  `host` as in tls_conn_new(); non-NULL makes it the client's
 * side.  The limits are copied, the owner's table is not.  Output before on_ready() is kept until
 * then.  The loop must outlive its streams, also those that are ending. */
int stream_new(struct loop *loop, int fd, struct tls *tls, const char *host,
               const struct stream_limits *limits, const struct stream_owner *owner, void *arg,
               struct stream **ret, struct err *err);

void stream_write(struct stream *s, const void *bytes, size_t n);
size_t stream_pending(const struct stream *s); /* unsent bytes */
/* How long the socket has accepted none of the unsent bytes; 0: there are none. */
int64_t stream_stuck_ms(const struct stream *s);

/* Server side: how long the handshake has waited for the peer since its last step; 0: it has not.
 */
int64_t stream_shake_ms(const struct stream *s);

/* From on_ready() on; see tls_conn_peer(). */
int stream_peer(const struct stream *s, struct cert_facts *ret, struct err *err);
bool stream_is_resumed(const struct stream *s); /* the handshake resumed an earlier session */

void stream_pause(struct stream *s);  /* no on_bytes() and no orderly end until resumed */
void stream_resume(struct stream *s); /* passes kept bytes, from the next turn on */

void stream_end(struct stream *s);
void stream_free(struct stream *s); /* NULL is allowed */

#endif
