/* SPDX-License-Identifier: MIT */
/* table.h - tables for people: columns are aligned by display width, not by bytes.
 *
 * On a terminal the last column is cut with an ellipsis if the line would be too long, or
 * wrapped; in a pipe or a file nothing is cut. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/mem/arena.h"
#include "cli/out.h"

struct column {
    enum text head;
    bool right;    /* align right, for numbers */
    unsigned goes; /* on a narrow terminal columns with 1 are left out first; 0: never */
    bool wraps;    /* the last column: long text is wrapped instead of cut */
    bool hides;    /* left out if all its cells are empty */
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

/* Adds the next cell, from left to right, row by row.  The text is copied and cleaned to fit on
 * a line; "" is shown as "-". */
void table_add(struct table *t, enum style style, const char *text);
void table_add_number(struct table *t, int64_t number);
void table_add_text(struct table *t, enum style style, enum lang lang, enum text id);

void table_put(const struct table *t, struct out *out);

#endif
