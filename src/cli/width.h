/* SPDX-License-Identifier: MIT */
/* width.h - how much room a text takes on a terminal: CJK characters two columns,
 * marks that combine with the one before none.
 *
 * A table of our own, not wcwidth(): that knows only what the locale knows, and in
 * the C locale of a container that is ASCII. */
#ifndef CLI_WIDTH_H
#define CLI_WIDTH_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"

size_t width_text(const char *text); /* columns; the text is as width_clean() gives it */

/* How many of its bytes fit; never a part of a character. */
size_t width_cut(const char *text, size_t columns);

/* How many of its bytes make a line: up to the last place that fits where a line may end, a
 * blank or beside a CJK character, or as much as fits; at least one character. */
size_t width_line(const char *text, size_t columns);

/* The text on one line and without what would move the cursor or turn the writing
 * round: line ends and tabs become blanks, other such characters and bytes that are
 * not UTF-8 question marks. */
const char *width_clean(struct arena *a, const char *text);

/* Adds the text as it is but for such characters, which are written out: \x1B, \u202E.
 * Line ends and tabs stay. */
void width_show(struct buf *to, const char *text);

#endif
