/* SPDX-License-Identifier: MIT */
/* seal.h - secrets that we must be able to say again, kept where others may read.
 *
 * A hash is enough to compare a secret that is shown (secret.h), but not to check what was
 * signed with it.  So such a secret stands in the store sealed, by AES-256-GCM, and only who
 * has the key file can open it: whoever gets hold of the store, or of a backup of it, can
 * not.  What a text is sealed for (an app's code) is part of the seal: it can not be moved
 * to another.
 *
 * The key is DIR/seal.key, mode 0600, made at the first start.  Nothing here ever replaces
 * it; without it what was sealed is lost, and new secrets have to be made.  Whoever runs
 * several servers gives all the same file. */
#ifndef WIRE_SEAL_H
#define WIRE_SEAL_H

#include "base/arena.h"
#include "base/err.h"

struct seal;

int seal_open(const char *dir, struct seal **ret, struct err *err);
void seal_free(struct seal *s); /* NULL is fine */

/* Both texts are the arena's.  Sealed twice, a text looks different each time. */
const char *seal_text(const struct seal *s, const char *about, const char *text, struct arena *a);
int seal_read(const struct seal *s, const char *about, const char *sealed, struct arena *a,
              char **ret, struct err *err);

#endif
