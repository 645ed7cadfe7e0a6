/* SPDX-License-Identifier: MIT */
/* epoll_set.h - many descriptors that become readable once in their lives (pidfds), on a loop.
 *
 * A watch of loop.h costs about 250 bytes.  A set allocates nothing per descriptor, and one
 * system call reports up to a hundred ready descriptors.  A descriptor is identified by a
 * number, not by a pointer: the callback checks whether the object with that number still
 * exists. */
#ifndef BASE_IO_EPOLL_SET_H
#define BASE_IO_EPOLL_SET_H

#include "base/io/loop.h"

struct epoll_set;

/* Called for each readable descriptor in every turn, for as long as it stays readable. */
typedef void epoll_set_fn(void *arg, uint64_t key);

int epoll_set_new(struct loop *l, epoll_set_fn *fn, void *arg, struct epoll_set **ret,
                  struct err *err);
void epoll_set_free(struct epoll_set *c); /* does not close the descriptors; NULL is allowed */

int epoll_set_add(struct epoll_set *c, int fd, uint64_t key, struct err *err);
void epoll_set_del(struct epoll_set *c, int fd); /* call it before closing fd */

#endif
