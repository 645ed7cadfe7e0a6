/* SPDX-License-Identifier: MIT */
/* far.h - streams whose sockets and TLS are worked on other threads.
 *
 * A crew is some threads, each with a loop of its own.  A far is a server's stream
 * (wire/stream.h) that lives on one of them.  Its owner sees what it sees of a stream: the
 * same callbacks, from its own loop, with the same promises and limits.  Bytes cross by
 * queues, in order.  Of those that come few are on their way at one time, so a peer that sends
 * too fast is not read; those that go count as kept meanwhile, so one that does not take them
 * is given up.
 *
 * A crew belongs to the thread of the loop it was made with, as its fars do. */
#ifndef WIRE_FAR_H
#define WIRE_FAR_H

#include "wire/stream.h"

struct far;
struct far_crew;

enum { FAR_THREADS_MAX = 64 };

int far_crew_new(struct loop *loop, unsigned threads, struct far_crew **ret, struct err *err);
/* Its fars must have been freed, and those that were ended be gone.  NULL is fine. */
void far_crew_free(struct far_crew *c);
size_t far_crew_load(const struct far_crew *c); /* fars that are not gone for good */

/* As the functions of stream.h with these names.  limits->pace is not looked at: whoever is
 * on another thread is in nobody's way. */
void far_new(struct far_crew *c, int fd, struct tls *tls, const struct stream_limits *limits,
             const struct stream_owner *owner, void *arg, struct far **ret);
void far_write(struct far *f, const void *bytes, size_t n);
size_t far_pending(const struct far *f);
int64_t far_stuck_ms(const struct far *f);
int far_peer(const struct far *f, struct cert_facts *ret, struct err *err);
bool far_is_resumed(const struct far *f);
void far_end(struct far *f);
void far_free(struct far *f);

#endif
