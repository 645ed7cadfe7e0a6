/* SPDX-License-Identifier: MIT */
/* nearest.h - what somebody may have meant who typed something else. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* Letters to add, leave out, change or swap with a neighbour to make one of the
 * other; words longer than NEAREST_MAX are as far as can be. */
enum { NEAREST_MAX = 40 };
size_t nearest_distance(const char *a, const char *b);

/* The one of `words` (which end with NULL) that begins so, or is nearest, the first of several;
 * NULL if none is near enough to be worth naming. */
const char *nearest_find(const char *word, const char *const *words);

#endif
