/* SPDX-License-Identifier: MIT */
/* translate.h - messages (base/text/msg.h) in the reader's language.
 *
 * src/model/translations/ has a row for each sentence: the English format, which is its id, and the
 * Chinese one, with the same arguments.  One file for each folder of src/ whose sources make the
 * sentences; all are here, because a server translates what an agent said.  The build fails where
 * a sentence has no row (tools/check-messages). */
#ifndef MODEL_TRANSLATE_H
#define MODEL_TRANSLATE_H

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "model/code.h"

struct translation {
    const char *text[LANGS];
    const char *own[LANGS]; /* a sentence of GSE in our own words; NULL: as `text` */
};

extern const struct translation translations[]; /* ends with a NULL text */

/* The sentence of a message; any other text unchanged. */
void translate_put(struct buf *to, const char *text, enum lang lang);

/* The same: a text in the arena, or `text` itself if it is not a message. */
const char *translate(const char *text, enum lang lang, struct arena *a);

/* For /v1 and the command line: sentences of GSE are in our own words. */
const char *translate_own(const char *text, enum lang lang, struct arena *a);

#endif
