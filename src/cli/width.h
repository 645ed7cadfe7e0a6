/* SPDX-License-Identifier: MIT */
/* width.h - display width of text on a terminal: CJK characters take two columns, combining
 * marks none.
 *
 * Has a table of its own instead of wcwidth(), which depends on the locale: in the C locale of a
 * container it only knows ASCII. */
#ifndef CLI_WIDTH_H
#define CLI_WIDTH_H

#include <stddef.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"

size_t width_text(const char *text); /* columns; the text must be clean (width_clean()) */

/* How many of its bytes fit; never cuts a character. */
size_t width_cut(const char *text, size_t columns);

/* Length in bytes of the first line of a wrapped text: up to the last break that fits (a blank,
 * or beside a CJK character), or as much as fits; at least one character. */
size_t width_line(const char *text, size_t columns);

/* The text on one line and without characters that move the cursor or change the direction of
 * writing: line ends and tabs become blanks, other such characters and bytes that are not UTF-8
 * become question marks. */
const char *width_clean(struct arena *a, const char *text);

/* Appends the text with such characters escaped: \x1B, \u202E.  Line ends and tabs stay. */
void width_show(struct buf *to, const char *text);

#endif
