/* SPDX-License-Identifier: MIT */
/* seal.h - encrypts secrets that are stored and must be readable again.
 *
 * A hash suffices to compare a secret (secret.h), but not to verify a signature that was made
 * with it.  Such a secret is stored sealed with AES-256-GCM, and only the key file can open it:
 * the store, or a backup of it, is not enough.  The purpose of a text (an app's code) is
 * authenticated with it: a sealed text cannot be moved to another purpose.
 *
 * The key is DIR/seal.key, mode 0600, created at the first start and never replaced.  Without it
 * all sealed secrets are lost, and new ones have to be made.  Several servers of one
 * installation need the same file. */
#ifndef WIRE_TLS_SEAL_H
#define WIRE_TLS_SEAL_H

#include "base/mem/arena.h"
#include "base/text/err.h"

struct seal;

int seal_open(const char *dir, struct seal **ret, struct err *err);
void seal_free(struct seal *s); /* NULL is allowed */

/* Both texts live in the arena.  Sealing the same text twice gives different results. */
const char *seal_text(const struct seal *s, const char *about, const char *text, struct arena *a);
int seal_read(const struct seal *s, const char *about, const char *sealed, struct arena *a,
              char **ret, struct err *err);

#endif
