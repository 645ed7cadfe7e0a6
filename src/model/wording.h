/* SPDX-License-Identifier: MIT */
/* wording.h - what we say of a failure, in the language of who reads it.
 *
 * Failures and results are made, logged and stored in English.  The sentences that callers
 * see often have a Chinese one beside them in one table, with places for names and numbers;
 * so have the texts of the codes.  What is not there, as a command's own words, stays as it
 * is. */
#ifndef MODEL_WORDING_H
#define MODEL_WORDING_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/code.h"

void wording_put(struct buf *to, const char *english, enum lang lang);

/* The same as a text: the arena's, or the one that was given. */
const char *wording_in(const char *english, enum lang lang, struct arena *a);

#endif
