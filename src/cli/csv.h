/* SPDX-License-Identifier: MIT */
/* csv.h - reads comma-separated values as written by people and spreadsheets: quoted fields with
 * commas, quotes and line ends, lines that end with CR LF, a byte order mark, semicolons or tabs
 * instead of commas (the first line decides).
 *
 * A cell has its position, for error messages.  Empty lines are skipped. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stddef.h>

#include "base/mem/arena.h"
#include "base/text/err.h"

enum { CSV_CELLS_MAX = 64 };

struct csv_cell {
    const char *text;
    size_t line, column; /* of its first byte, from 1; columns count bytes */
};

struct csv_row {
    struct csv_cell cells[CSV_CELLS_MAX];
    size_t n;
};

struct csv {
    const char *at, *end;
    const char *line_start;
    size_t line;
    char comma;
};

/* The text must stay valid while it is read. */
void csv_begin(struct csv *c, const char *text, size_t n);

/* 1: a row, with its texts in the arena; 0: there are no more rows; -1: an error with line and
 * column ("7:12: ..."). */
int csv_next(struct csv *c, struct arena *a, struct csv_row *ret, struct err *err);

#endif
