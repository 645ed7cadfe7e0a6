/* SPDX-License-Identifier: MIT */
/* lookup.h - look-up of the addresses of one server without blocking the loop.
 *
 * A numeric address needs no look-up.  A name is looked up by a thread of its own.  lookup_free()
 * does not wait for that thread; the callback is then never called. */
#ifndef LINK_LOOKUP_H
#define LINK_LOOKUP_H

#include "base/io/loop.h"
#include "wire/net/listen.h"

struct lookup;

/* Returns NULL if the syntax is right, or what is wrong with it.  Right are "host:port", with IPv6
 * in brackets, and "unix:/path". */
const char *lookup_check(const char *server);

/* Called once, from the loop; n is 0 if and only if `why` is set.  The arguments live until it
 * returns; it may free the lookup. */
typedef void lookup_fn(void *arg, const struct address *found, size_t n, const struct err *why);

int lookup_new(struct loop *loop, const char *server, lookup_fn *fn, void *arg, struct lookup **ret,
               struct err *err);
void lookup_free(struct lookup *l); /* NULL is fine */

#endif
