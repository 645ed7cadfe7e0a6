/* SPDX-License-Identifier: MIT */
/* phrase.h - texts with placeholders {0} to {9}; numbered, because the two languages put them in
 * different order. */
#ifndef MODEL_PHRASE_H
#define MODEL_PHRASE_H

#include "base/mem/buf.h"
#include "model/code.h"

#define PHRASE_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Appends the phrase with its placeholders replaced.  args ends with NULL and may be NULL.  A
 * placeholder without an argument stays as it is. */
void phrase_put(struct buf *b, const char *phrase, const char *const *args);

#endif
