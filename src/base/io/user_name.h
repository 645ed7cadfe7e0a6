/* SPDX-License-Identifier: MIT */
/* user_name.h - looks up the name of a uid.
 *
 * A lookup may ask a directory server over the network and therefore block.  `struct user_names`
 * looks up in threads of its own, for a loop that must not block, and caches each name for a
 * minute. */
#ifndef BASE_IO_USER_NAME_H
#define BASE_IO_USER_NAME_H

#include <sys/types.h>

#include "base/io/loop.h"

enum { USER_NAME_SIZE = 64 };

/* Blocks.  Writes the number as text if the uid has no name, or a name that is too long or
 * contains colons or characters that cannot be printed. */
void user_name_of(uid_t uid, char to[USER_NAME_SIZE]);

struct user_names;

struct user_names *user_names_new(struct loop *loop);
void user_names_free(struct user_names *n); /* pending callbacks are not called; NULL is allowed */

/* `fn` is called once, perhaps before this returns.  It gets the number as text if too many
 * lookups are running or no thread can be started. */
typedef void user_name_fn(void *arg, const char *name);
void user_names_find(struct user_names *n, uid_t uid, user_name_fn *fn, void *arg);

#endif
