/* SPDX-License-Identifier: MIT */
/* lookup.h - the addresses of one server, found out without making the loop wait.
 *
 * A numeric address needs no asking.  A name is looked up by a thread that lives as
 * long as that takes; whoever frees the lookup before is not told, and does not wait
 * for it either. */
#ifndef LINK_LOOKUP_H
#define LINK_LOOKUP_H

#include "base/loop.h"
#include "wire/listen.h"

struct lookup;

/* NULL, or what is wrong with it: "host:port", where IPv6 stands in brackets, or
 * "unix:/path". */
const char *lookup_check(const char *server);

/* Called once, from the loop; n is 0 if and only if `why` says why.  What it is shown
 * lives until it returns; it may free the lookup. */
typedef void lookup_fn(void *arg, const struct address *found, size_t n, const struct err *why);

int lookup_new(struct loop *loop, const char *server, lookup_fn *fn, void *arg, struct lookup **ret,
               struct err *err);
void lookup_free(struct lookup *l); /* NULL is fine */

#endif
