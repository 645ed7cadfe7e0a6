/* SPDX-License-Identifier: MIT */
/* hello.h - waits for the first record of a TLS client without reading it.
 *
 * If every accepted socket got a TLS state at once, clients that connect and send nothing would
 * use the memory of a handshake.  Waiting here costs a descriptor and a few hundred bytes, until
 * the whole first record (a ClientHello) is in the socket's buffer.  The watch fires only a few
 * times for it, however small the pieces are (SO_RCVLOWAT).  A client that speaks plain HTTP is
 * recognized. */
#ifndef WIRE_NET_HELLO_H
#define WIRE_NET_HELLO_H

#include "base/io/loop.h"
#include "base/text/err.h"

enum hello_kind {
    HELLO_TLS, /* the first record is complete; or the bytes are something that TLS has to refuse */
    HELLO_HTTP, /* the bytes look like a plain HTTP request */
    HELLO_GONE, /* the peer has disconnected or closed its sending side without a whole record */
};

struct hello;

/* The loop calls `fn` once.  hello_free() is still needed then, and may be called in it.  The
 * caller still owns the socket. */
typedef void hello_fn(void *arg, enum hello_kind kind);
int hello_new(struct loop *loop, int fd, hello_fn *fn, void *arg, struct hello **ret,
              struct err *err);
void hello_free(struct hello *h); /* NULL is allowed */

#endif
