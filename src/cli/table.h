/* SPDX-License-Identifier: MIT */
/* table.h - rows for people: columns aligned by what is seen, not by bytes.
 *
 * On a terminal the last column is cut with an ellipsis where the line would be too
 * long, or goes on below; in a pipe or a file nothing is ever cut. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/arena.h"
#include "cli/out.h"

struct column {
    enum text head;
    bool right;    /* a number */
    unsigned goes; /* on a narrow terminal those with 1 are left out first; 0: never */
    bool wraps;    /* the last one: what is too long goes on below */
};

struct table {
    const struct column *columns;
    size_t n_columns;
    struct cell *cells; /* row by row */
    size_t n_cells, cap;
    struct arena arena;
};

void table_init(struct table *t, const struct column *columns, size_t n_columns);
void table_done(struct table *t);

/* The next cell, from left to right, then the next row.  The text is copied, and
 * made fit to stand on a line; "" is shown as "-". */
void table_add(struct table *t, enum style style, const char *text);
void table_add_number(struct table *t, int64_t number);
void table_add_text(struct table *t, enum style style, enum lang lang, enum text id);

void table_put(const struct table *t, struct out *out);

#endif
