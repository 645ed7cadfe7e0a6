/* SPDX-License-Identifier: MIT */
/* out.h - output of the command line: a descriptor and its capabilities.
 *
 * Output is buffered until out_flush(), which returns whether it could be written: a full disk
 * must not look like success. */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem/buf.h"
#include "base/text/err.h"
#include "cli/text.h"

enum style {
    STYLE_PLAIN,
    STYLE_HEAD,
    STYLE_GOOD,
    STYLE_BAD,
    STYLE_DIM,
    STYLE_CYAN,
    STYLE_YELLOW,
    STYLE_BLUE,
    STYLE_PURPLE,
    STYLE_MARKED,
    STYLES
};

struct out {
    int fd;
    const char *name; /* message of what it is, for errors: "standard output" */
    enum lang lang;
    bool terminal, colour;
    size_t width; /* of the terminal, in columns */
    struct buf b;
};

enum colour_wish { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* `no_colour` and `term` are the values of NO_COLOR and TERM; NULL: not set. */
void out_init(struct out *o, int fd, const char *name, enum lang lang);
void out_colour(struct out *o, enum colour_wish wish, const char *no_colour, const char *term);
void out_done(struct out *o);

void out_puts(struct out *o, const char *text);
void out_styled(struct out *o, enum style style, const char *text);
/* The arguments are cleaned for a terminal (width_clean()). */
void out_text(struct out *o, enum text id, const char *const *args);
void out_line(struct out *o, enum text id, const char *const *args); /* with a newline */

/* Prints clean text and a newline; the cursor is at that column.  On a terminal, text that does
 * not fit is wrapped and indented to that column. */
void out_wrapped(struct out *o, size_t column, enum style style, const char *text);
void out_blanks(struct out *o, size_t n);

int out_flush(struct out *o, struct err *err);

#endif
