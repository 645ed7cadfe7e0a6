/* SPDX-License-Identifier: MIT */
/* suggest.h - finds the word that a misspelt one was probably meant to be. */
#ifndef BASE_TEXT_SUGGEST_H
#define BASE_TEXT_SUGGEST_H

#include <stddef.h>

/* Edit distance: letters to insert, delete, replace or swap with a neighbour.  A word longer
 * than SUGGEST_MAX has the maximal distance to every other. */
enum { SUGGEST_MAX = 40 };
size_t suggest_distance(const char *a, const char *b);

/* The first of `words` (NULL-terminated) that starts with `word`, else the one with the smallest
 * distance, the first of several; NULL if none is near enough. */
const char *suggest_find(const char *word, const char *const *words);

#endif
