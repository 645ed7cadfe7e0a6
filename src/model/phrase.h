/* SPDX-License-Identifier: MIT */
/* phrase.h - texts with places for others, {0} to {9}; by number, because the two
 * languages put them in different order. */
#ifndef MODEL_PHRASE_H
#define MODEL_PHRASE_H

#include "base/buf.h"
#include "model/code.h"

#define PHRASE_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Appends the phrase with its places filled; args end with NULL and may be NULL.  A
 * place that no argument is for stays as it is. */
void phrase_put(struct buf *b, const char *phrase, const char *const *args);

#endif
