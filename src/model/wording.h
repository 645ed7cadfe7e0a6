/* SPDX-License-Identifier: MIT */
/* wording.h - what we say of a failure, in the language of who reads it.
 *
 * Failures and results are made, logged and stored in English.  Each sentence that a caller
 * can see has a Chinese one beside it in one table, with places for names and numbers; so have
 * the texts of the codes.  What is not there, as a command's own words, stays as it is, and
 * so does the path of a field in front of a sentence.  tools/wording-rows finds a sentence
 * that has no row. */
#ifndef MODEL_WORDING_H
#define MODEL_WORDING_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/code.h"

/* What is found at {0} in English is put at {0} as it is, or at <0> in the reader's language
 * if it is a sentence of ours itself. */
struct wording {
    const char *text[LANGS];
};

extern const struct wording wordings[]; /* ends with a NULL text */

void wording_put(struct buf *to, const char *english, enum lang lang);

/* The same as a text: the arena's, or the one that was given. */
const char *wording_in(const char *english, enum lang lang, struct arena *a);

/* The same for many texts, most of which are alike: to search all rows takes microseconds, and
 * a task can have 50,000 results.  All zeroes is ready, for one language; the texts must live
 * as long as it does. */
enum { WORDING_MEMO = 8 };
struct wording_memo {
    const char *english[WORDING_MEMO], *words[WORDING_MEMO];
    size_t oldest;
};
const char *wording_again(struct wording_memo *m, const char *english, enum lang lang,
                          struct arena *a);

#endif
