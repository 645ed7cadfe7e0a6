/* SPDX-License-Identifier: MIT */
/* conn.h - one connection between agent and server, in messages.
 *
 * Frames (wire/net/frame.h) on a stream (wire/net/stream.h).  A message is read by the shape of its
 * type and passed to the owner; it is valid until on_message() returns.  An unknown type is
 * answered with MESSAGE_ERROR and skipped, so either side may be newer; an invalid frame or body is
 * answered the same way and ends the connection.  Frames are numbered from 1 in each direction; one
 * that is out of order is invalid.
 *
 * Callbacks come from the loop only, never from within a call of the owner, and may call every
 * function here, conn_free() included.  on_end() comes at most once; after it only conn_free() is
 * allowed, or conn_end(), which still delivers an answer in transit. */
#ifndef LINK_CONN_H
#define LINK_CONN_H

#include "base/io/loop.h"
#include "link/message.h"
#include "wire/net/stream.h"

struct conn;

struct conn_owner {
    void (*on_ready)(void *arg); /* the handshake is done: conn_peer(); may be NULL */
    void (*on_message)(void *arg, unsigned type, const void *message);
    void (*on_end)(void *arg, const struct err *why); /* why NULL: the peer ended in order */
    void (*on_closed)(void *arg); /* conn_end() has completed, the conn is freed; may be NULL */
};

/* Frames by type (0: unknown types) over all conns with these counters; bytes are those of frames,
 * before TLS. */
enum { CONN_TYPES = 32 };
enum conn_way { CONN_IN, CONN_OUT, CONN_WAYS };
struct conn_counters {
    uint64_t frames[CONN_WAYS][CONN_TYPES], bytes[CONN_WAYS][CONN_TYPES];
};

/* As stream_new(): `host` non-NULL makes it the client's side.  On failure the caller keeps the fd.
 * The owner's table is not copied.  Messages before on_ready() are kept until then. */
int conn_new(struct loop *loop, int fd, struct tls *tls, const char *host,
             const struct conn_owner *owner, void *arg, struct conn **ret, struct err *err);

/* The same for a server with many; 0: the default of conn_new(). */
struct conn_means {
    struct timeslice *timeslice; /* queue for steps of handshakes */
    size_t out_max;              /* limit of unsent bytes */
};
int conn_new_by(struct loop *loop, int fd, struct tls *tls, const struct conn_means *means,
                const struct conn_owner *owner, void *arg, struct conn **ret, struct err *err);

/* The shape must fit the type.  A message too large for a frame is not sent and ends the connection
 * with ERR_LIMIT: large lists are sent in pages. */
void conn_send(struct conn *c, unsigned type, const struct shape *s, const void *message);
void conn_refuse(struct conn *c, unsigned type, int code, int64_t retry_ms, const char *text);
/* Limit of the body of a received frame (default FRAME_BODY_MAX). */
void conn_set_body_max(struct conn *c, size_t bytes);
/* Replaces message_shape(): NULL for an unknown type. */
void conn_set_shapes(struct conn *c, const struct shape *(*shape_of)(unsigned type));
size_t conn_pending(const struct conn *c);   /* unsent bytes */
int64_t conn_stuck_ms(const struct conn *c); /* how long none of them could be sent */
int64_t conn_shake_ms(const struct conn *c); /* stream_shake_ms() */
void conn_pause(
    struct conn *c); /* stops reading until conn_resume(): a peer that hangs, for tests */
void conn_resume(struct conn *c);

void conn_set_counters(struct conn *c, struct conn_counters *to); /* must outlive it */

int conn_peer(const struct conn *c, struct cert_facts *ret, struct err *err);
bool conn_is_resumed(const struct conn *c);  /* see tls_conn_is_resumed() */
int64_t conn_heard_ms(const struct conn *c); /* loop time of the last received frame */

/* Sends what is unsent, closes and frees; no more callbacks except on_closed(), in a later turn.
 * Until then conn_free() may cut it short; called right after, it still sends what the socket
 * accepts.  The loop must outlive its conns, also those that are ending. */
void conn_end(struct conn *c);
void conn_free(struct conn *c); /* drops it at once; NULL is allowed */

#endif
