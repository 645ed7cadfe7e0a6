/* SPDX-License-Identifier: MIT */
/* conn.h - one connection between agent and server, in messages.
 *
 * Frames (wire/frame.h) on a stream (wire/stream.h): what comes is read by the
 * shape of its type and handed to the owner; it lives until on_message() returns.
 * A type that we do not know is answered with MESSAGE_ERROR and passed over, so
 * that either side may be newer; a frame or a body that makes no sense is answered
 * so too, and ends the connection.  Frames are numbered from 1 in each direction;
 * one that is out of order makes no sense.
 *
 * Callbacks come from the loop only, never out of a call made by the owner, and may
 * call everything here, conn_free() included.  on_end() comes at most once; after it
 * only conn_free() is left, or conn_end(), by which an answer that is still on its
 * way arrives. */
#ifndef LINK_CONN_H
#define LINK_CONN_H

#include "base/loop.h"
#include "link/message.h"
#include "wire/line.h"

struct conn;

struct conn_owner {
    void (*on_ready)(void *arg); /* hands are shaken: conn_peer(); may be NULL */
    void (*on_message)(void *arg, unsigned type, const void *message);
    void (*on_end)(void *arg, const struct err *why); /* why NULL: the peer ended in order */
    void (*on_closed)(void *arg); /* conn_end() is through, the conn is gone; may be NULL */
};

/* What has gone through the conns that were told to count, by type (a type that is not known
 * is 0); bytes are those of frames, before TLS. */
enum { CONN_TYPES = 32 };
enum conn_way { CONN_IN, CONN_OUT, CONN_WAYS };
struct conn_counters {
    uint64_t frames[CONN_WAYS][CONN_TYPES], bytes[CONN_WAYS][CONN_TYPES];
};

/* As stream_new(): `host` non-NULL makes it the client's side.  On failure the fd is
 * still the caller's.  The owner's table is not copied.  What is sent before
 * on_ready() is kept until then. */
int conn_new(struct loop *loop, int fd, struct tls *tls, const char *host,
             const struct conn_owner *owner, void *arg, struct conn **ret, struct err *err);

/* The same, of a server with many; what is 0 is as conn_new() has it. */
struct conn_means {
    struct pace *pace;     /* where handshakes wait for their turn */
    struct far_crew *crew; /* threads that do the work of sockets and TLS; else it is done here */
    size_t out_max;        /* bytes that may wait to be sent */
};
int conn_new_by(struct loop *loop, int fd, struct tls *tls, const struct conn_means *means,
                const struct conn_owner *owner, void *arg, struct conn **ret, struct err *err);

/* What the shape is for is the caller's to know.  A message too large for a frame is
 * not sent, and ends the connection with ERR_LIMIT: whoever may have much sends pages. */
void conn_send(struct conn *c, unsigned type, const struct shape *s, const void *message);
void conn_refuse(struct conn *c, unsigned type, int code, int64_t retry_ms, const char *text);
/* How large the body of a frame of the peer's may be: FRAME_BODY_MAX unless it is told. */
void conn_set_body_max(struct conn *c, size_t bytes);
/* Other messages than those of message_shape(): NULL for a type that is not known. */
void conn_set_shapes(struct conn *c, const struct shape *(*shape_of)(unsigned type));
size_t conn_pending(const struct conn *c);   /* bytes that wait to be sent */
int64_t conn_stuck_ms(const struct conn *c); /* how long they have, and none could be */
void conn_pause(
    struct conn *c); /* reads no more, until conn_resume(): a peer that hangs, for tests */
void conn_resume(struct conn *c);

void conn_set_counters(struct conn *c, struct conn_counters *to); /* which outlive it */

int conn_peer(const struct conn *c, struct cert_facts *ret, struct err *err);
bool conn_is_resumed(const struct conn *c);  /* see tls_conn_is_resumed() */
int64_t conn_heard_ms(const struct conn *c); /* when the last frame came, in loop time */

/* Sends what waits, closes, and is freed; no more callbacks but on_closed(), which
 * comes in a later turn.  Until then conn_free() may cut it short: the one right after
 * the other says goodbye as far as the socket takes it.  A loop must not be freed
 * before its ended conns are gone. */
void conn_end(struct conn *c);
void conn_free(struct conn *c); /* drops it at once; NULL is fine */

#endif
